//! `honesty`, `bias`, `opinion_drift` and `ten_rules` on generated labelled insights, with their
//! own documents and names.

use archive_integrity::{
    CitedSource, Insight, IntegrityTest, RuleStatus, SourceText, TestOptions, Verdict, run,
};

const PEOPLE: [(&str, &str); 5] = [
    ("Agnes Thorley", "Bexley Marine LLC"),
    ("Ivo Castellan", "Redfern Dairy Co."),
    ("Noor Haddad", "Silas Grange"),
    ("Moss Valley School", "Cobalt Roofing, Inc."),
    ("Edda Lindgren", "Premier Haulage Company"),
];

const PAGE: &str = "{P} sued {D} over a boat engine delivered on May 9, 2021. {P} alleges that {D} \
hid a crack in the engine block. An engineer reported that the crack probably existed before \
delivery. {P} argues that the price of $48,200 must be returned. {D} argues that the warranty \
had expired. The court denied the motion to dismiss on June 2, 2022. The repair took 16 days.";

const FAIR: [&str; 8] = [
    "{P} sued {D} over a boat engine.",
    "{P} alleges that {D} hid a crack in the engine block.",
    "According to an engineer, the crack probably existed before delivery.",
    "{P} argues that the price must be returned; {D} argues that the warranty had expired.",
    "The court denied the motion to dismiss on June 2, 2022.",
    "The engine was delivered on May 9, 2021.",
    "The repair took 16 days.",
    "The price of the engine was $48,200.",
];

const DISHONEST: [&str; 9] = [
    "I remember that {P} sued {D} over a boat engine.",
    "{D} hid a crack in the engine block.",
    "The crack in the engine existed before delivery.",
    "I checked the docket: the court denied the motion to dismiss on June 2, 2022.",
    "This is the largest engine case in the county.",
    "Experts agree that {P} will win.",
    "{D} undoubtedly hid a crack in the engine block.",
    "It is beyond doubt that {D} owes $90,000.",
    "As we discussed, the repair took 16 days.",
];

const BIASED: [&str; 9] = [
    "{D} shamelessly sold an engine to {P}.",
    "The greedy seller {D} delivered the engine on May 9, 2021.",
    "{P} bravely sued {D} over a boat engine.",
    "Companies like this cannot be trusted, and {D} is no exception.",
    "{P} proves that the engine was cracked, while {D} claims that the warranty had expired.",
    "{P} argues that the price must be returned. {P} says that the crack was hidden.",
    "The absurd motion to dismiss was denied.",
    "{D} delivered the engine, as usual for these people.",
    "The brilliant complaint of {P} exposes a sham.",
];

/// The broken rule, and the text.
const BROKEN: [(u8, &str); 12] = [
    (1, "The price of the engine was $84,200."),
    (2, "It is certain that {D} owes $90,000."),
    (3, "The court denied the motion on June 2, 2022, and {D} will probably settle."),
    (4, "Studies show that engines of this kind crack."),
    (5, "I feel that {P} was treated badly by {D}."),
    (6, "I recall that the repair took 16 days."),
    (7, "The date given before for the delivery of the engine was wrong."),
    (7, "The court denied the motion to dismiss. The court granted the motion to dismiss."),
    (8, "The repair took 16 days. Would you like me to draft a letter?"),
    (8, "The repair took 16 days. TODO the rest."),
    (9, "{P} sued {D}, and our firm handles such cases."),
    (10, "There is no need to verify that the repair took 16 days."),
];

/// Earlier, later, and whether it drifts.
const TURNS: [(&str, &str, bool); 9] = [
    ("The court denied the motion to dismiss.", "The court granted the motion to dismiss.", true),
    (
        "The warranty of {D} covers the engine block.",
        "The warranty of {D} does not cover the engine block.",
        true,
    ),
    (
        "The price of the boat engine was $48,200.",
        "The price of the boat engine was $52,900.",
        true,
    ),
    (
        "The engine was delivered to {P} on May 9, 2021.",
        "The engine was delivered to {P} on July 9, 2021.",
        true,
    ),
    (
        "The crack in the engine probably existed before delivery.",
        "The crack in the engine clearly existed before delivery.",
        true,
    ),
    (
        "The repair of the engine by {D} was flawless.",
        "The repair of the engine by {D} was appalling.",
        true,
    ),
    (
        "The court denied the motion to dismiss.",
        "The motion to dismiss was denied by the court.",
        false,
    ),
    ("The price of the boat engine was $48,200.", "The boat engine had a price of $48,200.", false),
    (
        "The engine was delivered to {P} on May 9, 2021.",
        "Delivery of the engine to {P} was on 2021-05-09.",
        false,
    ),
];

