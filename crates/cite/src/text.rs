//! Reading text byte by byte without ever leaving it. Every step of every recogniser passes
//! through here, which is how tests count them.

/// No recogniser looks across more blank than this.
const BLANK_MAX: usize = 64;

pub(crate) struct ScanText<'t> {
    pub(crate) whole: &'t str,
    bytes: &'t [u8],
    #[cfg(test)]
    steps: std::cell::Cell<u64>,
}

impl<'t> ScanText<'t> {
    pub(crate) fn new(whole: &'t str) -> Self {
        Self {
            whole,
            bytes: whole.as_bytes(),
            #[cfg(test)]
            steps: std::cell::Cell::new(0),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The byte there, zero after the end.
    #[inline]
    pub(crate) fn at(&self, i: usize) -> u8 {
        #[cfg(test)]
        self.steps.set(self.steps.get() + 1);
        self.bytes.get(i).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn before(&self, i: usize) -> u8 {
        if i == 0 { 0 } else { self.at(i - 1) }
    }

    #[cfg(test)]
    pub(crate) fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// The text between two places; empty where that would split a character.
    pub(crate) fn slice(&self, start: usize, end: usize) -> &'t str {
        self.whole.get(start..end).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn has(&self, i: usize, what: &str) -> bool {
        let what = what.as_bytes();
        // The first byte decides nearly always.
        self.at(i) == what.first().copied().unwrap_or(0)
            && self.bytes.get(i..i + what.len()) == Some(what)
    }

    /// How many bytes of blank begin there; the space that does not break is one, too.
    #[inline]
    pub(crate) fn blank(&self, i: usize) -> usize {
        match self.at(i) {
            b' ' | b'\n' | b'\t' | b'\r' | 0x0c => 1,
            0xc2 if self.at(i + 1) == 0xa0 => 2,
            0xe2 if self.at(i + 1) == 0x80 && matches!(self.at(i + 2), 0x89 | 0xaf) => 3,
            _ => 0,
        }
    }

    /// The place after the blank.
    #[inline]
    pub(crate) fn skip(&self, i: usize) -> usize {
        let mut at = i;
        while at - i < BLANK_MAX {
            match self.blank(at) {
                0 => break,
                wide => at += wide,
            }
        }
        at
    }

    /// The place after blank that must be there.
    #[inline]
    pub(crate) fn gap(&self, i: usize) -> Option<usize> {
        let at = self.skip(i);
        (at > i).then_some(at)
    }

    /// The place where the blank that ends at `i` begins.
    pub(crate) fn skip_back(&self, i: usize, floor: usize) -> usize {
        let mut at = i;
        while at > floor && i - at < BLANK_MAX {
            at -= match self.before(at) {
                b' ' | b'\n' | b'\t' | b'\r' | 0x0c => 1,
                0xa0 if at >= floor + 2 && self.at(at - 2) == 0xc2 => 2,
                _ => break,
            };
        }
        at
    }

    /// The place after the digits, of which there are at most `most`.
    #[inline]
    pub(crate) fn digits(&self, i: usize, most: usize) -> Option<usize> {
        let mut at = i;
        while self.at(at).is_ascii_digit() {
            at += 1;
            if at - i > most {
                return None;
            }
        }
        (at > i).then_some(at)
    }

    /// Whether a word or a number ends here.
    #[inline]
    pub(crate) fn ends(&self, i: usize) -> bool {
        !self.at(i).is_ascii_alphanumeric()
    }

    /// How long the dash is that stands there, if any does.
    pub(crate) fn dash(&self, i: usize) -> usize {
        match self.at(i) {
            b'-' => 1,
            0xe2 if self.at(i + 1) == 0x80 && matches!(self.at(i + 2), 0x90..=0x95) => 3,
            _ => 0,
        }
    }

    /// The place of the bracket that closes the one before `i`, if it is near.
    pub(crate) fn closing(&self, i: usize, most: usize) -> Option<usize> {
        let mut depth = 0_usize;
        let end = self.len().min(i.saturating_add(most));
        for at in i..end {
            match self.at(at) {
                b'(' | b'[' => depth += 1,
                b')' | b']' if depth == 0 => return Some(at),
                b')' | b']' => depth -= 1,
                _ => {}
            }
        }
        None
    }
}
