//! Patterns over tokens: a pattern is written like the phrase that it matches.
//!
//! | written | matches |
//! |---|---|
//! | `day of` | these words, one after another |
//! | `недел*` | a word with this beginning |
//! | `(days \| weeks)` | one of them, the first that fits |
//! | `[,]` | what stands in the brackets, or nothing |
//! | `{month}` | what the function of this name accepts; its tokens are kept |
//! | `(a \| b)+` | the group one to eight times, as often as it fits |
//! | `!(a \| b)`, `!a` | nothing, where what follows `!` does not match |
//! | `<(a \| b)`, `<a` | nothing, where the token before fits |
//! | `^`, `$` | nothing, at the start or the end of a line |
//! | `@caps`, `@capital`, `@number` | a word in capitals, one with a capital, digits |
//!
//! Words are in the form of [`crate::fold::lower`]. A bracket or a sign as a token is written in
//! quotes: `'('`. Repetition ends after eight times, so the work of one match is bounded by the
//! pattern.

use std::ops::Range;

use crate::TokenRow;

/// One pattern has at most this many functions.
const SLOTS_MAX: usize = 8;
/// One pattern has at most this many steps; a repeated group counts each time.
const STEPS_MAX: usize = 2_048;
/// A group with `+` fits at most this often.
const REPEATS_MAX: usize = 8;

/// Accepts tokens from an index on and returns the index after them.
pub type Slot = fn(&dyn TokenRow, usize) -> Option<usize>;

#[derive(Debug, Clone, Copy)]
enum Step {
    Word(&'static str),
    Beginning(&'static str),
    /// The index of the slot.
    Slot(usize),
    /// Goes on at the next step; if nothing fits from there, at this one.
    Split(usize),
    Jump(usize),
    /// The steps up to this one must not fit here.
    Not(usize),
    /// The steps up to this one must fit the token before.
    Behind(usize),
    LineStart,
    LineEnd,
    Caps,
    Capital,
    Number,
}

/// A phrase with places for what varies.
///
/// ```
/// use text::{Pattern, TokenList, TokenRow, numerals};
///
/// fn count(row: &dyn TokenRow, at: usize) -> Option<usize> {
///     let number = row.is_number(at) || numerals::small(row.lower(at)).is_some();
///     number.then_some(at + 1)
/// }
///
/// let within = Pattern::new("(within | no later than) {count} [business] (day* | week*)", &[("count", count)]);
/// let found = within.at(&TokenList::new("within fourteen business days of service"), 0);
/// let found = found.expect("the phrase is there");
/// assert_eq!((found.end, found.slot("count")), (4, Some(1..2)));
/// ```
#[derive(Debug)]
pub struct Pattern {
    steps: Vec<Step>,
    slots: Vec<(&'static str, Slot)>,
    problem: Option<String>,
}

/// Where a pattern matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternMatch {
    /// The token after the last.
    pub end: usize,
    slots: [(&'static str, usize, usize); SLOTS_MAX],
}

impl PatternMatch {
    /// The tokens that a slot accepted; `None` if the match has no such slot.
    #[must_use]
    pub fn slot(&self, name: &str) -> Option<Range<usize>> {
        self.slots.iter().find(|it| it.0 == name && it.2 > 0).map(|it| it.1..it.2)
    }
}

impl Pattern {
    /// Reads a pattern. One that is wrong matches nothing and has a [`Pattern::problem`].
    #[must_use]
    pub fn new(text: &'static str, slots: &[(&'static str, Slot)]) -> Self {
        let mut parser =
            Parser { rest: text, slots, steps: Vec::new(), used: Vec::new(), depth: 0 };
        let problem = parser.alternatives().err();
        let unread = parser.rest.trim();
        let problem =
            problem.or_else(|| (!unread.is_empty()).then(|| format!("`{unread}` is left")));
        Self { steps: parser.steps, slots: parser.used, problem }
    }

    /// What is wrong with the pattern; a test of each pattern asks it.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// The match that begins at a token.
    #[must_use]
    pub fn at(&self, row: &dyn TokenRow, at: usize) -> Option<PatternMatch> {
        if self.problem.is_some() {
            return None;
        }
        let mut found = PatternMatch { end: at, slots: [("", 0, 0); SLOTS_MAX] };
        found.end = self.run(row, at, 0..self.steps.len(), &mut found)?;
        Some(found)
    }

    fn run(
        &self,
        row: &dyn TokenRow,
        mut at: usize,
        steps: Range<usize>,
        found: &mut PatternMatch,
    ) -> Option<usize> {
        let (mut step, limit) = (steps.start, steps.end);
        while let Some(next) = self.steps.get(step).filter(|_| step < limit) {
            step += 1;
            match *next {
                Step::Word(word) if row.lower(at) == word => at += 1,
                Step::Beginning(start) if row.lower(at).starts_with(start) => at += 1,
                Step::Caps if row.is_all_caps(at) => at += 1,
                Step::Capital if row.is_capital(at) => at += 1,
                Step::Number if row.is_number(at) => at += 1,
                Step::LineStart if at == 0 || row.breaks(at) > 0 => {}
                Step::LineEnd if row.breaks(at) > 0 => {}
                Step::Word(_) | Step::Beginning(_) => return None,
                Step::Caps | Step::Capital | Step::Number => return None,
                Step::LineStart | Step::LineEnd => return None,
                Step::Not(end) => {
                    if self.run(row, at, step..end, &mut found.clone()).is_some() {
                        return None;
                    }
                    step = end;
                }
                Step::Behind(end) => {
                    let before = at.checked_sub(1)?;
                    if self.run(row, before, step..end, &mut found.clone()) != Some(at) {
                        return None;
                    }
                    step = end;
                }
                Step::Slot(slot) => {
                    let (name, accepts) = self.slots.get(slot)?;
                    let end = accepts(row, at)?;
                    if let Some(it) = found.slots.get_mut(slot) {
                        *it = (name, at, end);
                    }
                    at = end;
                }
                Step::Split(other) => {
                    let before = found.slots;
                    if let Some(end) = self.run(row, at, step..limit, found) {
                        return Some(end);
                    }
                    found.slots = before;
                    step = other;
                }
                Step::Jump(to) => step = to,
            }
        }
        Some(at)
    }
}

struct Parser<'s> {
    rest: &'static str,
    slots: &'s [(&'static str, Slot)],
    steps: Vec<Step>,
    used: Vec<(&'static str, Slot)>,
    depth: usize,
}

