//! What the reader must be told about how a question was read.

/// One remark; the writer has the words for it.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    /// The dates were given the wrong way round.
    Reversed,
    /// Part of what was asked for is yet to come.
    Future,
    /// There is no such day.
    NoSuchDay(String),
    /// The tools give ten years at most.
    TenYears,
    /// A day or two are too few for what was asked; a longer period was taken.
    Widened,
    /// The issuer has preferred shares as well: the ticker taken, and the other one.
    Preferred(String, String),
    /// The issuer of this ticker has no preferred shares.
    NoPreferred(String),
    /// Names beyond those that were looked at.
    TooMany(usize),
    /// Shares that do not make a whole were brought to one.
    Rescaled,
    /// What is left was given to those without a share.
    RestShared(Vec<String>),
    /// Nothing was left for these.
    NothingLeft(Vec<String>),
    /// Short positions, which are not computed.
    Shorts(Vec<String>),
    /// The whole is of the securities that were found.
    WithoutUnknown,
    /// Shares are from numbers of pieces and last prices.
    FromPieces,
    /// Shares are from amounts of money.
    FromMoney,
    /// Numbers of pieces without a price cannot be weighed.
    NoPrices,
    /// Shares are given in units that do not go together.
    Mixed,
    /// Numbers without a unit were taken for parts of the whole.
    AsParts,
    /// Minutes and hours were asked for; the data is of days.
    DaysOnly,
    /// Another currency was asked for.
    OneCurrency,
    /// An order was given; there is nobody here to carry it out.
    NoOrders,
    /// The composition of the index of the largest companies could not be had.
    NoBlueChips,
}
