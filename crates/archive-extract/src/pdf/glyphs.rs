//! Names of glyphs and the encodings of simple fonts, to Unicode; and the widths of the two
//! text faces that files may use without saying how wide their letters are.

use encoding_rs::{MACINTOSH, WINDOWS_1252};

const NAMED: &str = "space exclam! quotedbl\" numbersign# dollar$ percent% ampersand& quotesingle' \
parenleft( parenright) asterisk* plus+ comma, hyphen- minus− period. slash/ zero0 one1 two2 three3 four4 \
five5 six6 seven7 eight8 nine9 colon: semicolon; less< equal= greater> question? at@ bracketleft[ \
backslash\\ bracketright] asciicircum^ underscore_ grave` braceleft{ bar| braceright} asciitilde~ \
quoteleft‘ quoteright’ quotedblleft“ quotedblright” quotesinglbase‚ quotedblbase„ endash– emdash— \
bullet• ellipsis… dagger† daggerdbl‡ section§ paragraph¶ copyright© registered® trademark™ degree° \
cent¢ sterling£ yen¥ currency¤ Euro€ florinƒ fraction⁄ fi\u{fb01} fl\u{fb02} ff\u{fb00} ffi\u{fb03} ffl\u{fb04} \
guillemotleft« guillemotright» guilsinglleft‹ guilsinglright› exclamdown¡ questiondown¿ \
ordfeminineª ordmasculineº periodcentered· middot· logicalnot¬ brokenbar¦ plusminus± multiply× divide÷ \
onehalf½ onequarter¼ threequarters¾ onesuperior¹ twosuperior² threesuperior³ mu\u{b5} macron¯ acute´ \
dieresis¨ cedilla¸ circumflexˆ tilde˜ breve˘ dotaccent˙ ring˚ hungarumlaut˝ ogonek˛ caronˇ perthousand‰ \
AEÆ aeæ OEŒ oeœ Oslash\u{d8} oslash\u{f8} LslashŁ lslashł germandblsß dotlessiı EthÐ ethð ThornÞ thornþ \
Agrave\u{c0} Aacute\u{c1} Acircumflex\u{c2} Atilde\u{c3} Adieresis\u{c4} Aring\u{c5} Ccedilla\u{c7} Egrave\u{c8} \
Eacute\u{c9} Ecircumflex\u{ca} Edieresis\u{cb} Igrave\u{cc} Iacute\u{cd} Icircumflex\u{ce} Idieresis\u{cf} \
Ntilde\u{d1} Ograve\u{d2} Oacute\u{d3} Ocircumflex\u{d4} Otilde\u{d5} Odieresis\u{d6} Ugrave\u{d9} Uacute\u{da} \
Ucircumflex\u{db} Udieresis\u{dc} Yacute\u{dd} agrave\u{e0} aacute\u{e1} acircumflex\u{e2} atilde\u{e3} \
adieresis\u{e4} aring\u{e5} ccedilla\u{e7} egrave\u{e8} eacute\u{e9} ecircumflex\u{ea} edieresis\u{eb} igrave\u{ec} \
iacute\u{ed} icircumflex\u{ee} idieresis\u{ef} ntilde\u{f1} ograve\u{f2} oacute\u{f3} ocircumflex\u{f4} otilde\u{f5} \
odieresis\u{f6} ugrave\u{f9} uacute\u{fa} ucircumflex\u{fb} udieresis\u{fc} yacute\u{fd} ydieresis\u{ff} \
Scaron\u{160} scaron\u{161} Zcaron\u{17d} zcaron\u{17e} Ydieresis\u{178} alphaα betaβ gammaγ deltaδ DeltaΔ \
epsilonε lambdaλ piπ sigmaσ omegaω OmegaΩ infinity∞ lessequal≤ greaterequal≥ notequal≠ approxequal≈ \
summation∑ radical√ integral∫ partialdiff∂ product∏ lozenge◊ afii61352№ nbspace\u{a0} sfthyphen\u{ad} \
checkmark✓ a20✔ check✓ arrowright→ arrowleft←";

/// The text of a named glyph.
pub(super) fn named(name: &str) -> Option<String> {
    let name = name.split('.').next().unwrap_or_default();
    let mut chars = name.chars();
    if let (Some(one), None) = (chars.next(), chars.next()) {
        return Some(one.to_string());
    }
    if let Some(found) = cyrillic(name).or_else(|| by_code(name)) {
        return Some(found.to_string());
    }
    if name == "space" {
        return Some(" ".to_owned());
    }
    for entry in NAMED.split_ascii_whitespace() {
        if let Some(rest) = entry.strip_prefix(name) {
            let mut rest = rest.chars();
            if let (Some(it), None) = (rest.next(), rest.next())
                // `eth` is a prefix of nothing else, but `f` + `i` must not be read as `fi`.
                && (!it.is_ascii_alphanumeric() || it.is_ascii_digit())
            {
                return Some(expand(it).map_or_else(|| it.to_string(), str::to_owned));
            }
        }
    }
    // `f_i` is a ligature of the letters it names.
    if name.contains('_') && name.len() < 64 {
        return name.split('_').map(named).collect();
    }
    None
}

