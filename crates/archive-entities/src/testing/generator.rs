//! Generates documents together with the facts they state: pleadings, orders, opinions, letters,
//! e-mails and acts of Russian arbitration courts, with decoys that look like facts.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::expected::ExpectedFacts;
use super::russian;
use crate::{DeadlineUnit, EventKind, Role};

/// A seeded generator; the corpora depend on its sequence.
pub struct CorpusRng(u64);

impl CorpusRng {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    pub fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }

    pub fn day(&mut self) -> Date {
        let first = Date::constant(2019, 1, 1);
        first.checked_add((self.below(2000) as i64).days()).unwrap()
    }
}

const GIVEN: [&str; 14] = [
    "Alice", "Brenda", "Carlos", "Denise", "Edward", "Farah", "Gordon", "Helen", "Isaac",
    "Janelle", "Kevin", "Latoya", "Miguel", "Nadia",
];
const SURNAMES: [&str; 24] = [
    "Abernathy",
    "Boyle",
    "Castellano",
    "Dworkin",
    "Eastman",
    "Fitzgerald",
    "Gutierrez",
    "Hollander",
    "Ibarra",
    "Jankowski",
    "Kowalski",
    "Lindqvist",
    "McAllister",
    "Novak",
    "O'Donnell",
    "Pruitt",
    "Quintero",
    "Rasmussen",
    "Stavros",
    "Thornbury",
    "Underhill",
    "Vandermeer",
    "Whitlock",
    "Zielinski",
];
const FIRMS: [&str; 12] = [
    "Harbor Point Logistics, LLC",
    "Great Lakes Fabrication, Inc.",
    "Northfield Dairy Company",
    "Redwood & Vance Holdings, Ltd.",
    "Copper Country Bank",
    "Tri-County Paving Corp.",
    "Blue Heron Properties, L.L.C.",
    "Maple Ridge Hospital",
    "Orion Tool and Die, Inc.",
    "Lakeshore Transit Authority",
    "Summit Casualty Insurance Company",
    "Ferndale Textiles Corporation",
];
const COUNTIES: [&str; 6] = ["Wayne", "Oakland", "Kent", "Ingham", "Genesee", "Macomb"];

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// People of one document never share a surname.
struct DocumentPeople {
    surnames: Vec<&'static str>,
}

impl DocumentPeople {
    fn new(rng: &mut CorpusRng) -> Self {
        let mut surnames = SURNAMES.to_vec();
        for at in (1..surnames.len()).rev() {
            surnames.swap(at, rng.below(at + 1));
        }
        Self { surnames }
    }

    fn person(&mut self, rng: &mut CorpusRng) -> String {
        let surname = self.surnames.pop().unwrap();
        let middle = ["", "", " Q.", " L.", " T."][rng.below(5)];
        format!("{}{middle} {surname}", rng.pick(&GIVEN))
    }
}

fn surname(name: &str) -> &str {
    name.rsplit(' ').next().unwrap()
}

/// Formats a day in one of the usual ways.
fn written(rng: &mut CorpusRng, day: Date) -> String {
    let month = MONTHS[day.month() as usize - 1];
    let short = [
        "Jan.", "Feb.", "Mar.", "Apr.", "May", "June", "July", "Aug.", "Sept.", "Oct.", "Nov.",
        "Dec.",
    ];
    match rng.below(6) {
        0 => format!("{} {}, {}", short[day.month() as usize - 1], day.day(), day.year()),
        1 => format!("{:02}/{:02}/{}", day.month(), day.day(), day.year()),
        2 => format!("the {} day of {month}, {}", ordinal(day.day()), day.year()),
        _ => format!("{month} {}, {}", day.day(), day.year()),
    }
}

pub fn ordinal(day: i8) -> String {
    let end = match day {
        1 | 21 | 31 => "st",
        2 | 22 => "nd",
        3 | 23 => "rd",
        _ => "th",
    };
    format!("{day}{end}")
}

fn dollars(rng: &mut CorpusRng, truth: &mut ExpectedFacts) -> String {
    let whole = (rng.below(900) + 12) as u64;
    let (text, cents) = match rng.below(4) {
        0 => (format!("${whole},500.25"), whole * 100_000 + 50_025),
        1 => (format!("${whole}.5 million"), whole * 100_000_000 + 50_000_000),
        2 => (format!("{whole},000 dollars"), whole * 100_000),
        _ => (format!("${whole},000"), whole * 100_000),
    };
    truth.money.push(format!("USD {}.{:02}", cents / 100, cents % 100));
    text
}

