//! Finds the sender and the recipients of a letter or an e-mail in its head.

use crate::entity::{EntityKind, Ground, Role};
use crate::entity_match::{EntityMatch, PieceContext};
use crate::name;

pub(crate) fn find<'t>(reading: &PieceContext<'_, 't>, out: &mut Vec<EntityMatch<'t>>) {
    let text = reading.text;
    for at in 0..text.len() {
        if !(at == 0 || text.breaks(at) > 0) || !text.is(at + 1, ":") {
            continue;
        }
        let role = match text.low(at) {
            "from" | "от" => Role::Sender,
            "to" | "cc" | "кому" => Role::Recipient,
            _ => continue,
        };
        let mut from = at + 2;
        for _ in 0..8 {
            if text.breaks(from) > 0 {
                break;
            }
            let organisation = reading.organisation_at(from);
            let Some(end) = organisation.or_else(|| name::person(text, from, false)) else { break };
            let kind =
                if organisation.is_some() { EntityKind::Organisation } else { EntityKind::Person };
            out.push(EntityMatch::new(kind, text, (from, end), Ground::Label).with(role));
            // `<jroe@roelaw.example>` is the address of a lawyer.
            let address = (end..end + 12).take_while(|it| text.breaks(*it) == 0);
            let firm = address
                .take_while(|it| !matches!(text.low(*it), ">" | ";" | ","))
                .skip_while(|it| !text.is(*it, "@"))
                .any(|it| ["law", "legal", "llp"].iter().any(|end| text.low(it).ends_with(end)));
            if firm && kind == EntityKind::Person {
                out.push(
                    EntityMatch::new(kind, text, (from, end), Ground::Shape).with(Role::Attorney),
                );
            }
            // Past an address in angle brackets to the next name.
            let next = (end..end + 16)
                .take_while(|it| text.breaks(*it) == 0)
                .find(|it| matches!(text.low(*it), ";" | ","));
            let Some(next) = next else { break };
            from = next + 1;
        }
    }
}
