//! Names of people, firms, courts and agencies: runs of capitalised words that are not merely the
//! start of a sentence or a legal term. The module does not resolve who is who.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::Span;
use crate::date;
use crate::text::{Word, is_stop};

#[derive(Debug, Clone)]
pub(crate) struct NameMention {
    /// Folded, without titles, forms of incorporation and small words.
    pub(crate) tokens: Vec<String>,
    pub(crate) span: Span,
    pub(crate) words: (usize, usize),
    /// A single word at the start of a sentence, which may not be a name.
    pub(crate) doubtful: bool,
}

const TITLES: &str = "councillor cllr dame lord lady rev reverend father sister brother sheriff \
deputy sgt lt col capt inspector constable senator governor mayor esq jr sr md phd mr mrs ms dr hon judge justice chief magistrate honorable attorney counsel \
professor prof sir plaintiff plaintiffs defendant defendants appellant appellee petitioner \
respondent landlord tenant buyer seller lender borrower employer employee licensor licensee \
contractor owner witness expert officer sergeant detective captain president director manager \
chairman secretary clerk trustee arbitrator mediator lessor lessee claimant insurer insured \
counterclaimant the inc llc llp co corp ltd company corporation incorporated limited plc lp pllc pc \
judges nurse mssrs usd eur gbp rub судья истец ответчик ооо зао пао ао ип г гражданин адвокат";

const PLAIN: &str = "court courts judge motion order opinion agreement contract lease section article \
state county city united states exhibit act complaint answer appeal rule law code statute title \
chapter page paragraph count claim claims party parties january february march april may june july \
august september october november december monday tuesday wednesday thursday friday saturday sunday \
summary judgment however therefore thus moreover further furthermore finally first second third \
fourth fifth overall additionally notably accordingly because although since once if when while both \
neither either every some many most several no yes not there here now then later earlier meanwhile \
under upon per pursuant according after before during within without about interest damages costs \
fees rent payment payments delivery notice damage evidence testimony trial hearing jury verdict \
liability breach negligence settlement discovery deposition deadline decision ruling findings \
conclusion background facts background analysis discussion introduction relief judgment sanctions \
injunction arbitration mediation counsel insurance policy coverage premium invoice invoices total \
based given following despite instead nothing nobody everyone everything counterclaim dismissal \
termination employment salary warranty inspection report letter email memo memorandum affidavit \
declaration transcript stipulation subpoena brief reply response petition dated signed filed held \
note see cf also id supra infra ibid english american agreements i we you he she it they this that \
these those his her its their our your who what which where why how all each any such only even \
just still again perhaps maybe likely clearly obviously certainly undoubtedly without unfortunately \
суд иск решение определение договор дело статья закон сумма срок истец ответчик апелляционный \
suite room floor building date cc bcc sent re dear subject premises examination interrogatory objections answers minutes amendment identify describe affirmative defenses expert last testament civil action file inspector plumber driver bartender applicant neighbor member \
арбитражный верховный кассационный районный городской кодекс россии рф";

pub(crate) fn is_title(folded: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| TITLES.split_ascii_whitespace().collect());
    WORDS.contains(folded)
}

pub(crate) fn is_plain(folded: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| PLAIN.split_ascii_whitespace().collect());
    WORDS.contains(folded)
}

/// The most words of a name.
const WORDS_MAX: usize = 8;

/// All names among the words; `starts` are the positions where sentences begin.
pub(crate) fn find(
    text: &str,
    words: &[Word<'_>],
    taken: &[bool],
    starts: &HashSet<usize>,
) -> Vec<NameMention> {
    let mut list = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let end = run(text, words, taken, at);
        if end == at {
            at += 1;
            continue;
        }
        if let Some(found) = name(words, at, end, starts) {
            list.push(found);
        }
        at = end;
    }
    list
}

