//! The words of judgement and of degree whose change `opinion_drift` detects.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// Words that judge, for and against; `*` stands for any ending.
pub(super) static GOOD: LazyLock<WordList> = LazyLock::new(|| {
    WordList::parse(
        "excellent good sound strong reliable credible honest careful thorough safe true \
accurate fair clear proper complete correct outstanding superb solid genuine fit persuasive \
convincing compelling robust favorable favourable promising prudent* wise wisely competent* skilful* \
skillful* diligent* worthwhile sensible sensibly consistent truthful justified reasonable* adequate* \
useful helpful cooperative innocent generous watertight airtight well-founded sincere candid \
straightforward timely meritorious tenable plausible profitable solvent stable healthy secure \
satisfactory properly correctly carefully responsibly lawfully благоприят* сильн* надежн* \
обоснован* хорош* убедительн* правомерн* законн* добросовестн* качественн* выгодн* правдив* \
достоверн* перспективн* целесообразн* полезн*",
    )
});
pub(super) static BAD: LazyLock<WordList> = LazyLock::new(|| {
    WordList::parse(
        "terrible bad weak unsound unreliable incredible dishonest careless sloppy poor \
dangerous unsafe false inaccurate unfair unclear improper incomplete incorrect wrong awful \
defective dreadful shoddy fake unfit thin flimsy shaky doubtful dubious evasive hostile rash* \
reckless* foolish* imprudent* incompetent* botched negligent* pointless futile hopeless useless \
unconvincing implausible untenable frivolous meritless baseless groundless excessive inadequate \
unreasonable* inconsistent untruthful unjustified guilty misleading unhelpful unprofitable insolvent \
unstable insecure unsatisfactory fragile tenuous poorly wrongly badly irresponsibly unlawfully \
carelessly неблагоприят* слаб* ненадежн* необоснован* плох* неубедительн* неправомерн* незаконн* \
недобросовестн* некачественн* невыгодн* ложн* недостоверн* бесперспективн* нецелесообразн* бесполезн* \
сомнительн* безнадежн*",
    )
});
/// Words of degree, high and low.
pub(super) static HIGH: LazyLock<WordList> = LazyLock::new(|| {
    WordList::parse(
        "high large considerable substantial significant great likely serious heavy broad \
wide long extensive major probable strict ample much many often always высок* больш* значительн* \
существенн* вероятн* серьезн*",
    )
});
pub(super) static LOW: LazyLock<WordList> = LazyLock::new(|| {
    WordList::parse(
        "low small slight modest minor negligible unlikely trivial light narrow short limited \
improbable lenient scant little few rarely never низк* невысок* мал* незначительн* несущественн* \
маловероятн* ничтожн*",
    )
});

/// A set of words and of word beginnings (written with `*`), each found by hashing.
pub(super) struct WordList {
    words: HashSet<&'static str>,
    beginnings: HashSet<&'static str>,
    /// Bytes of the shortest and the longest beginning.
    beginning_bytes: RangeInclusive<usize>,
}

impl WordList {
    fn parse(list: &'static str) -> Self {
        let (beginnings, words): (HashSet<_>, HashSet<_>) =
            list.split_ascii_whitespace().partition(|it| it.ends_with('*'));
        let beginnings: HashSet<&str> =
            beginnings.into_iter().map(|it| it.trim_end_matches('*')).collect();
        let bytes = || beginnings.iter().map(|it| it.len());
        let beginning_bytes = bytes().min().unwrap_or(1)..=bytes().max().unwrap_or(0);
        Self { words, beginnings, beginning_bytes }
    }

    pub(super) fn contains(&self, word: &str) -> bool {
        let begins = |bytes| word.get(..bytes).is_some_and(|it| self.beginnings.contains(it));
        self.words.contains(word) || self.beginning_bytes.clone().any(begins)
    }
}
