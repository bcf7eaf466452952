//! Names of glyphs and the encodings of simple fonts, to Unicode.

use std::collections::HashMap;
use std::sync::LazyLock;

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
Scaron\u{160} scaron\u{161} Zcaron\u{17d} zcaron\u{17e} Ydieresis\u{178} infinity∞ lessequal≤ greaterequal≥ notequal≠ approxequal≈ \
summation∑ radical√ integral∫ partialdiff∂ product∏ lozenge◊ afii61352№ nbspace\u{a0} sfthyphen\u{ad} \
checkmark✓ a20✔ check✓ arrowright→ arrowleft← arrowup↑ arrowdown↓ arrowboth↔ arrowdblright⇒ arrowdblleft⇐ \
arrowdblboth⇔ element∈ notelement∉ suchthat∋ intersection∩ union∪ propersubset⊂ propersuperset⊃ reflexsubset⊆ \
reflexsuperset⊇ notsubset⊄ logicaland∧ logicalor∨ universal∀ existential∃ emptyset∅ gradient∇ angle∠ therefore∴ \
similar∼ congruent≅ equivalence≡ proportional∝ perpendicular⊥ circleplus⊕ circlemultiply⊗ asteriskmath∗ dotmath⋅ \
minute′ second″ prime′ aleph\u{5d0} weierstrass℘ Ifraktur\u{2111} Rfraktur\u{211c} angleleft⟨ angleright⟩ theta1ϑ phi1ϕ \
omega1ϖ Upsilon1ϒ club♣ diamond♦ heart♥ spade♠ filledbox■ circle○ H18533■ Hbar\u{126} hbar\u{127} Dcroat\u{110} dcroat\u{111} \
Dslash\u{110} dmacron\u{111} Eng\u{14a} eng\u{14b} kgreenlandic\u{138} longs\u{17f} napostrophe\u{149} Idot\u{130} Idotaccent\u{130} \
Ldot\u{13f} ldot\u{140} Tbar\u{166} tbar\u{167} IJ\u{132} ij\u{133} overscore¯ underscoredbl‗ colonmonetary₡ franc₣ lira₤ peseta₧ \
dong₫ rupee₹ estimated℮ onethird⅓ twothirds⅔ oneeighth⅛ threeeighths⅜ fiveeighths⅝ seveneighths⅞ figuredash‒ \
horizontalbar― nonbreakingspace\u{a0} hyphenminus- softhyphen\u{ad} dotlessj\u{237} visiblespace␣ nonmarkingreturn\u{a0} \
lessmuch≪ greatermuch≫ plusminus± minusplus∓ element∈ owner∋ mapsto↦ arrownortheast↗ negationslash\u{338} \
ffl\u{fb04} st\u{fb06} longst\u{fb05} square□ triangledown▽ triangle△ parallel∥ bardbl‖ floorleft⌊ floorright⌋ \
ceilingleft⌈ ceilingright⌉ lscript\u{2113} star⋆ openbullet◦ bulletmath∙ macute\u{1e3f} Tcommaaccent\u{162} \
tcommaaccent\u{163} Scommaaccent\u{218} scommaaccent\u{219} quoteleftbase‚ quotereversed‛ twodotleader‥ onedotleader․ \
parenleftbig( parenrightbig) parenleftBig( parenrightBig) bracketleftbig[ bracketrightbig] braceleftbig{ \
bracerightbig} summationtext∑ summationdisplay∑ integraltext∫ integraldisplay∫ producttext∏ productdisplay∏ \
radicalbig√ hatwideˆ tildewide˜ vector\u{20d7} tie⁀ slurabove⁀ arrowhookleft↩ epsilon1ϵ rho1ϱ";

/// Names of the Greek letters, in the order of Unicode, from U+03B1; capitals have capital names.
const GREEK: &str = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi \
omicron pi rho sigma1 sigma tau upsilon phi chi psi omega";

