//! Finds the constituents whose price moved so far that a split is likely, so that the movers of a
//! period are adjusted for splits without a history of every constituent.

use serde_json::Value;

use crate::resolve::Security;
use crate::tool_session::{Finding, PlannedCall, ToolSession};

/// A change beyond this many percent needs the list of splits: the smallest usual split, 3 to 2,
/// takes a third off the price.
const SUSPECT_PCT: f64 = 25.0;
/// Most constituents whose splits are looked up.
const SUSPECTS_MAX: usize = 25;

/// Runs the two basket calls of a question about movers and returns the suspects, the largest
/// changes first.
pub(super) async fn suspected_splits(
    steps: &[PlannedCall],
    tool_session: &ToolSession<'_>,
) -> Vec<Security> {
    let baskets: Vec<PlannedCall> = steps
        .iter()
        .filter(|it| it.tool == "get_index_constituents_metrics")
        .take(2)
        .cloned()
        .collect();
    let findings = tool_session.run(&baskets).await;
    let [now, then] = findings.as_slice() else { return Vec::new() };
    let mut suspects: Vec<(f64, String)> = prices(now)
        .filter_map(|(ticker, is)| {
            let was = prices(then).find(|it| it.0 == ticker)?.1;
            let size = (is / was).ln().abs();
            Some((size, ticker.to_owned()))
        })
        .filter(|it| it.0 > -(1.0 - SUSPECT_PCT / 100.0).ln())
        .collect();
    suspects.sort_by(|a, b| b.0.total_cmp(&a.0));
    let security = |(_, ticker): (f64, String)| Security { ticker, ..Security::default() };
    suspects.into_iter().take(SUSPECTS_MAX).map(security).collect()
}

/// Iterates over the tickers of a basket with their prices.
fn prices(finding: &Finding) -> impl Iterator<Item = (&str, f64)> {
    let rows = finding.at("/data").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let price = |row: &Value| row["last_price"].as_f64().filter(|it| *it > 0.0);
    rows.iter().filter_map(move |row| Some((row["ticker"].as_str()?, price(row)?)))
}
