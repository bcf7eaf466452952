//! Notes for the reader about how a question was interpreted.

/// One note; `write::talk` has its wording.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    /// The question gave the dates in reverse order.
    Reversed,
    /// A part of the requested period is in the future.
    Future,
    /// The date does not exist.
    NoSuchDay(String),
    /// The tools return ten years at most.
    TenYears,
    /// The period was too short for the request, so a longer one was used.
    Widened,
    /// The issuer also has preferred shares: the ticker used, and the other ticker.
    Preferred(String, String),
    /// The issuer of this ticker has no preferred shares.
    NoPreferred(String),
    /// Number of names that were ignored because there were too many.
    TooMany(usize),
    /// The weights did not sum to 100 % and were rescaled.
    Rescaled,
    /// The remaining weight was split among these securities, which had none.
    RestShared(Vec<String>),
    /// No weight remained for these securities.
    NothingLeft(Vec<String>),
    /// These positions are short, and short positions are not supported.
    Shorts(Vec<String>),
    /// The weights cover only the securities that were found.
    WithoutUnknown,
    /// The weights come from share counts and last prices.
    FromPieces,
    /// The weights come from amounts of money.
    FromMoney,
    /// Share counts could not become weights because prices were missing.
    NoPrices,
    /// The amounts have units that cannot be combined.
    Mixed,
    /// Numbers without a unit were read as proportions.
    AsParts,
    /// The question asked for minutes or hours, but the data is daily.
    DaysOnly,
    /// The question asked for another currency.
    OneCurrency,
    /// The message was a trading order, which the analyst does not execute.
    NoOrders,
    /// The subject is not served; the name of its sentence.
    Topic(&'static str),
    /// The constituents of the index of the largest companies were unavailable.
    NoBlueChips,
}
