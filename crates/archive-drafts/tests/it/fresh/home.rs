//! American papers.

use archive_entities::testing::{CorpusRng, ExpectedFacts};
use archive_entities::{DeadlineUnit, EventKind, Role};

use super::{
    FIRMS, GeneratedDocument, american, dollars, later, people, surname, two_firms, working,
};

pub(super) fn affidavit(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "affidavit", ..ExpectedFacts::default() };
    let [accused, officer, prosecutor] = people(rng);
    let number = format!("F2{}-{:06}", rng.below(4), 1_000 + rng.below(90_000));
    let (seen, sworn) = (rng.day(), rng.day());
    let value = dollars(rng, &mut truth);
    let text = format!(
        "IN THE CIRCUIT COURT OF THE ELEVENTH JUDICIAL CIRCUIT\nIN AND FOR MIAMI-DADE COUNTY, FLORIDA\n\nCRIMINAL DIVISION\n\nSTATE OF FLORIDA,                    CASE NO. {number}\n\n     Plaintiff,\n\nvs.\n\n{},\n\n     Defendant.\n_________________________/\n\nAFFIDAVIT IN SUPPORT OF WARRANT\n\nBefore me, the undersigned authority, personally appeared Detective {officer}, who being duly sworn states:\n\nOn the evening of {}, the affiant saw {accused} carry off a generator worth {value}. The theft violates § 812.014, Fla. Stat. See State v. Marchbanks, 845 So. 2d 310, 313 (Fla. 3d DCA 2003).\n\nSworn to and subscribed on {}.\n\n{prosecutor}\nAssistant State Attorney\nFlorida Bar No. 118{:04}\n",
        accused.to_uppercase(),
        american(seen),
        american(sworn),
        rng.below(10_000),
    );
    truth.cites(&["845 So. 2d 310"]);
    truth.event(seen, EventKind::Incident);
    truth.event(sworn, EventKind::Other);
    truth.parties = vec![
        ("State of Florida".to_owned(), Role::Plaintiff),
        (accused.to_owned(), Role::Defendant),
    ];
    truth.attorneys.push(prosecutor.to_owned());
    truth.courts.push(
        "Circuit Court of the Eleventh Judicial Circuit in and for Miami-Dade County Florida"
            .to_owned(),
    );
    truth.numbers.push(number);
    truth.organisation("State of Florida");
    (vec![text], truth)
}

pub(super) fn answer(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "answer", ..ExpectedFacts::default() };
    let [plaintiff, lawyer, judge] = people(rng);
    let (company, _) = two_firms(rng);
    let number = format!("202{} L {:06}", rng.below(4), 1_000 + rng.below(9_000));
    let (crash, served) = (rng.day(), rng.day());
    let firm = format!("{} & Lowe, Ltd.", surname(lawyer));
    let row = |left: &str, right: &str| format!("{left:<40})   {right}\n");
    let caption: String = [
        row(&format!("{},", plaintiff.to_uppercase()), ""),
        row("          Plaintiff,", ""),
        row("     v.", &format!("No. {number}")),
        row(&format!("{},", company.to_uppercase()), &format!("Hon. {judge}")),
        row("          Defendant.", ""),
    ]
    .concat();
    let text = format!(
        "IN THE CIRCUIT COURT OF COOK COUNTY, ILLINOIS\nCOUNTY DEPARTMENT, LAW DIVISION\n\n{caption}\nANSWER AND AFFIRMATIVE DEFENSES\n\nNOW COMES the Defendant, {company}, by its attorneys, {firm}, and answers as follows:\n\n1. Defendant admits that a truck overturned on {} near Joliet.\n\n2. Defendant admits that it was served with summons on {}. This answer is timely because it is filed within 30 days after service. 735 ILCS 5/2-1007.\n\n3. Defendant denies the rest.\n\n{company}\n\nBy: /s/ {lawyer}\nOne of its attorneys\n",
        american(crash),
        american(served),
    );
    truth.cites(&["735 ILCS 5/2-1007"]);
    truth.event(crash, EventKind::Incident);
    truth.event(served, EventKind::Served);
    truth.deadlines.push((30, DeadlineUnit::Days, Some(working(later(served, 30)).to_string())));
    truth.parties =
        vec![(plaintiff.to_owned(), Role::Plaintiff), (company.to_owned(), Role::Defendant)];
    truth.attorneys.push(lawyer.to_owned());
    truth.judges.push(judge.to_owned());
    truth.courts.push("Circuit Court of Cook County Illinois".to_owned());
    truth.numbers.push(number);
    truth.organisation(company);
    truth.organisation(&firm);
    (vec![text], truth)
}

