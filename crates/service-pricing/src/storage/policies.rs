//! The merchant's rules as they were set: for all products, for a category, for one product. The
//! rules in force for a product are the defaults, replaced by the rules of each of these in turn.

use clock::Millis;
use fault::Fault;
use pricing_engine::{Amount, Mode, Policy, Position, PriceEnding, Prior, Rate};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{Db, Tx, sql};

const MINUTE_MS: i64 = 60_000;

/// The rules of one policy; an absent rule comes from the more general policy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Rules {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mode: Option<Mode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_step: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cooldown_minutes: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hysteresis: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) map_price: Option<Amount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ending: Option<String>,
    /// Our price divided by the competitors' median, at least and at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) position_min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) position_max: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) elasticity_prior: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) explore: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) strict_step: Option<bool>,
}

/// Where rules apply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PolicyScope {
    Everything,
    Category(String),
    Sku(String),
}

impl PolicyScope {
    pub(crate) fn word(&self) -> String {
        match self {
            Self::Everything => "*".to_owned(),
            Self::Category(name) => format!("category:{name}"),
            Self::Sku(sku) => format!("sku:{sku}"),
        }
    }
}

impl Rules {
    /// These rules, and those of the more general policy where these are absent.
    fn over(self, other: Self) -> Self {
        Self {
            mode: self.mode.or(other.mode),
            max_step: self.max_step.or(other.max_step),
            cooldown_minutes: self.cooldown_minutes.or(other.cooldown_minutes),
            hysteresis: self.hysteresis.or(other.hysteresis),
            map_price: self.map_price.or(other.map_price),
            ending: self.ending.or(other.ending),
            position_min: self.position_min.or(other.position_min),
            position_max: self.position_max.or(other.position_max),
            elasticity_prior: self.elasticity_prior.or(other.elasticity_prior),
            explore: self.explore.or(other.explore),
            strict_step: self.strict_step.or(other.strict_step),
        }
    }

    /// The policy for `pricing-engine`, with its defaults for absent rules.
    pub(crate) fn policy(&self) -> Policy {
        let usual = Policy::default();
        let rate = |given: Option<f64>, usual| given.and_then(Rate::from_f64).unwrap_or(usual);
        let band = Position::ratios(usual.position).unwrap_or((Rate::ZERO, Rate::percent(1000)));
        Policy {
            mode: self.mode.unwrap_or(usual.mode),
            max_step: rate(self.max_step, usual.max_step),
            hysteresis: rate(self.hysteresis, usual.hysteresis),
            explore: rate(self.explore, usual.explore),
            strict_step: self.strict_step.unwrap_or(usual.strict_step),
            cooldown_ms: self.cooldown_minutes.map_or(usual.cooldown_ms, |it| it * MINUTE_MS),
            map_price: self.map_price,
            ending: self.ending.as_deref().and_then(ending).unwrap_or(usual.ending),
            position: Position::Band {
                min_ratio: rate(self.position_min, band.0),
                max_ratio: rate(self.position_max, band.1),
            },
            prior: Prior {
                mean: self.elasticity_prior.unwrap_or(usual.prior.mean),
                sd: usual.prior.sd,
            },
            ..usual
        }
    }
}

fn ending(word: &str) -> Option<PriceEnding> {
    let all =
        [PriceEnding::None, PriceEnding::NinetyNine, PriceEnding::NinetyFive, PriceEnding::Whole];
    all.into_iter().find(|it| it.word() == word)
}

/// The rules in force, and the policies they come from, the most general first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct EffectivePolicy {
    pub(crate) rules: Rules,
    pub(crate) from: Vec<String>,
}

pub(crate) async fn in_force(
    db: &Db,
    sku: Option<&str>,
    category: Option<&str>,
) -> Result<EffectivePolicy, Fault> {
    let layers = [
        Some(PolicyScope::Everything),
        category.map(|it| PolicyScope::Category(it.to_owned())),
        sku.map(|it| PolicyScope::Sku(it.to_owned())),
    ];
    let words: Vec<Option<String>> =
        layers.iter().map(|it| it.as_ref().map(PolicyScope::word)).collect();
    let statement =
        sql("SELECT applies_to, body FROM pricing_policy WHERE applies_to IN ($1, $2, $3)");
    let bound = words.iter().fold(statement, |it, word| it.bind(word.as_deref()));
    let mut found = EffectivePolicy::default();
    let rows = db.fetch_all(bound).await?;
    for word in words.into_iter().flatten() {
        for row in &rows {
            if row.text_ref(0)? == word {
                let rules: Rules =
                    serde_json::from_str(row.text_ref(1)?).map_err(Fault::internal)?;
                found.rules = rules.over(found.rules);
                found.from.push(word.clone());
            }
        }
    }
    Ok(found)
}

/// The stored rules of this scope with these changes: null removes a rule, so that the more general
/// policy applies, and a rule that is not named stays.
pub(crate) async fn changed(
    (db, tx): (&Db, &mut Tx),
    scope: &PolicyScope,
    changes: Map<String, Value>,
) -> Result<Rules, Fault> {
    let statement = sql(db.choose(
        "SELECT body FROM pricing_policy WHERE applies_to = $1",
        "SELECT body FROM pricing_policy WHERE applies_to = $1 FOR UPDATE",
    ));
    let mut rules: Map<String, Value> =
        match tx.fetch_optional(statement.bind(scope.word())).await? {
            Some(row) => serde_json::from_str(row.text_ref(0)?).map_err(Fault::internal)?,
            None => Map::new(),
        };
    rules.extend(changes);
    rules.retain(|_, rule| !rule.is_null());
    serde_json::from_value(Value::Object(rules)).map_err(|_| {
        Fault::invalid("invalid_input", "policy: expected rules as the schema has them")
    })
}

/// Replaces the stored rules of this scope.
pub(crate) async fn set(
    tx: &mut Tx,
    scope: &PolicyScope,
    rules: &Rules,
    (by, now): (&str, Millis),
) -> Result<(), Fault> {
    let statement = sql("INSERT INTO pricing_policy (applies_to, body, updated_ms, by_subject)
         VALUES ($1, $2, $3, $4)
         ON CONFLICT (applies_to) DO UPDATE SET body = excluded.body,
             updated_ms = excluded.updated_ms, by_subject = excluded.by_subject");
    let body = serde_json::to_string(rules).map_err(Fault::internal)?;
    tx.execute(statement.bind(scope.word()).bind(body).bind(now.0).bind(by)).await.map(drop)
}
