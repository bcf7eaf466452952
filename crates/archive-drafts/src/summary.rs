//! The draft of the summary: document type, court, case number, parties, judges, attorneys, date,
//! authorities and deadlines, quoted from the document.

use archive_entities::document_type::{self, DocumentType};
use archive_entities::{Caption, CaseEvent, EntityKind, Ground, Role};
use archive_text::{PageText, TextSpan};
use serde_json::{Value, json};

use crate::builder::DraftBuilder;
use crate::draft::Category;
use crate::entity::{FileEntities, FileEntity};
use crate::timeline::shown;
use crate::wording::{and_list, clipped, in_one_line, in_ordinary_case, quoted, title};

/// The most names of one kind that the summary lists; all are counted.
const LISTED_MAX: usize = 8;
/// How many lines at the head of an e-mail are searched for its subject.
const SUBJECT_LINES: usize = 24;
/// The most names of one side in a title.
const SIDE_NAMES: usize = 3;
/// How many bytes of the first line are quoted if the document type is not known.
const OPENING_BYTES: usize = 240;

/// The facts that the summary is made from.
pub(crate) struct SummaryInput<'a, 't> {
    pub(crate) pages: &'a [PageText<'t>],
    /// Pages of the file itself, without its attachments.
    pub(crate) own: usize,
    pub(crate) names: &'a FileEntities<'t>,
    /// The parties at the head of the file itself.
    pub(crate) caption: &'a Caption,
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
            self.add_sentence(&format!("It is marked {}.", and_list(&labelled)));
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
        let kind = document_type.map_or("document", |it| it.word);
        let who = match kind {
            "e-mail" => {
                self.between(document_type).or_else(|| self.subject()).or_else(|| self.mailed())
            }
            "letter" | "memorandum" => {
                self.mailed().or_else(|| self.between(document_type)).or_else(|| self.subject())
            }
            "contract" => self.agreed(document_type),
            _ => self.between(document_type).or_else(|| self.agreed(document_type)),
        };
        // A number in a contract is not that of a case.
        let number = names.of(EntityKind::CaseNumber).next().map(|it| it.entity.name.clone());
        let number = number.filter(|_| kind != "contract");
        let date = self.facts.dated.as_ref().map(|it| shown(it.when));
        let rest: Vec<String> = [who, number, date].into_iter().flatten().collect();
        let rest = if rest.is_empty() {
            let heading = document_type.and_then(|it| it.span.text_in(self.facts.pages));
            let opening = || opening(self.facts.pages).and_then(|it| it.text_in(self.facts.pages));
            in_ordinary_case(clipped(heading.or_else(opening).unwrap_or_default(), 80))
        } else {
            rest.join(", ")
        };
        let mut kind = kind.to_owned();
        if let Some(first) = kind.get_mut(..1) {
            first.make_ascii_uppercase();
        }
        self.draft.title = title(&format!("{kind}: {rest}"));
    }

    /// `Roe and Doe v. Acme LLC` by the caption, else by the roles.
    fn between(&self, document_type: Option<&DocumentType>) -> Option<String> {
        let caption = self.facts.caption;
        if !caption.left.is_empty() && !caption.right.is_empty() {
            return Some(versus(&side_names(&caption.left), &side_names(&caption.right)));
        }
        if !caption.subjects.is_empty() {
            return Some(format!("In re {}", side_names(&caption.subjects)));
        }
        let names = self.facts.names;
        let side = |roles: &[Role]| {
            let role = roles.iter().find(|role| names.with(**role).next().is_some())?;
            Some(names.with(*role).map(FileEntity::shown).collect::<Vec<String>>())
        };
        let left = side(&[Role::Plaintiff, Role::Petitioner, Role::Appellant]);
        let right = side(&[Role::Defendant, Role::Respondent, Role::Appellee]);
        match (left, right) {
            (Some(left), Some(right)) if left != right => {
                Some(versus(&side_names(&left), &side_names(&right)))
            }
            // A claim and a counterclaim: both are on both sides.
            (Some(both), Some(_)) if both.len() > 1 => {
                let (first, others) = both.split_at(1);
                Some(versus(&side_names(first), &side_names(others)))
            }
            (one, other) => {
                let alone = one.or(other).map(|it| self.headed(&side_names(&it), document_type));
                alone.or_else(|| Some(side_names(&side(&[Role::Subject, Role::Debtor])?)))
            }
        }
    }

    /// One side alone says little, so the heading comes before it: `Решение, ООО «Ромашка»`.
    fn headed(&self, side: &str, document_type: Option<&DocumentType>) -> String {
        let heading = document_type.and_then(|it| it.span.text_in(self.facts.pages));
        let heading = heading.map(|it| {
            let joined = document_type::without_letter_spacing(&in_one_line(clipped(it, 80)));
            in_ordinary_case(&joined)
        });
        heading.map_or_else(|| side.to_owned(), |it| format!("{it}, {side}"))
    }

    /// `Severance Agreement, Acme LLC and Jane Roe`
    fn agreed(&self, document_type: Option<&DocumentType>) -> Option<String> {
        let sides: Vec<String> =
            self.facts.names.with(Role::Contracting).map(FileEntity::shown).collect();
        let heading = document_type.and_then(|it| it.span.text_in(self.facts.pages));
        let heading = heading.map(|it| in_ordinary_case(&in_one_line(clipped(it, 80))));
        match (heading, sides.as_slice()) {
            (heading, []) => heading,
            (None, _) => Some(side_names(&sides)),
            (Some(heading), _) => Some(format!("{heading}, {}", side_names(&sides))),
        }
    }

    /// `Jane Roe to John Doe`
    fn mailed(&self) -> Option<String> {
        let first = |role| self.facts.names.with(role).next().map(FileEntity::shown);
        match (first(Role::Sender), first(Role::Recipient)) {
            (Some(from), Some(to)) => Some(format!("{from} to {to}")),
            (from, to) => from.or(to),
        }
    }

    /// The subject of an e-mail.
    fn subject(&self) -> Option<String> {
        let text = self.facts.pages.first()?.text;
        let lines = text.lines().take(SUBJECT_LINES);
        let label = |it: &str| {
            ["Subject:", "Тема:", "Re:", "RE:"]
                .iter()
                .find_map(|label| it.strip_prefix(label))
                .map(str::to_owned)
        };
        let subject = lines.filter_map(|it| label(it.trim())).next()?;
        let subject = clipped(subject.trim(), OPENING_BYTES).to_owned();
        (!subject.is_empty()).then_some(subject)
    }
}