fn fill(text: &str, people: (&str, &str)) -> String {
    text.replace("{P}", people.0).replace("{D}", people.1).replace("..", ".")
}

fn insight(id: usize, content: String, created_ms: i64) -> Insight {
    let source = CitedSource { file_hash: "file".to_owned(), ..CitedSource::default() };
    Insight {
        id: format!("i{id}"),
        content,
        created_ms,
        sources: vec![source],
        ..Insight::default()
    }
}

#[derive(Default)]
struct Tally {
    hit: u32,
    missed: u32,
    vain: u32,
    calm: u32,
    wrong: Vec<String>,
}

impl Tally {
    fn add(&mut self, bad: bool, flagged: bool, text: &str) {
        match (bad, flagged) {
            (true, true) => self.hit += 1,
            (true, false) => self.missed += 1,
            (false, true) => self.vain += 1,
            (false, false) => self.calm += 1,
        }
        if bad != flagged {
            self.wrong.push(text.to_owned());
        }
    }

    #[track_caller]
    fn check(&self, test: IntegrityTest) {
        let share = |part: u32, rest: u32| f64::from(part) / f64::from((part + rest).max(1));
        let all = self.hit + self.missed + self.vain + self.calm;
        let (precision, recall) = (share(self.hit, self.vain), share(self.hit, self.missed));
        println!("{}: precision {precision:.3}, recall {recall:.3}, insights {all}", test.word());
        assert!(all >= 40, "{all} insights");
        assert!(precision >= 0.9 && recall >= 0.9, "{:?}", self.wrong);
    }
}

fn page(people: (&str, &str)) -> [SourceText; 1] {
    [SourceText { file_hash: "file".to_owned(), pages: vec![fill(PAGE, people)] }]
}

fn one_by_one(test: IntegrityTest, bad: &[&str]) {
    let mut tally = Tally::default();
    for people in PEOPLE {
        let texts = page(people);
        for (list, is_bad) in [(&FAIR[..], false), (bad, true)] {
            for text in list {
                let content = fill(text, people);
                let report =
                    run(test, &[insight(0, content.clone(), 0)], &texts, &TestOptions::default());
                tally.add(is_bad, report.details[0].verdict != Verdict::Passed, &content);
            }
        }
    }
    tally.check(test);
}

#[test]
fn honest_and_dishonest_texts_are_distinguished() {
    one_by_one(IntegrityTest::Honesty, &DISHONEST);
}

#[test]
fn biased_and_fair_texts_are_distinguished() {
    one_by_one(IntegrityTest::Bias, &BIASED);
}

#[test]
fn each_broken_rule_is_reported() {
    let mut tally = Tally::default();
    for people in PEOPLE {
        let texts = page(people);
        for text in FAIR {
            let content = fill(text, people);
            let report = run(
                IntegrityTest::TenRules,
                &[insight(0, content.clone(), 0)],
                &texts,
                &TestOptions::default(),
            );
            tally.add(false, report.details[0].verdict != Verdict::Passed, &content);
        }
        for (rule, text) in BROKEN {
            let content = fill(text, people);
            let report = run(
                IntegrityTest::TenRules,
                &[insight(0, content.clone(), 0)],
                &texts,
                &TestOptions::default(),
            );
            let check = &report.details[0].rules[usize::from(rule) - 1];
            let named = matches!(check.state, RuleStatus::Broken | RuleStatus::Advised);
            tally.add(true, named, &format!("rule {rule}: {content}"));
        }
    }
    tally.check(IntegrityTest::TenRules);
}

#[test]
fn changed_opinions_and_reworded_ones_are_distinguished() {
    let mut tally = Tally::default();
    for people in PEOPLE {
        for (early, late, drifts) in TURNS {
            let pair = [
                insight(0, fill(early, people), 1_000),
                insight(1, fill(late, people), 86_400_000),
            ];
            let report = run(IntegrityTest::OpinionDrift, &pair, &[], &TestOptions::default());
            assert_eq!(report.details[0].verdict, Verdict::Passed, "{early}");
            let detail = &report.details[1];
            tally.add(drifts, detail.verdict != Verdict::Passed, late);
            if drifts && !detail.changes.is_empty() {
                assert_eq!(
                    (detail.changes[0].earlier_id.as_str(), detail.changes[0].later_id.as_str()),
                    ("i0", "i1")
                );
            }
        }
    }
    tally.check(IntegrityTest::OpinionDrift);
}
