//! Random choices for generated texts (xorshift); the same seed makes the same text.

pub struct TextRng(u64);

impl TextRng {
    /// `seed` must not be 0.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `most`; 0 if `most` is 0.
    pub fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most.max(1) as u64).unwrap_or_default()
    }

    /// One of the words.
    pub fn one<'w>(&mut self, of: &[&'w str]) -> &'w str {
        of.get(self.below(of.len())).copied().unwrap_or_default()
    }

    /// Adds a sentence of 8 to 27 of the words, which are ASCII.
    pub fn sentence(&mut self, words: &[&str], text: &mut String) {
        let count = 8 + self.below(20);
        for at in 0..count {
            let word = self.one(words);
            match (at, word.split_at(1)) {
                (0, (first, rest)) => {
                    text.push_str(&first.to_uppercase());
                    text.push_str(rest);
                }
                _ => text.push_str(word),
            }
            text.push_str(if at + 1 == count { ". " } else { " " });
        }
    }
}
