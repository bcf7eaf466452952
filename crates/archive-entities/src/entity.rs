//! The entity types: people, organisations, courts, case numbers and sums. The rules are in other
//! modules.

use archive_text::TextSpan;

/// Words of the document with their position; the page's text at `span` always equals `quote`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mention<'t> {
    pub span: TextSpan,
    pub quote: &'t str,
}

/// The kind of evidence for a match.
///
/// At least the share `confidence` of the matches with one ground is right: a test on generated
/// documents measures each ground and fails below that share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ground {
    /// Only the shape of the words: capitals, a year alone.
    Shape,
    /// The position on the page: a caption, a signature, the head of a letter.
    Layout,
    /// A word beside it that names its role: `Plaintiff Jane Roe`, `Hon.`, `судья`.
    Label,
    /// A form that hardly allows another reading: `2:24-cv-01234`, `(P12345)`, `$5,000`.
    Form,
}

impl Ground {
    #[must_use]
    pub fn confidence(self) -> f64 {
        match self {
            Self::Shape => 0.6,
            Self::Layout => 0.8,
            Self::Label => 0.9,
            Self::Form => 0.95,
        }
    }
}

/// What an entity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntityKind {
    Person,
    Organisation,
    Court,
    CaseNumber,
    Money,
}

/// The role of a person or an organisation in the case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    Plaintiff,
    Defendant,
    Appellant,
    Appellee,
    Petitioner,
    Respondent,
    Intervenor,
    ThirdParty,
    Amicus,
    Debtor,
    /// The person or thing that a matter is about: `In re Roe`.
    Subject,
    /// A party to the agreement that the document itself is.
    Contracting,
    Attorney,
    Judge,
    Sender,
    Recipient,
}

impl Role {
    /// Whether the role is that of a party: not an attorney, a judge, a sender or a recipient.
    #[must_use]
    pub fn is_party(self) -> bool {
        !matches!(self, Self::Attorney | Self::Judge | Self::Sender | Self::Recipient)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Currency {
    Usd,
    Eur,
    Gbp,
    Rub,
}

/// A sum, in hundredths of its currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Money {
    pub currency: Currency,
    pub cents: u64,
}

/// One person or thing with all its mentions.
#[derive(Debug, Clone, PartialEq)]
pub struct Entity<'t> {
    pub kind: EntityKind,
    /// The longest form in which it was found, with single spaces.
    pub name: String,
    /// The key that all its mentions share: lower case, no titles, no points.
    pub key: String,
    /// Sorted, without repeats.
    pub roles: Vec<Role>,
    /// The sides that an attorney represents.
    pub represents: Vec<Role>,
    /// Whether it is a court that the text names only as the one whose decision is under review.
    pub is_reviewed: bool,
    /// `P12345`
    pub bar_number: Option<String>,
    pub money: Option<Money>,
    /// In the order of the document, at most [`crate::MENTIONS_MAX`].
    pub mentions: Vec<Mention<'t>>,
    /// The number of all mentions, listed or not.
    pub mention_count: usize,
    /// The best of its mentions' grounds.
    pub ground: Ground,
}

impl Entity<'_> {
    #[must_use]
    pub fn confidence(&self) -> f64 {
        self.ground.confidence()
    }

    #[must_use]
    pub fn is_party(&self) -> bool {
        self.roles.iter().any(|it| it.is_party())
    }
}
