//! Generated insights and pages whose words follow Zipf's law, as in real ones. Every run generates
//! the same.

use std::collections::HashSet;

/// The cases that insights are spread over.
pub const CASES: usize = 200;
const VOCABULARY: usize = 60_000;
/// Words that no query contains. Few, so that questions have as many hits as those about
/// real opinions, about thirty.
const STOP_WORDS: usize = 3;

/// The most used words, most used first; the rest are made of syllables.
const WORDS: &str = "the of and to in that a was for on is by as not with be this it or at from are an \
    which his court defendant plaintiff motion evidence state claim order judgment law case district \
    trial action party jury counsel appeal statute rule complaint under section filed denied granted \
    summary held notice contract damages testimony witness record hearing agreement relief property \
    decision question fact duty officer attorney injury liability dismiss petition review standard \
    reasonable cause burden proof conduct due process service breach negligence settlement discovery \
    deposition exhibit affidavit judge clerk county federal amendment constitution jurisdiction venue \
    remand reversed affirmed error discretion instruction verdict sentence charge conviction arrest \
    search warrant probable seizure insurance policy coverage insurer premium employer employee wages \
    discrimination retaliation title lease tenant landlord mortgage foreclosure bank loan interest \
    payment debtor creditor bankruptcy trustee estate will heir custody child support marriage divorce \
    patent invention copyright trademark license royalty merger shareholder director fiduciary fraud";

const SYLLABLES: [&str; 32] = [
    "ba", "cor", "del", "fen", "gra", "hol", "jin", "kel", "lam", "mor", "nat", "or", "pel", "qua",
    "ram", "sol", "tin", "ur", "vel", "wor", "yan", "zet", "bri", "clo", "dra", "flo", "gle",
    "pro", "sta", "tri", "men", "tor",
];

/// A fast generator of low quality (xorshift).
pub struct CorpusRng(u64);

impl CorpusRng {
    pub fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    fn share(&mut self) -> f64 {
        self.next() as f64 / (1_u64 << 53) as f64
    }
}

pub struct Corpus {
    words: Vec<String>,
    /// The cumulative share of each word.
    shares: Vec<f64>,
    rng: CorpusRng,
}

pub struct Made {
    pub case: usize,
    pub title: String,
    pub content: String,
}

pub struct Question {
    pub case: usize,
    pub words: [String; 2],
}

impl Default for Corpus {
    fn default() -> Self {
        Self::new()
    }
}

impl Corpus {
    pub fn new() -> Self {
        let mut rng = CorpusRng::new(20_261_116);
        let mut words: Vec<String> = WORDS.split_whitespace().map(str::to_owned).collect();
        let mut known: HashSet<String> = words.iter().cloned().collect();
        while words.len() < VOCABULARY {
            let syllables = 2 + rng.below(3);
            let word: String =
                (0..syllables).map(|_| SYLLABLES[rng.below(SYLLABLES.len())]).collect();
            if known.insert(word.clone()) {
                words.push(word);
            }
        }
        let weights: Vec<f64> =
            (0..words.len()).map(|rank| (rank as f64 + 2.7).powf(-1.1)).collect();
        let sum: f64 = weights.iter().sum();
        let mut share = 0.0;
        let shares = weights.iter().map(|weight| {
            share += weight / sum;
            share
        });
        Self { shares: shares.collect(), words, rng }
    }

    fn rank(&mut self) -> usize {
        let share = self.rng.share();
        self.shares.partition_point(|it| *it < share).min(self.words.len() - 1)
    }

    fn text(&mut self, count: usize) -> String {
        let mut text = String::with_capacity(count * 7);
        for at in 0..count {
            let rank = self.rank();
            if at > 0 {
                text.push(' ');
            }
            text.push_str(&self.words[rank]);
        }
        text
    }

    /// The next insight: a title of a few words and a sentence, about 176 bytes.
    pub fn insight(&mut self) -> Made {
        let (title, content) = (3 + self.rng.below(4), 10 + self.rng.below(24));
        let case = self.rng.below(CASES);
        Made { case, title: self.text(title), content: self.text(content) }
    }

    /// The next page: 200 to 400 words, about 2 KB.
    pub fn page(&mut self) -> String {
        let words = 200 + self.rng.below(200);
        self.text(words)
    }

    /// The case of the next file.
    pub fn case(&mut self) -> usize {
        self.rng.below(CASES)
    }

    /// Two words of a text of the case, neither of them among the most used.
    pub fn question(&self, case: usize, text: &str, rng: &mut CorpusRng) -> Option<Question> {
        let dull = &self.words[..STOP_WORDS];
        let mut words: Vec<&str> = text.split(' ').collect();
        words.retain(|word| !dull.iter().any(|it| it == word));
        let one = (*words.get(rng.below(words.len().max(1)))?).to_owned();
        words.retain(|word| **word != one);
        let other = (*words.get(rng.below(words.len().max(1)))?).to_owned();
        Some(Question { case, words: [one, other] })
    }
}