pub(super) fn working(day: Date) -> Date {
    match day.weekday() {
        Weekday::Saturday => day.checked_add(2.days()).unwrap(),
        Weekday::Sunday => day.checked_add(1.days()).unwrap(),
        _ => day,
    }
}

impl ExpectedFacts {
    pub fn event(&mut self, day: Date, kind: EventKind) {
        self.events.push((day.to_string(), day.to_string(), kind));
    }

    pub fn cites(&mut self, list: &[&str]) {
        self.citations.extend(list.iter().map(|it| (*it).to_owned()));
    }

    pub fn organisation(&mut self, name: &str) {
        self.organisations.push(name.to_owned());
    }
}

type DocumentGenerator = fn(&mut CorpusRng) -> (Vec<String>, ExpectedFacts);

/// Documents of each kind: the name, the pages and the expected facts.
#[must_use]
pub fn corpus(copies: usize) -> Vec<(String, Vec<String>, ExpectedFacts)> {
    let makers: [(&str, DocumentGenerator); 8] = [
        ("complaint", complaint),
        ("order", order),
        ("motion", motion),
        ("opinion", opinion),
        ("letter", letter),
        ("email", email),
        ("russian decision", russian::decision),
        ("russian claim", russian::claim),
    ];
    let mut list = Vec::new();
    for (place, (name, make)) in makers.iter().enumerate() {
        for copy in 0..copies {
            let mut rng = CorpusRng::new((place * 100 + copy + 7) as u64);
            let (pages, truth) = make(&mut rng);
            list.push((format!("{name} {copy}"), pages, truth));
        }
    }
    list
}

fn complaint(rng: &mut CorpusRng) -> (Vec<String>, ExpectedFacts) {
    let mut truth = ExpectedFacts { document_type: "complaint", ..ExpectedFacts::default() };
    truth.cites(&["MCL 600.2956", "412 Mich 220"]);
    let mut cast = DocumentPeople::new(rng);
    let (plaintiff, driver, lawyer, judge, witness) =
        (cast.person(rng), cast.person(rng), cast.person(rng), cast.person(rng), cast.person(rng));
    let company = rng.pick(&FIRMS);
    let county = rng.pick(&COUNTIES);
    let number = format!(
        "2{}-{:06}-N{}",
        rng.below(5),
        100_000 + rng.below(800_000),
        rng.pick(&["O", "I", "F"])
    );
    let (hit, filed) = (rng.day(), rng.day());
    let served = filed.checked_add(9.days()).unwrap();
    let firm =
        format!("{} & {}, P.C.", surname(&lawyer), rng.pick(&["Associates", "Merriweather"]));
    let bar = 30_000 + rng.below(50_000);
    let harm = dollars(rng, &mut truth);
    let again = hit.checked_add(1.days()).unwrap();
    let twice = rng.below(2) == 0;
    let slip = if twice {
        truth.conflicts.push((EventKind::Incident, "incident".to_owned()));
        truth.event(again, EventKind::Incident);
        format!(
            "9. The police report states that the collision happened on {}.\n",
            written(rng, again)
        )
    } else {
        String::new()
    };
    let first = format!(
        "STATE OF MICHIGAN\nIN THE CIRCUIT COURT FOR THE COUNTY OF {}\n\n{},\n\n          Plaintiff,            Case No. {number}\n\nv                                   Hon. {judge}\n\n{}, a Michigan\ncorporation, and {},\n\n          Defendants.\n____________________________/\n\n{lawyer} (P{bar})\n{firm}\nAttorney for Plaintiff\n100 Woodward Avenue, Suite 2024\n(313) 555-0142\n\nCOMPLAINT AND JURY DEMAND\n\n",
        county.to_uppercase(),
        plaintiff.to_uppercase(),
        company.to_uppercase(),
        driver.to_uppercase(),
    );
    let second = format!(
        "1. Plaintiff {plaintiff} is a resident of {county} County.\n2. Defendant {company} does business in Michigan. See MCL 600.2956.\n\n7. On {}, a collision occurred at the corner of May Street and Fifth.\n8. {} was driving 45 miles per hour within 3 miles of the school, as {witness} saw.\n{slip}10. The complaint was filed on {} and served on Defendants on {}.\n11. Defendants must answer within 21 days after service of the summons.\n12. Under Henderson v. Lockwood, 412 Mich 220 (1982), a driver owes a duty of care.\n13. Mr. {} lost wages of {harm}, and may lose more.\n\nWHEREFORE, Plaintiff asks for judgment against Defendants.\n\nBy: /s/ {lawyer}\n{lawyer} (P{bar})\nAttorney for Plaintiff\n",
        written(rng, hit),
        surname(&driver),
        written(rng, filed),
        written(rng, served),
        surname(&plaintiff),
    );
    truth.event(hit, EventKind::Incident);
    truth.event(filed, EventKind::Filed);
    truth.event(served, EventKind::Served);
    let due = working(served.checked_add(21.days()).unwrap());
    truth.deadlines.push((21, DeadlineUnit::Days, Some(due.to_string())));
    truth.parties = vec![
        (plaintiff, Role::Plaintiff),
        (company.to_owned(), Role::Defendant),
        (driver, Role::Defendant),
    ];
    truth.attorneys.push(lawyer);
    truth.judges.push(judge);
    truth.courts.push(format!("Circuit Court for the County of {county}"));
    truth.numbers.push(number);
    truth.organisation(company);
    truth.organisation(&firm);
    (vec![first, second], truth)
}

