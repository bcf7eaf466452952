//! Competitors' own pages and feeds, at the addresses that the catalogue has in a product's
//! `sources`. One page is one batch; a page that fails does not stop the others.

mod fetch;
mod offers;
mod robots;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use clock::Clock;
use fault::Fault;

pub(crate) use crate::connectors::http::fetch::FetchPolicy;
use crate::connectors::http::fetch::Fetcher;
use crate::connectors::http::offers::Offer;
use crate::connectors::{CollectedBatch, CollectionRequest, Connector, SourceStatus};
use crate::storage::products::Product;
use crate::storage::ticks::{Tick, TickOrigin};

pub(crate) struct Pages {
    /// `None` if the HTTP client could not be built; the other connectors work without it.
    fetcher: Option<Fetcher>,
    clock: Arc<dyn Clock>,
}

impl FetchPolicy {
    pub(crate) fn defaults(private: bool) -> Self {
        Self { private, pause: Duration::from_secs(1), timeout: Duration::from_secs(10) }
    }
}

impl Pages {
    pub(crate) fn new(fetch_policy: FetchPolicy, clock: Arc<dyn Clock>) -> Self {
        let fetcher = Fetcher::new(fetch_policy);
        if let Err(fault) = &fetcher {
            let cause = std::error::Error::source(fault).map(ToString::to_string);
            tracing::error!(cause, "the http connector could not be set up");
        }
        Self { fetcher: fetcher.ok(), clock }
    }

    fn fetcher(&self) -> Result<&Fetcher, Fault> {
        let broken = || Fault::unavailable("no_client", "the HTTP client could not be set up");
        self.fetcher.as_ref().ok_or_else(broken)
    }
}

#[async_trait]
impl Connector for Pages {
    fn name(&self) -> &'static str {
        "http"
    }

    fn kind(&self) -> &'static str {
        "web_scraper"
    }

    fn description(&self) -> &'static str {
        "Product pages and JSON feeds at the addresses in a product's sources"
    }

    async fn status(&self) -> SourceStatus {
        match self.fetcher() {
            Ok(_) => SourceStatus::AsLastSeen,
            Err(fault) => SourceStatus::Broken(fault.message().to_owned()),
        }
    }

    async fn batch_keys(&self, request: &CollectionRequest) -> Result<Vec<String>, Fault> {
        let Some(product) = &request.product else {
            return Err(missing(format!("{:?} is not in the catalogue", request.sku)));
        };
        if product.price.is_none() {
            return Err(missing(format!("the catalogue has no price for {:?}", request.sku)));
        }
        if product.sources.is_empty() {
            return Err(missing(format!("the catalogue has no sources for {:?}", request.sku)));
        }
        Ok(product.sources.iter().take(request.depth as usize).cloned().collect())
    }

    async fn fetch_batch(
        &self,
        request: &CollectionRequest,
        batch_key: &str,
    ) -> Result<CollectedBatch, Fault> {
        let mut batch = CollectedBatch::default();
        match self.fetcher()?.page(batch_key).await {
            Ok(text) => {
                let offers = offers::read(&text, &request.sku);
                if offers.is_empty() {
                    batch.problems.add(format!("{}: no price was found there", shown(batch_key)));
                }
                for offer in offers {
                    self.take(request, batch_key, offer, &mut batch);
                }
            }
            Err(why) => batch.problems.add(format!("{}: {why}", shown(batch_key))),
        }
        Ok(batch)
    }
}

impl Pages {
    fn take(
        &self,
        request: &CollectionRequest,
        batch_key: &str,
        offer: Offer,
        batch: &mut CollectedBatch,
    ) {
        let Some(Product { price: Some(our_price), currency, .. }) = &request.product else {
            return;
        };
        if let (Some(ours), Some(theirs)) = (currency, &offer.currency)
            && !ours.eq_ignore_ascii_case(theirs)
        {
            let listed = format!("{}: a price in another currency than {ours}", shown(batch_key));
            return batch.problems.add(listed);
        }
        batch.ticks.push(Tick {
            sku: request.sku.clone(),
            market: request.market.clone(),
            at: self.clock.now(),
            our_price: *our_price,
            competitor: Some(offer.seller.unwrap_or_else(|| host(batch_key))),
            competitor_price: offer.price,
            demand_index: None,
            units: None,
            in_stock: offer.in_stock,
            source: "http".to_owned(),
            origin: TickOrigin::Observed,
        });
    }
}

fn missing(message: String) -> Fault {
    Fault::invalid("nothing_to_ask", message)
}

/// An address for a problem, at most 200 characters; its query may hold a secret and is not shown.
fn shown(address: &str) -> String {
    let plain = address.split(['?', '#']).next().unwrap_or_default();
    plain.chars().take(200).collect()
}

/// The host of an address, which names a seller without a name.
fn host(address: &str) -> String {
    let url = reqwest::Url::parse(address).ok();
    url.and_then(|it| it.host_str().map(str::to_owned)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
