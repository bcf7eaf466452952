//! The words of judgement and of degree whose change `opinion_drift` detects.

use std::sync::LazyLock;

use text::WordList;

/// Words that judge, for and against.
pub(super) static GOOD: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../../data/good.txt")));
pub(super) static BAD: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../../data/bad.txt")));
/// Words of degree, high and low.
pub(super) static HIGH: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../../data/high.txt")));
pub(super) static LOW: LazyLock<WordList> =
    LazyLock::new(|| WordList::parse(include_str!("../../data/low.txt")));
