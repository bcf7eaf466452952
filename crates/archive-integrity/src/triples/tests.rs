//! The acts of invented sentences as `who act whom`.

use super::{Filler, Participants, Triple, of};
use crate::actors::ActorIndex;
use crate::reading::Reading;

/// Every act of the page as `1 act 2`; a side that is open is `?`, one that is absent `-`.
fn read(text: &str) -> Vec<String> {
    let pages = [Reading::new(text)];
    let facts = Participants::facts(&[(1, text)]);
    let actors = ActorIndex::new(&pages);
    let participants = Participants::new(&facts, &actors, &pages);
    let side = |it: &Filler| match it {
        Filler::Absent => "-".to_owned(),
        Filler::Unknown => "?".to_owned(),
        Filler::Known(who) if who.actors.is_empty() => format!("role {:?}", who.role),
        Filler::Known(who) => {
            let names: Vec<String> = who.actors.iter().map(|it| actors.display_name(*it)).collect();
            names.join("+")
        }
    };
    let all = pages[0].sentences.iter().flat_map(|it| of(&pages[0], it, &actors, &participants));
    let shown = |it: Triple| {
        let [one, two] = &it.sides;
        let denied = if it.denied { "not " } else { "" };
        format!("{} {denied}{} {}", side(one), it.act, side(two))
    };
    all.map(shown).collect()
}

const CAPTION: &str = "MAUD PELL,\n\nPlaintiff,\n\nv.\n\nCASPER NYE,\n\nDefendant.\n\n";

/// The acts of a sentence under the caption of Pell against Nye.
#[track_caller]
fn check(sentence: &str, want: &[&str]) {
    let got = read(&format!("{CAPTION}{sentence}"));
    assert_eq!(got, want, "{sentence}");
}

#[test]
fn active_and_passive_have_the_same_sides() {
    let want = &["maud pell sue casper nye"];
    check("Maud Pell sued Casper Nye.", want);
    check("Casper Nye was sued by Maud Pell.", want);
    check("The plaintiff sued the defendant.", want);
    check("Maud Pell, the owner, later sued Nye.", want);
    check("A complaint was filed against Nye by Pell.", want);
    check("Pell and her sons then sued the defendant.", &["? sue casper nye"]);
}

#[test]
fn converse_verbs_are_one_act() {
    check("Maud Pell sold the mill to Casper Nye.", &["maud pell sell casper nye"]);
    check("Casper Nye bought the mill from Maud Pell.", &["maud pell sell casper nye"]);
    check("The mill was sold to Casper Nye by Maud Pell.", &["maud pell sell casper nye"]);
    check("Maud Pell leased the mill to Casper Nye.", &["maud pell lease casper nye"]);
    check("Casper Nye leased the mill from Maud Pell.", &["maud pell lease casper nye"]);
    check("Nye was a tenant of Pell.", &["maud pell lease casper nye"]);
    check("Casper Nye worked for Maud Pell.", &["maud pell hire casper nye"]);
    check("Casper Nye was employed by Maud Pell.", &["maud pell hire casper nye"]);
    check("Nye owes Pell $500.", &["casper nye owe maud pell"]);
    check("Pell is owed $500 by Nye.", &["casper nye owe maud pell"]);
    check("Nye paid $500 to the plaintiff.", &["casper nye pay maud pell"]);
    check("The plaintiff received payment from Nye.", &["casper nye pay maud pell"]);
}

#[test]
fn duties_refusals_and_motions_have_their_subject() {
    check("Nye shall indemnify Pell.", &["casper nye indemnify maud pell"]);
    check("Nye agreed to indemnify Pell.", &["casper nye indemnify maud pell"]);
    check("Nye failed to pay Pell.", &["casper nye not pay maud pell"]);
    check("Nye did not pay Pell.", &["casper nye not pay maud pell"]);
    check(
        "The court ordered Nye to pay Pell.",
        &["casper nye order -", "casper nye pay maud pell"],
    );
    check("Nye's motion to dismiss was denied.", &["casper nye move -"]);
    check("The court granted a motion by the defendant.", &["casper nye move -"]);
    check("The defendant appealed.", &["casper nye appeal -"]);
}

#[test]
fn a_side_that_is_not_certain_stays_open() {
    check("The driver of Nye sued Pell.", &["? sue maud pell"]);
    check("Nye's brother sued Pell.", &["? sue maud pell"]);
    check("In a letter to Nye the bank sued Pell.", &["? sue maud pell"]);
    check("She sued Pell.", &["? sue maud pell"]);
}

#[test]
fn russian_cases_and_prepositions_give_the_sides() {
    let head = "Истец Орлова обратилась в суд. Ответчик Белов возражал.\n\n";
    let acts = |text: &str| {
        let got = read(&format!("{head}{text}"));
        got.into_iter().filter(|it| !it.contains('?')).collect::<Vec<_>>()
    };
    for text in ["Продавец передал покупателю товар.", "Покупатель получил товар от продавца."]
    {
        assert_eq!(
            acts(text).last().map(String::as_str),
            Some("role Some(8) deliver role Some(9)")
        );
    }
}
