//! Common words that do not name securities, and nicknames of securities.

use std::sync::LazyLock;

use super::focus::is_sector;
use crate::words::{Word, WordKind};

/// Reports whether any word begins with one of the stems. Short stems, and stems that begin a
/// company name, must match the whole word.
pub(super) fn begins(words: &[Word], stems: &[&str]) -> bool {
    let whole = |it: &str| it.chars().count() <= 3 || ["рост", "роста", "росте"].contains(&it);
    words.iter().filter(|it| it.is_letters()).any(|word| {
        stems
            .iter()
            .any(|it| if whole(it) { word.lower == *it } else { word.lower.starts_with(it) })
    })
}

/// Stems of words about price moves.
pub(super) const MOVED: [&str; 27] = [
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
    "роста",
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

/// Names that people use for securities, with the exchange's name or ticker of each.
static NAMES: LazyLock<Vec<KnownName>> = LazyLock::new(|| {
    let lines = include_str!("../../data/names.tsv").lines().filter(|it| !it.starts_with('#'));
    let name = |(written, name): (&'static str, &'static str)| KnownName {
        written: written.trim_start_matches('='),
        is_whole: written.starts_with('='),
        name,
    };
    lines.filter_map(|it| it.split_once('\t')).map(name).collect()
});

struct KnownName {
    written: &'static str,
    /// Whether the word has no case endings.
    is_whole: bool,
    name: &'static str,
}

impl KnownName {
    fn fits(&self, word: &Word) -> bool {
        let Some(ending) = word.lower.strip_prefix(self.written) else { return false };
        // Latin words have no case endings, and `sberp` is a different share.
        let no_case = word.kind == WordKind::Latin && !["", "s"].contains(&ending);
        let short = self.is_whole || self.written.chars().count() <= 3;
        !no_case && (ending.is_empty() || !short && ending.chars().count() <= 3)
    }
}

/// Returns the exchange's name or ticker for a name that people use; the longest one that fits.
pub(super) fn nickname(word: &Word) -> Option<&'static str> {
    // A ticker is not a nickname: SBERP and SBER are different shares.
    let ticker = word.kind == WordKind::Latin && word.text.chars().all(|it| !it.is_lowercase());
    let fitting = NAMES.iter().filter(|it| !ticker && it.fits(word));
    fitting.max_by_key(|it| it.written.len()).map(|it| it.name)
}

const RUSSIAN: &str = "а минус делить ноль без более больше бы был была были было быть в вам вас весь во вот все всё \
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
    здесь тут рост роста росту ростом росте половина половину половины треть трети четверть \
    четверти остальное остальные остальных остаток пополам акционерам шорт шорте лонг лонге руб шт лот лота лотов млн тыс млрд тысяч тысячи \
    один одна одну два две двух двум три трех четыре пять шесть семь восемь девять десять \
    весит весят веса весе назад год году года лет ли этих эту обе оба обоих них ними ним нем будто прям ровно \
    всему всем ваш твой куплю продам чей чья кого кому чему скинь кинь плиз пж норм бро чувак короче \
    isin исин пяти трех четырех десяти двумя тремя работает работать работают раз вел вела вели пика хая после \
    здесь тут просто вообще входит входят такой такая каким какими какую которые нужно буду будет";

const RUSSIAN_STEMS: &str = "акци бумаг компани котировк цена цены цене цену стоимост курс рынк \
    рынок бирж индекс портфел дивиденд дивдоход выплат коррел взаимосвяз сравн сравнит анализ \
    проанализ обзор оцен посчит рассчит подсчит вырос вырас выросл упал упад просел лидер аутсайдер \
    падени паден движен двига двинул двинет заплат плати платя доходност волатильн риск просадк объем оборот торг \
    состав вес доля доли долю ценн эмитент динамик измен показател показ период месяц недел год \
    квартал день дня дней лет последн прошл начал текущ процент рубл деньг деньги наличн префы \
    префам преф привилегирован обыкновен обычк вложи вложен инвест купи прода держ позици сектор \
    крупнейш больш меньш самых самое самая происход произош подорож подешев снизил подрос \
    рекоменд совет прогноз информац новост данн посмотр интерес узна скаж напиш выведи дай \
    доверит уровн горизонт текущ состоян ситуац будущ открыти закрыти максимум минимум график \
    история истори истор свеч тикер сводк систематич похож связан зависим одинаков ценов включа рискован надежн спокойн безопасн стабильн доходн \
    выгодн волатил голуб фишк фишек понедельник вторник четверг пятниц суббот воскресень тысяч миллион \
    миллиард соотношен пропорц позапрошл полугоди недавн хорош плох лучш худш подробн коротк \
    основн главн важн объясн опиши описать назов перечисл сформир состо структур платеж тренд \
    растет растут падает падают обогна отста потеря заработ принес ежедневн игнорир инструкц \
    предыдущ сообщени промпт притвор забудь ответ вопрос отвеча понял понятн расск скаж \
    говор думаеш счита мнени почем системн праздн выходн расписан календар нерабоч новогодн \
    откроет закроет отрасл собрат собер найди найдит средн дневн матриц высок низк покаж";

