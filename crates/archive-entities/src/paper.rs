//! What the paper itself is: its type, the words of its heading, and the rule by which its
//! deadlines are counted.

use archive_text::PageText;

use crate::chronology::CountingRule;
use crate::document_type;

/// How many bytes at the head of a paper are searched for its court.
const HEAD_BYTES: usize = 8_000;

/// The paper that is read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Paper {
    /// `order`, `judgment`, `letter`, as a summary names it.
    pub(crate) kind: Option<&'static str>,
    /// The line that shows the type, in lower case.
    heading: String,
    court: Option<CountingRule>,
    is_russian: bool,
}

impl Paper {
    pub(crate) fn of(pages: &[PageText<'_>]) -> Self {
        let found = document_type::of(pages);
        let span = found.as_ref().map(|it| it.span);
        let heading = span.and_then(|it| it.text_in(pages)).unwrap_or_default().to_lowercase();
        let heading = document_type::without_letter_spacing(&heading);
        let kind = found.map(|it| it.word);
        let mut head = String::new();
        for page in pages.iter().take(4) {
            let left = HEAD_BYTES.saturating_sub(head.len());
            head.extend(page.text.chars().take(left).flat_map(char::to_lowercase));
            head.push('\n');
        }
        let is_russian = head.chars().filter(|it| ('а'..='я').contains(it)).count() * 2
            > head.chars().filter(|it| it.is_alphabetic()).count();
        let private = matches!(kind, Some("letter" | "e-mail" | "contract" | "invoice"));
        let court = if private { None } else { court_rule(&head, is_russian) };
        Self { kind, heading, court, is_russian }
    }

    /// Whether the heading names this paper: `order` of `ORDER AND JUDGMENT`.
    pub(crate) fn is(&self, noun: &str) -> bool {
        let proposal = ["motion", "notice", "brief", "response", "petition", "proposed"];
        let other = proposal.iter().any(|it| *it != noun && self.heading.starts_with(it));
        let named = self
            .heading
            .split(|it: char| !it.is_alphabetic())
            .any(|it| if noun.is_ascii() { it == noun } else { it.starts_with(noun) });
        let known = match noun {
            "letter" => matches!(self.kind, Some("letter" | "e-mail")),
            "email" | "e-mail" => self.kind == Some("e-mail"),
            "agreement" | "contract" | "lease" | "договор" | "соглашени" => {
                self.kind == Some("contract")
            }
            "order" | "decision" | "ruling" => {
                matches!(self.kind, Some("order" | "opinion")) && self.court.is_some()
            }
            _ => false,
        };
        (named || known) && !other
    }

    /// The rule for a deadline of a court, or for one of a contract or a letter.
    pub(crate) fn rule(&self, procedural: bool) -> CountingRule {
        match self.court.filter(|_| procedural) {
            Some(rule) => rule,
            None if self.is_russian => CountingRule::RussianCivilCode,
            None => CountingRule::None,
        }
    }

    /// Whether the paper may decide something: an order, an opinion, a judgment, or a court's notice
    /// of one.
    pub(crate) fn decides(&self) -> bool {
        let act = ["order", "opinion", "judgment", "ruling", "award", "verdict", "decision"];
        self.kind.is_some_and(|it| act.contains(&it) || it == "e-mail" && !self.is_russian)
    }

    pub(crate) fn is_russian(&self) -> bool {
        self.is_russian
    }
}

fn court_rule(head: &str, is_russian: bool) -> Option<CountingRule> {
    let has = |list: &[&str]| list.iter().any(|it| head.contains(it));
    if is_russian {
        if has(&["правонарушени", "коап", "приговор", "уголовно", "упк рф"])
        {
            return has(&["суд"]).then_some(CountingRule::RussianCalendarDays);
        }
        return has(&["суд"]).then_some(CountingRule::RussianProcedure);
    }
    const FEDERAL: [&str; 8] = [
        "united states district court",
        "united states court of",
        "united states bankruptcy court",
        "u.s. district court",
        "supreme court of the united states",
        "united states tax court",
        "bankruptcy court",
        "u.s. bankruptcy court",
    ];
    // A heading may break its lines anywhere.
    let line: String = head.split_whitespace().collect::<Vec<_>>().join(" ");
    if FEDERAL.iter().any(|it| line.contains(it)) {
        return Some(CountingRule::FederalRules);
    }
    has(&["court", "tribunal", "board"]).then_some(CountingRule::StateRules)
}
