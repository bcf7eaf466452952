//! Generated opinions with as many citations as real ones have, about two in a thousand characters.
//! Every run generates the same texts.

use bench::text_rng::TextRng;

pub(crate) struct Corpus {
    rng: TextRng,
}

const NAMES: [&str; 24] = [
    "Harlow",
    "Quayle",
    "Odell",
    "Pike Mfg. Co.",
    "Ramos",
    "Tolliver",
    "Keller",
    "Bauer",
    "Dunn",
    "Marsh",
    "Benson",
    "Hale & Sons, Inc.",
    "Corbin",
    "Yates",
    "Nolan",
    "City of Lansing",
    "Velez",
    "Ortiz",
    "First Fed. Sav. Bank",
    "Gates",
    "United States",
    "State",
    "Accounts",
    "Lowe",
];
const REPORTERS: [&str; 16] = [
    "U.S.",
    "F.2d",
    "F.3d",
    "F. Supp. 2d",
    "S. Ct.",
    "Mich.",
    "Mich. App.",
    "N.W.2d",
    "P.2d",
    "N.E.2d",
    "A.3d",
    "S.W.3d",
    "So. 2d",
    "Cal. App. 4th",
    "B.R.",
    "N.Y.S.2d",
];
const COURTS: [&str; 8] =
    ["6th Cir. ", "9th Cir. ", "E.D. Mich. ", "S.D.N.Y. ", "", "", "Mich. Ct. App. ", "Tex. "];
const WORDS: [&str; 48] = [
    "the",
    "court",
    "held",
    "that",
    "a",
    "party",
    "which",
    "seeks",
    "relief",
    "must",
    "show",
    "by",
    "evidence",
    "of",
    "record",
    "and",
    "not",
    "merely",
    "argument",
    "whether",
    "notice",
    "was",
    "given",
    "within",
    "time",
    "allowed",
    "under",
    "contract",
    "so",
    "judgment",
    "below",
    "is",
    "affirmed",
    "in",
    "part",
    "because",
    "plaintiff",
    "never",
    "served",
    "defendant",
    "with",
    "complaint",
    "until",
    "after",
    "limitations",
    "period",
    "had",
    "run",
];

impl Corpus {
    pub(crate) fn new() -> Self {
        Self { rng: TextRng::new(0x9e37_79b9_7f4a_7c15) }
    }

    fn below(&mut self, most: usize) -> usize {
        self.rng.below(most)
    }

    fn one<'w>(&mut self, of: &[&'w str]) -> &'w str {
        self.rng.one(of)
    }

    /// One opinion of about `length` bytes.
    pub(crate) fn opinion(&mut self, length: usize) -> String {
        let mut text = String::with_capacity(length + 400);
        let mut cited: Vec<(String, String)> = Vec::new();
        while text.len() < length {
            for _ in 0..1 + self.below(5) {
                self.rng.sentence(&WORDS, &mut text);
            }
            self.citation(&mut text, &mut cited);
            if self.below(6) == 0 {
                text.push_str("\n\n");
            }
        }
        text
    }

    fn citation(&mut self, text: &mut String, cited: &mut Vec<(String, String)>) {
        let page = 1 + self.below(900);
        let known = cited.get(self.below(cited.len().max(1))).cloned();
        let made = match (self.below(12), known) {
            (0..=4, _) | (_, None) => self.full(cited),
            (5 | 6, Some((name, volume))) => format!("{name}, {volume} at {page}. "),
            (7 | 8, _) => format!("Id. at {page}. "),
            (9, Some((name, _))) => format!("{name}, supra, at {page}. "),
            (10, _) => {
                let section = 100 + self.below(2000);
                let law =
                    self.one(&["42 U.S.C. §", "28 U.S.C. §", "45 C.F.R. §", "Mich. Comp. Laws §"]);
                format!("See {law} {section}. ")
            }
            _ => {
                let journal = self.one(&["Harv. L. Rev.", "Mich. L. Rev.", "Yale L.J."]);
                format!(
                    "See {} {journal} {page} ({}). ",
                    1 + self.below(120),
                    1950 + self.below(70)
                )
            }
        };
        text.push_str(&made);
    }

    fn full(&mut self, cited: &mut Vec<(String, String)>) -> String {
        let (left, right) = (self.one(&NAMES), self.one(&NAMES));
        let volume = format!("{} {}", 1 + self.below(900), self.one(&REPORTERS));
        let (page, court) = (1 + self.below(1200), self.one(&COURTS));
        let year = 1950 + self.below(74);
        cited.push((right.to_owned(), volume.clone()));
        let signal = self.one(&["", "See ", "Cf. ", "See also "]);
        let note = self.one(&["", "", " (holding that notice was late)", " (en banc)"]);
        format!("{signal}{left} v. {right}, {volume} {page}, {} ({court}{year}){note}. ", page + 3)
    }
}
