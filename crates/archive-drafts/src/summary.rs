//! The draft of the summary: document type, court, case number, parties, judges, attorneys, date,
//! authorities and deadlines, quoted from the document.

use archive_entities::document_type::{self, DocumentType};
use archive_entities::{CaseEvent, EntityKind, Ground, Role};
use archive_text::{PageText, TextSpan};
use serde_json::{Value, json};

use crate::builder::DraftBuilder;
use crate::draft::Category;
use crate::entity::{FileEntities, FileEntity};
use crate::timeline::shown;
use crate::wording::{and_list, clipped, in_one_line, in_ordinary_case, quoted, title};

/// The most names of one kind that the summary lists; all are counted.
const LISTED_MAX: usize = 8;
/// How many bytes of the first line are quoted if the document type is not known.
const OPENING_BYTES: usize = 240;

/// The facts that the summary is made from.
pub(crate) struct SummaryInput<'a, 't> {
    pub(crate) pages: &'a [PageText<'t>],
    /// Pages of the file itself, without its attachments.
    pub(crate) own: usize,
    pub(crate) names: &'a FileEntities<'t>,
    /// The event of the document's own date.
    pub(crate) dated: Option<CaseEvent<'t>>,
    pub(crate) authorities: &'a [DraftBuilder],
    pub(crate) events: usize,
    pub(crate) outcomes: &'a [DraftBuilder],
    pub(crate) deadlines: &'a [DraftBuilder],
    pub(crate) conflicts: usize,
    pub(crate) words: u64,
}

pub(crate) fn draft_summary(facts: &SummaryInput<'_, '_>) -> Option<DraftBuilder> {
    let own = facts.pages.get(..facts.own)?;
    let document_type = document_type::of(own);
    let ground = document_type.as_ref().map_or(Ground::Shape, |it| it.ground);
    let mut writer = SummaryWriter { facts, draft: DraftBuilder::new(Category::Summary, ground) };
    writer.draft.tag("summary");
    writer.write_type(document_type.as_ref());
    writer.case();
    writer.people();
    writer.date();
    writer.authorities_and_deadlines();
    writer.attached();
    writer.counts();
    writer.write_title(document_type.as_ref());
    Some(writer.draft)
}

struct SummaryWriter<'a, 'f, 't> {
    facts: &'a SummaryInput<'f, 't>,
    draft: DraftBuilder,
}

