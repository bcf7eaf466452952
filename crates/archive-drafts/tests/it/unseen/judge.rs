//! Which differing facts count as equal, where the writer of the labels had to choose one of
//! several right answers. Each rule applies in both directions.

use crate::facts::Facts;

/// Normalizes facts: drops the kinds that are not labelled and converts weeks to days.
pub(super) fn normalize(facts: &mut Facts) {
    for (kind, list) in facts.iter_mut() {
        list.retain(|it| is_labelled(kind, it));
    }
    for kind in ["deadline", "due day", "sure due day"] {
        let days = facts.entry(kind).or_default();
        *days = std::mem::take(days).iter().map(|it| in_days(it)).collect();
    }
}

/// The labels contain neither third parties nor deadlines in years.
fn is_labelled(kind: &str, fact: &str) -> bool {
    match kind {
        "party" => !fact.ends_with(" thirdparty"),
        "deadline" | "due day" | "sure due day" => !fact.contains(" years"),
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

/// Whether a read fact counts as equal to a labelled one.
pub(super) fn same(kind: &str, read: &str, truth: &str) -> bool {
    if read == truth {
        return true;
    }
    match kind {
        // The label of a county court may leave out the state.
        "court" => return without_state(read) == without_state(truth) && read.contains("county"),
        // A case number may have the initials of the judge at its end.
        "case number" => return is_initialled(read, truth) || is_initialled(truth, read),
        _ => {}
    }
    let (Some((what, said)), Some((of, stated))) = (read.rsplit_once(' '), truth.rsplit_once(' '))
    else {
        return false;
    };
    match kind {
        "event" => what == of && (is_own(said, stated) || is_own(stated, said)),
        // A party to an appeal was plaintiff or defendant in the lower court; either role counts.
        "party" => what == of && (is_below(said, stated) || is_below(stated, said)),
        _ => false,
    }
}

/// The date of a document may also be labelled as the order, judgment, agreement or notice that the
/// document is.
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
