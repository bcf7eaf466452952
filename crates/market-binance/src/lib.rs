//! market-binance
