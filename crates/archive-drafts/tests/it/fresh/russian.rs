//! A district court's judgment and a demand, in Russian, in styles of their own.

use archive_entities::testing::{CorpusRng, ExpectedFacts};
use archive_entities::{DeadlineUnit, EventKind, Role};
use jiff::civil::Date;

use super::{GeneratedDocument, later};

/// Nominative, genitive and dative.
const PEOPLE: [(&str, &str, &str); 6] = [
    ("Савельев Андрей Петрович", "Савельева Андрея Петровича", "Савельеву Андрею Петровичу"),
    ("Кравцова Ольга Игоревна", "Кравцовой Ольги Игоревны", "Кравцовой Ольге Игоревне"),
    ("Дементьев Роман Юрьевич", "Дементьева Романа Юрьевича", "Дементьеву Роману Юрьевичу"),
    ("Рябинина Вера Львовна", "Рябининой Веры Львовны", "Рябининой Вере Львовне"),
    ("Чистяков Глеб Олегович", "Чистякова Глеба Олеговича", "Чистякову Глебу Олеговичу"),
    ("Зотикова Инна Марковна", "Зотиковой Инны Марковны", "Зотиковой Инне Марковне"),
];
const JUDGES: [(&str, &str); 4] = [
    ("Мельникова Т.А.", "Мельниковой Т.А."),
    ("Самойлов Р.И.", "Самойлова Р.И."),
    ("Гусева Л.Н.", "Гусевой Л.Н."),
    ("Щербаков В.О.", "Щербакова В.О."),
];
const COURTS: [(&str, &str); 3] = [
    ("Ленинский районный суд города Воронежа", "Воронеж"),
    ("Центральный районный суд города Тулы", "Тула"),
    ("Кировский районный суд города Самары", "Самара"),
];
pub(super) const MONTHS: [&str; 12] = [
    "января",
    "февраля",
    "марта",
    "апреля",
    "мая",
    "июня",
    "июля",
    "августа",
    "сентября",
    "октября",
    "ноября",
    "декабря",
];

pub(super) fn spelled(day: Date) -> String {
    format!("{} {} {} года", day.day(), MONTHS[day.month() as usize - 1], day.year())
}

pub(super) fn dotted(day: Date) -> String {
    format!("{:02}.{:02}.{}", day.day(), day.month(), day.year())
}

fn rubles(rng: &mut CorpusRng, truth: &mut ExpectedFacts) -> String {
    let thousands = 11 + rng.below(900);
    truth.money.push(format!("RUB {thousands}000.00"));
    format!("{thousands} 000 рублей")
}

pub(super) fn judgment(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "judgment", ..ExpectedFacts::default() };
    let first = rng.below(PEOPLE.len());
    let (ours, theirs) = (PEOPLE[first], PEOPLE[(first + 1 + rng.below(5)) % PEOPLE.len()]);
    let judge = JUDGES[rng.below(JUDGES.len())];
    let (court, town) = COURTS[rng.below(COURTS.len())];
    let number = format!("2-{}/202{}", 100 + rng.below(5_000), rng.below(4));
    let (made, lent) = (rng.day(), rng.day());
    let back = later(lent, 180);
    let debt = rubles(rng, &mut truth);
    let text = format!(
        "Дело № {number}\n\nРЕШЕНИЕ\nИменем Российской Федерации\n\n{}                                        г. {town}\n\n{court} в составе председательствующего судьи {}, рассмотрев в открытом судебном заседании гражданское дело по иску {} к {} о взыскании долга по договору займа,\n\nустановил:\n\nИстец обратился в суд с иском. В обоснование указал, что {} между сторонами заключен договор займа на сумму {debt} со сроком возврата до {}. Согласно ст. 807 ГК РФ заемщик обязан возвратить сумму займа. Ответчик долг не вернул.\n\nРуководствуясь ст. 194 ГПК РФ, суд\n\nрешил:\n\nИсковые требования удовлетворить. Решение может быть обжаловано в течение месяца со дня принятия решения в окончательной форме.\n\nСудья                                        {}\n",
        spelled(made),
        judge.1,
        ours.1,
        theirs.2,
        dotted(lent),
        dotted(back),
        judge.0,
    );
    truth.cites(&["ст. 807 ГК РФ", "ст. 194 ГПК РФ"]);
    truth.event(made, EventKind::Dated);
    truth.event(lent, EventKind::Agreement);
    truth.event(back, EventKind::Deadline);
    // The text does not say on which day the decision got its final form.
    truth.deadlines.push((1, DeadlineUnit::Months, None));
    truth.parties =
        vec![(ours.0.to_owned(), Role::Plaintiff), (theirs.0.to_owned(), Role::Defendant)];
    truth.judges.push(judge.0.to_owned());
    truth.courts.push(court.to_owned());
    truth.numbers.push(number);
    (vec![text], truth)
}

pub(super) fn demand(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "letter", ..ExpectedFacts::default() };
    let ours = rng.pick(&["Полярис", "Гранит-Сервис", "Лесная биржа"]);
    let theirs = rng.pick(&["Маяк", "ТрансКарго", "Уральский камень"]);
    let boss = JUDGES[rng.below(JUDGES.len())].0;
    let (signed, shipped) = (rng.day(), rng.day());
    let (sum, fine) = (rubles(rng, &mut truth), rubles(rng, &mut truth));
    let text = format!(
        "Генеральному директору\nООО «{theirs}»\n\nПРЕТЕНЗИЯ\n\n{} между ООО «{ours}» и ООО «{theirs}» был подписан договор поставки. Товар отгружен {}, но деньги в размере {sum} до сих пор не перечислены. За просрочку начислена неустойка {fine} (ст. 330 ГК РФ).\n\nПросим погасить задолженность в течение 10 рабочих дней с даты получения настоящей претензии.\n\nС уважением,\nдиректор {boss}\n",
        dotted(signed),
        spelled(shipped),
    );
    truth.cites(&["ст. 330 ГК РФ"]);
    truth.event(signed, EventKind::Agreement);
    truth.event(shipped, EventKind::Other);
    truth.deadlines.push((10, DeadlineUnit::BusinessDays, None));
    truth.organisations = vec![format!("ООО {ours}"), format!("ООО {theirs}")];
    (vec![text], truth)
}
