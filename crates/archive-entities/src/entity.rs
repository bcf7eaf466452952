//! The entity types: people, organisations, courts, case numbers and sums. No rules live here.

use archive_text::TextSpan;

/// Words of the document with their position: the page's text at `span` is `quote`, always.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mention<'t> {
    pub span: TextSpan,
    pub quote: &'t str,
}

/// What a match rests on.
///
/// At least the share `confidence` of the matches on a ground is right: a test on generated documents
/// measures each ground and fails below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ground {
    /// Only the shape of the words speaks for it: capitals, a year alone.
    Shape,
    /// The place on the page does: a caption, a signature, the head of a letter.
    Layout,
    /// A word beside it says what it is: `Plaintiff Jane Roe`, `Hon.`, `судья`.
    Label,
    /// The writing hardly admits another reading: `2:24-cv-01234`, `(P12345)`, `$5,000`.
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

    /// The confidence in words.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Shape => "only its shape speaks for it; at least 6 of 10 such findings are right",
            Self::Layout => "its place on the page speaks for it; at least 8 of 10 are right",
            Self::Label => "a word beside it says what it is; at least 9 of 10 are right",
            Self::Form => "it is written in a form of its own; at least 19 of 20 are right",
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
    /// Whom a matter is about: `In re Roe`.
    Subject,
    /// A side of the agreement that the document is.
    Contracting,
    Attorney,
    Judge,
    Sender,
    Recipient,
}

impl Role {
    /// Whether it is a side of the case: not an attorney, a judge, a sender or a recipient.
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

/// One person or thing, however often it is named.
#[derive(Debug, Clone, PartialEq)]
pub struct Entity<'t> {
    pub kind: EntityKind,
    /// The fullest form it was found in, spaces evened out.
    pub name: String,
    /// What mentions of the same have in common: lower case, no titles, no points.
    pub key: String,
    /// Sorted, without repeats.
    pub roles: Vec<Role>,
    /// Whom an attorney speaks for.
    pub represents: Vec<Role>,
    /// `P12345`
    pub bar_number: Option<String>,
    pub money: Option<Money>,
    /// In the order of the document, at most [`crate::MENTIONS_MAX`].
    pub mentions: Vec<Mention<'t>>,
    /// How many there were, with those left out.
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
