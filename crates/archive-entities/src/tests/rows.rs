//! Single forms, one row each: dates, deadlines, sums, names and captions.

use archive_text::PageText;

use crate::{EntityKind, Role, read};

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
    dates("The suit was filed on 3-Sep-1998.", &["1998-09-03..1998-09-03 Day Filed"]);
    dates("The trial ran March 3-5, 2024.", &["2024-03-03..2024-03-05 Range Hearing"]);
    dates("He was hired in May 2020.", &["2020-05-01..2020-05-31 Month Employment"]);
    dates("He paid rent from 2019 to 2021.", &["2019-01-01..2021-12-31 Range Payment"]);
    dates("It may be heard in court 2024 times.", &[]);
    dates("42 U.S.C. § 1983 and No. 11-345", &[]);
    dates("Roe v. Wade, 410 U.S. 113 (1973), holds so.", &[]);
    dates("It granted summary judgment on May 2, 2023.", &["2023-05-02..2023-05-02 Day Judgment"]);
    dates("Fact discovery closes on May 2, 2023.", &["2023-05-02..2023-05-02 Day Deadline"]);
    dates("The option expires on May 2, 2023.", &["2023-05-02..2023-05-02 Day Deadline"]);
    dates(
        "No later than 5:00 p.m. on Friday, May 3, 2024, reply.",
        &["2024-05-03..2024-05-03 Day Deadline"],
    );
    dates("By May 2, 2023 he had left.", &["2023-05-02..2023-05-02 Day Other"]);
    dates("Ответчику представить отзыв до 05.04.2024.", &["2024-04-05..2024-04-05 Day Deadline"]);
    dates("Он работал до 05.04.2024.", &["2024-04-05..2024-04-05 Day Employment"]);
    dates(
        "Dispositive motions due      October 15, 2024",
        &["2024-10-15..2024-10-15 Day Deadline"],
    );
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
    // The fifteenth day is a Saturday, which moves in the paper of a court alone.
    deadline(
        &format!("{served} Answer within 15 days after being served."),
        &["15 Days 2024-03-16"],
    );
    deadline(
        &format!("SUPERIOR COURT OF OHIO\n\n{served} Answer within 15 days after being served."),
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
        &["2 Days 2024-03-16"],
    );
    deadline(
        "The letter came. Appeal within twenty-one (21) days after entry of the judgment.",
        &["21 Days AnchorUnknown"],
    );
    deadline(
        "Dated: March 1, 2024\n\nPay within two weeks of this letter.",
        &["2 Weeks 2024-03-15"],
    );
}

/// What a date must not be counted from.
#[test]
fn deadlines_stay_open_when_no_day_is_surely_their_anchor() {
    let open = |count: u16, unit: &str| format!("{count} {unit} AnchorUnknown");
    for (text, count, unit) in [
        // The order is another one, and the date in the sentence is of something else.
        (
            "ORDER\n\nA claim shall be filed within 30 days after entry of the order approving the \
             rejection.\n\nDated: March 19, 2024",
            30,
            "Days",
        ),
        (
            "Payment is due within 30 days after the closing under GAAP as in effect on September \
             30, 2023.",
            30,
            "Days",
        ),
        (
            "Goods may be returned within 45 days after delivery. The Convention on Contracts for \
             the International Sale of Goods of April 11, 1980 does not apply to the sale.",
            45,
            "Days",
        ),
        (
            "Felix Guidry be ordered to account within fifteen days of service, and to show cause on \
             May 24, 2024.",
            15,
            "Days",
        ),
        ("ANSWER DUE WITHIN 21 DAYS OF SERVICE\n12/05/22  DEFAULT REQUEST", 21, "Days"),
        ("Answer within 21 days after they are served. Served on May 1, 2024.", 21, "Days"),
        (
            "ПОСТАНОВЛЕНИЕ\n\nг. Киров            8 июня 2026 г.\n\nОно исполняется в течение 60 \
             дней со дня вступления постановления в законную силу.",
            60,
            "Days",
        ),
        (
            "Работник предупреждает работодателя за две недели до увольнения. Истец уволен 11 \
             апреля 2025 г.",
            2,
            "Weeks",
        ),
        (
            "Такое требование исполняется в течение 7 дней с момента вручения. Деньги получены \
             20.05.2024.",
            7,
            "Days",
        ),
        (
            "РЕШЕНИЕ\n\nг. Казань            15 мая 2024 г.\n\nРешение может быть обжаловано в \
             течение месяца со дня принятия решения суда в окончательной форме.",
            1,
            "Months",
        ),
    ] {
        deadline(text, &[&open(count, unit)]);
    }
    deadline(
        "The hearing order was filed on October 2, 2019. The scheduling hearing is set for November \
         11, 2019. Appeal within 30 days after the hearing order was filed.",
        &["30 Days 2019-11-01"],
    );
    deadline(
        "File by the later of 30 days after service of this notice or the bar date. This notice was \
         served on May 1, 2024.",
        &["30 Days AnchorAmbiguous"],
    );
}

