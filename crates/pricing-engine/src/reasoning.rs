//! Builds the paragraph that explains a proposal, from the factors and guardrails that acted.

use crate::elasticity::{Elasticity, EstimateQuality};
use crate::guardrails::GuardrailAct;
use crate::money::{Amount, percent};
use crate::outliers::{Market, span};
use crate::pricing_input::PricingInput;
use crate::propose::Proposal;

pub(crate) fn paragraph(proposal: &Proposal, input: &PricingInput) -> String {
    let mut parts = vec![headline(input, proposal.price)];
    if input.simulated {
        parts.push("Simulated prices took part: they were never seen in a shop.".to_owned());
    }
    parts.push(aim(proposal, input));
    parts.push(elasticity(&proposal.elasticity));
    parts.push(competitors(&proposal.market));
    parts.extend(proposal.factors.iter().filter_map(|it| match it.name.as_str() {
        "caution" | "exploration" | "demand_index" | "competitors_follow"
            if it.effect != Amount::ZERO =>
        {
            Some(format!("{} ({}).", capital(&it.input), it.effect.signed()))
        }
        _ => None,
    }));
    parts.extend(proposal.acted.iter().filter(|it| it.name != "outliers").map(guardrail));
    parts.push(outcome(proposal, input));
    parts.retain(|it| !it.is_empty());
    parts.join(" ")
}

fn headline(input: &PricingInput, price: Amount) -> String {
    let change = price.less(input.our_price);
    let share = percent(change.to_f64().abs() / input.our_price.to_f64());
    match change.micros() {
        0 => format!("Keep {} at {price}.", input.sku),
        1.. => format!("Raise {} from {} to {price} (+{share}).", input.sku, input.our_price),
        _ => format!("Lower {} from {} to {price} (-{share}).", input.sku, input.our_price),
    }
}

fn aim(proposal: &Proposal, input: &PricingInput) -> String {
    let Some(cost) = input.cost else {
        return if proposal.held {
            "The cost is unknown and neither a competitor nor a lowest price is given, so there is \
             nothing to weigh a change against."
                .to_owned()
        } else {
            "The cost is unknown, so this aims at revenue between the limits and not at profit, \
             and no margin can be promised."
                .to_owned()
        };
    };
    match proposal.best {
        Some(best) => format!("At a cost of {cost} the highest expected profit lies at {best}."),
        None => String::new(),
    }
}

fn elasticity(it: &Elasticity) -> String {
    let interval = format!("{:.1} (95% between {:.1} and {:.1})", it.mean, it.low, it.high);
    let basis = match it.verdict {
        EstimateQuality::Estimated => format!("estimated from {} periods", it.samples),
        EstimateQuality::TooLittleData => format!(
            "mostly assumed for the category, because {} periods at {} prices are too little data",
            it.samples, it.distinct_prices
        ),
        EstimateQuality::PriceNeverMoved => format!(
            "assumed for the category, because the price never moved in {} periods",
            it.samples
        ),
        EstimateQuality::NoHistory => {
            "assumed for the category, because there is no history".to_owned()
        }
    };
    format!("The elasticity of demand is {interval}, {basis}.")
}

fn competitors(market: &Market) -> String {
    let mut text = match (market.median, market.age_ms) {
        (Some(median), Some(age)) if market.used == 1 => {
            format!("One competitor asks {median}, seen {}.", ago(age))
        }
        (Some(median), Some(age)) => format!(
            "The median of {} competitors is {median}, the freshest seen {}.",
            market.used,
            ago(age)
        ),
        _ => "No competitor's price counts.".to_owned(),
    };
    match market.set_aside_count {
        0 => {}
        1 => text.push_str(" One competitor price was set aside."),
        more => text.push_str(&format!(" {more} competitor prices were set aside.")),
    }
    text
}

fn ago(age_ms: i64) -> String {
    if age_ms < 60_000 { "just now".to_owned() } else { format!("{} ago", span(age_ms)) }
}

fn guardrail(act: &GuardrailAct) -> String {
    let name = act.name.replace('_', " ");
    if act.before == act.after {
        format!("{}: {}.", capital(&name), act.why)
    } else {
        format!("{} moved it from {} to {}: {}.", capital(&name), act.before, act.after, act.why)
    }
}

fn outcome(proposal: &Proposal, input: &PricingInput) -> String {
    if proposal.price == input.our_price {
        return String::new();
    }
    let outlook = &proposal.outlook;
    let mut parts = vec![format!("units {}", change(outlook.units_ratio))];
    parts.push(format!("revenue {}", change(outlook.revenue_ratio)));
    if let (Some(ratio), Some((low, high))) = (outlook.profit_ratio, outlook.profit_range) {
        let range = format!("95% between {} and {}", change(low), change(high));
        parts.push(format!("gross profit {} ({range})", change(ratio)));
    }
    format!("Expected: {}.", parts.join(", "))
}

/// Formats a ratio with as few digits as its precision allows.
fn change(ratio: f64) -> String {
    let percent = (100.0 * (ratio - 1.0)).round();
    // Adding zero turns a minus zero into a plain one.
    format!("{:+}%", percent + 0.0)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}
