//! What counts as the same where the writer had to choose one of several right answers. Each rule
//! holds for both sides alike.

use crate::facts::Facts;

/// Brings what was read and what is true into one form: weeks are seven days.
pub(super) fn even(facts: &mut Facts) {
    let days = facts.entry("deadline").or_default();
    *days = std::mem::take(days).iter().map(|it| in_days(it)).collect();
}

fn in_days(deadline: &str) -> String {
    let mut words = deadline.splitn(3, ' ');
    let (count, unit) = (words.next().unwrap(), words.next().unwrap());
    if unit != "weeks" {
        return deadline.to_owned();
    }
    let count: u32 = count.parse().unwrap();
    format!("{} days {}", count * 7, words.next().unwrap_or_default())
}

/// Whether something that was read says what something true does.
pub(super) fn same(kind: &str, read: &str, truth: &str) -> bool {
    if read == truth {
        return true;
    }
    let (Some((what, said)), Some((of, stated))) = (read.rsplit_once(' '), truth.rsplit_once(' '))
    else {
        return false;
    };
    match kind {
        "event" => what == of && (is_own(said, stated) || is_own(stated, said)),
        // Who appeals was plaintiff or defendant below, and the writer names the one or both.
        "party" => {
            what == of
                && matches!(said, "plaintiff" | "defendant")
                && matches!(stated, "appellant" | "appellee" | "petitioner" | "respondent")
        }
        _ => false,
    }
}

/// A paper's own day is that of the order, the agreement or the letter that it is, and a day of
/// which nothing else is said.
fn is_own(kind: &str, other: &str) -> bool {
    kind == "dated" && matches!(other, "other" | "agreement" | "order" | "judgment" | "notice")
}