/// The names of one side of a title.
fn side_names(names: &[String]) -> String {
    let shown = |it: &String| short_form(&in_ordinary_case(it));
    let list: Vec<String> = names.iter().take(SIDE_NAMES).map(shown).collect();
    let russian = list.iter().any(|it| it.chars().any(|it| ('а'..='я').contains(&it)));
    match (names.len() > SIDE_NAMES, russian) {
        (true, false) => format!("{} et al.", list.join(", ")),
        (true, true) => format!("{} и др.", list.join(", ")),
        (false, true) => list.join(", "),
        (false, false) => and_list(&list),
    }
}

/// A Russian name with the usual abbreviation of its legal form, so that a title has room for both
/// sides.
fn short_form(name: &str) -> String {
    const FORMS: [(&str, &str); 6] = [
        ("общество с ограниченной ответственностью", "ООО"),
        ("публичное акционерное общество", "ПАО"),
        ("открытое акционерное общество", "ОАО"),
        ("закрытое акционерное общество", "ЗАО"),
        ("непубличное акционерное общество", "НАО"),
        ("акционерное общество", "АО"),
    ];
    let lower = name.to_lowercase();
    let form = FORMS.iter().find(|it| lower.starts_with(it.0));
    form.map_or_else(
        || name.to_owned(),
        |(long, short)| {
            let rest: String = name.chars().skip(long.chars().count()).collect();
            format!("{short}{rest}")
        },
    )
}

fn versus(left: &str, right: &str) -> String {
    let joint = if left.is_ascii() || right.is_ascii() { "v." } else { "к" };
    format!("{left} {joint} {right}")
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
