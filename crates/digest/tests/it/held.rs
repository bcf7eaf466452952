//! Documents held out: written after the rules were settled, and measured without changing the
//! rules for them. What is missed here says more than what is found elsewhere.

mod abroad;
mod home;

use casefile::testing::{Dice, Truth};

use crate::fresh::Made;

type Maker = fn(&mut Dice) -> Made;

/// So many documents of each kind.
pub(crate) fn corpus(copies: usize) -> Vec<(String, Vec<String>, Truth)> {
    let makers: [(&str, Maker); 8] = [
        ("Florida affidavit", home::affidavit),
        ("Illinois answer", home::answer),
        ("minute order", home::minutes),
        ("insurer's letter", home::insurer),
        ("memorandum to file", home::memorandum),
        ("English lease", abroad::lease),
        ("Russian ruling", abroad::ruling),
        ("Russian motion", abroad::motion),
    ];
    let mut list = Vec::new();
    for (place, (name, make)) in makers.iter().enumerate() {
        for copy in 0..copies {
            let mut dice = Dice::new((place * 777 + copy * 31 + 400_003) as u64);
            let (pages, truth) = make(&mut dice);
            list.push((format!("{name} {copy}"), pages, truth));
        }
    }
    list
}