#[test]
fn the_last_day_moves_by_the_rule_of_the_paper() {
    let order = "UNITED STATES DISTRICT COURT\nDISTRICT OF MAINE\n\nORDER\n\nDefendant shall answer \
                 within 14 days of the date of this Order.\n\nDated: May 11, 2024";
    // The fourteenth day is a Saturday, and the Monday after it is Memorial Day.
    deadline(order, &["14 Days 2024-05-28"]);
    let letter =
        "May 11, 2024\n\nDear Ms. Roe:\n\nPlease pay within 14 days of the date of this letter.";
    deadline(letter, &["14 Days 2024-05-25"]);
    let ruling = "ОПРЕДЕЛЕНИЕ\n\nг. Казань            16 сентября 2024 г.\n\nВахитовский районный суд \
                  определил: иск возвратить. На определение может быть подана частная жалоба в \
                  течение пятнадцати дней со дня вынесения определения.";
    deadline(ruling, &["15 Days 2024-10-07"]);
    deadline(
        "Товар передаётся в течение 10 дней с момента поставки, то есть не позднее 05.04.2024.",
        &["10 Days 2024-04-05"],
    );
    deadline("Pay within 30 days of March 3, 2024.", &["30 Days 2024-04-02"]);
}

#[track_caller]
fn outcomes(text: &str, expected: &[&str]) {
    let pages = [PageText { number: 1, part: "", text }];
    let found: Vec<String> =
        read(&pages).outcomes.iter().map(|it| format!("{:?}: {}", it.kind, it.what)).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn a_decision_tells_what_it_decides() {
    let order = |text: &str| format!("ORDER\n\n{text}");
    outcomes(
        &order("IT IS ORDERED that the motion to dismiss is GRANTED IN PART."),
        &["GrantedInPart: the motion to dismiss"],
    );
    outcomes(
        &order("The Court GRANTS plaintiff's motion to remand and DENIES the request for fees."),
        &["Granted: plaintiff's motion to remand", "Denied: the request for fees"],
    );
    outcomes("OPINION\n\nWe therefore affirm.\n\nAFFIRMED.", &["Affirmed: ", "Affirmed: "]);
    // What another court did, and what a motion asks for, is no outcome.
    outcomes(&order("The district court granted the motion. We review whether it is denied."), &[]);
    outcomes("MOTION TO DISMISS\n\nIT IS ORDERED that the motion is granted.", &[]);
    outcomes(
        "РЕШЕНИЕ\n\nСуд РЕШИЛ:\n\nИск удовлетворить частично.\nВ остальной части отказать.",
        &["GrantedInPart: Иск", "Denied: В остальной части"],
    );
    outcomes(
        "ОПРЕДЕЛЕНИЕ\n\nИстец просил решение отменить.\n\nОПРЕДЕЛИЛА:\n\nРешение суда оставить без \
         изменения.",
        &["Affirmed: Решение суда"],
    );
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
    money("932.393, 94 руб. и 1.250.000,50 руб.", &["RUB 932393.94", "RUB 1250000.50"]);
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
    // The names of cited cases, rules and offices are not of this case.
    people("See Alabama v. North Carolina on this.", Plaintiff, &[]);
    people("The court in Buchanan v. Carlex Glass held so.", Plaintiff, &[]);
    people("See United States v. Detroit Timber & Lumber Co., 200 U. S. 321.", Plaintiff, &[]);
    people("Counsel Northern California and Attorney Rehearing En Banc", Attorney, &[]);
    people("Office of the City Attorney, Santa Clarita, California", Attorney, &[]);
    people("Council Regulation (EC) No 2271/96", Attorney, &[]);
    people("Judge Printed Name and Hon. Building", Judge, &[]);
    people(
        "RED FORK DISTRICT, PETITIONER v.\n   RUDOLPH HOLLOWAY ET AL.\nON WRIT OF CERTIORARI",
        Petitioner,
        &["RED FORK DISTRICT"],
    );
    people("Case Name:   Trinh Industries v. Apex Tools Corp", Plaintiff, &["Trinh Industries"]);
    people(
        "336 LLC,\n     Plaintiff,\nv.\nCITY OF OMAHA,\n     Defendant.",
        Plaintiff,
        &["336 LLC"],
    );
    people(
        "In re: Marquita A Roe     )\n              )\n      Debtor    )",
        Role::Debtor,
        &["Marquita A Roe"],
    );
    people(
        "Ann B. Roe (argued) and Lee Doe, Roe & Poe, Boise, Idaho, for Plaintiffs-Appellants.",
        Attorney,
        &["Ann B. Roe", "Lee Doe"],
    );
    people("по иску Колбина А.С. к Пелеховой Т.П. о долге", Plaintiff, &["Колбин А.С."]);
    people("по иску Колбина А.С. к Пелеховой Т.П. о долге", Defendant, &["Пелехова Т.П."]);
    people(
        "по иску Иванова И.И. к муниципальному казённому учреждению «Декабрист» о долге",
        Defendant,
        &["муниципальное казённое учреждение «Декабрист»"],
    );
    people("Magistrate Judge Mary T. Roe ruled; Judge Roe agreed.", Judge, &["Mary T. Roe"]);
    people(
        "в составе: председательствующего судьи Ивановой А.А., судей Петрова П.П. и Сидоровой С.С.",
        Judge,
        &["Иванова А.А.", "Петров П.П.", "Сидорова С.С."],
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
