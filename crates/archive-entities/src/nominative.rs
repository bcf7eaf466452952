//! Russian names in the nominative: acts name people and organisations in the genitive and the
//! dative («по иску Воробьёва Виктора Викторовича к муниципальному учреждению»). A form that may be
//! either is left as it is written.

/// A name with a patronymic, or with a feminine surname and initials, in the nominative.
pub(crate) fn person(name: &str) -> Option<String> {
    let words: Vec<&str> = name.split(' ').collect();
    if let [surname, given, patronymic] = words.as_slice()
        && let Some((father, is_feminine)) = patronymic_form(patronymic)
    {
        let shown = format!(
            "{} {} {father}",
            surname_form(surname, is_feminine),
            given_form(given, is_feminine)
        );
        return (shown != name).then_some(shown);
    }
    let with_initials = words.len() > 1 && words.iter().any(|it| it.contains('.'));
    let (place, surname) = words.iter().enumerate().find(|(_, it)| !it.contains('.'))?;
    let feminine = ["овой", "евой", "ёвой", "иной", "ыной", "ской", "цкой"];
    if !with_initials || !feminine.iter().any(|it| surname.ends_with(it)) {
        return None;
    }
    let shown = surname_form(surname, true);
    let list: Vec<&str> = words
        .iter()
        .enumerate()
        .map(|(at, it)| if at == place { shown.as_str() } else { *it })
        .collect();
    Some(list.join(" "))
}

/// A masculine surname with initials after a word in the genitive: «судьи Кульпина Е.В.». A feminine
/// one would end otherwise there.
pub(crate) fn after_genitive(name: &str) -> Option<String> {
    if let Some(shown) = person(name) {
        return Some(shown);
    }
    let words: Vec<&str> = name.split(' ').collect();
    if words.len() < 2 || !words.iter().any(|it| it.contains('.')) {
        return None;
    }
    let (place, surname) = words.iter().enumerate().find(|(_, it)| !it.contains('.'))?;
    let shown = surname_form(surname, false);
    if shown == *surname {
        return None;
    }
    let list: Vec<&str> = words
        .iter()
        .enumerate()
        .map(|(at, it)| if at == place { shown.as_str() } else { *it })
        .collect();
    Some(list.join(" "))
}

fn patronymic_form(word: &str) -> Option<(String, bool)> {
    for end in ["вича", "вичу", "вичем"] {
        if let Some(stem) = word.strip_suffix(end) {
            return Some((format!("{stem}вич"), false));
        }
    }
    for end in ["ьича", "ьичу", "ьичом"] {
        if let Some(stem) = word.strip_suffix(end) {
            return Some((format!("{stem}ьич"), false));
        }
    }
    for end in ["вны", "вне", "вной", "вну", "вною"] {
        if let Some(stem) = word.strip_suffix(end) {
            return Some((format!("{stem}вна"), true));
        }
    }
    for end in ["ичны", "ичне", "ичной", "ичну"] {
        if let Some(stem) = word.strip_suffix(end) {
            return Some((format!("{stem}ична"), true));
        }
    }
    None
}

/// The word with the first ending that it has replaced.
fn replaced(word: &str, table: &[(&str, &str)]) -> String {
    let found = table.iter().find_map(|(end, by)| Some((word.strip_suffix(end)?, by)));
    match found {
        Some((stem, by)) if stem.chars().count() > 1 => format!("{stem}{by}"),
        _ => word.to_owned(),
    }
}

