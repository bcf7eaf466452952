//! Attorneys in blocks of lines: a signature with what stands below it, the lawyers above a caption,
//! the list of persons served. The lines of a block say together whose names they hold: bar
//! numbers, firms, addresses, `Attorneys for Plaintiff`.

mod line;

use crate::entity::{Ground, Role};
use crate::entity_match::{EntityMatch, PieceContext};
use crate::name;
use crate::text::TokenText;
use line::{Line, LineKind, NamedPerson};

/// Most lines of one block.
const LINES_MAX: usize = 48;
/// Most line ends between two lines of one block: two blank lines.
const ROWS_APART: usize = 3;
/// Most lines below a name that are searched for `Attorneys for Plaintiff`.
const SIDE_LINES: usize = 16;

pub(crate) fn find<'t>(reading: &PieceContext<'_, 't>, out: &mut Vec<EntityMatch<'t>>) {
    let lines = line::of(reading);
    for column in [false, true] {
        let mut block: Vec<&Line> = Vec::new();
        for line in lines.iter().filter(|it| it.second_column == column) {
            let apart = block.last().is_some_and(|it| line.row - it.row > ROWS_APART);
            if apart || block.len() >= LINES_MAX {
                read(reading, &block, out);
                block.clear();
            }
            block.push(line);
            if line.kind == LineKind::Stop {
                read(reading, &block, out);
                block.clear();
            }
        }
        read(reading, &block, out);
    }
}

/// What the lines between two sides say about the names among them.
#[derive(Debug, Default, Clone, Copy)]
struct Evidence {
    numbered: bool,
    firm: bool,
    contact: bool,
    office: bool,
}

impl Evidence {
    fn of(lines: &[&Line]) -> Self {
        let has = |test: fn(&LineKind) -> bool| lines.iter().any(|it| test(&it.kind));
        let own =
            |test: fn(&NamedPerson) -> bool| lines.iter().flat_map(|it| it.people()).any(test);
        Self {
            numbered: has(|it| matches!(it, LineKind::Bar(_))) || own(|it| it.bar.is_some()),
            firm: has(|it| *it == LineKind::Firm) || own(|it| it.lawyer),
            contact: has(|it| *it == LineKind::Contact),
            office: has(|it| *it == LineKind::Office),
        }
    }

    fn any(self) -> bool {
        self.numbered || self.firm || self.office
    }
}

/// Reads one block: its parts end with the lines that name a side below the names.
fn read<'t>(reading: &PieceContext<'_, 't>, block: &[&Line], out: &mut Vec<EntityMatch<'t>>) {
    let mut from = 0;
    let mut label: Option<Label> = None;
    while from < block.len() {
        let rest = block.get(from..).unwrap_or_default();
        let side = rest.iter().position(|it| matches!(it.kind, LineKind::Side { .. }));
        let end = side.unwrap_or(rest.len());
        let part = rest.get(..end).unwrap_or_default();
        let named = part.iter().any(|it| !it.people().is_empty());
        let found = side.and_then(|it| rest.get(it)).and_then(|it| Label::of(it, named));
        // A side that stands above its names speaks for the part after it.
        let below = found.filter(|it| !it.above);
        Part { reading, lines: part, after: rest.get(end), label, below }.read(out);
        label = found.filter(|it| it.above);
        from += end + 1;
        // The client's name may go on in the next line.
        if below.is_some() {
            let row = rest.get(end).map_or(0, |it| it.row);
            let client = rest
                .get(end)
                .is_some_and(|it| matches!(it.kind, LineKind::Side { client: true, .. }));
            let goes_on =
                client && block.get(from).is_some_and(|it| it.row == row + 1 && it.is_bare_name());
            from += usize::from(goes_on);
        }
    }
}

/// `Attorneys for Plaintiff`: below the names, or above them.
#[derive(Debug, Clone, Copy)]
struct Label {
    role: Option<Role>,
    above: bool,
    /// Whether a colon says that the names follow.
    sure: bool,
}

impl Label {
    fn of(line: &Line, named: bool) -> Option<Self> {
        let LineKind::Side { role, colon, .. } = line.kind else { return None };
        Some(Self { role, above: colon || !named, sure: colon })
    }
}

/// The lines of a block that speak for one side.
struct Part<'a, 'b, 't> {
    reading: &'a PieceContext<'b, 't>,
    lines: &'a [&'a Line],
    /// The line after the part.
    after: Option<&'a &'a Line>,
    label: Option<Label>,
    below: Option<Label>,
}

impl<'t> Part<'_, '_, 't> {
    fn text(&self) -> &TokenText<'t> {
        self.reading.text
    }

    fn read(&self, out: &mut Vec<EntityMatch<'t>>) {
        let evidence = Evidence::of(self.lines);
        let mut found = 0;
        for (place, line) in self.lines.iter().enumerate() {
            let next =
                self.lines.get(place + 1).or(self.after.filter(|_| place + 1 == self.lines.len()));
            for person in line.people() {
                let Some(ground) = self.ground(place, person, next, evidence, found) else {
                    continue;
                };
                let side = self.below.or(self.label).and_then(|it| it.role);
                let mut it = EntityMatch::attorney(
                    self.text(),
                    (person.from, person.to),
                    ground,
                    person.side.or(side),
                );
                it.bar_number = person.bar.clone().or_else(|| bar_below(next));
                out.push(it);
                found += 1;
            }
        }
    }

    /// How sure it is that the person is an attorney; `None` if nothing says so.
    fn ground(
        &self,
        place: usize,
        person: &NamedPerson,
        next: Option<&&Line>,
        evidence: Evidence,
        found: usize,
    ) -> Option<Ground> {
        let entitled = next.filter(|it| it.row <= self.row(place) + 2);
        let party = self.lines.get(place).is_some_and(|it| it.below_role && it.is_bare_name());
        if person.other || party || entitled.is_some_and(|it| it.tells_other) {
            return None;
        }
        let kind = |test: fn(&LineKind) -> bool| entitled.is_some_and(|it| test(&it.kind));
        if person.bar.is_some() || kind(|it| matches!(it, LineKind::Bar(_))) {
            return Some(Ground::Form);
        }
        if person.lawyer || kind(|it| *it == LineKind::Office) {
            return Some(Ground::Label);
        }
        let text = self.text();
        let known = person.signed
            || name::is_given(text.low(person.from))
            || (person.from..person.to).any(|it| text.is(it, "."));
        // Two surnames above an address are a firm.
        let firm_like = !known && found > 0 && kind(|it| *it == LineKind::Address);
        if firm_like {
            return None;
        }
        let near = self.lines.len() - place <= SIDE_LINES;
        if self.below.is_some() && near {
            return Some(if known { Ground::Label } else { Ground::Layout });
        }
        if let Some(label) = self.label
            && (label.sure || evidence.any() || evidence.contact)
        {
            return Some(if known && label.sure { Ground::Label } else { Ground::Layout });
        }
        let placed = evidence.any() && (evidence.contact || person.signed);
        (placed && known).then_some(Ground::Layout)
    }

    fn row(&self, place: usize) -> usize {
        self.lines.get(place).map_or(0, |it| it.row)
    }
}

fn bar_below(next: Option<&&Line>) -> Option<String> {
    match next.map(|it| &it.kind) {
        Some(LineKind::Bar(number)) => Some(number.clone()),
        _ => None,
    }
}
