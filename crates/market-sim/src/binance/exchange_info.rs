//! `GET /api/v3/exchangeInfo`: the listed pairs and their filters.

use clock::Millis;
use serde_json::{Value, json};

use super::errors::ApiError;
use super::params::{Params, legal_symbol};
use super::text::scaled;
use crate::instruments::{Instrument, Instruments};

pub(crate) fn answer(
    instruments: &Instruments,
    now: Millis,
    weight_limit: u32,
    params: &Params,
) -> Result<String, ApiError> {
    let (one, many) = (params.optional("symbol")?, params.symbols()?);
    let status = params.optional("symbolStatus")?;
    let permissions = params.optional("permissions")?;
    let with_sets = match params.optional("showPermissionSets")? {
        None | Some("true") => true,
        Some("false") => false,
        Some(_) => return Err(ApiError::invalid_data("showPermissionSets")),
    };
    params.all_read()?;
    let named = one.is_some() || many.is_some();
    if (one.is_some() && many.is_some()) || (named && (status.is_some() || permissions.is_some())) {
        return Err(ApiError::combination());
    }
    let find = |symbol: &str| instruments.find(symbol, now).ok_or_else(ApiError::invalid_symbol);
    let pairs: Vec<&Instrument> = match (one, many) {
        (Some(symbol), _) => vec![find(legal_symbol(symbol)?)?],
        (None, Some(symbols)) => {
            symbols.iter().map(|symbol| find(symbol)).collect::<Result<_, _>>()?
        }
        (None, None) => instruments
            .listed_at(now)
            .filter(|pair| status.is_none_or(|status| pair.status_at(now) == status))
            .collect(),
    };
    let symbols: Vec<Value> = pairs.iter().map(|pair| describe(pair, now, with_sets)).collect();
    let answer = json!({
        "timezone": "UTC",
        "serverTime": now.0,
        "rateLimits": [
            rate_limit("REQUEST_WEIGHT", "MINUTE", 1, weight_limit),
            rate_limit("ORDERS", "SECOND", 10, 100),
            rate_limit("ORDERS", "DAY", 1, 200_000),
            rate_limit("RAW_REQUESTS", "MINUTE", 5, 300_000),
        ],
        "exchangeFilters": [],
        "symbols": symbols,
    });
    Ok(answer.to_string())
}

fn rate_limit(kind: &str, interval: &str, count: u32, limit: u32) -> Value {
    json!({"rateLimitType": kind, "interval": interval, "intervalNum": count, "limit": limit})
}

fn describe(pair: &Instrument, now: Millis, with_sets: bool) -> Value {
    let tick = scaled(1, pair.price_scale);
    let step = scaled(1, pair.volume_scale);
    let sets = if with_sets { json!([["SPOT", "MARGIN"]]) } else { json!([]) };
    json!({
        "symbol": pair.symbol,
        "status": pair.status_at(now),
        "baseAsset": pair.base.name,
        "baseAssetPrecision": 8,
        "quoteAsset": pair.quote.name,
        "quotePrecision": 8,
        "quoteAssetPrecision": 8,
        "baseCommissionPrecision": 8,
        "quoteCommissionPrecision": 8,
        "orderTypes": ["LIMIT", "LIMIT_MAKER", "MARKET", "STOP_LOSS_LIMIT", "TAKE_PROFIT_LIMIT"],
        "icebergAllowed": true,
        "ocoAllowed": true,
        "otoAllowed": true,
        "quoteOrderQtyMarketAllowed": true,
        "allowTrailingStop": true,
        "cancelReplaceAllowed": true,
        "isSpotTradingAllowed": true,
        "isMarginTradingAllowed": true,
        "filters": [
            {
                "filterType": "PRICE_FILTER",
                "minPrice": tick,
                "maxPrice": "1000000.00000000",
                "tickSize": tick,
            },
            {
                "filterType": "LOT_SIZE",
                "minQty": step,
                "maxQty": "9000000000.00000000",
                "stepSize": step,
            },
            {"filterType": "ICEBERG_PARTS", "limit": 10},
            {
                "filterType": "NOTIONAL",
                "minNotional": "5.00000000",
                "applyMinToMarket": true,
                "maxNotional": "9000000.00000000",
                "applyMaxToMarket": false,
                "avgPriceMins": 5,
            },
            {"filterType": "MAX_NUM_ORDERS", "maxNumOrders": 200},
            {"filterType": "MAX_NUM_ALGO_ORDERS", "maxNumAlgoOrders": 5},
        ],
        "permissions": [],
        "permissionSets": sets,
        "defaultSelfTradePreventionMode": "EXPIRE_MAKER",
        "allowedSelfTradePreventionModes": ["EXPIRE_TAKER", "EXPIRE_MAKER", "EXPIRE_BOTH"],
    })
}