/// Accents in names of letters, with the combining character of each.
const ACCENTS: [(&str, char); 15] = [
    ("grave", '\u{300}'),
    ("acute", '\u{301}'),
    ("circumflex", '\u{302}'),
    ("tilde", '\u{303}'),
    ("macron", '\u{304}'),
    ("breve", '\u{306}'),
    ("dotaccent", '\u{307}'),
    ("dieresis", '\u{308}'),
    ("ring", '\u{30a}'),
    ("hungarumlaut", '\u{30b}'),
    ("caron", '\u{30c}'),
    ("dotbelow", '\u{323}'),
    ("commaaccent", '\u{327}'),
    ("cedilla", '\u{327}'),
    ("ogonek", '\u{328}'),
];

static BY_NAME: LazyLock<HashMap<&'static str, char>> = LazyLock::new(|| {
    let mut names: HashMap<&str, char> = NAMED
        .split_ascii_whitespace()
        .filter_map(|entry| {
            let (at, value) = entry.char_indices().next_back()?;
            Some((&entry[..at], value))
        })
        .collect();
    for (name, code) in GREEK.split_ascii_whitespace().zip(0x3b1_u32..) {
        if let Some(letter) = char::from_u32(code) {
            names.entry(name).or_insert(letter);
        }
    }
    names.insert("space", ' ');
    names
});

/// The text of a named glyph.
pub(super) fn glyph_text(name: &str) -> Option<String> {
    let name = name.split('.').next().unwrap_or_default();
    let mut chars = name.chars();
    if let (Some(one), None) = (chars.next(), chars.next()) {
        return Some(one.to_string());
    }
    let found = BY_NAME.get(name).copied();
    if let Some(it) = found.or_else(|| by_number(name)).or_else(|| by_code(name)) {
        return Some(ligature_letters(it).map_or_else(|| it.to_string(), str::to_owned));
    }
    if let Some(it) = accented(name).or_else(|| capital_greek(name)) {
        return Some(it.to_string());
    }
    // `uni00660069` is a ligature of the characters whose codes it has.
    if let Some(codes) = name.strip_prefix("uni").filter(|it| it.len() % 4 == 0 && it.len() < 64) {
        let parts = codes.as_bytes().chunks(4).map(|it| std::str::from_utf8(it).ok());
        return parts.map(|it| char::from_u32(u32::from_str_radix(it?, 16).ok()?)).collect();
    }
    // `f_i` is a ligature of the letters it names.
    if name.contains('_') && name.len() < 64 {
        return name.split('_').map(glyph_text).collect();
    }
    // Capitals in the size of small letters, and digits of another height.
    for form in ["small", "oldstyle", "superior", "inferior"] {
        if let Some(base) = name.strip_suffix(form).filter(|it| !it.is_empty()) {
            return glyph_text(base).filter(|it| it.chars().all(char::is_alphanumeric));
        }
    }
    None
}

fn by_code(name: &str) -> Option<char> {
    let hex = match name.strip_prefix("uni") {
        Some(hex) => hex.get(..4).filter(|_| hex.len() < 8)?,
        None => name.strip_prefix('u').filter(|it| (4..=6).contains(&it.len()))?,
    };
    char::from_u32(u32::from_str_radix(hex, 16).ok()?)
}

/// Adobe numbers the Cyrillic letters, with Ё in its place in the alphabet, and the Hebrew ones.
fn by_number(name: &str) -> Option<char> {
    let number: u32 = name.strip_prefix("afii")?.parse().ok()?;
    let code = match number {
        10_023 => 0x401,
        10_071 => 0x451,
        10_017..=10_022 => 0x410 + number - 10_017,
        10_024..=10_049 => 0x410 + number - 10_018,
        10_065..=10_070 => 0x430 + number - 10_065,
        10_072..=10_097 => 0x430 + number - 10_066,
        10_050 => 0x490,
        10_051..=10_061 => 0x402 + number - 10_051,
        10_062 => 0x40e,
        10_145 => 0x40f,
        10_098 => 0x491,
        10_099..=10_109 => 0x452 + number - 10_099,
        10_110 => 0x45e,
        10_193 => 0x45f,
        57_664..=57_690 => 0x5d0 + number - 57_664,
        _ => return None,
    };
    char::from_u32(code)
}