impl<'a, 't> SummaryWriter<'a, '_, 't> {
    fn add_sentence(&mut self, text: &str) {
        if !self.draft.content.is_empty() {
            self.draft.content.push(' ');
        }
        self.draft.content.push_str(text);
    }

    fn write_type(&mut self, document_type: Option<&DocumentType>) {
        let pages = self.facts.pages;
        match document_type {
            Some(it) => {
                let heading = it.span.text_in(pages).unwrap_or_default();
                let article = if it.word.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
                self.add_sentence(&format!(
                    "This document is {article} {}, by its line {}.",
                    it.word,
                    quoted(clipped(heading, OPENING_BYTES))
                ));
                self.draft.tag(it.word);
                self.draft.set("documentType", it.word);
                self.draft.set("heading", in_one_line(heading));
                self.draft.add(it.span);
            }
            None => {
                let Some(span) = opening(pages) else { return };
                let words = span.text_in(pages).unwrap_or_default();
                self.add_sentence(&format!("This document begins {}.", quoted(words)));
                self.draft.set("documentType", "unknown");
                self.draft.add(span);
            }
        }
    }

    /// Adds a sentence that names the listed entities, and the first span of each.
    fn list(
        &mut self,
        known: Vec<&'a FileEntity<'t>>,
        one: &str,
        many: &str,
        beside: impl Fn(&FileEntity<'t>) -> String,
    ) {
        if known.is_empty() {
            return;
        }
        let shown = known.iter().take(LISTED_MAX);
        let words: Vec<String> = shown.map(|it| format!("{}{}", it.shown(), beside(it))).collect();
        // The names come first, because a name that ends in a point must not end the sentence.
        let what = if known.len() == 1 { one } else { many };
        self.add_sentence(&format!("{} {what}.", and_list(&words)));
        for span in known.iter().take(LISTED_MAX).filter_map(|it| it.spans.first()) {
            self.draft.add(*span);
        }
    }

    fn case(&mut self) {
        let names = self.facts.names;
        let nothing = |_: &FileEntity<'t>| String::new();
        let courts: Vec<_> = names.of(EntityKind::Court).collect();
        self.draft.set("courts", shown_names(&courts));
        self.list(courts, "is the court", "are the courts", nothing);
        let numbers: Vec<_> = names.of(EntityKind::CaseNumber).collect();
        self.draft.set("caseNumbers", shown_names(&numbers));
        let labelled: Vec<String> = numbers
            .iter()
            .take(LISTED_MAX)
            .map(|it| it.quoted_with_label(self.facts.pages))
            .collect();
        if !labelled.is_empty() {
            self.add_sentence(&format!("It is quoted_with_label {}.", and_list(&labelled)));
        }
        for span in numbers.iter().take(LISTED_MAX).filter_map(|it| it.spans.first()) {
            self.draft.add(*span);
        }
    }

    fn people(&mut self) {
        let names = self.facts.names;
        let parties: Vec<_> = names.parties().collect();
        let listed = parties.iter().take(LISTED_MAX);
        let value: Vec<Value> =
            listed.map(|it| json!({"name": it.shown(), "roles": it.party_roles()})).collect();
        self.draft.set("parties", value);
        let roles = |it: &FileEntity<'t>| format!(" ({})", it.party_roles().join(", "));
        self.list(parties, "is the party", "are the parties", roles);
        let judges: Vec<_> = names.with(Role::Judge).collect();
        self.draft.set("judges", shown_names(&judges));
        self.list(judges, "is the judge", "are the judges", |_| String::new());
        let attorneys: Vec<_> = names.with(Role::Attorney).collect();
        self.draft.set("attorneys", shown_names(&attorneys));
        let sides = |it: &FileEntity<'t>| match it.represents().as_slice() {
            [] => String::new(),
            list => format!(" (side: {})", list.join(", ")),
        };
        self.list(attorneys, "is the attorney", "are the attorneys", sides);
        let senders: Vec<_> = names.with(Role::Sender).collect();
        self.draft.set("senders", shown_names(&senders));
        self.list(senders, "is the sender", "are the senders", |_| String::new());
        let readers: Vec<_> = names.with(Role::Recipient).collect();
        self.draft.set("recipients", shown_names(&readers));
        self.list(readers, "is the recipient", "are the recipients", |_| String::new());
    }

    fn date(&mut self) {
        let Some(event) = &self.facts.dated else { return };
        let text = format!("It is from {}.", quoted(event.date.quote));
        self.add_sentence(&text);
        self.draft.set("date", shown(event.when));
        self.draft.add(event.date.span);
    }

    fn authorities_and_deadlines(&mut self) {
        let facts = self.facts;
        let passage = |it: &DraftBuilder| {
            let span = it.spans.first()?;
            Some((*span, quoted(span.text_in(facts.pages)?)))
        };
        let cited: Vec<_> = facts.authorities.iter().filter_map(passage).take(3).collect();
        if !cited.is_empty() {
            let words: Vec<String> = cited.iter().map(|it| it.1.clone()).collect();
            self.add_sentence(&format!("It cites {}.", and_list(&words)));
        }
        let decided: Vec<_> = facts.outcomes.iter().filter_map(passage).take(3).collect();
        if !decided.is_empty() {
            let words: Vec<String> = decided.iter().map(|it| it.1.clone()).collect();
            self.add_sentence(&format!("It decides: {}.", and_list(&words)));
        }
        let kinds: Vec<Value> =
            facts.outcomes.iter().filter_map(|it| it.entities.get("outcome").cloned()).collect();
        if !kinds.is_empty() {
            self.draft.set("outcomes", kinds);
        }
        let due: Vec<_> = facts.deadlines.iter().filter_map(passage).take(3).collect();
        if !due.is_empty() {
            let words: Vec<String> = due.iter().map(|it| it.1.clone()).collect();
            self.add_sentence(&format!("It sets time limits: {}.", and_list(&words)));
        }
        for (span, _) in cited.into_iter().chain(decided).chain(due) {
            self.draft.add(span);
        }
        let all = facts.authorities.iter().filter_map(|it| it.citations.first());
        self.draft.citations = all.take(50).cloned().collect();
    }

    fn attached(&mut self) {
        let mut parts: Vec<String> = Vec::new();
        for page in self.facts.pages.iter().skip(self.facts.own) {
            let part = page.part.to_owned();
            if parts.len() < 50 && parts.last() != Some(&part) {
                parts.push(part);
            }
        }
        if !parts.is_empty() {
            self.draft.set("attachments", parts);
        }
    }

    fn counts(&mut self) {
        let facts = self.facts;
        let names = facts.names;
        let counts = json!({
            "pages": facts.pages.len(),
            "words": facts.words,
            "authorities": facts.authorities.len(),
            "parties": names.parties().count(),
            "attorneys": names.with(Role::Attorney).count(),
            "judges": names.with(Role::Judge).count(),
            "courts": names.of(EntityKind::Court).count(),
            "caseNumbers": names.of(EntityKind::CaseNumber).count(),
            "organisations": names.of(EntityKind::Organisation).count(),
            "sums": names.of(EntityKind::Money).count(),
            "events": facts.events,
            "outcomes": facts.outcomes.len(),
            "deadlines": facts.deadlines.len(),
            "conflicts": facts.conflicts,
        });
        self.draft.set("counts", counts);
    }

    /// Writes the title: `Complaint: Roe v. Acme LLC, 24-123456-NO`.
    fn write_title(&mut self, document_type: Option<&DocumentType>) {
        let names = self.facts.names;
        let mut kind = document_type.map_or("document", |it| it.word).to_owned();
        if let Some(first) = kind.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        let side = |roles: &[Role]| {
            roles.iter().find_map(|role| names.with(*role).next()).map(FileEntity::shown)
        };
        let left = side(&[Role::Plaintiff, Role::Petitioner, Role::Appellant]);
        let right = side(&[Role::Defendant, Role::Respondent, Role::Appellee]);
        let between = match (left, right) {
            (Some(left), Some(right)) if left != right => Some(format!("{left} v. {right}")),
            (one, other) => one.or(other).or_else(|| side(&[Role::Subject, Role::Debtor])),
        };
        let sides: Vec<String> =
            names.with(Role::Contracting).take(2).map(FileEntity::shown).collect();
        let between = between.or_else(|| (!sides.is_empty()).then(|| and_list(&sides)));
        let mailed = || match (side(&[Role::Sender]), side(&[Role::Recipient])) {
            (Some(from), Some(to)) => Some(format!("{from} to {to}")),
            (from, to) => from.or(to),
        };
        let letter =
            document_type.is_some_and(|it| matches!(it.word, "e-mail" | "letter" | "memorandum"));
        let who = if letter { mailed().or(between) } else { between };
        // A number in a contract is not that of a case.
        let is_contract = document_type.is_some_and(|it| it.word == "contract");
        let number = names.of(EntityKind::CaseNumber).next().map(|it| it.entity.name.clone());
        let number = number.filter(|_| !is_contract);
        let date = self.facts.dated.as_ref().map(|it| shown(it.when));
        let rest: Vec<String> = [who, number, date].into_iter().flatten().collect();
        let rest = if rest.is_empty() {
            let opening = opening(self.facts.pages);
            let words = opening.and_then(|it| it.text_in(self.facts.pages));
            in_ordinary_case(clipped(words.unwrap_or_default(), 80))
        } else {
            rest.join(", ")
        };
        self.draft.title = title(&format!("{kind}: {rest}"));
    }
}

fn shown_names(list: &[&FileEntity<'_>]) -> Vec<String> {
    list.iter().take(LISTED_MAX).map(|it| it.shown()).collect()
}

/// The first line that is not blank.
fn opening(pages: &[PageText<'_>]) -> Option<TextSpan> {
    for page in pages {
        let text = page.text;
        let start = text.len() - text.trim_start().len();
        let rest = text.get(start..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        let line = clipped(line, OPENING_BYTES).trim_end();
        if !line.is_empty() {
            return Some(TextSpan { page: page.number, start, end: start + line.len() });
        }
    }
    None
}