fn order(rng: &mut CorpusRng) -> (Vec<String>, ExpectedFacts) {
    let mut truth = ExpectedFacts { document_type: "order", ..ExpectedFacts::default() };
    truth.cites(&["Fed. R. Civ. P. 37", "123 F.3d 456"]);
    let mut cast = DocumentPeople::new(rng);
    let (plaintiff, judge) = (cast.person(rng), cast.person(rng));
    let company = rng.pick(&FIRMS);
    let side = rng.pick(&["Eastern", "Western"]);
    let number = format!(
        "2:2{}-cv-{:05}-{}",
        rng.below(5),
        10_000 + rng.below(8_000),
        rng.pick(&["ABC-DRG", "LVP", "TGB-EAS"])
    );
    let (moved, entered) = (rng.day(), rng.day());
    let hearing = entered.checked_add(40.days()).unwrap();
    let due = entered.checked_add(60.days()).unwrap();
    let fee = dollars(rng, &mut truth);
    let count = [7u16, 14, 28, 30][rng.below(4)];
    let (before, limit) = if rng.below(2) == 0 {
        ("within", "of the date of this Order")
    } else {
        ("no later than", "after entry of this Order")
    };
    let text = format!(
        "UNITED STATES DISTRICT COURT\nFOR THE {} DISTRICT OF MICHIGAN\n\n{},\n                                        Case No. {number}\n     Plaintiff,\n                                        Hon. {judge}\nv.\n\n{},\n\n     Defendant.\n\nORDER GRANTING IN PART MOTION TO COMPEL\n\nOn {}, Plaintiff filed a motion to compel. The Court has read 12 exhibits (Fed. R. Civ. P. 37; Brandt v. Coleridge Mills, Inc., 123 F.3d 456, 460 (6th Cir. 1997)).\n\nIT IS ORDERED that Defendant shall produce the documents {before} {count} days {limit}. Defendant shall pay {fee} in fees. Expert reports shall be exchanged on or before {}. A hearing on the remaining issues is set for {}. It may be held by telephone.\n\nSO ORDERED.\n\nDated: {}\n\ns/ {judge}\n{judge}\nUnited States District Judge\n",
        side.to_uppercase(),
        plaintiff.to_uppercase(),
        company.to_uppercase(),
        written(rng, moved),
        written(rng, due),
        written(rng, hearing),
        plainly(entered),
    );
    truth.event(moved, EventKind::Filed);
    truth.event(due, EventKind::Deadline);
    truth.event(hearing, EventKind::Hearing);
    truth.event(entered, EventKind::Dated);
    let last = working(entered.checked_add(i64::from(count).days()).unwrap());
    truth.deadlines.push((count, DeadlineUnit::Days, Some(last.to_string())));
    truth.parties = vec![(plaintiff, Role::Plaintiff), (company.to_owned(), Role::Defendant)];
    truth.judges.push(judge);
    truth.courts.push(format!("United States District Court for the {side} District of Michigan"));
    truth.numbers.push(number);
    truth.organisation(company);
    (vec![text], truth)
}

fn plainly(day: Date) -> String {
    format!("{} {}, {}", MONTHS[day.month() as usize - 1], day.day(), day.year())
}