/// The end of the run of capitalised words.
fn run(text: &str, words: &[Word<'_>], taken: &[bool], first: usize) -> usize {
    let capital = |at: usize| {
        words.get(at).is_some_and(|it| it.is_capital())
            && taken.get(at).is_some_and(|it| !it)
            && date::month(&words[at]).is_none()
            && !is_joint(&words[at])
    };
    let mut end = first;
    while capital(end) && end - first < WORDS_MAX {
        let word = &words[end];
        end += 1;
        if word.text.ends_with("'s") || word.text.ends_with("’s") {
            break;
        }
        let Some(next) = words.get(end) else { break };
        let gap = &text[word.end..next.start];
        let folded = next.fold();
        let initial = word.text.chars().count() == 1;
        // A blank line separates a heading from the text.
        let parted = gap.bytes().filter(|it| *it == b'\n').count() > 1
            || (gap.contains('\n') && is_heading(text, word.end));
        let joins = match gap.trim_end_matches(['\n', '\r']) {
            _ if parted => false,
            " " | "-" | " & " | "" | "’" => true,
            ". " | "." => initial || matches!(word.fold().as_str(), "st" | "mt" | "dr" | "mr"),
            // A list of people is not one name.
            ", " => {
                let forms = ["inc", "llc", "llp", "co", "corp", "ltd", "plc", "lp", "pllc", "pc"];
                forms.contains(&folded.as_str())
            }
            _ => false,
        };
        if !joins {
            break;
        }
        if folded == "of" && capital(end + 1) && &text[next.end..words[end + 1].start] == " " {
            end += 1;
        } else if folded == "of"
            && words.get(end + 1).is_some_and(|it| it.fold() == "the")
            && capital(end + 2)
        {
            end += 2;
        }
    }
    end
}

/// A function word in capitals, as in headings.
fn is_joint(word: &Word<'_>) -> bool {
    matches!(word.text, "BY" | "AND" | "FOR" | "TO" | "FROM" | "WITH" | "ON" | "AT" | "IN" | "V")
}

/// Whether the line that ends here is short or in capitals, so that the next line begins a new run.
fn is_heading(text: &str, end: usize) -> bool {
    let line = text[..end].rsplit('\n').next().unwrap_or_default();
    line.chars().count() < 60 || !line.chars().any(char::is_lowercase)
}

fn name(
    words: &[Word<'_>],
    mut first: usize,
    end: usize,
    starts: &HashSet<usize>,
) -> Option<NameMention> {
    let opens = starts.contains(&words[first].start);
    // A word that only opens the sentence is not part of the name behind it.
    while first < end {
        let folded = words[first].fold();
        let lead = first == end - 1 || is_stop(&folded) || is_title(&folded);
        let plain = is_stop(&folded) || is_title(&folded) || is_plain(&folded);
        // `Deposition of Vale`, `Report of Vale`.
        let next = words.get(first + 1).filter(|_| first + 2 < end).map(Word::fold);
        let paper = is_plain(&folded) && next.is_some_and(|it| it == "of");
        let skipped = (lead && plain) || paper || (opens && is_opener(&folded));
        if !skipped {
            break;
        }
        first += 1;
    }
    let part = words.get(first..end).filter(|it| !it.is_empty())?;
    let tokens: Vec<String> = part
        .iter()
        .map(Word::fold)
        .filter(|it| !is_stop(it) && !is_title(it))
        .filter(|it| it.chars().any(char::is_alphabetic))
        .collect();
    let telling = tokens.iter().any(|it| !is_plain(it) && it.chars().count() > 1);
    if !telling {
        return None;
    }
    let doubtful = tokens.len() == 1 && starts.contains(&words[first].start);
    let span = Span { start: part.first()?.start, end: part.last()?.end };
    Some(NameMention { tokens, span, words: (first, end), doubtful })
}

fn is_opener(folded: &str) -> bool {
    matches!(
        folded,
        "when"
            | "after"
            | "before"
            | "because"
            | "although"
            | "since"
            | "under"
            | "per"
            | "if"
            | "while"
            | "both"
            | "once"
            | "despite"
            | "according"
            | "judgment"
            | "counsel"
            | "however"
            | "later"
            | "only"
            | "even"
            | "until"
            | "unlike"
            | "like"
            | "see"
            | "through"
            | "whatever"
            | "citing"
            | "relying"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{sentences, words};

    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let list = words(text);
        let starts = sentences(text).iter().map(|it| it.start).collect();
        let got: Vec<String> = find(text, &list, &vec![false; list.len()], &starts)
            .iter()
            .map(|it| it.tokens.join(" "))
            .collect();
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn names_and_sentence_starts_are_distinguished() {
        check("The Court heard Judge Alma R. Quist.", &["alma r quist"]);
        check(
            "Plaintiff Orrin Vale sued Hartwell Tools, Inc. on Monday.",
            &["orrin vale", "hartwell tools"],
        );
        check("Under the Lease, Vale's motion fails.", &["vale"]);
        check("Bank of Warren appealed.", &["bank warren"]);
        check("In March 2021 nothing happened.", &[]);
        check("FINDINGS AT LARGE\n\nOrrin Vale left.", &["large", "orrin vale"]);
        check("Истец Орлова обратилась в суд.", &["орлова"]);
    }
}