fn by_code(name: &str) -> Option<char> {
    let hex = name.strip_prefix("uni").or_else(|| name.strip_prefix('u'))?;
    let digits = hex.get(..hex.len().min(6)).filter(|it| it.len() >= 4)?;
    let digits = if name.starts_with("uni") { &digits[..4] } else { digits };
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

/// Adobe numbers the Russian letters, with Ё in its place in the alphabet.
fn cyrillic(name: &str) -> Option<char> {
    let number: u32 = name.strip_prefix("afii")?.parse().ok()?;
    match number {
        10_023 => Some('Ё'),
        10_071 => Some('ё'),
        10_017..=10_022 => char::from_u32(0x410 + number - 10_017),
        10_024..=10_049 => char::from_u32(0x410 + number - 10_018),
        10_065..=10_070 => char::from_u32(0x430 + number - 10_065),
        10_072..=10_097 => char::from_u32(0x430 + number - 10_066),
        _ => None,
    }
}

/// Ligatures as the letters people search for.
pub(super) fn expand(it: char) -> Option<&'static str> {
    Some(match it {
        '\u{fb00}' => "ff",
        '\u{fb01}' => "fi",
        '\u{fb02}' => "fl",
        '\u{fb03}' => "ffi",
        '\u{fb04}' => "ffl",
        '\u{fb05}' | '\u{fb06}' => "st",
        _ => return None,
    })
}

/// The characters of the 256 codes in a named encoding; the standard one if it is not named.
pub(super) fn encoding(name: Option<&str>) -> Vec<Option<String>> {
    let codes: Vec<u8> = (0..=255).collect();
    let decoder = match name {
        Some("MacRomanEncoding") => MACINTOSH,
        _ => WINDOWS_1252,
    };
    let text = decoder.decode_without_bom_handling(&codes).0;
    let mut table: Vec<Option<String>> =
        text.chars().map(|it| (!it.is_control()).then(|| it.to_string())).collect();
    table.resize(256, None);
    if !matches!(name, Some("WinAnsiEncoding" | "MacRomanEncoding")) {
        standard(&mut table);
    }
    table
}

/// Where the standard encoding differs from the one of Windows.
fn standard(table: &mut [Option<String>]) {
    table[0x27] = Some("’".to_owned());
    table[0x60] = Some("‘".to_owned());
    let upper = "\u{a1}¢£⁄¥ƒ§¤'“«‹›\u{fb01}\u{fb02}\0–†‡·\0¶•‚„”»…‰\0¿\0`´ˆ˜¯˘˙¨\0˚¸\0˝˛ˇ—";
    for (code, it) in (0xa1..).zip(upper.chars()) {
        if it != '\0' {
            table[code] = Some(expand(it).map_or_else(|| it.to_string(), str::to_owned));
        }
    }
    for (code, it) in [
        (0xe1, "Æ"),
        (0xe8, "Ł"),
        (0xe9, "Ø"),
        (0xea, "Œ"),
        (0xf1, "æ"),
        (0xf8, "ł"),
        (0xf9, "ø"),
        (0xfa, "œ"),
        (0xfb, "ß"),
    ] {
        table[code] = Some(it.to_owned());
    }
}

const SANS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667,
    611, 778, 722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667,
    667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500,
    222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
];
const SERIF: [u16; 95] = [
    250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500,
    500, 500, 500, 500, 500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611,
    556, 722, 722, 333, 389, 722, 611, 889, 722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722,
    722, 611, 333, 278, 333, 469, 500, 333, 444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500,
    278, 778, 500, 500, 500, 500, 333, 389, 278, 500, 500, 722, 500, 500, 444, 480, 200, 480, 541,
];

/// The width of a code in a standard face, in thousandths of its size.
pub(super) fn standard_width(face: &str, code: u32) -> f64 {
    if face.contains("Courier") || face.contains("Mono") {
        return 600.0;
    }
    let table = if face.contains("Times") || face.contains("Serif") { &SERIF } else { &SANS };
    let width = (code as usize).checked_sub(32).and_then(|it| table.get(it)).copied();
    f64::from(width.unwrap_or(500))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, text: Option<&str>) {
        assert_eq!(named(name).as_deref(), text, "{name}");
    }

    #[test]
    fn glyphs_have_names() {
        check("A", Some("A"));
        check("fi", Some("fi"));
        check("f_i", Some("fi"));
        check("zero", Some("0"));
        check("section", Some("§"));
        check("quoteright", Some("’"));
        check("uni0414", Some("Д"));
        check("u1F600", Some("😀"));
        check("afii10017", Some("А"));
        check("afii10023", Some("Ё"));
        check("afii10097", Some("я"));
        check("eacute.sc", Some("é"));
        check("a.alt", Some("a"));
        check("ae", Some("æ"));
        check("g123", None);
    }

    #[test]
    fn the_standard_encoding_has_its_quotes() {
        let table = encoding(None);
        let at = |code: usize| table[code].as_deref();
        assert_eq!(
            [at(0x27), at(0xae), at(0xd0), at(0x41)],
            [Some("’"), Some("fi"), Some("—"), Some("A")]
        );
        assert_eq!(encoding(Some("WinAnsiEncoding"))[0x27].as_deref(), Some("'"));
    }
}
