//! Generated court papers: captions, facts with dates and sums, deadlines, authorities, signatures.
//! Every run generates the same papers.

use bench::text_rng::TextRng;

const PEOPLE: [&str; 16] = [
    "Harlow", "Quayle", "Odell", "Ramos", "Tolliver", "Keller", "Bauer", "Dunn", "Marsh", "Benson",
    "Corbin", "Yates", "Nolan", "Velez", "Ortiz", "Lowe",
];
const GIVEN: [&str; 8] = ["Ada", "Boris", "Carla", "Dmitri", "Esther", "Frank", "Greta", "Hugo"];
const FIRMS: [&str; 6] = [
    "Pike Manufacturing Co.",
    "Hale & Sons, Inc.",
    "Lakeshore Title LLC",
    "Corner Stone Bank",
    "Meridian Freight Corp.",
    "Birch Street Partners LP",
];
const COUNTIES: [&str; 5] = ["Wayne", "Kent", "Oakland", "Ingham", "Marquette"];
const MONTHS: [&str; 12] = [
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
const REPORTERS: [&str; 8] =
    ["U.S.", "F.2d", "F.3d", "F. Supp. 2d", "Mich.", "Mich. App.", "N.W.2d", "S. Ct."];
const WORDS: [&str; 40] = [
    "the", "court", "held", "that", "a", "party", "which", "seeks", "relief", "must", "show", "by",
    "evidence", "of", "record", "and", "not", "merely", "argument", "whether", "notice", "was",
    "given", "within", "time", "allowed", "under", "contract", "so", "judgment", "below", "is",
    "in", "part", "because", "never", "with", "until", "after", "period",
];
/// A large file cites the same authorities again and again, as a matter's papers do.
const AUTHORITIES: usize = 2_000;

pub(crate) struct Papers {
    rng: TextRng,
    authorities: Vec<String>,
}

impl Papers {
    pub(crate) fn new(seed: u64) -> Self {
        let rng = TextRng::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut papers = Self { rng, authorities: Vec::new() };
        papers.authorities = (0..AUTHORITIES).map(|_| papers.authority()).collect();
        papers
    }

    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.rng.below(most)
    }

    fn one<'w>(&mut self, of: &[&'w str]) -> &'w str {
        self.rng.one(of)
    }

    /// One paper of about `length` characters, in paragraphs.
    pub(crate) fn paper(&mut self, length: usize) -> String {
        let mut text = self.caption();
        while text.len() < length {
            self.paragraph(&mut text);
        }
        text.push_str(&self.signature());
        text
    }

    /// Running text with nothing around it, for the pages of a long file.
    pub(crate) fn pages(&mut self, text: &mut String, length: usize) {
        let end = text.len() + length;
        while text.len() < end {
            self.paragraph(text);
        }
    }

    fn caption(&mut self) -> String {
        let county = self.one(&COUNTIES);
        let (left, right) = (self.person(), self.one(&FIRMS));
        let (number, judge) = (100_000 + self.below(900_000), self.person());
        format!(
            "STATE OF MICHIGAN\nIN THE CIRCUIT COURT FOR THE COUNTY OF {}\n\n\
             {},\n    Plaintiff,\nv.\n{},\n    Defendant.\n\n\
             Case No. 24-{number}-CK\nHon. {judge}\n\nBRIEF IN SUPPORT OF MOTION\n\n",
            county.to_uppercase(),
            left.to_uppercase(),
            right.to_uppercase(),
        )
    }

    fn signature(&mut self) -> String {
        let (name, number, date) = (self.person(), 10_000 + self.below(80_000), self.date());
        format!(
            "\nRespectfully submitted,\n\n/s/ {name}\n{name} (P{number})\nAttorney for Plaintiff\n\nDated: {date}\n"
        )
    }

    fn paragraph(&mut self, text: &mut String) {
        for _ in 0..2 + self.below(4) {
            self.rng.sentence(&WORDS, text);
        }
        let sentence = match self.below(8) {
            0 => {
                let (date, who) = (self.date(), self.person());
                format!("On {date}, {who} filed a complaint against {}. ", self.one(&FIRMS))
            }
            1 => {
                let (date, sum) = (self.date(), 1_000 + self.below(900_000));
                format!("On {date} the parties agreed to a payment of ${sum}.00. ")
            }
            2 => {
                let date = self.date();
                format!(
                    "The order was served on {date}. The answer is due within 21 days of service. "
                )
            }
            _ => {
                let which = self.below(self.authorities.len());
                self.authorities.get(which).cloned().unwrap_or_default()
            }
        };
        text.push_str(&sentence);
        text.push_str("\n\n");
    }

    fn authority(&mut self) -> String {
        let (left, right, reporter) = (self.one(&PEOPLE), self.one(&PEOPLE), self.one(&REPORTERS));
        let (volume, page) = (1 + self.below(900), 1 + self.below(1_200));
        format!("See {left} v. {right}, {volume} {reporter} {page} ({}). ", 1950 + self.below(74))
    }

    fn person(&mut self) -> String {
        format!("{} {}", self.one(&GIVEN), self.one(&PEOPLE))
    }

    fn date(&mut self) -> String {
        let month = self.one(&MONTHS);
        format!("{month} {}, {}", 1 + self.below(28), 2015 + self.below(9))
    }
}
