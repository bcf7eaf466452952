//! Single forms, one row each: dates, deadlines, sums, names and captions.

use archive_text::PageText;

use crate::{Deadline, EntityKind, Role, read};

#[track_caller]
fn dates(text: &str, expected: &[&str]) {
    let pages = [PageText { number: 1, part: "", text }];
    let found: Vec<String> = read(&pages)
        .events
        .iter()
        .map(|it| format!("{}..{} {:?} {:?}", it.when.from, it.when.to, it.when.precision, it.kind))
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn dates_have_their_precision_and_kind() {
    dates("The suit was filed on Sept. 3, 1998.", &["1998-09-03..1998-09-03 Day Filed"]);
    dates("served the 24th day of June, 2013", &["2013-06-24..2013-06-24 Day Served"]);
    dates("The trial ran March 3-5, 2024.", &["2024-03-03..2024-03-05 Range Hearing"]);
    dates("He was hired in May 2020.", &["2020-05-01..2020-05-31 Month Employment"]);
    dates("He paid rent from 2019 to 2021.", &["2019-01-01..2021-12-31 Range Payment"]);
    dates("It may be heard in court 2024 times.", &[]);
    dates("42 U.S.C. § 1983 and No. 11-345", &[]);
    dates("Roe v. Wade, 410 U.S. 113 (1973), holds so.", &[]);
    dates("It granted summary judgment on May 2, 2023.", &["2023-05-02..2023-05-02 Day Judgment"]);
    dates("Fact discovery closes on May 2, 2023.", &["2023-05-02..2023-05-02 Day Deadline"]);
    dates("The option expires on May 2, 2023.", &["2023-05-02..2023-05-02 Day Deadline"]);
    dates("He was let go on May 2, 2023.", &["2023-05-02..2023-05-02 Day Employment"]);
    dates("The pump failed on May 2, 2023.", &["2023-05-02..2023-05-02 Day Incident"]);
    dates("He failed to pay on May 2, 2023.", &["2023-05-02..2023-05-02 Day Payment"]);
    dates("Sentencing is continued to May 2, 2023.", &["2023-05-02..2023-05-02 Day Hearing"]);
    dates("05/02/2023   4   ORDER to show cause.", &["2023-05-02..2023-05-02 Day Order"]);
    dates("It denied summary judgment on May 2, 2023.", &["2023-05-02..2023-05-02 Day Order"]);
    dates("February 30, 2024 is no day", &[]);
    dates("с 1 марта по 15 апреля 2024 года", &["2024-03-01..2024-04-15 Range Other"]);
    dates("Договор заключен «15» января 2024 г.", &["2024-01-15..2024-01-15 Day Agreement"]);
    dates("Sent: 2024-02-29", &["2024-02-29..2024-02-29 Day Dated"]);
    dates("Sent: Monday, May 6, 2024 4:05 PM", &["2024-05-06..2024-05-06 Day Dated"]);
    dates("Effective Date: May 6, 2024", &["2024-05-06..2024-05-06 Day Agreement"]);
    dates("Date of Loss: 03/04/2021", &["2021-03-04..2021-03-04 Day Incident"]);
    dates("The offer stays open until May 6, 2024.", &["2024-05-06..2024-05-06 Day Deadline"]);
    dates("The motion was argued on May 6, 2024.", &["2024-05-06..2024-05-06 Day Hearing"]);
    dates("The answer is due on 03/04/2024.", &["2024-03-04..2024-03-04 Day Deadline"]);
    dates(
        "The complaint was filed on March 1, 2024 and served on March 5, 2024.",
        &["2024-03-01..2024-03-01 Day Filed", "2024-03-05..2024-03-05 Day Served"],
    );
}

#[track_caller]
fn deadline(text: &str, expected: &[&str]) {
    let pages = [PageText { number: 1, part: "", text }];
    let found: Vec<String> = read(&pages)
        .deadlines
        .iter()
        .map(|it| match it.due {
            Ok(due) => format!("{} {:?} {}", it.count, it.unit, due.day),
            Err(why) => format!("{} {:?} {why:?}", it.count, it.unit),
        })
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn deadlines_are_counted_when_their_anchor_has_a_day() {
    let served = "Defendant was served on March 1, 2024.";
    deadline(&format!("{served} Answer within 21 days of service."), &["21 Days 2024-03-22"]);
    // The fourteenth day after a Friday of two weeks before is a Friday; the fifteenth a Saturday.
    deadline(
        &format!("{served} Answer within 15 days after being served."),
        &["15 Days 2024-03-18"],
    );
    deadline("Answer within 21 days of service.", &["21 Days AnchorUnknown"]);
    deadline(
        &format!("{served} Others were served on March 2, 2024. Answer within 21 days of service."),
        &["21 Days AnchorAmbiguous"],
    );
    deadline("He lived within 3 miles of the hearing.", &[]);
    deadline(
        "The hearing is set for March 18, 2024. Objections are due ten days before the hearing.",
        &["10 Days 2024-03-08"],
    );
    deadline("You have 21 days from receipt of this letter.", &["21 Days AnchorUnknown"]);
    deadline("They have 3 children.", &[]);
    deadline("He called more than 14 days after service.", &[]);
    deadline("She lived here for at least 90 days before the filing.", &[]);
    deadline("Either may end it on thirty (30) days' written notice.", &["30 Days AnchorUnknown"]);
    deadline(
        "The accident occurred May 1, 2023. Give notice within 60 days after the accident.",
        &["60 Days 2023-06-30"],
    );
    deadline(
        "Briefs are due May 8, 2024; a reply may be filed within 7 days thereafter.",
        &["7 Days 2024-05-15"],
    );
    deadline(
        "The hearing is set for March 18, 2024. File at least 2 days before the hearing.",
        &["2 Days 2024-03-15"],
    );
    deadline(
        "The letter came. Appeal within twenty-one (21) days after entry of the judgment.",
        &["21 Days AnchorUnknown"],
    );
    deadline(
        "Dated: March 1, 2024\n\nPay within two weeks of this letter.",
        &["2 Weeks 2024-03-15"],
    );
    assert!(Deadline::COUNTING.contains("holidays are not known"));
}

#[track_caller]
fn money(text: &str, expected: &[&str]) {
    let pages = [PageText { number: 1, part: "", text }];
    let casefile = read(&pages);
    let sums = casefile.entities.iter().filter(|it| it.kind == EntityKind::Money);
    assert_eq!(sums.map(|it| it.key.as_str()).collect::<Vec<_>>(), expected, "{text}");
}

#[test]
fn sums_are_read_in_figures_and_words() {
    money("$1,250,000.50 and $1,250,000.50", &["USD 1250000.50"]);
    money("fifty thousand dollars ($50,000)", &["USD 50000.00"]);
    money("two hundred fifty-one dollars", &["USD 251.00"]);
    money("5 000 (пять тысяч) рублей 20 копеек", &["RUB 5000.20"]);
    money("USD 5,000 or €300", &["USD 5000.00", "EUR 300.00"]);
    money("1.5 million dollars", &["USD 1500000.00"]);
    money("100 Woodward, 2024", &[]);
}

#[track_caller]
fn people(text: &str, role: Role, expected: &[&str]) {
    let pages = [PageText { number: 1, part: "", text }];
    let casefile = read(&pages);
    let found: Vec<&str> = casefile.with_role(role).map(|it| it.name.as_str()).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn roles_are_read_from_captions_signatures_and_prose() {
    use Role::{Attorney, Defendant, Judge, Petitioner, Plaintiff, Subject};
    let caption = "JANE ROE,\n\n     Plaintiff,\n\nv.        Case No. 24-1\n\nACME, INC., a Delaware corporation, CITY OF DETROIT, and JOHN DOE, JR.,\n\n     Defendants.";
    people(caption, Plaintiff, &["JANE ROE"]);
    people(caption, Defendant, &["ACME, INC.", "CITY OF DETROIT", "JOHN DOE, JR."]);
    people("Plaintiff Jane Roe sued. Roe won. Ms. Roe left.", Plaintiff, &["Jane Roe"]);
    people("Jane Roe (\"Plaintiff\") sued Acme LLC (\"Defendant\").", Plaintiff, &["Jane Roe"]);
    people("Jane Roe (\"Plaintiff\") sued Acme LLC (\"Defendant\").", Defendant, &["Acme LLC"]);
    people("Plaintiff's Motion and Defendant Exhibit A", Plaintiff, &[]);
    people("In re Jane Roe, a minor", Subject, &["Jane Roe"]);
    people("IN THE MATTER OF THE ESTATE OF JANE ROE", Subject, &["ESTATE OF JANE ROE"]);
    people(
        "v.\n\nDEPUTY RONALD PIKE, in his official capacity,\n     Defendant.",
        Defendant,
        &["RONALD PIKE"],
    );
    people("Petitioner, Jane Roe, asks", Petitioner, &["Jane Roe"]);
    people("APPEARANCES:\nFor Plaintiff: Jane Roe, Esq.", Attorney, &["Jane Roe"]);
    people("Roe v. Wade, 410 U.S. 113 (1973)", Plaintiff, &[]);
    people(
        "Before SUTTON, Chief Judge; GRIFFIN and BUSH, Circuit Judges.",
        Judge,
        &["SUTTON", "GRIFFIN", "BUSH"],
    );
    people("ROE, J.\n\nThe question is", Judge, &["ROE"]);
    people("Magistrate Judge Mary T. Roe ruled; Judge Roe agreed.", Judge, &["Mary T. Roe"]);
    people(
        "в составе: председательствующего судьи Ивановой А.А., судей Петрова П.П. и Сидоровой С.С.",
        Judge,
        &["Ивановой А.А.", "Петрова П.П.", "Сидоровой С.С."],
    );
}

#[track_caller]
fn named(text: &str, kind: EntityKind, expected: &[&str]) {
    let pages = [PageText { number: 1, part: "", text }];
    let casefile = read(&pages);
    let found = casefile.entities.iter().filter(|it| it.kind == kind);
    assert_eq!(found.map(|it| it.name.as_str()).collect::<Vec<_>>(), expected, "{text}");
}

#[test]
fn courts_case_numbers_and_firms_are_read_in_full() {
    use EntityKind::{CaseNumber, Court, Organisation};
    named(
        "IN THE COURT OF COMMON PLEAS\nFRANKLIN COUNTY, OHIO\n",
        Court,
        &["COURT OF COMMON PLEAS FRANKLIN COUNTY, OHIO"],
    );
    named(
        "IN THE CIRCUIT COURT OF COOK COUNTY, ILLINOIS\nCOUNTY DEPARTMENT\n",
        Court,
        &["CIRCUIT COURT OF COOK COUNTY, ILLINOIS"],
    );
    named("Case No. 2021 L 004512", CaseNumber, &["2021 L 004512"]);
    named("Case No.: 21CV031459", CaseNumber, &["21CV031459"]);
    named("Index No. 507225/2023", CaseNumber, &["507225/2023"]);
    named("Дело № 2-1198/2022", CaseNumber, &["2-1198/2022"]);
    named("No. GD-21-004512", CaseNumber, &["GD-21-004512"]);
    named("Invoice No. 2021-4512", CaseNumber, &[]);
    named("John Q. Public and Beta LLC came.", Organisation, &["Beta LLC"]);
    named("Orion Tool and Die, Inc. came.", Organisation, &["Orion Tool and Die, Inc."]);
    named("Mark Greer of Greer & Hale LLP came.", Organisation, &["Greer & Hale LLP"]);
}

#[test]
fn agreements_have_sides_and_counsel_has_numbers() {
    people(
        "This Agreement is made by and among Ann Marsh (\"Marsh\"), Oak LLC, a firm (\"Oak\"), and Dr. Sam Ortiz.",
        Role::Contracting,
        &["Ann Marsh", "Oak LLC", "Sam Ortiz"],
    );
    people("The talks between Ann Marsh and Oak LLC failed.", Role::Contracting, &[]);
    people("Ann Marsh (SBN 214455)\n", Role::Attorney, &["Ann Marsh"]);
    people("Ann Marsh\nState Bar No. 24012345\n", Role::Attorney, &["Ann Marsh"]);
    people("- for the plaintiff: Ann Marsh\n", Role::Plaintiff, &[]);
}

#[test]
fn one_person_is_one_entity_with_all_mentions() {
    let text =
        "Plaintiff Jane Q. Roe sued. Jane Roe lost. Ms. Roe appealed, and ROE's brief came late.";
    let pages = [PageText { number: 1, part: "", text }];
    let casefile = read(&pages);
    let quotes: Vec<Vec<&str>> = casefile
        .entities
        .iter()
        .map(|it| it.mentions.iter().map(|it| it.quote).collect())
        .collect();
    assert_eq!(quotes, [vec!["Jane Q. Roe", "Jane Roe", "Roe", "ROE's"]]);
}