fn given_form(word: &str, is_feminine: bool) -> String {
    if is_feminine {
        return replaced(
            word,
            &[
                ("ии", "ия"),
                ("ией", "ия"),
                ("ию", "ия"),
                ("ьи", "ья"),
                ("ье", "ья"),
                ("ьей", "ья"),
                ("ью", "ья"),
                ("ови", "овь"),
                ("ги", "га"),
                ("ки", "ка"),
                ("ы", "а"),
                ("ой", "а"),
                ("ей", "я"),
                ("е", "а"),
                ("у", "а"),
                ("ю", "я"),
            ],
        );
    }
    // «Павла», «Льва», «Петра» lose a vowel or look like nothing else.
    match word {
        "Павла" | "Павлу" | "Павлом" => return "Павел".to_owned(),
        "Льва" | "Льву" | "Львом" => return "Лев".to_owned(),
        "Петра" | "Петру" | "Петром" => return "Пётр".to_owned(),
        "Ильи" | "Илье" | "Ильёй" | "Ильей" => return "Илья".to_owned(),
        "Никиты" | "Никите" | "Никитой" => return "Никита".to_owned(),
        _ => {}
    }
    replaced(
        word,
        &[
            ("ия", "ий"),
            ("ию", "ий"),
            ("ием", "ий"),
            ("ея", "ей"),
            ("ею", "ей"),
            ("еем", "ей"),
            ("ая", "ай"),
            ("аю", "ай"),
            ("аем", "ай"),
            ("ря", "рь"),
            ("рю", "рь"),
            ("рем", "рь"),
            ("ом", ""),
            ("а", ""),
            ("у", ""),
        ],
    )
}

fn surname_form(word: &str, is_feminine: bool) -> String {
    if is_feminine {
        return replaced(
            word,
            &[
                ("овой", "ова"),
                ("евой", "ева"),
                ("ёвой", "ёва"),
                ("иной", "ина"),
                ("ыной", "ына"),
                ("ской", "ская"),
                ("цкой", "цкая"),
                ("скую", "ская"),
                ("ову", "ова"),
                ("еву", "ева"),
                ("ину", "ина"),
            ],
        );
    }
    let vowels = ['а', 'е', 'ё', 'и', 'о', 'у', 'ы', 'э', 'ю', 'я'];
    let shown = replaced(
        word,
        &[
            ("ского", "ский"),
            ("скому", "ский"),
            ("ским", "ский"),
            ("цкого", "цкий"),
            ("цкому", "цкий"),
            ("овым", "ов"),
            ("евым", "ев"),
            ("ёвым", "ёв"),
            ("иным", "ин"),
            ("ова", "ов"),
            ("ева", "ев"),
            ("ёва", "ёв"),
            ("ина", "ин"),
            ("ына", "ын"),
            ("ову", "ов"),
            ("еву", "ев"),
            ("ёву", "ёв"),
            ("ину", "ин"),
            ("ыну", "ын"),
        ],
    );
    if shown != word {
        return shown;
    }
    // «Бромберга», «Зайчуку»: a consonant before the ending.
    for end in ["а", "у"] {
        if let Some(stem) = word.strip_suffix(end)
            && stem.chars().count() > 3
            && stem.chars().next_back().is_some_and(|it| !vowels.contains(&it) && it != 'ь')
            && !stem.ends_with("енк")
        {
            return stem.to_owned();
        }
    }
    word.to_owned()
}

/// The legal form before a name in quotation marks, in the nominative.
pub(crate) fn organisation(name: &str) -> Option<String> {
    let quote = name.find(['«', '"', '“', '„'])?;
    let (form, rest) = name.split_at(quote);
    let is_neuter = |it: &str| {
        ["обществ", "учреждени", "предприяти", "товариществ", "объединени", "партнерств"]
            .iter()
            .any(|stem| it.to_lowercase().starts_with(stem))
    };
    let words: Vec<&str> = form.split(' ').filter(|it| !it.is_empty()).collect();
    let head = words.iter().position(|it| is_neuter(it))?;
    let mut list: Vec<String> = Vec::with_capacity(words.len());
    for (at, word) in words.iter().enumerate() {
        list.push(match at.cmp(&head) {
            std::cmp::Ordering::Less => {
                replaced(word, &[("ого", "ое"), ("ому", "ое"), ("ым", "ое"), ("ом", "ое")])
            }
            std::cmp::Ordering::Equal => replaced(
                word,
                &[
                    ("нием", "ние"),
                    ("ния", "ние"),
                    ("нию", "ние"),
                    ("тия", "тие"),
                    ("тию", "тие"),
                    ("тием", "тие"),
                    ("вом", "во"),
                    ("ва", "во"),
                    ("ву", "во"),
                ],
            ),
            std::cmp::Ordering::Greater => (*word).to_owned(),
        });
    }
    let shown = format!("{} {rest}", list.join(" "));
    (shown != name).then_some(shown)
}

