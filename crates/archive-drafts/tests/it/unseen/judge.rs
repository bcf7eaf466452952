//! What counts as the same where the writer had to choose one of several right answers. Each rule
//! holds for both sides alike.

use crate::facts::Facts;

/// Brings what was read and what is true into one form: weeks are seven days.
pub(super) fn even(facts: &mut Facts) {
    for (kind, list) in facts.iter_mut() {
        list.retain(|it| is_labelled(kind, it));
    }
    let days = facts.entry("deadline").or_default();
    *days = std::mem::take(days).iter().map(|it| in_days(it)).collect();
}

/// Third persons and years are left out of the labels.
fn is_labelled(kind: &str, fact: &str) -> bool {
    match kind {
        "party" => !fact.ends_with(" thirdparty"),
        "deadline" => !fact.contains(" years "),
        _ => true,
    }
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
    match kind {
        // The state is said above a court that has its own place, and the writer may leave it out.
        "court" => return without_state(read) == without_state(truth) && read.contains("county"),
        // The initials of the judge end the number, or do not.
        "case number" => return is_initialled(read, truth) || is_initialled(truth, read),
        _ => {}
    }
    let (Some((what, said)), Some((of, stated))) = (read.rsplit_once(' '), truth.rsplit_once(' '))
    else {
        return false;
    };
    match kind {
        "event" => what == of && (is_own(said, stated) || is_own(stated, said)),
        // Who appeals was plaintiff or defendant below, and the writer names the one or both.
        "party" => what == of && (is_below(said, stated) || is_below(stated, said)),
        _ => false,
    }
}

/// A paper's own day is that of the order, the agreement or the letter that it is, and a day of
/// which nothing else is said.
fn is_own(kind: &str, other: &str) -> bool {
    kind == "dated" && matches!(other, "other" | "agreement" | "order" | "judgment" | "notice")
}

fn is_below(role: &str, other: &str) -> bool {
    matches!(role, "plaintiff" | "defendant")
        && matches!(other, "appellant" | "appellee" | "petitioner" | "respondent")
}

fn is_initialled(long: &str, short: &str) -> bool {
    long.strip_prefix(short).is_some_and(|it| {
        (2..=3).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_lowercase())
    })
}

fn without_state(court: &str) -> String {
    const STATES: &str = "alabama alaska arizona arkansas california carolina colorado connecticut \
        dakota delaware florida georgia hawaii idaho illinois indiana iowa kansas kentucky \
        louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana \
        nebraska nevada ohio oklahoma oregon pennsylvania tennessee texas utah vermont virginia \
        washington wisconsin wyoming north south west new";
    let words = court.split(' ').filter(|it| !STATES.split(' ').any(|state| state == *it));
    words.collect::<Vec<_>>().join(" ")
}
