//! The rules for a SKU, a market or another name: a length limit, and no control characters.

use contract::Caller;
use fault::Fault;

/// The market of a call that names none.
pub(crate) const MARKET: &str = "DEFAULT";
const SKU_CHARS_MAX: usize = 200;
const MARKET_CHARS_MAX: usize = 64;

/// What was expected, if the text breaks the rules.
pub(crate) fn text_problem(text: &str, most: usize) -> Option<String> {
    let chars = text.chars().take(most + 1).count();
    if chars == 0 || chars > most || text.trim().is_empty() {
        return Some(format!("1 to {most} characters"));
    }
    let control = text.chars().any(char::is_control);
    control.then(|| "text without control characters".to_owned())
}

pub(crate) fn sku_problem(text: &str) -> Option<String> {
    text_problem(text, SKU_CHARS_MAX)
}

pub(crate) fn market_problem(text: &str) -> Option<String> {
    text_problem(text, MARKET_CHARS_MAX)
}

/// Refuses an invalid SKU or market, and one beyond the caller's limits.
pub(crate) fn require_sku_and_market(
    caller: &Caller,
    sku: &str,
    market: &str,
) -> Result<(), Fault> {
    caller.require_sku(sku)?;
    caller.require_market(market)?;
    let problems = [("sku", sku_problem(sku)), ("market", market_problem(market))];
    let problems = problems.into_iter().filter_map(|(field, it)| Some((field.to_owned(), it?)));
    invalid("", problems.collect())
}

/// Fails with a fault that names each wrong field below `at`.
pub(crate) fn invalid(at: &str, problems: Vec<(String, String)>) -> Result<(), Fault> {
    if problems.is_empty() {
        return Ok(());
    }
    let below =
        |field: &str| if at.is_empty() { field.to_owned() } else { format!("{at}.{field}") };
    let listed: Vec<String> = problems
        .iter()
        .map(|(field, expected)| format!("{}: expected {expected}", below(field)))
        .collect();
    let fault = Fault::invalid("invalid_input", format!("invalid input: {}", listed.join("; ")));
    let add =
        |fault: Fault, (field, expected): (String, String)| fault.problem(below(&field), expected);
    Err(problems.into_iter().fold(fault, add))
}