fn motion(rng: &mut CorpusRng) -> (Vec<String>, ExpectedFacts) {
    let mut truth = ExpectedFacts { document_type: "motion", ..ExpectedFacts::default() };
    truth.cites(&["MCR 2.116"]);
    let mut cast = DocumentPeople::new(rng);
    let (first, second, ours, theirs) =
        (cast.person(rng), cast.person(rng), cast.person(rng), cast.person(rng));
    let company = rng.pick(&FIRMS);
    let county = rng.pick(&COUNTIES);
    let number = format!(
        "2{}-{:06}-C{}",
        rng.below(5),
        100_000 + rng.below(800_000),
        rng.pick(&["K", "B", "Z"])
    );
    let signed = rng.day();
    let ended = signed.checked_add(400.days()).unwrap();
    let trial = ended.checked_add(500.days()).unwrap();
    let (bars, price) =
        ((40_000 + rng.below(9_000), 60_000 + rng.below(9_000)), dollars(rng, &mut truth));
    let year = 2012 + rng.below(5);
    let text = format!(
        "STATE OF MICHIGAN\n{} COUNTY CIRCUIT COURT\n\n{} and {},\n    Plaintiffs,\nv.                              No. {number}\n{},\n    Defendant.\n\n{} (P{})          {} (P{})\nAttorney for Plaintiffs          Attorney for Defendant\n\nDEFENDANT'S MOTION FOR SUMMARY DISPOSITION\n\nDefendant {company}, by its counsel, {}, moves under MCR 2.116(C)(10).\n\n1. In {year}, the parties began to do business with each other.\n2. The lease was signed on {}. Rent was {price} a year.\n3. From {} to {}, Plaintiff {} occupied the building.\n4. {}'s deposition is Exhibit 3; trial is set for {}.\n5. At least 7 days before the trial, the parties shall exchange exhibits.\n\nRespectfully submitted,\n\n/s/ {theirs}\nAttorney for Defendant\n",
        county.to_uppercase(),
        first.to_uppercase(),
        second.to_uppercase(),
        company.to_uppercase(),
        ours,
        bars.0,
        theirs,
        bars.1,
        theirs,
        plainly(signed),
        plainly(signed),
        plainly(ended),
        surname(&first),
        surname(&second),
        plainly(trial),
    );
    truth.events.push((format!("{year}-01-01"), format!("{year}-12-31"), EventKind::Other));
    truth.event(signed, EventKind::Agreement);
    truth.events.push((signed.to_string(), ended.to_string(), EventKind::Other));
    truth.event(trial, EventKind::Hearing);
    let counted = trial.checked_sub(7.days()).unwrap();
    let due = match counted.weekday() {
        Weekday::Saturday => counted.checked_sub(1.days()).unwrap(),
        Weekday::Sunday => counted.checked_sub(2.days()).unwrap(),
        _ => counted,
    };
    truth.deadlines.push((7, DeadlineUnit::Days, Some(due.to_string())));
    truth.parties = vec![
        (first, Role::Plaintiff),
        (second, Role::Plaintiff),
        (company.to_owned(), Role::Defendant),
    ];
    truth.attorneys = vec![ours, theirs];
    truth.courts.push(format!("{county} County Circuit Court"));
    truth.numbers.push(number);
    truth.organisation(company);
    (vec![text], truth)
}

fn opinion(rng: &mut CorpusRng) -> (Vec<String>, ExpectedFacts) {
    let mut truth = ExpectedFacts { document_type: "opinion", ..ExpectedFacts::default() };
    truth.cites(&["500 Mich 123", "899 NW2d 45"]);
    let mut cast = DocumentPeople::new(rng);
    let person = cast.person(rng);
    let judges = [cast.person(rng), cast.person(rng), cast.person(rng)];
    let names: Vec<String> = judges.iter().map(|it| surname(it).to_uppercase()).collect();
    let number = format!("{}", 340_000 + rng.below(40_000));
    let lower = format!("1{}-{:06}-FH", rng.below(9), 100_000 + rng.below(90_000));
    let county = rng.pick(&COUNTIES);
    let (issued, verdict) = (rng.day(), rng.day());
    let text = format!(
        "STATE OF MICHIGAN\nCOURT OF APPEALS\n\nPEOPLE OF THE STATE OF MICHIGAN,\n    Plaintiff-Appellee,\n\nv                                        No. {number}\n                                         {county} Circuit Court\n{},                                      LC No. {lower}\n    Defendant-Appellant.\n\nBefore: {}, P.J., and {} and {}, JJ.\n\nPER CURIAM.\n\nDefendant appeals as of right. The jury returned its verdict on {}. We affirm. See People v Carmody, 500 Mich 123, 130; 899 NW2d 45 (2017).\n\nThe trial court sentenced {} to 3 to 10 years in prison. The order was issued on {}.\n",
        person.to_uppercase(),
        names[0],
        names[1],
        names[2],
        plainly(verdict),
        surname(&person),
        written(rng, issued),
    );
    truth.event(verdict, EventKind::Judgment);
    truth.event(issued, EventKind::Order);
    for role in [Role::Plaintiff, Role::Appellee] {
        truth.parties.push(("People of the State of Michigan".to_owned(), role));
    }
    for role in [Role::Defendant, Role::Appellant] {
        truth.parties.push((person.clone(), role));
    }
    truth.judges = names;
    truth.courts = vec!["Court of Appeals".to_owned(), format!("{county} Circuit Court")];
    truth.numbers = vec![number, lower];
    truth.organisation("People of the State of Michigan");
    (vec![text], truth)
}

