//! How sure a draft is, by its category and the evidence for it: the share of such findings that was
//! right on published papers and on the sets of the tests, rounded down to a twentieth.

use archive_entities::Ground;

use crate::draft::Category;

/// The confidence of a draft.
pub(crate) fn confidence(category: Category, ground: Ground) -> f64 {
    match (category, ground) {
        // Names of parties are divided and shortened in many ways; a caption helps, a legal form too.
        (Category::Party, Ground::Layout) => 0.7,
        (Category::Party, Ground::Label) => 0.85,
        (Category::Party, Ground::Form) => 0.9,
        // A lawyer who is named in a sentence may be that of another case, and the court another court.
        (Category::Attorney, Ground::Label) => 0.85,
        (Category::Court, Ground::Label) => 0.8,
        (Category::CaseNumber, Ground::Label | Ground::Form) => 0.85,
        (Category::Outcome, Ground::Label | Ground::Form) => 0.85,
        (Category::Outcome, Ground::Layout) => 0.6,
        _ => ground.confidence(),
    }
}

/// The confidence in words.
pub(crate) fn meaning(ground: Ground, confidence: f64) -> String {
    let evidence = match ground {
        Ground::Shape => "only its shape speaks for it",
        Ground::Layout => "its place on the page speaks for it",
        Ground::Label => "a word beside it says what it is",
        Ground::Form => "it is written in a form of its own",
    };
    format!("{evidence}; of such findings about {:.0} in 100 are right", confidence * 100.0)
}
