//! Drafts of the entities of a file: parties, attorneys, judges, courts, case numbers, sums and
//! organisations. An entity that occurs in several parts of the file is merged into one.

use std::collections::HashMap;

use archive_entities::{Currency, Entity, EntityKind, Role};
use archive_text::{PageText, TextSpan};

use crate::builder::DraftBuilder;
use crate::draft::{Category, DraftMode};
use crate::wording::{
    and_list, in_one_line, in_ordinary_case, quoted, sentence, title, with_label_before,
};

/// The most spellings of one name that a draft lists.
const VARIANTS_MAX: usize = 10;
/// The most mentions that are searched for one inside a sentence.
const CONTEXTS_MAX: usize = 20;

/// One entity of the file with the spans of all its mentions.
pub(crate) struct FileEntity<'t> {
    pub(crate) entity: Entity<'t>,
    pub(crate) spans: Vec<TextSpan>,
    total: usize,
}

/// The entities of a file, merged over its parts.
#[derive(Default)]
pub(crate) struct FileEntities<'t> {
    pub(crate) list: Vec<FileEntity<'t>>,
    by_key: HashMap<(EntityKind, String), usize>,
}

impl<'t> FileEntities<'t> {
    /// Adds the entities of one part.
    pub(crate) fn add(&mut self, entities: Vec<Entity<'t>>) {
        for entity in entities {
            let spans: Vec<TextSpan> = entity.mentions.iter().map(|it| it.span).collect();
            let total = entity.mention_count;
            let key = (entity.kind, entity.key.clone());
            let known = self.by_key.get(&key).and_then(|it| self.list.get_mut(*it));
            if let Some(known) = known {
                known.spans.extend(spans);
                known.total += total;
                known.join(entity);
            } else {
                self.by_key.insert(key, self.list.len());
                self.list.push(FileEntity { entity, spans, total });
            }
        }
    }

    pub(crate) fn with(&self, role: Role) -> impl Iterator<Item = &FileEntity<'t>> {
        self.list.iter().filter(move |it| it.entity.roles.contains(&role))
    }

    pub(crate) fn of(&self, kind: EntityKind) -> impl Iterator<Item = &FileEntity<'t>> {
        self.list.iter().filter(move |it| it.entity.kind == kind)
    }

    pub(crate) fn parties(&self) -> impl Iterator<Item = &FileEntity<'t>> {
        self.list.iter().filter(|it| it.entity.is_party())
    }

    /// One draft for each category of each entity: a person may be a party and an attorney.
    pub(crate) fn drafts(&self, pages: &[PageText<'_>], mode: DraftMode) -> Vec<DraftBuilder> {
        let mut list = Vec::new();
        for known in &self.list {
            for category in known.categories(mode) {
                list.push(known.draft(category, pages, mode));
            }
        }
        list
    }
}

impl<'t> FileEntity<'t> {
    fn join(&mut self, other: Entity<'t>) {
        let mine = &mut self.entity;
        for role in other.roles {
            if !mine.roles.contains(&role) {
                mine.roles.push(role);
            }
        }
        for role in other.represents {
            if !mine.represents.contains(&role) {
                mine.represents.push(role);
            }
        }
        mine.bar_number = mine.bar_number.take().or(other.bar_number);
        mine.ground = mine.ground.max(other.ground);
        mine.is_reviewed &= other.is_reviewed;
        if other.name.len() > mine.name.len() {
            mine.name = other.name;
        }
    }

    /// The name in ordinary case.
    pub(crate) fn shown(&self) -> String {
        // The letters of a case number are not words.
        if self.entity.kind == EntityKind::CaseNumber {
            return self.entity.name.clone();
        }
        in_ordinary_case(&self.entity.name)
    }

    pub(crate) fn party_roles(&self) -> Vec<String> {
        let roles = self.entity.roles.iter().filter(|it| it.is_party());
        roles.map(|it| role_word(*it).to_owned()).collect()
    }

    pub(crate) fn represents(&self) -> Vec<String> {
        self.entity.represents.iter().map(|it| role_word(*it).to_owned()).collect()
    }

    fn categories(&self, mode: DraftMode) -> Vec<Category> {
        let mut list = Vec::new();
        let entity = &self.entity;
        if entity.is_party() {
            list.push(Category::Party);
        }
        if entity.roles.contains(&Role::Attorney) {
            list.push(Category::Attorney);
        }
        if entity.roles.contains(&Role::Judge) {
            list.push(Category::Judge);
        }
        match entity.kind {
            EntityKind::Court => list.push(Category::Court),
            EntityKind::CaseNumber => list.push(Category::CaseNumber),
            EntityKind::Money if mode != DraftMode::Fast => list.push(Category::Money),
            EntityKind::Organisation if mode != DraftMode::Fast => {
                list.push(Category::Organisation)
            }
            _ => {}
        }
        list
    }

