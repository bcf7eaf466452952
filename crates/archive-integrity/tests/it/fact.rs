//! `fact_check` on faithful and corrupted insights: its hits and its false alarms.

use std::collections::BTreeMap;

use archive_integrity::{Answer, IntegrityTest, TestOptions, Verdict, run};

use crate::corpus::{Family, Rule, cases};
use crate::{held, tuning, tuning_more};

struct Figures {
    caught: f64,
    flagged: f64,
}

/// Prints a line for each rule; `show` also prints the failures.
fn measure(name: &str, family: &Family, show: bool) -> Figures {
    let mut counts: BTreeMap<Rule, (u32, u32)> = BTreeMap::new();
    for case in cases(family, 6, 0x5eed_1234_9876) {
        let texts = [case.source];
        let report = run(
            IntegrityTest::FactCheck,
            std::slice::from_ref(&case.insight),
            &texts,
            &TestOptions::default(),
        );
        let detail = &report.details[0];
        // A corrupted insight is caught where it is not supported, a faithful one is doubted where it
        // does not pass.
        let flagged = match case.rule {
            Rule::Faithful => detail.verdict != Verdict::Passed,
            _ => detail.answer != Some(Answer::Supported),
        };
        let count = counts.entry(case.rule).or_default();
        count.0 += u32::from(flagged);
        count.1 += 1;
        if flagged && case.rule == Rule::Faithful {
            for it in detail
                .claims
                .iter()
                .filter(|it| it.support != archive_integrity::Support::Supported)
            {
                println!("{name} in vain: {} {}", it.kind.word(), it.support.word());
            }
        }
        if show && flagged == (case.rule == Rule::Faithful) {
            println!(
                "{:?} {:.2}: {}\n    {:?}",
                case.rule,
                detail.score,
                case.insight.content,
                detail.issues()
            );
        }
    }
    let share = |(part, all): (u32, u32)| f64::from(part) / f64::from(all.max(1));
    let mut sum = (0, 0);
    for (rule, count) in &counts {
        println!(
            "{name} {rule:?}: flagged {} of {} ({:.1} %)",
            count.0,
            count.1,
            100.0 * share(*count)
        );
        if *rule != Rule::Faithful {
            sum = (sum.0 + count.0, sum.1 + count.1);
        }
    }
    let faithful = counts.get(&Rule::Faithful).copied().unwrap_or_default();
    println!(
        "{name} fact_check: precision {:.3}, recall {:.3}, faithful flagged {:.3}, insights {}",
        share((sum.0, sum.0 + faithful.0)),
        share(sum),
        share(faithful),
        sum.1 + faithful.1,
    );
    Figures { caught: share(sum), flagged: share(faithful) }
}

#[test]
fn the_tuning_set_is_printed() {
    let show = option_env!("INTEGRITY_SHOW").is_some();
    for (name, family) in [("tuning", &tuning::FAMILY), ("more", &tuning_more::FAMILY)] {
        let figures = measure(name, family, show);
        assert!(figures.caught > 0.5 && figures.flagged < 0.5, "{name}");
    }
}

#[test]
fn corrupted_insights_are_caught_and_faithful_ones_pass() {
    let figures = measure("held", &held::FAMILY, false);
    assert!(figures.caught >= 0.95, "caught {:.3}", figures.caught);
    assert!(figures.flagged <= 0.05, "flagged {:.3}", figures.flagged);
}
