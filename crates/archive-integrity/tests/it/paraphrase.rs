//! Paraphrases in other words than the source: what the source contradicts, and what only looks
//! like a contradiction.

use archive_integrity::{Answer, Insight, IntegrityTest, SourceText, TestOptions, run};

/// Whether the answer is `contradicted`.
#[track_caller]
pub(crate) fn check(page: &str, content: &str, want: bool) {
    let insight = Insight { content: content.to_owned(), ..Insight::default() };
    let texts = [SourceText { file_hash: "f".to_owned(), pages: vec![page.to_owned()] }];
    let report = run(IntegrityTest::FactCheck, &[insight], &texts, &TestOptions::default());
    let detail = &report.details[0];
    let got = detail.answer == Some(Answer::Contradicted);
    assert_eq!(got, want, "{content}\n{:?} {:?}", detail.answer, detail.issues());
}

#[test]
fn the_governing_law_and_the_place_of_incorporation_are_compared() {
    let page = "MASTER AGREEMENT\n\nThis Agreement is made by Orrin Foods, Inc., a Delaware \
        corporation, and Vale Limited. The parties have offices in Hawaii and in Ohio.\n\nThis \
        Agreement shall be governed by and construed in accordance with the laws of the State of \
        Florida, without regard to conflicts of laws.";
    check(page, "The agreement is governed by the laws of Hawaii.", true);
    check(page, "Hawaii law governs the agreement.", true);
    check(page, "The agreement is governed by Florida law.", false);
    check(page, "The agreement is subject to the law of Florida.", false);
    check(page, "Orrin Foods is an Ohio corporation.", true);
    check(page, "Orrin Foods was incorporated in Hawaii.", true);
    check(page, "Orrin Foods is a Delaware company.", false);
    check(page, "Vale Limited has offices in Ohio.", false);
}

#[test]
fn judges_are_compared_by_what_they_did() {
    let page = "ORRIN, Judge.\n\nDefendant appeals from his sentence. We affirm.\n\nIT IS SO \
        ORDERED.\n\nVALE, J., concurs.\n\nPELL, J., (specially concurring).";
    check(page, "Judge Vale wrote the opinion.", true);
    check(page, "Judge Orrin wrote the opinion.", false);
    check(page, "Judge Vale wrote separately.", true);
    check(page, "Judge Pell wrote separately.", false);
    let panel = "Before: ORRIN, P.J., and VALE and PELL, JJ.\n\nORRIN, P.J.\n\nThe trust appeals.";
    check(panel, "Judge Pell wrote the opinion.", true);
    check(panel, "Judge Orrin wrote the opinion.", false);
    check(page, "The panel reversed the sentence.", true);
    check(page, "The court upheld the sentence.", false);
    let page = "Арбитражный суд Красноярского края в составе судьи Красовской С.А., при секретаре \
        Соловьёвой Т.П., рассмотрел дело.";
    check(page, "Решение приняла судья Соловьёва.", true);
    check(page, "Решение приняла судья Красовская.", false);
}

#[test]
fn courts_are_compared_by_their_names() {
    let page = "UNITED STATES COURT OF APPEALS FOR THE SECOND CIRCUIT\n\nThis is the second \
        lawsuit of Maud Pell. The Second Circuit heard the motion in May. A jury of Bernalillo \
        County found for Casper Nye, who lives in Dane.";
    check(page, "The Ninth Circuit heard the motion.", true);
    check(page, "The Second Circuit heard the motion.", false);
    check(page, "A jury of Dane County found for Casper Nye.", true);
    let page = "The Fifth Circuit dismissed the second lawsuit of Maud Pell in 2019.";
    check(page, "The Fifth Circuit dismissed the suit of Maud Pell.", false);
    check(page, "In 2019 the Fifth Circuit dismissed her lawsuit.", false);
}

#[test]
fn a_date_of_service_is_no_date_of_filing() {
    let page = "The complaint was filed on December 2, 2019. Service was made on January 6, 2020.";
    check(page, "The complaint was served on December 2, 2019.", true);
    check(page, "The complaint was filed on December 2, 2019.", false);
    check(page, "It was served on January 6, 2020.", false);
}

#[test]
fn consent_is_no_opposition() {
    let page = "The government opposed the motion to unseal. Maud Pell did not object to it.";
    check(page, "The government consented to the motion to unseal.", true);
    check(page, "The government objected to the motion to unseal.", false);
    check(page, "Maud Pell did not oppose the motion to unseal.", false);
}

#[test]
fn words_that_only_look_alike_contradict_nothing() {
    for (page, content) in [
        (
            "We decline the invitation to overrule Vale v. Orr, 410 U.S. 113 (1973).",
            "The Court refused to overrule Vale v. Orr, 410 U.S. 113 (1973).",
        ),
        (
            "The seller is Pell Trading Company Limited. Pell Trading shall bear all costs, \
             including without limitation freight.",
            "The seller is Pell Trading Company Limited.",
        ),
        (
            "In the above-entitled matter the court has read the complaint of Maud Pell.",
            "The complaint of Maud Pell was dismissed in this matter.",
        ),
        (
            "Mr. Happe spent his 19-year career at Toro. His stock vests over three years.",
            "Happe spent 19 years with Toro.",
        ),
        (
            "The court grants a temporary stay of the turnover order pending a ruling.",
            "The turnover order is on hold pending a ruling.",
        ),
        (
            "The employer filed a notice of appeal on July 16, 2019, stating that it did not \
             receive notice of the hearing.",
            "The employer's notice of appeal was filed on July 16, 2019.",
        ),
        (
            "The respondent is the Honorable Ross C. Sanchez, Judge of the Second Judicial \
             District Court.",
            "The order came from District Judge Ross Sanchez.",
        ),
        (
            "The respondent is ordered to show cause why he should not be disbarred.",
            "The respondent has to show cause why he should not be disbarred.",
        ),
    ] {
        check(page, content, false);
    }
}

#[test]
fn the_claimant_and_the_respondent_are_not_swapped() {
    let page = "Суд рассмотрел дело по исковому заявлению общества с ограниченной \
        ответственностью «Прометей» (ИНН 0274) к обществу с ограниченной ответственностью \
        «Космофарм» о взыскании долга.";
    check(page, "«Космофарм» требует с «Прометея» уплаты долга.", true);
    check(page, "«Прометей» требует с «Космофарма» уплаты долга.", false);
}
