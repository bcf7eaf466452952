//! The adapter behind each port it serves; the work is done in the modules beside it.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clock::{Millis, TimeRange};
use fault::Fault;
use jiff::civil::Date;
use market::{
    BarBatch, BarSource, CandleRequest, CandleSource, Dividend, DividendSource, IndexConstituents,
    IndexSource, Interval, Listing, Quote, QuoteSource, Security, SecurityCandles, SecurityMatch,
    SecuritySearch, SecuritySnapshot, SecuritySource, Split, SplitSource, Symbol, SymbolSource,
    TradingCalendar, TradingDay, TradingHours, WithFreshness,
};

use crate::Moex;

#[async_trait]
impl QuoteSource for Moex {
    async fn latest(&self, symbols: &[Symbol]) -> Result<Vec<Result<Arc<Quote>, Fault>>, Fault> {
        self.inner.latest(symbols).await
    }
}

#[async_trait]
impl BarSource for Moex {
    fn source(&self) -> &str {
        &self.inner.config.source
    }

    fn trading_hours(&self) -> TradingHours {
        TradingHours::Unknown
    }

    fn has_interval(&self, interval: Interval) -> bool {
        interval != Interval::S1
    }

    fn publish_delay_max(&self) -> Duration {
        // The delay of free data, the exchange's own lag, and some room.
        Duration::from_mins(30)
    }

    async fn bars(
        &self,
        code: &str,
        interval: Interval,
        span: TimeRange,
    ) -> Result<BarBatch, Fault> {
        self.inner.bars(code, interval, span).await.map(Arc::unwrap_or_clone)
    }

    async fn first_open(&self, code: &str, interval: Interval) -> Result<Option<Millis>, Fault> {
        self.inner.first_open(code, interval).await
    }
}

#[async_trait]
impl SymbolSource for Moex {
    async fn listing(&self) -> Result<Arc<Listing>, Fault> {
        self.inner.listing().await
    }
}

#[async_trait]
impl SecuritySource for Moex {
    async fn snapshot(
        &self,
        code: &str,
        board: Option<&str>,
    ) -> Result<WithFreshness<Arc<SecuritySnapshot>>, Fault> {
        self.inner.snapshot(code, board).await
    }

    async fn securities(&self) -> Result<WithFreshness<Arc<Vec<Arc<Security>>>>, Fault> {
        self.inner.securities().await
    }
}

#[async_trait]
impl CandleSource for Moex {
    async fn candles(
        &self,
        request: &CandleRequest,
    ) -> Result<WithFreshness<Arc<SecurityCandles>>, Fault> {
        self.inner.candles(request).await
    }
}

#[async_trait]
impl IndexSource for Moex {
    async fn constituents(
        &self,
        index: &str,
        date: Date,
    ) -> Result<WithFreshness<Arc<IndexConstituents>>, Fault> {
        self.inner.constituents(index, date).await
    }

    async fn indices(&self) -> Result<WithFreshness<Vec<(String, Option<String>)>>, Fault> {
        self.inner.indices().await
    }
}

#[async_trait]
impl SecuritySearch for Moex {
    async fn search(
        &self,
        text: &str,
        limit: usize,
    ) -> Result<WithFreshness<Vec<SecurityMatch>>, Fault> {
        self.inner.search(text, limit).await
    }
}

#[async_trait]
impl DividendSource for Moex {
    async fn dividends(&self, code: &str) -> Result<WithFreshness<Arc<Vec<Dividend>>>, Fault> {
        self.inner.dividends(code).await
    }
}

#[async_trait]
impl TradingCalendar for Moex {
    async fn trading_days(
        &self,
        from: Date,
        to: Date,
    ) -> Result<WithFreshness<Vec<TradingDay>>, Fault> {
        self.inner.trading_days(from, to).await
    }
}

#[async_trait]
impl SplitSource for Moex {
    async fn splits(&self, code: Option<&str>) -> Result<WithFreshness<Vec<Split>>, Fault> {
        self.inner.splits(code).await
    }
}
