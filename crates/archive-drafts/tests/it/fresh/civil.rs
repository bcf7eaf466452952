//! Papers of courts and agencies.

use archive_entities::testing::{CorpusRng, ExpectedFacts};
use archive_entities::{DeadlineUnit, EventKind, Role};

use super::{FIRMS, GeneratedDocument, american, dollars, later, people, two_firms, working};

pub(super) fn objections(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "brief", ..ExpectedFacts::default() };
    let [plaintiff, lawyer] = people(rng);
    let (company, _) = two_firms(rng);
    let number = format!("GD-2{}-{:06}", rng.below(4), 1_000 + rng.below(20_000));
    let (filed, served) = (rng.day(), rng.day());
    let text = format!(
        "IN THE COURT OF COMMON PLEAS OF ALLEGHENY COUNTY, PENNSYLVANIA\n\nCIVIL DIVISION\n\n{},\n\n     Plaintiff,                         No. {number}\n\n  vs.\n\n{},\n\n     Defendant.                         Filed on behalf of Defendant\n\n                                        Counsel of Record:\n                                        {lawyer}, Esquire\n                                        Pa. I.D. No. 8{:04}\n\nBRIEF IN SUPPORT OF PRELIMINARY OBJECTIONS\n\nPlaintiff commenced this action by writ on {}. The complaint followed and was served upon {company} on {}. A responsive pleading is due within twenty days after service. Pa. R. Civ. P. 1026.\n\nA demurrer tests legal sufficiency. Quarles v. Benning Tool Works, 612 Pa. 404, 31 A.3d 117, 121 (2011). All well-pleaded facts are admitted. Id. at 122. Conclusions of law are not. Quarles, 31 A.3d at 124.\n",
        plaintiff.to_uppercase(),
        company.to_uppercase(),
        rng.below(10_000),
        american(filed),
        american(served),
    );
    truth.cites(&["Pa. R. Civ. P. 1026", "612 Pa. 404", "31 A.3d 117"]);
    truth.event(filed, EventKind::Filed);
    truth.event(served, EventKind::Served);
    truth.deadlines.push((20, DeadlineUnit::Days, Some(working(later(served, 20)).to_string())));
    truth.parties =
        vec![(plaintiff.to_owned(), Role::Plaintiff), (company.to_owned(), Role::Defendant)];
    truth.attorneys.push(lawyer.to_owned());
    truth.courts.push("Court of Common Pleas of Allegheny County Pennsylvania".to_owned());
    truth.numbers.push(number);
    truth.organisation(company);
    (vec![text], truth)
}

pub(super) fn judgment(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "judgment", ..ExpectedFacts::default() };
    let [plaintiff, defendant, judge] = people(rng);
    let number = format!("2{} CV {:06}", rng.below(4), 1_000 + rng.below(9_000));
    let (trial, breach, signed) = (rng.day(), rng.day(), rng.day());
    let award = dollars(rng, &mut truth);
    let text = format!(
        "IN THE COURT OF COMMON PLEAS\nFRANKLIN COUNTY, OHIO\n\n{},                    :\n          Plaintiff,                    :     Case No. {number}\n     -vs-                               :     Judge {judge}\n{},                    :\n          Defendant.                    :\n\nJUDGMENT ENTRY\n\nThis matter came on for trial to the bench on {}. Having heard the evidence, the Court finds that Defendant broke the contract on {}.\n\nJudgment is rendered for Plaintiff in the amount of {award}. Costs to Defendant. A notice of appeal must be filed within thirty days of the entry of this judgment. App. R. 4(A).\n\nIT IS SO ORDERED.\n\n{}\nDate                                    {judge}, Judge\n",
        plaintiff.to_uppercase(),
        defendant.to_uppercase(),
        american(trial),
        american(breach),
        american(signed),
    );
    truth.event(trial, EventKind::Hearing);
    truth.event(breach, EventKind::Agreement);
    truth.event(signed, EventKind::Dated);
    truth.deadlines.push((30, DeadlineUnit::Days, Some(working(later(signed, 30)).to_string())));
    truth.parties =
        vec![(plaintiff.to_owned(), Role::Plaintiff), (defendant.to_owned(), Role::Defendant)];
    truth.judges.push(judge.to_owned());
    truth.courts.push("Court of Common Pleas Franklin County Ohio".to_owned());
    truth.numbers.push(number);
    (vec![text], truth)
}

pub(super) fn agency(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "order", ..ExpectedFacts::default() };
    let [worker, examiner, counsel] = people(rng);
    let company = rng.pick(&FIRMS);
    let number = format!("2{}-WC-{:04}", rng.below(4), 1_000 + rng.below(8_000));
    let (injury, hearing, issued) = (rng.day(), rng.day(), rng.day());
    let weekly = 300 + rng.below(600);
    truth.money.push(format!("USD {weekly}.00"));
    let text = format!(
        "STATE WORKERS' COMPENSATION BOARD\n\nDECISION AND ORDER\n\nClaimant: {worker}\nEmployer: {company}\nDocket No. {number}\nHearing Officer: {examiner}\n\nA hearing was held on {}. {counsel}, Esq., appeared for the claimant. The claimant was struck by a forklift on {} and has not worked since.\n\nThe employer shall pay ${weekly}.00 a week. Either party may seek review within 15 days of the date of this decision. See Haverford Packing v. Lunt, 144 Idaho 88, 156 P.3d 601 (2007).\n\nDated: {}\n",
        american(hearing),
        american(injury),
        american(issued),
    );
    truth.cites(&["144 Idaho 88", "156 P.3d 601"]);
    truth.event(hearing, EventKind::Hearing);
    truth.event(injury, EventKind::Incident);
    truth.event(issued, EventKind::Dated);
    truth.deadlines.push((15, DeadlineUnit::Days, Some(working(later(issued, 15)).to_string())));
    truth.parties.push((worker.to_owned(), Role::Plaintiff));
    truth.attorneys.push(counsel.to_owned());
    truth.numbers.push(number);
    truth.organisation(company);
    truth.courts.push("State Workers' Compensation Board".to_owned());
    (vec![text], truth)
}
