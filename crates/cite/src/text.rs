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

    /// The byte at `i`; 0 after the end.
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

    /// The text between two positions; empty if one of them is inside a character.
    pub(crate) fn slice(&self, start: usize, end: usize) -> &'t str {
        self.whole.get(start..end).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn has(&self, i: usize, what: &str) -> bool {
        let what = what.as_bytes();
        // Comparing the first byte decides nearly every call.
        self.at(i) == what.first().copied().unwrap_or(0)
            && self.bytes.get(i..i + what.len()) == Some(what)
    }

    /// The length in bytes of the white-space character at `i`, no-break spaces included; 0 if
    /// there is none.
    #[inline]
    pub(crate) fn blank(&self, i: usize) -> usize {
        match self.at(i) {
            b' ' | b'\n' | b'\t' | b'\r' | 0x0c => 1,
            0xc2 if self.at(i + 1) == 0xa0 => 2,
            0xe2 if self.at(i + 1) == 0x80 && matches!(self.at(i + 2), 0x89 | 0xaf) => 3,
            _ => 0,
        }
    }

    /// The position after any white space at `i`.
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

    /// The position after the white space at `i`; `None` if there is none.
    #[inline]
    pub(crate) fn gap(&self, i: usize) -> Option<usize> {
        let at = self.skip(i);
        (at > i).then_some(at)
    }

    /// The start of the white space that ends at `i`.
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

    /// The position after the digits at `i`; `None` if there is none or more than `most`.
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

    /// Whether the byte at `i` is neither a letter nor a digit, so that a word or a number ends
    /// before it.
    #[inline]
    pub(crate) fn ends(&self, i: usize) -> bool {
        !self.at(i).is_ascii_alphanumeric()
    }

    /// The length in bytes of the dash at `i`; 0 if there is none.
    pub(crate) fn dash(&self, i: usize) -> usize {
        match self.at(i) {
            b'-' => 1,
            0xe2 if self.at(i + 1) == 0x80 && matches!(self.at(i + 2), 0x90..=0x95) => 3,
            _ => 0,
        }
    }

    /// The position of the bracket that closes the one before `i`, if it is within `most` bytes.
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
