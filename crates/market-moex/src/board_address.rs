//! The address of a board in ISS paths (engine, market, board), and the fault for unknown codes.

use fault::Fault;
use market::closest_codes;

use crate::listing::Board;

/// The board where shares are traded.
pub(crate) const MAIN_BOARD: &str = "TQBR";
const SUGGESTIONS_MAX: usize = 3;
/// The most bytes of a code or board name; the exchange's are shorter.
const NAME_MAX: usize = 36;

/// A board with the engine and market it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct BoardAddress {
    pub(crate) engine: String,
    pub(crate) market: String,
    pub(crate) board: String,
}

impl BoardAddress {
    fn new(engine: &str, market: &str, board: &str) -> Self {
        Self { engine: engine.to_owned(), market: market.to_owned(), board: board.to_owned() }
    }

    pub(crate) fn main() -> Self {
        Self::new("stock", "shares", MAIN_BOARD)
    }

    /// An address from the exchange's words; `None` when one of them is not plain enough for a
    /// path.
    pub(crate) fn checked(engine: &str, market: &str, board: &str) -> Option<Self> {
        let plain = [engine, market, board].into_iter().all(is_plain);
        plain.then(|| Self::new(engine, market, board))
    }

    /// Whether it is a board of indices: their values are published without delay, prices are not.
    pub(crate) fn is_index(&self) -> bool {
        self.market == "index"
    }

    pub(crate) fn path(&self) -> String {
        format!("engines/{}/markets/{}/boards/{}", self.engine, self.market, self.board)
    }
}

/// Whether the name can be a code or board and needs no encoding in a path.
pub(crate) fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=NAME_MAX).contains(&name.len())
        && name.bytes().all(plain)
        && name.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

/// The fault for an unknown code, with suggestions from the main board.
pub(crate) fn unknown(code: &str, board: Option<&Board>) -> Fault {
    let shown: String = code.chars().take(40).collect();
    let mut message = format!("ticker {shown:?} is not known to the Moscow Exchange");
    let close_codes = board.map(|board| suggestions(code, board)).unwrap_or_default();
    if !close_codes.is_empty() {
        message = format!("{message}; did you mean {}?", close_codes.join(", "));
    }
    Fault::not_found("unknown_symbol", message)
}

/// Codes whose name starts with the text, then codes with a small edit distance to it.
fn suggestions<'a>(text: &str, board: &'a Board) -> Vec<&'a str> {
    let lower = text.to_lowercase();
    let begins = |name: &str| lower.chars().count() >= 3 && name.to_lowercase().starts_with(&lower);
    let mut codes: Vec<&str> = board
        .securities
        .iter()
        .filter(|it| begins(&it.short_name) || it.latin_name.as_deref().is_some_and(begins))
        .map(|it| it.code.as_str())
        .collect();
    // A single letter is close to too many codes.
    let near = if text.chars().count() < 2 { 0 } else { SUGGESTIONS_MAX };
    let known = board.securities.iter().map(|it| it.code.as_str());
    for code in closest_codes(&text.to_uppercase(), known, near) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    codes.truncate(SUGGESTIONS_MAX);
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_become_part_of_a_path() {
        for name in ["SBER", "SBERP", "RU000A0JX0J2", "USD000UTSTOM", "SiH5", "IMOEX2", "A-B_C.D"] {
            assert!(is_plain(name), "{name}");
        }
        let long = "A".repeat(37);
        for name in ["", ".", "..", "A/B", "A?x=1", "A B", "СБЕР", "A%2F", "A#", &long] {
            assert!(!is_plain(name), "{name}");
        }
    }

    #[test]
    fn an_address_is_a_path_of_plain_names() {
        assert_eq!(BoardAddress::main().path(), "engines/stock/markets/shares/boards/TQBR");
        let index = BoardAddress::checked("stock", "index", "SNDX").unwrap();
        assert_eq!(index.path(), "engines/stock/markets/index/boards/SNDX");
        assert!(index.is_index() && !BoardAddress::main().is_index());
        assert_eq!(BoardAddress::checked("stock", "../x", "TQBR"), None);
    }
}