/// A letter with an accent, such as `abreve`.
fn accented(name: &str) -> Option<char> {
    let (base, accent) =
        ACCENTS.iter().find_map(|(word, accent)| Some((name.strip_suffix(word)?, *accent)))?;
    let mut letters = base.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) => unicode_normalization::char::compose(letter, accent),
        _ => None,
    }
}

fn capital_greek(name: &str) -> Option<char> {
    let lower = BY_NAME.get(name.to_ascii_lowercase().as_str()).copied()?;
    let greek = name.starts_with(|it: char| it.is_ascii_uppercase());
    (greek && ('α'..='ω').contains(&lower)).then(|| lower.to_uppercase().next())?
}

/// The letters of a ligature, which people search for.
pub(super) fn ligature_letters(it: char) -> Option<&'static str> {
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
            table[code] = Some(ligature_letters(it).map_or_else(|| it.to_string(), str::to_owned));
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

/// Whether a name is that of an encoding that a file may name.
pub(super) fn is_known_encoding(name: &str) -> bool {
    matches!(name, "WinAnsiEncoding" | "MacRomanEncoding" | "StandardEncoding" | "PDFDocEncoding")
}

/// Codes 0x20 to 0x7e and 0xa0 to 0xfe of the Symbol font.
const SYMBOL: [&str; 2] = [
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_\0αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼",
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…\0\0↵\u{5d0}ℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑",
];

/// The encoding of a font of symbols that every reader has; `None` for fonts of letters.
pub(super) fn symbol_encoding(face: &str) -> Option<Vec<Option<String>>> {
    let face = face.rsplit('+').next().unwrap_or_default();
    let mut table = vec![None; 256];
    if face == "ZapfDingbats" {
        for (code, slot) in (0_u32..).zip(table.iter_mut()) {
            *slot = dingbat(code).and_then(char::from_u32).map(|it| it.to_string());
        }
    } else if face == "Symbol" || face.starts_with("Symbol,") {
        for (start, part) in [0x20_usize, 0xa0].into_iter().zip(SYMBOL) {
            for (slot, it) in table[start..].iter_mut().zip(part.chars()) {
                *slot = (it != '\0').then(|| it.to_string());
            }
        }
    } else {
        return None;
    }
    Some(table)
}

/// The Unicode of a code of the dingbats font, whose signs have a block of their own in nearly the
/// same order.
fn dingbat(code: u32) -> Option<u32> {
    Some(match code {
        0x20 => 0x20,
        0x25 => 0x260e,
        0x2a => 0x261b,
        0x2b => 0x261e,
        0x48 => 0x2605,
        0x6c => 0x25cf,
        0x6e => 0x25a0,
        0x73 => 0x25b2,
        0x74 => 0x25bc,
        0x75 => 0x25c6,
        0x77 => 0x25d7,
        0x21..=0x7e => 0x2701 + code - 0x21,
        0xa8 => 0x2663,
        0xa9 => 0x2666,
        0xaa => 0x2665,
        0xab => 0x2660,
        0xac..=0xb5 => 0x2460 + code - 0xac,
        0xd5 => 0x2192,
        0xd6 => 0x2194,
        0xd7 => 0x2195,
        0xa1..=0xef | 0xf1..=0xfe => 0x2761 + code - 0xa1,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, text: Option<&str>) {
        assert_eq!(glyph_text(name).as_deref(), text, "{name}");
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
        check(".notdef", None);
        check("abreve", Some("ă"));
        check("Tcommaaccent", Some("Ţ"));
        check("ncaron", Some("ň"));
        check("Gamma", Some("Γ"));
        check("theta", Some("θ"));
        check("uni00660069", Some("fi"));
        check("Asmall", Some("A"));
        check("oneoldstyle", Some("1"));
        check("afii57664", Some("א"));
        check("afii10055", Some("І"));
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
        let symbols = symbol_encoding("ABCDEF+Symbol").unwrap();
        let at = |code: usize| symbols[code].as_deref();
        assert_eq!([at(0x61), at(0x57), at(0xb7), at(0xe5)], ["α", "Ω", "•", "∑"].map(Some));
        let signs = symbol_encoding("ZapfDingbats").unwrap();
        assert_eq!(signs[0x34].as_deref(), Some("✔"));
    }
}
