//! What queries mean, and which are refused.

use super::*;

/// Terms as `word word`, with `prefix*`, `word~` and quotes; operators in words.
fn shown(expression: &Expression, terms: &[QueryTerm]) -> String {
    let list = |parts: &[Expression], with: &str| {
        let parts: Vec<String> = parts.iter().map(|it| shown(it, terms)).collect();
        format!("({})", parts.join(with))
    };
    match expression {
        Expression::Term(at) => {
            let term = &terms[*at];
            let words = term.words.join("+");
            match &term.last {
                LastWord::Exact => words,
                LastWord::Prefix(prefix) => format!("{words}:{prefix}*"),
                LastWord::Similar => format!("{words}~"),
            }
        }
        Expression::All(parts) => list(parts, " & "),
        Expression::Any(parts) => list(parts, " | "),
        Expression::Not(part) => format!("!{}", shown(part, terms)),
    }
}

#[track_caller]
fn check(query: &str, expected: &str) {
    let parsed = parse(query).unwrap();
    assert_eq!(shown(&parsed.expression, &parsed.terms), expected, "{query:?}");
}

#[track_caller]
fn check_refused(query: &str, part: &str) {
    let fault = parse(query).unwrap_err();
    assert_eq!((fault.code(), fault.problems()[0].field.as_str()), ("invalid_query", "query"));
    assert!(fault.message().contains(part), "{query:?}: {}", fault.message());
}

#[test]
fn words_phrases_and_operators() {
    check("motions denied", "(motion & deni)");
    check("\"motion to dismiss\" denied", "(motion+to+dismiss & deni)");
    check("motion AND (grant OR deny) NOT appeal", "(motion & (grant | deni) & !appeal)");
    check("a OR b c", "(a | (b & c))");
    check("motion -appeal -\"in part\" -(x OR y)", "(motion & !appeal & !in+part & !(x | y))");
    check(
        "juris* \"summary judg*\" \"final or\"*",
        "(juri:juris* & summari+judg:judg* & final+or:or*)",
    );
    check("Liebowits~", "liebowit~");
    check("«ст. 15 ГК РФ» и", "(ст+15+гк+рф & и)");
    check("motion motions MOTION", "(motion & motion & motion)");
    check("Smith - Jones & Co — §", "(smith & jone & co)");
    check("NOT appeal motion", "(!appeal & motion)");
    check("and or not", "(and & or & not)");
}

#[test]
fn citations_and_dockets_are_phrases() {
    for query in ["17 USC 101", "17 U.S.C. § 101", "17 U. S. C. 101"] {
        check(query, "17+usc+101");
    }
    check("17 USC 101(a) infringement", "(17+usc+101+a & infringement)");
    check("1:20-cv-8924", "1+20+cv+8924");
    check("see 410 U.S. 113 Roe", "(see & 410+us+113 & roe)");
    check("12 us senators", "(12 & us & senator)");
    check("ст. 15", "(ст & 15)");
}

#[test]
fn mistakes_are_named_with_their_place() {
    check_refused("(a OR b", "character 1: this ( is not closed");
    check_refused("a) b", "character 2: there is a ) without its (");
    check_refused("a \"b c", "character 3: this quotation mark is not closed");
    check_refused("a AND", "character 6: a word is missing");
    check_refused("OR a", "character 1: there is no word before this operator");
    check_refused("a OR OR b", "character 6: there is no word before this operator");
    check_refused("a ()", "character 4: there is no word before this )");
    check_refused("NOT", "character 4: a word is missing");
    check_refused("a*", "character 1: write at least 2 letters");
    check_refused("abc~", "character 1: ~ follows one word");
    check_refused("NOT a", "no word that pages should contain");
    check_refused("!!! §", "a word");
    check_refused("", "a word");
    check_refused(&"(".repeat(40), "more than 16 parentheses");
    check_refused(&"a ".repeat(501), "1000 characters");
    let many: Vec<String> = (0..17).map(|at| format!("w{at}")).collect();
    check_refused(&many.join(" "), "too many words");
    assert!(parse(&many[..16].join(" ")).is_ok());
}

proptest::proptest! {
    #[test]
    fn no_query_panics(query in r#"([a-zA-Zа-яё0-9«»"()*~. \-]|AND |OR |NOT |U\.S\.C\. |\PC){0,60}"#) {
        match parse(&query) {
            Ok(parsed) => {
                proptest::prop_assert!(!parsed.terms.is_empty());
                proptest::prop_assert!(parsed.terms.iter().all(|it| !it.words.is_empty()));
            }
            Err(fault) => proptest::prop_assert_eq!(fault.code(), "invalid_query"),
        }
    }
}
