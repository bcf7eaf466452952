//! The relations of invented sentences.

use super::*;

/// Each relation as `agents class patient`, in words.
#[track_caller]
fn check(text: &str, want: &[&str]) {
    let pages = [Reading::new(text)];
    let actors = ActorIndex::new(&pages);
    let mut got = Vec::new();
    for sentence in &pages[0].sentences {
        for it in actors.relations(&pages[0], sentence) {
            let agents: Vec<String> = it.agents.iter().map(|it| actors.display_name(*it)).collect();
            let patient = it.patient.map(|it| actors.display_name(it)).unwrap_or_default();
            got.push(format!("{} {} {patient}", agents.join("+"), it.class));
        }
    }
    assert_eq!(got, want, "{text}");
}

#[test]
fn word_order_and_the_passive_give_the_agent() {
    check("Casper Nye hired Maud Pell on May 4, 2020.", &["casper nye hire maud pell"]);
    check("Maud Pell was hired by Casper Nye.", &["casper nye hire maud pell"]);
    check("Maud Pell sued Casper Nye.", &["maud pell sue casper nye"]);
    check("Winifred Nye came with Alfred Pell.", &["winifred nye arrive alfred pell"]);
    check(
        "Maud Pell filed a complaint against Casper Nye alleging breach.",
        &["maud pell sue casper nye", "casper nye breach "],
    );
    check(
        "The court granted Maud Pell's motion.",
        &["the court grant maud pell", "maud pell motion "],
    );
    check("Maud Pell and Casper Nye signed it.", &["casper nye+maud pell sign "]);
    check("Judgment was entered for Maud Pell.", &[" favor maud pell"]);
}

#[test]
fn roles_refer_to_their_holders() {
    check(
        "Maud Pell, Plaintiff, v. Casper Nye, Defendant. The plaintiff sued the defendant.",
        &["maud pell sue casper nye"],
    );
    // Counsel for a party is not the party.
    check(
        "Maud Pell, Plaintiff. Ivo Orr (for plaintiff) left. The plaintiff sued Casper Nye.",
        &["ivo orr leave ", "maud pell sue casper nye"],
    );
}
