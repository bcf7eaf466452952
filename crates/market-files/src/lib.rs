//! market-files
