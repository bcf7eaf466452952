//! Whether a title names its paper rightly.

use crate::fold;
use crate::truth::{TrueName, Truth};

/// Whether the title equals an accepted one, has all telling words of one, or names both sides or
/// the matter.
pub(crate) fn is_right(title: &str, truth: &Truth) -> bool {
    // `Order: Roe v. Acme LLC, 24-1` begins with the type.
    let rest = title.split_once(": ").map_or(title, |it| it.1);
    let accepted = || truth.title.iter().map(String::as_str);
    if accepted()
        .any(|it| fold::name(it) == fold::name(rest) || fold::name(it) == fold::name(title))
    {
        return true;
    }
    match sides(rest) {
        Some((left, right)) => {
            accepted().any(|it| match sides(it) {
                Some((first, second)) => {
                    // `Roe v. Acme LLC: Order` ends with the heading.
                    let second = second.split_once(": ").map_or(second, |it| it.0);
                    fold::contains(left, first) && fold::contains(right, second)
                }
                None => false,
            }) || names_side(left, truth, TrueName::is_left)
                && names_side(right, truth, TrueName::is_right)
        }
        None => {
            let has_sides = |it: &str| sides(it).is_some();
            accepted().any(|it| !has_sides(it) && fold::contains(rest, it))
                || names_all(rest, truth)
        }
    }
}

/// The texts before and after `v.` or «к».
fn sides(title: &str) -> Option<(&str, &str)> {
    [" v. ", " v ", " vs. ", " vs ", " к "].iter().find_map(|it| title.split_once(it))
}

fn names_side(side: &str, truth: &Truth, is_side: impl Fn(&TrueName) -> bool) -> bool {
    let mut parties = truth.parties.iter().filter(|it| is_side(it));
    parties.any(|it| it.forms().any(|form| fold::contains(side, form)))
}

/// Whether a title without sides names the parties of a paper that has no sides: a contract, the
/// subject of a matter.
fn names_all(title: &str, truth: &Truth) -> bool {
    let sided = truth.parties.iter().any(|it| it.is_left() || it.is_right());
    let named = |it: &TrueName| it.forms().any(|form| fold::contains(title, form));
    !sided && !truth.parties.is_empty() && truth.parties.iter().take(2).all(named)
}