/// The name of a court in the nominative: «Ленинского районного суда г. Кирова».
pub(crate) fn court(name: &str) -> Option<String> {
    let words: Vec<&str> = name.split(' ').collect();
    let lower = |it: &str| it.to_lowercase();
    let head = words.iter().position(|it| {
        matches!(lower(it).as_str(), "суда" | "суде" | "суду" | "судом" | "участка" | "участке")
    })?;
    let mut list: Vec<String> = Vec::with_capacity(words.len());
    for (at, word) in words.iter().enumerate() {
        list.push(match at.cmp(&head) {
            std::cmp::Ordering::Less => court_adjective(word),
            std::cmp::Ordering::Equal if lower(word).starts_with("участ") => {
                replaced(word, &[("ка", "ок"), ("ке", "ок")])
            }
            std::cmp::Ordering::Equal => {
                replaced(word, &[("ом", ""), ("а", ""), ("е", ""), ("у", "")])
            }
            std::cmp::Ordering::Greater => (*word).to_owned(),
        });
    }
    Some(list.join(" "))
}

fn court_adjective(word: &str) -> String {
    const STRESSED: [&str; 9] =
        ["городск", "областн", "краев", "миров", "окружн", "шест", "седьм", "восьм", "втор"];
    let lower = word.to_lowercase();
    let ends = ["ого", "ому", "ом", "ым", "его", "им"];
    let Some(end) = ends.iter().find(|it| lower.ends_with(**it)) else { return word.to_owned() };
    let Some(stem) = word.get(..word.len() - end.len()) else { return word.to_owned() };
    let low = stem.to_lowercase();
    let by = if STRESSED.contains(&low.as_str()) {
        "ой"
    } else if low.ends_with("ск") || low.ends_with("цк") || matches!(*end, "его" | "им") {
        "ий"
    } else {
        "ый"
    };
    format!("{stem}{by}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oblique_names_get_the_nominative() {
        for (name, want) in [
            ("Воробьёва Виктора Викторовича", "Воробьёв Виктор Викторович"),
            ("Зубарева Игоря Петровича", "Зубарев Игорь Петрович"),
            ("Пелеховой Марии Ильиничны", "Пелехова Мария Ильинична"),
            ("Достоевского Фёдора Михайловича", "Достоевский Фёдор Михайлович"),
            ("Шевченко Анны Юрьевны", "Шевченко Анна Юрьевна"),
            ("Кузнецовой М.А.", "Кузнецова М.А."),
        ] {
            assert_eq!(person(name).as_deref(), Some(want), "{name}");
        }
        for name in ["Иванов Иван Иванович", "Петрова П.П.", "Мицкевич А.Э."]
        {
            assert_eq!(person(name), None, "{name}");
        }
        assert_eq!(after_genitive("Кульпина Е.В.").as_deref(), Some("Кульпин Е.В."));
        assert_eq!(after_genitive("А.А. Малова").as_deref(), Some("А.А. Малов"));
        assert_eq!(after_genitive("Бромберга Ю.В.").as_deref(), Some("Бромберг Ю.В."));
        assert_eq!(after_genitive("Мицкевич А.Э."), None);
    }

    #[test]
    fn forms_and_courts_get_the_nominative() {
        for (name, want) in [
            (
                "муниципальному казённому учреждению «Декабрист»",
                "муниципальное казённое учреждение «Декабрист»",
            ),
            (
                "общества с ограниченной ответственностью «Экопром»",
                "общество с ограниченной ответственностью «Экопром»",
            ),
            ("акционерному обществу \"Вектор\"", "акционерное общество \"Вектор\""),
        ] {
            assert_eq!(organisation(name).as_deref(), Some(want), "{name}");
        }
        assert_eq!(organisation("ООО «Ромашка»"), None);
        for (name, want) in [
            ("Ленинского районного суда г. Кирова", "Ленинский районный суд г. Кирова"),
            ("Челябинского областного суда", "Челябинский областной суд"),
            (
                "Седьмого кассационного суда общей юрисдикции",
                "Седьмой кассационный суд общей юрисдикции",
            ),
            ("Арбитражного суда города Москвы", "Арбитражный суд города Москвы"),
        ] {
            assert_eq!(court(name).as_deref(), Some(want), "{name}");
        }
    }
}