pub(super) fn minutes(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "order", ..ExpectedFacts::default() };
    let [judge, one, other] = people(rng);
    let (left, right) = two_firms(rng);
    let number = format!("1:2{}-cv-{:05}", rng.below(4), 100 + rng.below(9_000));
    let today = rng.day();
    let (trial, cutoff) = (later(today, 200), later(today, 90));
    let text = format!(
        "UNITED STATES DISTRICT COURT\nEASTERN DISTRICT OF VIRGINIA\nAlexandria Division\n\nMINUTE ORDER\n\nCivil Action No. {number}\n{left} v. {right}\n\nDate: {}\nPresiding: The Honorable {judge}\n\nAppearances:\n- for the plaintiff: {one}\n- for the defendant: {other}\n\nThe Court sets the following schedule:\n- discovery closes {};\n- jury trial begins {} at 10:00 a.m.;\n- exhibits must be exchanged no later than 14 days before trial.\n\nAny objection must be filed within 10 days of this order. Loc. Civ. R. 16(B).\n",
        american(today),
        american(cutoff),
        american(trial),
    );
    truth.event(today, EventKind::Dated);
    truth.event(cutoff, EventKind::Deadline);
    truth.event(trial, EventKind::Hearing);
    let back = trial.checked_sub(jiff::ToSpan::days(14)).unwrap();
    let due = match back.weekday() {
        jiff::civil::Weekday::Saturday => later(back, -1),
        jiff::civil::Weekday::Sunday => later(back, -2),
        _ => back,
    };
    truth.deadlines.push((14, DeadlineUnit::Days, Some(due.to_string())));
    truth.deadlines.push((10, DeadlineUnit::Days, Some(working(later(today, 10)).to_string())));
    truth.parties = vec![(left.to_owned(), Role::Plaintiff), (right.to_owned(), Role::Defendant)];
    truth.attorneys = vec![one.to_owned(), other.to_owned()];
    truth.judges.push(judge.to_owned());
    truth.courts.push("United States District Court Eastern District of Virginia".to_owned());
    truth.numbers.push(number);
    truth.organisation(left);
    truth.organisation(right);
    (vec![text], truth)
}

pub(super) fn insurer(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "letter", ..ExpectedFacts::default() };
    let [writer, reader] = people(rng);
    let insured = rng.pick(&FIRMS);
    let (today, loss, reported) = (rng.day(), rng.day(), rng.day());
    let (paid, held) = (dollars(rng, &mut truth), dollars(rng, &mut truth));
    let text = format!(
        "Tideline Casualty Company\nClaims Department\n\n{}\n\nMs. {reader}\n902 Orchard Lane\n\nRe:  Insured: {insured}\n     Claim Number: 77-0931-B\n     Date of Loss: {:02}/{:02}/{}\n\nDear Ms. {}:\n\nYou reported the fire to us on {}. We have paid {paid} to date and hold back {held} until you send a sworn proof of loss. Please return the form within sixty (60) days of the date of this letter. Coverage may be lost otherwise.\n\nVery truly yours,\n\n{writer}\nSenior Adjuster\n",
        american(today),
        loss.month(),
        loss.day(),
        loss.year(),
        surname(reader),
        american(reported),
    );
    truth.event(today, EventKind::Dated);
    truth.event(loss, EventKind::Incident);
    truth.event(reported, EventKind::Incident);
    truth.deadlines.push((60, DeadlineUnit::Days, Some(working(later(today, 60)).to_string())));
    truth.organisation("Tideline Casualty Company");
    truth.organisation(insured);
    (vec![text], truth)
}

pub(super) fn memorandum(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "memorandum", ..ExpectedFacts::default() };
    let [from, to, witness] = people(rng);
    let company = rng.pick(&FIRMS);
    let (today, met, due) = (rng.day(), rng.day(), rng.day());
    let fee = dollars(rng, &mut truth);
    let text = format!(
        "MEMORANDUM\n\nTO: {to}\nFROM: {from}\nDATE: {}\nRE: {company} matter\n\nI met with {witness} on {}. He says that {company} paid {fee} for the parcel and never recorded the deed. The leading case is still Oberholt v. Finch, 219 Wis. 2d 67, 580 N.W.2d 245 (1998); Finch was distinguished in Dorsey v. Pratt, 2011 WI 30, ¶ 14. The rule of Oberholt, 219 Wis. 2d at 71, favors us.\n\nOur response is due on {}.\n",
        american(today),
        american(met),
        american(due),
    );
    truth.cites(&["219 Wis. 2d 67", "580 N.W.2d 245", "2011 WI 30"]);
    truth.event(today, EventKind::Dated);
    truth.event(met, EventKind::Other);
    truth.event(due, EventKind::Deadline);
    truth.organisation(company);
    (vec![text], truth)
}
