//! Words that are no names of securities, and short names for those that are.

use crate::words::{Kind, Word};

/// Whether some word begins with one of these.
pub(super) fn begins(words: &[Word], stems: &[&str]) -> bool {
    let short = |it: &str| it.chars().count() <= 3;
    words.iter().filter(|it| it.is_letters()).any(|word| {
        stems
            .iter()
            .any(|it| if short(it) { word.lower == *it } else { word.lower.starts_with(it) })
    })
}

/// Beginnings of words that speak of prices on the move.
pub(super) const MOVED: [&str; 26] = [
    "выросл",
    "вырос",
    "упал",
    "просел",
    "подорож",
    "подешев",
    "лидер",
    "аутсайдер",
    "двига",
    "движен",
    "рост",
    "паден",
    "moved",
    "mover",
    "gain",
    "loser",
    "rose",
    "drop",
    "declin",
    "fell",
    "happen",
    "произош",
    "происход",
    "двинул",
    "снизил",
    "подрос",
];

/// What people call a company, by the beginning of the word, and what the exchange calls it.
const NICKNAMES: [(&str, &str); 24] = [
    ("сбер", "Сбербанк"),
    ("sber", "Sberbank"),
    ("норникел", "Норильский никель"),
    ("гмк", "Норильский никель"),
    ("nornickel", "Norilsk Nickel"),
    ("тинькоф", "Т-Технологии"),
    ("тиньк", "Т-Технологии"),
    ("т-банк", "Т-Технологии"),
    ("т-технологи", "Т-Технологии"),
    ("tinkoff", "T-Technologies"),
    ("мосбирж", "Московская биржа"),
    ("сургут", "Сургутнефтегаз"),
    ("лук", "ЛУКОЙЛ"),
    ("газик", "Газпром"),
    ("роснефт", "Роснефть"),
    ("яндекс", "Яндекс"),
    ("yandex", "Yandex"),
    ("магнит", "Магнит"),
    ("новатэк", "НОВАТЭК"),
    ("татнефт", "Татнефть"),
    ("аэрофлот", "Аэрофлот"),
    ("полюс", "Полюс"),
    ("хедхантер", "Хэдхантер"),
    ("совкомфлот", "Совкомфлот"),
];

/// The exchange's name for what a word may be short for.
pub(super) fn nickname(word: &Word) -> Option<&'static str> {
    let fits = |(begins, _): &&(&str, &str)| {
        let rest = word.lower.strip_prefix(begins).map(|it| it.chars().count());
        rest.is_some_and(|rest| rest <= 3 && (begins.chars().count() > 3 || rest == 0))
    };
    // A ticker is no short name: SBERP is another share than SBER.
    let ticker = word.kind == Kind::Latin && word.text.chars().all(|it| !it.is_lowercase());
    if ticker { None } else { NICKNAMES.iter().find(fits).map(|(_, name)| *name) }
}

const RUSSIAN: &str = "а без более больше бы был была были было быть в вам вас весь во вот все всё \
    всего всех вы где да давай дай для до его ее если есть еще же за и из или им их к как какая \
    какие какой какого каком какова каков каковы ко когда который кто куда ли лучше мне мной могу \
    можно мой моего моем мои моих моя мы на над надо нам нас насколько наш не него нее нет ни них \
    но о об обо он она они оно от очень по под покажи пожалуйста при про расскажи с сам свой себя \
    сейчас со так также там тебе то тоже того только том ты у уже хочу хуже чего чем через что \
    чтобы эта эти это этого этой этом этот я вчера сегодня завтра пока против между вместе сколько \
    привет здравствуйте спасибо друг друга другом почему зачем ао пао ап такое помоги либо самые \
    самый пол умеешь умеете равных равными долях долями поровну конец подробно кратко стоит стоят \
    идут идет дела дело чувствует ведет ведут кэше кэш кеш кеше эквивалент итоги итог общая топ сильнее \
    слабее быстрее всегда обычно \
    меня тебя нами ними ним ней ему ей сами москва москве москвы россия россии теперь потом тогда \
    здесь тут просто вообще входит входят такой такая каким какими какую которые нужно буду будет";

const RUSSIAN_STEMS: &str = "акци бумаг компани котировк цена цены цене цену стоимост курс рынк \
    рынок бирж индекс портфел дивиденд дивдоход выплат коррел взаимосвяз сравн сравнит анализ \
    проанализ обзор оцен посчит рассчит подсчит вырос выросл упал просел лидер аутсайдер роста \
    рост падени паден движен двига двинул доходност волатильн риск просадк объем оборот торг \
    состав вес доля доли долю ценн эмитент динамик измен показател показ период месяц недел год \
    квартал день дня дней лет последн прошл начал текущ процент рубл деньг деньги наличн префы \
    префам преф привилегирован обыкновен обычк вложи вложен инвест купи прода держ позици сектор \
    крупнейш больш меньш самых самое самая происход произош подорож подешев снизил подрос \
    рекоменд совет прогноз информац новост данн посмотр интерес узна скаж напиш выведи дай \
    доверит уровн горизонт текущ состоян ситуац будущ открыти закрыти максимум минимум график \
    история истори истор свеч тикер сводк систематич похож связан зависим одинаков ценов включа";

const ENGLISH: &str = "a about above against all also am an and any are as ask at be been best better \
    between big biggest but by can capital change changed chart company compare compared comparing comparison \
    constituents correlate correlated correlation could current day days did declined declining divided dividend \
    dividends do does doing down drop dropped equal equally exchange fall fallen fell figures find for from gain gained \
    gainers gave get give had half happen happened has have hello help hi high history hold holding \
    how i in index indices interested into invest investing is it its last like list loser losers \
    low may me month months more most move moved movers much my no not now of on or ordinary our \
    out over overview paid past pay payout perform performance performed please portfolio position \
    preferred prefs price prices quarter recent return returns rise risen risk risks risky rose \
    russian russia sector sell share shares should show since so some start stock stocks summary tell than \
    thanks that the their them there these they think this to today together top total trade \
    traded trading trend up us value var volatility volume vs versus was we week weeks weight \
    weights went were what when where which who will with would year years yesterday yield yields \
    you your beginning ytd mtd etf usd rub eur cash moscow market markets analyse analyze analysis \
    calculate compute assess each other one two three confidence horizon next date report inside \
    biggest largest closely moving strongly good bad made make did make quote imoex rtsi rts moex \
    paying until till ended end long short current currently look looking stand during within";

/// Whether a word is one of English speech rather than a name.
pub(super) fn is_english(word: &Word) -> bool {
    // One letter, or a ticker in capitals, says nothing of the language.
    let said = word.text.len() > 1 && word.text.chars().any(char::is_lowercase);
    word.kind == Kind::Latin && said && ENGLISH.split_whitespace().any(|it| it == word.lower)
}

/// Whether a word is of common speech, and therefore names nothing.
pub(super) fn is_common(word: &Word) -> bool {
    match word.kind {
        Kind::Latin => {
            let plain = word.lower.split(['\'', '’']).next().unwrap_or_default();
            word.text.len() < 2 || ENGLISH.split_whitespace().any(|it| it == plain)
        }
        Kind::Cyrillic => {
            let known = |it: &str| it.chars().count() > 3 && word.lower.starts_with(it);
            word.text.chars().count() < 2
                || RUSSIAN.split_whitespace().any(|it| it == word.lower)
                || RUSSIAN_STEMS.split_whitespace().any(|it| known(it) || it == word.stem)
        }
        _ => true,
    }
}