/// Brackets are nested at most this deep.
const DEPTH_MAX: usize = 8;

impl Parser<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn eat(&mut self, mark: char) -> bool {
        let here = self.peek() == Some(mark);
        if here {
            self.rest = self.rest.get(mark.len_utf8()..).unwrap_or_default();
        }
        here
    }

    /// `a b | c`: a split before each alternative but the last, a jump to the end after it.
    fn alternatives(&mut self) -> Result<(), String> {
        let mut jumps = Vec::new();
        loop {
            let split = self.steps.len();
            self.steps.push(Step::Split(split));
            self.sequence()?;
            if !self.eat('|') {
                // The last alternative has no other.
                self.remove_split(split);
                break;
            }
            jumps.push(self.steps.len());
            self.steps.push(Step::Jump(0));
            self.steps[split] = Step::Split(self.steps.len());
        }
        let end = self.steps.len();
        for jump in jumps {
            self.steps[jump] = Step::Jump(end);
        }
        Ok(())
    }

    /// Removes a split that was put before a sequence, and moves what points behind it.
    fn remove_split(&mut self, split: usize) {
        self.steps.remove(split);
        for step in self.steps.iter_mut().skip(split) {
            if let Step::Split(to) | Step::Jump(to) | Step::Not(to) | Step::Behind(to) = step {
                *to -= 1;
            }
        }
    }

    fn sequence(&mut self) -> Result<(), String> {
        let before = self.steps.len();
        while let Some(mark) = self.peek() {
            match mark {
                '|' | ')' | ']' => break,
                '(' => self.repeated()?,
                '!' | '<' => self.condition(mark)?,
                '[' => {
                    let split = self.steps.len();
                    self.steps.push(Step::Split(split));
                    self.group('[', ']')?;
                    self.steps[split] = Step::Split(self.steps.len());
                }
                '{' => self.slot()?,
                '\'' => self.quoted()?,
                '}' => return Err("`}` is not opened by `{`".to_owned()),
                _ => self.word(),
            }
        }
        if self.steps.len() == before { Err("an alternative is empty".to_owned()) } else { Ok(()) }
    }

    fn group(&mut self, open: char, close: char) -> Result<(), String> {
        self.eat(open);
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(format!("brackets are nested deeper than {DEPTH_MAX}"));
        }
        self.alternatives()?;
        self.depth -= 1;
        if self.eat(close) { Ok(()) } else { Err(format!("`{open}` is not closed by `{close}`")) }
    }

    /// A group, or up to [`REPEATS_MAX`] copies of it, each after the first optional.
    fn repeated(&mut self) -> Result<(), String> {
        let text = self.rest;
        self.group('(', ')')?;
        if !self.rest.starts_with('+') {
            return Ok(());
        }
        let mut splits = Vec::new();
        for _ in 1..REPEATS_MAX {
            self.rest = text;
            splits.push(self.steps.len());
            self.steps.push(Step::Split(0));
            self.group('(', ')')?;
            if self.steps.len() > STEPS_MAX {
                return Err(format!("there are more than {STEPS_MAX} steps"));
            }
        }
        for split in splits {
            self.steps[split] = Step::Split(self.steps.len());
        }
        self.eat('+');
        Ok(())
    }

    /// `!a` or `<(a | b)`.
    fn condition(&mut self, sign: char) -> Result<(), String> {
        self.eat(sign);
        let start = self.steps.len();
        self.steps.push(Step::Not(0));
        match self.peek() {
            Some('(') => self.group('(', ')')?,
            Some('\'') => self.quoted()?,
            Some('{') => self.slot()?,
            Some(it) if !"|)]}![<".contains(it) => self.word(),
            _ => return Err(format!("nothing follows `{sign}`")),
        }
        let end = self.steps.len();
        self.steps[start] = if sign == '!' { Step::Not(end) } else { Step::Behind(end) };
        Ok(())
    }

    fn slot(&mut self) -> Result<(), String> {
        self.eat('{');
        let (name, rest) = self.rest.split_once('}').ok_or("`{` is not closed by `}`")?;
        self.rest = rest;
        let slot = self.slots.iter().find(|it| it.0 == name);
        let slot = *slot.ok_or_else(|| format!("`{name}` has no function"))?;
        // A name in several alternatives is one slot.
        let known = self.used.iter().position(|it| it.0 == name);
        let at = known.unwrap_or(self.used.len());
        if known.is_none() {
            self.used.push(slot);
        }
        if self.used.len() > SLOTS_MAX {
            return Err(format!("there are more than {SLOTS_MAX} functions"));
        }
        self.steps.push(Step::Slot(at));
        Ok(())
    }

    fn quoted(&mut self) -> Result<(), String> {
        self.eat('\'');
        let (word, rest) = self.rest.split_once('\'').ok_or("a quote is not closed")?;
        self.rest = rest;
        self.steps.push(Step::Word(word));
        Ok(())
    }

    fn word(&mut self) {
        let special = |it: char| it.is_whitespace() || "|()[]{}".contains(it);
        let length = self.rest.find(special).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        self.rest = rest;
        let begins = word.strip_suffix('*').filter(|it| !it.is_empty());
        self.steps.push(match word {
            "^" => Step::LineStart,
            "$" => Step::LineEnd,
            "@caps" => Step::Caps,
            "@capital" => Step::Capital,
            "@number" => Step::Number,
            _ => begins.map_or(Step::Word(word), Step::Beginning),
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::TokenList;

    fn number(row: &dyn TokenRow, at: usize) -> Option<usize> {
        row.is_number(at).then_some(at + 1)
    }

    const SLOTS: [(&str, Slot); 2] = [("n", number), ("m", number)];

    #[track_caller]
    fn check(pattern: &'static str, text: &str, expected: Option<usize>) {
        let pattern = Pattern::new(pattern, &SLOTS);
        assert_eq!(pattern.problem(), None);
        let found = pattern.at(&TokenList::new(text), 0);
        assert_eq!(found.map(|it| it.end), expected, "{text}");
    }

    #[test]
    fn phrases_are_matched() {
        check("day of", "Day of reckoning", Some(2));
        check("day of", "day", None);
        check("a | b c | d", "b c", Some(2));
        check("a | b c | d", "d", Some(1));
        check("(a | a b) c", "a b c", Some(3));
        check("[the] [first] day", "the day", Some(2));
        check("[the] [first] day", "first day", Some(2));
        check("[a] a", "a", Some(1));
        check("недел* назад", "неделю назад", Some(2));
        check("['('] {n} [')']", "(21)", Some(3));
        check("{n} [, {m}]", "3, 4", Some(3));
        check("{n} [, {m}]", "3, x", Some(1));
        check("((a [b]) | c) (d | [e] f)", "c e f", Some(3));
    }

    #[test]
    fn repetition_conditions_and_layout_are_matched() {
        check("(a | b)+ c", "a b b c", Some(4));
        check("(a | b)+ c", "c", None);
        check("(a [,])+ b", "a, a b", Some(4));
        check("(a)+", "a a a a a a a a a a", Some(8));
        check("a !b", "a c", Some(1));
        check("a !b", "a b", None);
        check("a !(b c | d) b", "a b c", None);
        check("a !(b c | d) b", "a b d", Some(2));
        check("a b <(x | b) c", "a b c", Some(3));
        check("a b <x c", "a b c", None);
        check("<x a", "a", None);
        check("^ a $ b", "a\nb", Some(2));
        check("a $ b", "a b", None);
        check("@caps @capital @number $", "ROE Acme 12", Some(3));
        check("@caps", "Roe", None);
        check("(a | b (c)+ !d)+ e", "a b c c a e", Some(6));
    }

    #[test]
    fn slots_keep_their_tokens() {
        let pattern = Pattern::new("({n} days | day {n}) [of {m}]", &SLOTS);
        let found = pattern.at(&TokenList::new("day 4 of"), 0).unwrap();
        assert_eq!((found.end, found.slot("n"), found.slot("m")), (2, Some(1..2), None));
        let found = pattern.at(&TokenList::new("4 days of 7"), 0).unwrap();
        assert_eq!((found.slot("n"), found.slot("m")), (Some(0..1), Some(3..4)));
    }

    #[test]
    fn wrong_patterns_have_a_problem_and_match_nothing() {
        for text in [
            "",
            "a |",
            "(a",
            "a)",
            "[a",
            "{n",
            "{x}",
            "'a",
            "()",
            "!",
            "< |",
            "((((((((((a))))))))))",
        ] {
            let pattern = Pattern::new(text, &SLOTS);
            assert!(pattern.problem().is_some(), "{text}");
            assert_eq!(pattern.at(&TokenList::new("a"), 0), None, "{text}");
        }
    }

    /// A pattern and a phrase of it, made together.
    fn phrase() -> impl Strategy<Value = (String, String)> {
        let leaf = "[a-c]".prop_map(|it| (it.clone(), it));
        leaf.prop_recursive(4, 24, 3, |inner| {
            prop_oneof![
                (inner.clone(), inner.clone())
                    .prop_map(|(a, b)| (format!("{} {}", a.0, b.0), format!("{} {}", a.1, b.1))),
                (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(a, b, first)| {
                    let phrase = if first { a.1 } else { b.1 };
                    (format!("({} | {})", a.0, b.0), phrase)
                }),
                (inner.clone(), inner, any::<bool>()).prop_map(|(a, b, there)| {
                    let phrase = if there { format!("{} {}", a.1, b.1) } else { b.1 };
                    (format!("[{}] {}", a.0, b.0), phrase)
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_phrase_of_a_pattern_is_matched((pattern, phrase) in phrase()) {
            // The end mark makes the match cover the whole phrase.
            let text: &'static str = Box::leak(format!("{pattern} .").into_boxed_str());
            let pattern = Pattern::new(text, &SLOTS);
            prop_assert_eq!(pattern.problem(), None);
            let whole = format!("{phrase} .");
            let list = TokenList::new(&whole);
            let found = pattern.at(&list, 0);
            prop_assert_eq!(found.map(|it| it.end), Some(list.tokens().len()), "{} of {}", whole, text);
        }

        #[test]
        fn no_pattern_panics(text in "[ab|()\\[\\]{}n' *+!<^$@]{0,24}") {
            let text: &'static str = Box::leak(text.into_boxed_str());
            let pattern = Pattern::new(text, &SLOTS);
            let _found = pattern.at(&TokenList::new("a b 1 ( ) a b"), 0);
        }
    }
}
