//! Papers of American courts that the rules were not written for.

use archive_entities::testing::{CorpusRng, ExpectedFacts, ordinal};
use archive_entities::{DeadlineUnit, EventKind, Role};

use super::{
    FIRMS, GeneratedDocument, american, dollars, later, month, people, surname, two_firms, working,
};

pub(super) fn complaint(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "complaint", ..ExpectedFacts::default() };
    let [plaintiff, lawyer, manager] = people(rng);
    let company = rng.pick(&FIRMS);
    let county = rng.pick(&["Alameda", "Fresno", "Sonoma", "Ventura"]);
    let number = format!("2{}CV{:06}", rng.below(4), 1_000 + rng.below(90_000));
    let bar = 200_000 + rng.below(90_000);
    let (hired, fired) = (rng.day(), rng.day());
    let wages = dollars(rng, &mut truth);
    let group = format!("{} Law Group, APC", surname(lawyer));
    let first = format!(
        "{lawyer} (SBN {bar})\n{group}\n1180 Harbor Boulevard, Suite 400\nTelephone: (510) 555-0117\n\nAttorneys for Plaintiff {plaintiff}\n\nSUPERIOR COURT OF THE STATE OF CALIFORNIA\nCOUNTY OF {}\n\n{},\n\n          Plaintiff,\n\n     vs.\n\n{}; and DOES 1 through 20, inclusive,\n\n          Defendants.\n\nCase No.: {number}\n\nCOMPLAINT FOR DAMAGES\n\nDEMAND FOR JURY TRIAL\n",
        county.to_uppercase(),
        plaintiff.to_uppercase(),
        company.to_uppercase(),
    );
    let second = format!(
        "Plaintiff {plaintiff} alleges:\n\n1. {company} (\"Defendant\") operates a plant in {county} County.\n\n2. Plaintiff was hired on or about {} as a line supervisor.\n\n3. On {}, {manager}, a manager of Defendant, terminated Plaintiff without warning, in violation of Cal. Lab. Code § 1102.5 and of the rule in Tamblyn v. Coastal Reach Co., 27 Cal. 3d 167, 170 (1980).\n\n4. An employer may not retaliate. Tamblyn, 27 Cal. 3d at 172. Plaintiff lost earnings of {wages}.\n\nPRAYER FOR RELIEF\n\nPlaintiff prays for judgment against Defendants.\n\n{group}\n\nBy: ______________________\n{lawyer}\nAttorneys for Plaintiff\n",
        american(hired),
        american(fired),
    );
    truth.cites(&["Cal. Lab. Code § 1102.5", "27 Cal. 3d 167"]);
    truth.event(hired, EventKind::Employment);
    truth.event(fired, EventKind::Employment);
    truth.parties =
        vec![(plaintiff.to_owned(), Role::Plaintiff), (company.to_owned(), Role::Defendant)];
    truth.attorneys.push(lawyer.to_owned());
    truth.courts.push(format!("Superior Court of the State of California County of {county}"));
    truth.numbers.push(number);
    truth.organisation(company);
    truth.organisation(&group);
    (vec![first, second], truth)
}

