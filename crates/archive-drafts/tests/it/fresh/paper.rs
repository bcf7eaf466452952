//! Letters, messages and contracts that the rules were not written for.

use archive_entities::testing::{CorpusRng, ExpectedFacts};
use archive_entities::{DeadlineUnit, EventKind, Role};

use super::{
    FIRMS, GeneratedDocument, american, british, dollars, later, month, people, surname, two_firms,
};

pub(super) fn letter(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "letter", ..ExpectedFacts::default() };
    let [writer, client, reader] = people(rng);
    let company = rng.pick(&FIRMS);
    let (today, signed, broke) = (rng.day(), rng.day(), rng.day());
    let firm = format!("{} & Partners LLP", surname(writer));
    let pounds = 4 + rng.below(80);
    truth.money.push(format!("GBP {pounds}50.00"));
    let text = format!(
        "{firm}\n3 Temple Row\n\nBY EMAIL AND POST\n\n{}\n\n{company}\nAttn: {reader}\n\nDear {reader},\n\nOur client: {client}\n\nWe act for the above-named. By an agreement dated {} your company undertook to repair the roof. The works were abandoned on {}. We invite you to pay £{pounds}50.00 within fourteen days of receipt of this letter, failing which proceedings will be issued without further notice.\n\nYours faithfully,\n\n{writer}\nPartner\n{firm}\n",
        british(today),
        british(signed),
        british(broke),
    );
    truth.event(today, EventKind::Dated);
    truth.event(signed, EventKind::Agreement);
    truth.event(broke, EventKind::Other);
    truth.deadlines.push((14, DeadlineUnit::Days, None));
    truth.organisation(company);
    truth.organisation(&firm);
    (vec![text], truth)
}

pub(super) fn email(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "e-mail", ..ExpectedFacts::default() };
    let [from, to, judge, expert] = people(rng);
    let (company, other) = two_firms(rng);
    let (sent, hearing, due) = (rng.day(), rng.day(), rng.day());
    let number = format!("2:2{}-cv-{:05}", rng.below(5), 10_000 + rng.below(8_000));
    let retainer = dollars(rng, &mut truth);
    let text = format!(
        "From: {from} <first@example.com>\nTo: {to} <second@example.com>\nDate: {sent}\nSubject: RE: {} v. {other} ({number})\n\n{},\n\nTwo things. Judge {} moved the hearing to {}, and {expert}'s report must be in by {}. {company} still owes us {retainer}.\n\nThe motion relies on Garrity v. Bloom, 88 F.4th 310 (2d Cir. 2023), which I have not read yet.\n\n{}\n",
        surname(from),
        to.split(' ').next().unwrap(),
        surname(judge),
        american(hearing),
        american(due),
        from.split(' ').next().unwrap(),
    );
    truth.cites(&["88 F.4th 310"]);
    truth.event(sent, EventKind::Dated);
    truth.event(hearing, EventKind::Hearing);
    truth.event(due, EventKind::Deadline);
    truth.judges.push(surname(judge).to_owned());
    truth.numbers.push(number);
    // The case bears the sender's own name, so the fuller one is his.
    truth.parties = vec![(from.to_owned(), Role::Plaintiff), (other.to_owned(), Role::Defendant)];
    truth.organisation(company);
    truth.organisation(other);
    (vec![text], truth)
}

pub(super) fn contract(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "contract", ..ExpectedFacts::default() };
    let [consultant, signer] = people(rng);
    let (company, guarantor) = two_firms(rng);
    let (signed, ends) = (rng.day(), rng.day());
    let started = rng.day();
    let (fee, cap) = (dollars(rng, &mut truth), dollars(rng, &mut truth));
    let text = format!(
        "CONSULTING SERVICES AGREEMENT\n\nThis Consulting Services Agreement (the \"Agreement\") is entered into as of {} by and between {company} (the \"Company\") and {consultant} (the \"Consultant\").\n\n1. Services. The Consultant shall provide the services described in Exhibit A beginning in {} {}.\n\n2. Fees. The Company shall pay a monthly fee of {fee}. Invoices are payable within thirty (30) days after receipt.\n\n3. Term. This Agreement expires on {} unless either party gives notice at least sixty (60) days prior to expiration.\n\n4. Guaranty. {guarantor} guarantees the Company's obligations up to {cap}.\n\n5. Governing Law. This Agreement is governed by N.Y. Gen. Oblig. Law § 5-1401.\n\nIN WITNESS WHEREOF, the parties have executed this Agreement.\n\nCOMPANY: {}\n\nBy: ____________________\nName: {signer}\nTitle: President\n\nCONSULTANT: {}\n",
        american(signed),
        month(started),
        started.year(),
        american(ends),
        company.to_uppercase(),
        consultant.to_uppercase(),
    );
    truth.cites(&["N.Y. Gen. Oblig. Law § 5-1401"]);
    truth.event(signed, EventKind::Agreement);
    let first = later(started, 1 - i64::from(started.day()));
    let last = started.last_of_month();
    truth.events.push((first.to_string(), last.to_string(), EventKind::Other));
    truth.event(ends, EventKind::Deadline);
    truth.deadlines.push((30, DeadlineUnit::Days, None));
    truth.deadlines.push((60, DeadlineUnit::Days, None));
    truth.parties =
        vec![(company.to_owned(), Role::Contracting), (consultant.to_owned(), Role::Contracting)];
    truth.organisation(company);
    truth.organisation(guarantor);
    (vec![text], truth)
}