const ENGLISH: &str = "a close far away rank about above against all also am an and any are as ask at be been best better \
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
    don doesn didn isn aren wasn won couldn wouldn shouldn haven hasn ll re ve \
    paying until till ended end long short current currently look looking stand during within ago rest remaining \
    third thirds quarter quarters half fifth tenth before after yet still blue chip chips bank banks oil sector \
    sectors gas metal metals ignore previous instructions instruction system user assistant developer prompt \
    say print reveal output answer question tomorrow monday tuesday wednesday thursday friday saturday sunday \
    safer safest riskier riskiest volatile calm worst worse fastest slowest did happen forecast predict \
    buy worth good bad also then too both same common ordinary pieces lots lot rubles roubles thousand million \
    january february march april june july august september october november december if only never always \
    every everything anything nothing something my mine let lets want need know see why because really very \
    just even than go going gonna got hey yo pls plz thx dude bro guys man lol drawdown high highest low lowest \
    isin ticker open opens closed closes holiday holidays calendar schedule max min reopen hours industry industries \
    constituent pref prefs since weekly daily monthly yearly annual average mean median tech retail utilities \
    telecoms developers mining steel transport financials risk return trillion billion minus plus equals";

/// Reports whether a name is also a common word; such a word needs more evidence to count as a
/// name.
pub(super) fn is_ambiguous(word: &Word) -> bool {
    ["систем", "элемент"]
        .iter()
        .any(|it| word.lower.strip_prefix(it).is_some_and(|rest| rest.chars().count() <= 2))
}

/// Reports whether a word is a chat role, as written before a colon.
pub(super) fn is_role(word: &Word) -> bool {
    let roles = [
        "систем",
        "пользовател",
        "ассистент",
        "разработчик",
        "инструкц",
        "админ",
        "system",
        "user",
        "assistant",
        "developer",
        "admin",
        "instruction",
    ];
    roles.iter().any(|it| word.lower.starts_with(it))
}

/// Popular names, used to correct words with one mistake.
const POPULAR: [&str; 34] = [
    "Сбербанк",
    "Газпром",
    "ЛУКОЙЛ",
    "Роснефть",
    "НОВАТЭК",
    "Норникель",
    "Яндекс",
    "Магнит",
    "Полюс",
    "АЛРОСА",
    "Аэрофлот",
    "Северсталь",
    "Мосбиржа",
    "Татнефть",
    "Сургутнефтегаз",
    "Мечел",
    "ФосАгро",
    "РУСАЛ",
    "Россети",
    "Транснефть",
    "Ростелеком",
    "Башнефть",
    "Совкомфлот",
    "Тинькофф",
    "РусГидро",
    "Сегежа",
    "Самолет",
    "Система",
    "Sberbank",
    "Gazprom",
    "Rosneft",
    "Yandex",
    "Lukoil",
    "Novatek",
];

/// Returns the exchange's name of the first popular security that fits.
pub(crate) fn popular_name(fits: impl Fn(&str) -> bool) -> Option<&'static str> {
    let name = POPULAR.iter().find(|it| fits(it))?;
    let known = crate::words::words(name).first().and_then(nickname);
    Some(known.unwrap_or(name))
}

/// Reports whether a word is a common English word and not a name.
pub(super) fn is_english(word: &Word) -> bool {
    // One letter, or a ticker in capitals, does not show the language.
    let shows_language = word.text.len() > 1 && word.text.chars().any(char::is_lowercase);
    word.kind == WordKind::Latin
        && shows_language
        && ENGLISH.split_whitespace().any(|it| it == word.lower)
}

/// Reports whether a word is a common word, which names no security.
pub(super) fn is_common(word: &Word) -> bool {
    match word.kind {
        WordKind::Latin => {
            let plain = word.lower.split(['\'', '’']).next().unwrap_or_default();
            word.text.len() < 2 || ENGLISH.split_whitespace().any(|it| it == plain)
        }
        WordKind::Cyrillic => {
            let known = |it: &str| it.chars().count() > 3 && word.lower.starts_with(it);
            let count =
                |it: &&str| word.lower.strip_prefix(*it).and_then(|it| it.parse::<u32>().ok());
            let ranked = ["топ", "топ-"].iter().find_map(count).is_some();
            if is_sector(word) || ranked {
                return true;
            }
            word.text.chars().count() < 2
                || RUSSIAN.split_whitespace().any(|it| it == word.lower)
                || RUSSIAN_STEMS.split_whitespace().any(|it| known(it) || it == word.stem)
        }
        _ => true,
    }
}