pub(super) fn motion(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "motion", ..ExpectedFacts::default() };
    let [plaintiff, lawyer] = people(rng);
    let company = rng.pick(&FIRMS);
    let number = format!("4:2{}-cv-{:05}", rng.below(4), 100 + rng.below(9_000));
    let bar = 24_000_000 + rng.below(90_000);
    let (filed, served) = (rng.day(), rng.day());
    let column = |left: &str, right: &str| format!("{left:<38}§          {right}\n");
    let caption: String = [
        column(&format!("{},", plaintiff.to_uppercase()), ""),
        column("     Plaintiff,", ""),
        column("", &format!("CIVIL ACTION NO. {number}")),
        column("v.", ""),
        column("", "JURY TRIAL DEMANDED"),
        column(&format!("{},", company.to_uppercase()), ""),
        column("     Defendant.", ""),
    ]
    .concat();
    let text = format!(
        "IN THE UNITED STATES DISTRICT COURT\nFOR THE SOUTHERN DISTRICT OF TEXAS\nHOUSTON DIVISION\n\n{caption}\nDEFENDANT'S MOTION TO TRANSFER VENUE\n\nDefendant {company} moves to transfer this action under 28 U.S.C. § 1404(a).\n\nPlaintiff filed this suit on {}, and Defendant was served on {}. Under Local Rule 7.3, a response is due within twenty-one (21) days of service.\n\nThe moving party must show good cause. Ashdown v. Corbel Shipping, Inc., 587 F.3d 221, 226 (5th Cir. 2009). The factors are private and public. Id. at 227; see also Trent v. Hallam, 512 U.S. 44, 51 (1994) (refusing transfer). No single factor decides. Ashdown, 587 F.3d at 229. The witnesses live elsewhere, as in Trent, supra, at 53.\n\nRespectfully submitted,\n\n/s/ {lawyer}\n{lawyer}\nState Bar No. {bar}\nCOUNSEL FOR DEFENDANT\n",
        american(filed),
        american(served),
    );
    truth.cites(&["Local Rule 7.3", "28 U.S.C. § 1404", "587 F.3d 221", "512 U.S. 44"]);
    truth.event(filed, EventKind::Filed);
    truth.event(served, EventKind::Served);
    truth.deadlines.push((21, DeadlineUnit::Days, Some(working(later(served, 21)).to_string())));
    truth.parties =
        vec![(plaintiff.to_owned(), Role::Plaintiff), (company.to_owned(), Role::Defendant)];
    truth.attorneys.push(lawyer.to_owned());
    truth.courts.push("United States District Court for the Southern District of Texas".to_owned());
    truth.numbers.push(number);
    truth.organisation(company);
    (vec![text], truth)
}

pub(super) fn order(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "order", ..ExpectedFacts::default() };
    let [judge, tenant] = people(rng);
    let company = rng.pick(&FIRMS);
    let county = rng.pick(&["Kings", "Queens", "Albany", "Erie"]);
    let number = format!("5{:05}/202{}", rng.below(90_000), rng.below(4));
    let (heard, made) = (rng.day(), rng.day());
    let next = later(made, 33);
    let rent = dollars(rng, &mut truth);
    let count = [10u16, 20, 45][rng.below(3)];
    let text = format!(
        "SUPREME COURT OF THE STATE OF NEW YORK\nCOUNTY OF {}\n\nPRESENT: HON. {}, J.S.C.\n------------------------------------------------x\n{},\n\n                    Plaintiff,            Index No. {number}\n\n          -against-                       DECISION AND ORDER\n\n{},\n\n                    Defendant.\n------------------------------------------------x\n\nThe motion of {company} was argued on {}. The lease calls for monthly payments and the arrears stand at {rent}. See Wexler v. Dunmore Realty Corp., 61 N.Y.2d 442, 447 (1984); RPAPL § 711.\n\nNow, upon the papers, it is\n\nORDERED that the motion is granted to the extent of directing {tenant} to pay use and occupancy within {count} days of the date of this order; and it is further\n\nORDERED that the parties shall appear for a conference on {} at 9:30 a.m.\n\nDated: {}\n\nENTER:\n\n______________________\nHon. {judge}, J.S.C.\n",
        county.to_uppercase(),
        judge.to_uppercase(),
        company.to_uppercase(),
        tenant.to_uppercase(),
        american(heard),
        american(next),
        american(made),
    );
    truth.cites(&["61 N.Y.2d 442"]);
    truth.event(heard, EventKind::Hearing);
    truth.event(next, EventKind::Hearing);
    truth.event(made, EventKind::Dated);
    let due = working(later(made, i64::from(count)));
    truth.deadlines.push((count, DeadlineUnit::Days, Some(due.to_string())));
    truth.parties =
        vec![(company.to_owned(), Role::Plaintiff), (tenant.to_owned(), Role::Defendant)];
    truth.judges.push(judge.to_owned());
    truth.courts.push(format!("Supreme Court of the State of New York County of {county}"));
    truth.numbers.push(number);
    truth.organisation(company);
    (vec![text], truth)
}

