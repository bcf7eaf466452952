//! Generates acts of Russian arbitration courts and claims together with the facts they state.

use jiff::ToSpan;
use jiff::civil::Date;

use super::expected::ExpectedFacts;
use super::generator::{CorpusRng, working};
use crate::{DeadlineUnit, EventKind, Role};

const NAMES: [&str; 10] = [
    "Ромашка",
    "Северный ветер",
    "Вектор",
    "Стройинвест",
    "Альфа Логистик",
    "Тепломаш",
    "Кедр",
    "Горизонт",
    "Дальпромсервис",
    "Медтехника",
];
/// Nominative and genitive, with initials.
const PEOPLE: [(&str, &str); 8] = [
    ("Кузнецова Е.В.", "Кузнецовой Е.В."),
    ("Орлов П.С.", "Орлова П.С."),
    ("Белкина А.Н.", "Белкиной А.Н."),
    ("Тихонов И.Г.", "Тихонова И.Г."),
    ("Громова О.Д.", "Громовой О.Д."),
    ("Фролов Д.М.", "Фролова Д.М."),
    ("Жукова М.Р.", "Жуковой М.Р."),
    ("Лапин С.К.", "Лапина С.К."),
];
const COURTS: [(&str, &str); 4] = [
    ("Арбитражный суд города Москвы", "А40"),
    ("Арбитражный суд Свердловской области", "А60"),
    ("Арбитражный суд Московской области", "А41"),
    ("Арбитражный суд Новосибирской области", "А45"),
];
const MONTHS: [&str; 12] = [
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

fn written(rng: &mut CorpusRng, day: Date) -> String {
    let month = MONTHS[day.month() as usize - 1];
    match rng.below(3) {
        0 => format!("{:02}.{:02}.{}", day.day(), day.month(), day.year()),
        1 => format!("{} {month} {} г.", day.day(), day.year()),
        _ => format!("{} {month} {} года", day.day(), day.year()),
    }
}

fn rubles(rng: &mut CorpusRng, truth: &mut ExpectedFacts) -> String {
    let whole = (rng.below(800) + 101) as u64;
    let (text, cents) = match rng.below(4) {
        0 => (format!("{whole} 450 руб. 15 коп."), whole * 100_000 + 45_015),
        1 => (format!("1 {whole} 000,50 рублей"), 100_000_000 + whole * 100_000 + 50),
        2 => (format!("{whole} 000 рублей"), whole * 100_000),
        _ => (format!("{whole} млн руб."), whole * 100_000_000),
    };
    truth.money.push(format!("RUB {}.{:02}", cents / 100, cents % 100));
    text
}

fn two<'a>(rng: &mut CorpusRng, list: &[&'a str]) -> (&'a str, &'a str) {
    let first = rng.below(list.len());
    let second = (first + 1 + rng.below(list.len() - 1)) % list.len();
    (list[first], list[second])
}

pub(super) fn decision(rng: &mut CorpusRng) -> (Vec<String>, ExpectedFacts) {
    let mut truth = ExpectedFacts { document_type: "judgment", ..ExpectedFacts::default() };
    truth.cites(&["ст. 309 ГК РФ"]);
    let (court, code) = COURTS[rng.below(COURTS.len())];
    let number = format!("{code}-{}/202{}", 1000 + rng.below(90_000), rng.below(5));
    let (ours, theirs) = two(rng, &NAMES);
    let judge = PEOPLE[rng.below(4)];
    let spokesman = PEOPLE[4 + rng.below(4)].0;
    let (made, signed, paid) = (rng.day(), rng.day(), rng.day());
    let sum = rubles(rng, &mut truth);
    let text = format!(
        "{}\n\nИМЕНЕМ РОССИЙСКОЙ ФЕДЕРАЦИИ\n\nРЕШЕНИЕ\n\nДело № {number}\n\nДата: {}\n\n{court} в составе судьи {}, рассмотрев дело по иску общества с ограниченной ответственностью «{ours}» (ИНН 7701234567) к АО «{theirs}» о взыскании {sum},\n\nпри участии: представитель истца по доверенности {spokesman}, от ответчика – не явился,\n\nУСТАНОВИЛ:\n\nМежду сторонами {} заключен договор поставки № 15-П. Оплата поступила частично {}. В силу ст. 309 ГК РФ обязательства должны исполняться. ООО «{ours}» направило претензию.\n\nРЕШИЛ:\n\nИск удовлетворить. Решение может быть обжаловано в течение месяца со дня принятия решения.\n\nСудья {}\n",
        court.to_uppercase(),
        written(rng, made),
        judge.1,
        written(rng, signed),
        written(rng, paid),
        judge.0,
    );
    truth.event(made, EventKind::Dated);
    truth.event(signed, EventKind::Agreement);
    truth.event(paid, EventKind::Payment);
    truth.deadlines.push((
        1,
        DeadlineUnit::Months,
        Some(working(made.checked_add(1.months()).unwrap()).to_string()),
    ));
    truth.parties =
        vec![(format!("ООО {ours}"), Role::Plaintiff), (format!("АО {theirs}"), Role::Defendant)];
    truth.attorneys.push(spokesman.to_owned());
    truth.judges.push(judge.0.to_owned());
    truth.courts.push(court.to_owned());
    truth.numbers.push(number);
    truth.organisations = vec![format!("ООО {ours}"), format!("АО {theirs}")];
    (vec![text], truth)
}

pub(super) fn claim(rng: &mut CorpusRng) -> (Vec<String>, ExpectedFacts) {
    let mut truth = ExpectedFacts { document_type: "complaint", ..ExpectedFacts::default() };
    let (court, _) = COURTS[rng.below(COURTS.len())];
    let (ours, theirs) = two(rng, &NAMES);
    let (signed, sent, due) = (rng.day(), rng.day(), rng.day());
    let (sum, fee) = (rubles(rng, &mut truth), rubles(rng, &mut truth));
    let year = 2015 + rng.below(4);
    let text = format!(
        "В {court}\n\nИстец: ООО «{ours}»\nАдрес: 101000, г. Москва, ул. Мясницкая, д. 15\n\nОтветчик: ПАО «{theirs}»\n\nЦена иска: {sum}\n\nИСКОВОЕ ЗАЯВЛЕНИЕ\n\nВ {year} году стороны начали сотрудничество. Договор подписан {}. Претензия направлена ответчику {}. Ответчик обязался погасить долг в срок до {}. Ответ не дан в течение 30 дней с момента получения претензии. Госпошлина составляет {fee}.\n",
        written(rng, signed),
        written(rng, sent),
        written(rng, due),
    );
    truth.events.push((format!("{year}-01-01"), format!("{year}-12-31"), EventKind::Other));
    truth.event(signed, EventKind::Agreement);
    truth.event(sent, EventKind::Notice);
    truth.event(due, EventKind::Deadline);
    truth.deadlines.push((30, DeadlineUnit::Days, None));
    truth.parties =
        vec![(format!("ООО {ours}"), Role::Plaintiff), (format!("ПАО {theirs}"), Role::Defendant)];
    truth.courts.push(court.to_owned());
    truth.organisations = vec![format!("ООО {ours}"), format!("ПАО {theirs}")];
    (vec![text], truth)
}