    fn draft(&self, category: Category, pages: &[PageText<'_>], mode: DraftMode) -> DraftBuilder {
        let mut draft = DraftBuilder::new(category, self.entity.ground);
        draft.tag(category.word());
        draft.set("name", self.shown());
        draft.set("key", self.entity.key.clone());
        draft.set("mentions", self.total);
        self.variants(&mut draft, pages);
        match category {
            Category::Party => self.party(&mut draft),
            Category::Attorney => self.attorney(&mut draft),
            Category::Money => self.money(&mut draft),
            Category::Court if self.entity.is_reviewed => self.reviewed_court(&mut draft),
            _ => {
                let label = match category {
                    Category::Judge => "Judge",
                    Category::Court => "Court",
                    Category::CaseNumber => "Case number",
                    _ => "Organisation",
                };
                draft.title = format!("{label}: {}", self.shown());
                draft.content = match category {
                    Category::CaseNumber => {
                        format!("It is marked {}.", self.quoted_with_label(pages))
                    }
                    _ => format!("{} is named in the text.", self.shown()),
                };
            }
        }
        draft.title = title(&draft.title);
        if let Some(words) = self.context(pages).filter(|_| category != Category::CaseNumber) {
            draft.content.push_str(&format!(" It says {}.", quoted(words)));
        }
        let first_only = mode == DraftMode::Standard
            && matches!(category, Category::Money | Category::Organisation);
        for span in self.spans.iter().take(if first_only { 1 } else { usize::MAX }) {
            draft.add(*span);
        }
        draft.spans_total = self.total.max(draft.spans.len());
        draft
    }

    /// The case number in quotation marks, with the label before it: `"Case No. 24-123456-NO"`.
    pub(crate) fn quoted_with_label(&self, pages: &[PageText<'_>]) -> String {
        let words = self.spans.first().and_then(|it| with_label_before(pages, *it));
        quoted(words.unwrap_or(&self.entity.name))
    }

    /// The sentence of the first mention whose sentence has at least three lower-case words, so
    /// that a caption or a list does not count.
    fn context<'p>(&self, pages: &[PageText<'p>]) -> Option<&'p str> {
        self.spans.iter().take(CONTEXTS_MAX).find_map(|span| {
            let words = sentence(pages, *span)?;
            let prose = words.split_whitespace().filter(|it| it.starts_with(char::is_lowercase));
            (prose.count() > 2).then_some(words)
        })
    }

    fn variants(&self, draft: &mut DraftBuilder, pages: &[PageText<'_>]) {
        let mut list: Vec<String> = Vec::new();
        for words in self.spans.iter().filter_map(|it| it.text_in(pages)) {
            let words = in_one_line(words);
            if list.len() < VARIANTS_MAX && !list.contains(&words) {
                list.push(words);
            }
        }
        draft.set("written", list);
    }

    fn party(&self, draft: &mut DraftBuilder) {
        let roles = self.party_roles();
        for role in &roles {
            draft.tag(role);
        }
        draft.title = format!("Party: {} ({})", self.shown(), roles.join(", "));
        draft.content =
            format!("{} is named in the text, in the role of {}.", self.shown(), and_list(&roles));
        let person = self.entity.kind == EntityKind::Person;
        draft.set("type", if person { "person" } else { "organisation" });
        draft.set("roles", roles);
    }

    fn attorney(&self, draft: &mut DraftBuilder) {
        let sides = self.represents();
        let whom =
            if sides.is_empty() { String::new() } else { format!(" for {}", and_list(&sides)) };
        draft.title = format!("Attorney: {}{whom}", self.shown());
        draft.content = format!("{} is named in the text as an attorney{whom}.", self.shown());
        if let Some(number) = &self.entity.bar_number {
            draft.content.push_str(&format!(" The bar card is No. {number}."));
        }
        draft.set("represents", sides);
        draft.set_some("barNumber", self.entity.bar_number.clone());
    }

    fn reviewed_court(&self, draft: &mut DraftBuilder) {
        draft.title = format!("Court below: {}", self.shown());
        draft.content = format!(
            "{} is named in the text, as the court whose decision is reviewed.",
            self.shown()
        );
        draft.set("reviewed", true);
    }

    fn money(&self, draft: &mut DraftBuilder) {
        let Some(money) = self.entity.money else { return };
        let currency = match money.currency {
            Currency::Usd => "USD",
            Currency::Eur => "EUR",
            Currency::Gbp => "GBP",
            Currency::Rub => "RUB",
        };
        let amount = format!("{}.{:02}", money.cents / 100, money.cents % 100);
        draft.tag(currency);
        draft.title = format!("Sum: {} ({currency} {amount})", in_one_line(&self.entity.name));
        draft.content = format!("The text names the sum of {}.", quoted(&self.entity.name));
        draft.set("currency", currency);
        draft.set("amount", amount);
    }
}

pub(crate) fn role_word(role: Role) -> &'static str {
    match role {
        Role::Plaintiff => "plaintiff",
        Role::Defendant => "defendant",
        Role::Appellant => "appellant",
        Role::Appellee => "appellee",
        Role::Petitioner => "petitioner",
        Role::Respondent => "respondent",
        Role::Intervenor => "intervenor",
        Role::ThirdParty => "third party",
        Role::Amicus => "amicus",
        Role::Debtor => "debtor",
        Role::Subject => "subject",
        Role::Contracting => "contracting",
        Role::Attorney => "attorney",
        Role::Judge => "judge",
        Role::Sender => "sender",
        Role::Recipient => "recipient",
    }
}