pub(super) fn opinion(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "opinion", ..ExpectedFacts::default() };
    let [appellant, first, second, third] = people(rng);
    let (company, _) = two_firms(rng);
    let number = format!("2{}-35{:03}", rng.below(4), 100 + rng.below(800));
    let below = format!("3:1{}-cv-{:05}-MO", rng.below(9), 100 + rng.below(2_000));
    let (argued, filed) = (rng.day(), rng.day());
    let text = format!(
        "FOR PUBLICATION\n\nUNITED STATES COURT OF APPEALS\nFOR THE NINTH CIRCUIT\n\n{},\n               Plaintiff-Appellant,          No. {number}\n\n  v.                                         D.C. No. {below}\n\n{},\n               Defendant-Appellee.           OPINION\n\nAppeal from the United States District Court\nfor the District of Oregon\n\nArgued and Submitted {}\nPortland, Oregon\n\nFiled {}\n\nBefore: {first}, {second}, and {third}, Circuit Judges.\n\nOpinion by Judge {}\n\nWe review a grant of summary judgment de novo. Ostrow v. Penn Ridge Mut. Ins. Co., 415 F.3d 902, 907 (9th Cir. 2005). The statute of limitations is two years. 42 U.S.C. § 1983; Or. Rev. Stat. § 12.110. Ignorance does not toll it. Ostrow, 415 F.3d at 909. But see In re Harlan Mills, 380 B.R. 12, 19 (Bankr. D. Or. 2008) (tolling for fraud). Id. at 21. We held the same in Lindgren v. Ostby, 2019 WL 3345120, at *4 (9th Cir. July 25, 2019).\n\nAFFIRMED.\n",
        appellant.to_uppercase(),
        company.to_uppercase(),
        american(argued),
        american(filed),
        surname(second),
    );
    truth.cites(&[
        "415 F.3d 902",
        "42 U.S.C. § 1983",
        "Or. Rev. Stat. § 12.110",
        "380 B.R. 12",
        "2019 WL 3345120",
    ]);
    truth.event(argued, EventKind::Hearing);
    truth.event(filed, EventKind::Filed);
    for role in [Role::Plaintiff, Role::Appellant] {
        truth.parties.push((appellant.to_owned(), role));
    }
    for role in [Role::Defendant, Role::Appellee] {
        truth.parties.push((company.to_owned(), role));
    }
    truth.judges = [first, second, third].map(str::to_owned).to_vec();
    truth.courts = vec![
        "United States Court of Appeals for the Ninth Circuit".to_owned(),
        "United States District Court for the District of Oregon".to_owned(),
    ];
    truth.numbers = vec![number, below];
    truth.organisation(company);
    (vec![text], truth)
}

pub(super) fn notice(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "notice", ..ExpectedFacts::default() };
    let [trustee, judge] = people(rng);
    let company = rng.pick(&FIRMS);
    let number = format!("2{}-1{:04}", rng.below(4), rng.below(9_000));
    let (petition, meeting) = (rng.day(), rng.day());
    let claims = later(petition, 70);
    let fee = dollars(rng, &mut truth);
    let text = format!(
        "UNITED STATES BANKRUPTCY COURT\nDISTRICT OF DELAWARE\n\nIn re:                                   Chapter 11\n\n{},                                      Case No. {number}\n\n          Debtor.                        Judge {judge}\n\nNOTICE OF BAR DATE AND MEETING OF CREDITORS\n\nTO ALL CREDITORS AND PARTIES IN INTEREST:\n\nPLEASE TAKE NOTICE that on the {} day of {}, {}, {company} filed a voluntary petition under 11 U.S.C. § 301. The meeting of creditors will be held on {} at 10:00 a.m. Proofs of claim must be received no later than {}. The United States Trustee is represented by {trustee}, Esq. A fee of {fee} was paid.\n\nObjections, if any, shall be filed at least seven (7) days before the hearing. Fed. R. Bankr. P. 2003.\n",
        company.to_uppercase(),
        ordinal(petition.day()),
        month(petition),
        petition.year(),
        american(meeting),
        american(claims),
    );
    truth.cites(&["11 U.S.C. § 301", "Fed. R. Bankr. P. 2003"]);
    truth.event(petition, EventKind::Filed);
    truth.event(meeting, EventKind::Other);
    truth.event(claims, EventKind::Deadline);
    truth.deadlines.push((7, DeadlineUnit::Days, None));
    truth.parties.push((company.to_owned(), Role::Debtor));
    truth.attorneys.push(trustee.to_owned());
    truth.judges.push(judge.to_owned());
    truth.courts.push("United States Bankruptcy Court District of Delaware".to_owned());
    truth.numbers.push(number);
    truth.organisation(company);
    (vec![text], truth)
}
