//! The parts of a citation. Every text field is a slice of the text it was found in.

/// The form of a citation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum CitationKind {
    /// `Roe v. Wade, 410 U.S. 113 (1973)`
    FullCase,
    /// A citation without a publisher: `2020 UT 5`, `2012-Ohio-418`.
    PublicDomain,
    /// `Roe, 410 U.S. at 120`
    ShortCase,
    /// `Id. at 5`, `Ibid.`, `там же`
    Id,
    /// `Roe, supra, at 120`
    Supra,
    /// A name known from a full citation: `Roe at 120`.
    Reference,
    /// `42 U.S.C. § 1983`, `ст. 15 ГК РФ`
    Statute,
    /// `45 C.F.R. § 164.512`, `Постановление Правительства РФ от … № …`
    Regulation,
    /// `31 Minn. L. Rev. 88`
    Journal,
    /// An act of a court named by its date and number, as Russian courts cite.
    Decision,
    /// The number of a case: `дело № А40-12345/2020`.
    Docket,
    /// A section of a law that is not named: `§ 12`.
    Section,
}

/// A byte range of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

impl Span {
    /// The bytes `start..end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Whether the other lies wholly within this one.
    #[must_use]
    pub fn holds(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// One citation with its case name, pin cite, date and parenthetical.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Citation<'t> {
    /// The form.
    pub kind: CitationKind,
    /// The citation itself: volume, reporter and page; `Id.`; the article and its code.
    pub span: Span,
    /// With the name of the case before it and the pin cite, date and parentheticals after it.
    pub full_span: Span,
    /// `span` of the text.
    pub text: &'t str,
    /// The volume of the reporter.
    pub volume: Option<&'t str>,
    /// The reporter as the text writes it.
    pub reporter: Option<&'t str>,
    /// The standard abbreviation of the one edition that the reporter and the year allow.
    pub edition: Option<&'static str>,
    /// `None` where a blank stands for a page that is not known yet.
    pub page: Option<&'t str>,
    /// Title, chapter, act or pamphlet of a law.
    pub title: Option<&'t str>,
    /// Section or article of a law.
    pub section: Option<&'t str>,
    /// Number of a law, of a decision or of a case.
    pub number: Option<&'t str>,
    /// The page or paragraph within the source: `at 120`, `(a)(2)`.
    pub pin_cite: Option<&'t str>,
    /// The day as it is written, where it says more than the year.
    pub date: Option<&'t str>,
    /// The year of the decision or of the edition.
    pub year: Option<u16>,
    /// The identifier that public tables give the court, `ca5` or `mich`.
    pub court: Option<&'static str>,
    /// The first party of the case name.
    pub plaintiff: Option<&'t str>,
    /// The other party, or the only one of `In re …`.
    pub defendant: Option<&'t str>,
    /// A name before a citation that is not the name of both parties.
    pub antecedent: Option<&'t str>,
    /// The first explanation after the citation, without its brackets.
    pub parenthetical: Option<&'t str>,
    /// Who printed the law: `West`.
    pub publisher: Option<&'t str>,
    /// The index of the citation that this one is parallel to: the same decision, cited in another
    /// reporter directly before.
    pub parallel_to: Option<usize>,
}

impl<'t> Citation<'t> {
    pub(crate) fn new(kind: CitationKind, text: &'t str, start: usize, end: usize) -> Self {
        let span = Span::new(start, end);
        Self {
            kind,
            span,
            full_span: span,
            text: text.get(start..end).unwrap_or_default(),
            volume: None,
            reporter: None,
            edition: None,
            page: None,
            title: None,
            section: None,
            number: None,
            pin_cite: None,
            date: None,
            year: None,
            court: None,
            plaintiff: None,
            defendant: None,
            antecedent: None,
            parenthetical: None,
            publisher: None,
            parallel_to: None,
        }
    }

    /// Every part that is a slice of the text.
    pub fn text_parts(&self) -> impl Iterator<Item = &'t str> + use<'t> {
        let all = [
            self.volume,
            self.reporter,
            self.page,
            self.title,
            self.section,
            self.number,
            self.pin_cite,
            self.date,
            self.plaintiff,
            self.defendant,
            self.antecedent,
            self.parenthetical,
            self.publisher,
        ];
        all.into_iter().flatten()
    }

    /// Whether it names a decision by itself.
    #[must_use]
    pub fn is_full_case(&self) -> bool {
        matches!(self.kind, CitationKind::FullCase | CitationKind::PublicDomain)
    }

    /// Whether it names its source by itself, so that short forms may refer to it.
    #[must_use]
    pub fn is_full(&self) -> bool {
        !matches!(
            self.kind,
            CitationKind::ShortCase
                | CitationKind::Id
                | CitationKind::Supra
                | CitationKind::Reference
        )
    }

    /// The standard abbreviation of the reporter, else the reporter as the text writes it.
    #[must_use]
    pub fn source(&self) -> Option<&str> {
        self.edition.or(self.reporter)
    }
}

/// Converts byte positions to character positions. It walks the text once when the positions
/// rise.
#[derive(Debug)]
pub struct CharPositions<'t> {
    text: &'t str,
    byte: usize,
    chars: usize,
}

impl<'t> CharPositions<'t> {
    /// Starts at the first byte of the text.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        Self { text, byte: 0, chars: 0 }
    }

    /// The number of characters before the byte; a byte after the end counts as the end.
    pub fn at(&mut self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        if byte < self.byte {
            (self.byte, self.chars) = (0, 0);
        }
        let passed = self.text.as_bytes().get(self.byte..byte).unwrap_or_default();
        self.chars += passed.iter().filter(|it| (**it & 0xc0) != 0x80).count();
        self.byte = byte;
        self.chars
    }

    /// Converts a byte span to a character span.
    pub fn span(&mut self, span: Span) -> Span {
        Span::new(self.at(span.start), self.at(span.end))
    }
}