fn letter(rng: &mut CorpusRng) -> (Vec<String>, ExpectedFacts) {
    let mut truth = ExpectedFacts { document_type: "letter", ..ExpectedFacts::default() };
    let mut cast = DocumentPeople::new(rng);
    let (writer, client, reader) = (cast.person(rng), cast.person(rng), cast.person(rng));
    let company = rng.pick(&FIRMS);
    let number = format!("2{}-cv-{:05}", rng.below(5), 10_000 + rng.below(8_000));
    let (today, met) = (rng.day(), rng.day());
    let firm = format!("{} Law PLLC", surname(&writer));
    let month = MONTHS[rng.below(12)];
    let text = format!(
        "{firm}\n12 Lake Drive\n\n{}\n\n{reader}, Esq.\n44 Main Street\n\nRe: {} v. {company}, Case No. {number}\n\nDear Ms. {}:\n\nI write on behalf of my client. As you know, {} sent the first notice on {}. In {month} 2018, your client received it. We ask for payment of {} within ten (10) business days of the date of this letter. If we hear nothing within 30 days, we will go to court. The policy number is 4471-2203.\n\nSincerely,\n\n{writer}, Esq.\n",
        plainly(today),
        surname(&client),
        surname(&reader),
        surname(&client),
        written(rng, met),
        dollars(rng, &mut truth),
    );
    truth.event(today, EventKind::Dated);
    truth.event(met, EventKind::Notice);
    let at =
        Date::new(2018, MONTHS.iter().position(|it| *it == month).unwrap() as i8 + 1, 1).unwrap();
    truth.events.push((at.to_string(), at.last_of_month().to_string(), EventKind::Other));
    let mut due = today;
    for _ in 0..10 {
        due = working(due.checked_add(1.days()).unwrap());
    }
    truth.deadlines.push((10, DeadlineUnit::BusinessDays, Some(due.to_string())));
    truth.deadlines.push((30, DeadlineUnit::Days, None));
    truth.parties =
        vec![(surname(&client).to_owned(), Role::Plaintiff), (company.to_owned(), Role::Defendant)];
    truth.attorneys = vec![writer, reader];
    truth.numbers.push(number);
    truth.organisation(company);
    truth.organisation(&firm);
    (vec![text], truth)
}

fn email(rng: &mut CorpusRng) -> (Vec<String>, ExpectedFacts) {
    let mut truth = ExpectedFacts { document_type: "e-mail", ..ExpectedFacts::default() };
    let mut cast = DocumentPeople::new(rng);
    let (from, to, judge) = (cast.person(rng), cast.person(rng), cast.person(rng));
    let company = rng.pick(&FIRMS);
    let (sent, filed, due) = (rng.day(), rng.day(), rng.day());
    let other = filed.checked_add(3.days()).unwrap();
    let text = format!(
        "From: {from} <f@example.com>\nTo: {to} <t@example.com>\nDate: {sent}\nSubject: scheduling\n\nHi all,\n\nThe complaint against {company} was filed on {}. Our docket says the complaint was filed on {}, so somebody is wrong. Judge {} wants the joint plan by {}. The retainer is {}; call me at 517-555-0199, room 2020.\n\nThanks\n",
        written(rng, filed),
        written(rng, other),
        surname(&judge),
        written(rng, due),
        dollars(rng, &mut truth),
    );
    truth.event(sent, EventKind::Dated);
    truth.event(filed, EventKind::Filed);
    truth.event(other, EventKind::Filed);
    truth.event(due, EventKind::Deadline);
    truth.conflicts.push((EventKind::Filed, "complaint".to_owned()));
    truth.judges.push(surname(&judge).to_owned());
    truth.organisation(company);
    (vec![text], truth)
}
