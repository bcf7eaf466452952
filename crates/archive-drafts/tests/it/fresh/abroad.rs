//! An English lease and Russian papers.

use archive_entities::testing::{CorpusRng, ExpectedFacts};
use archive_entities::{DeadlineUnit, EventKind, Role};

use super::russian::{dotted, spelled};
use super::{FIRMS, GeneratedDocument, british, later, people};

pub(super) fn lease(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "contract", ..ExpectedFacts::default() };
    let [tenant, witness] = people(rng);
    let landlord = rng.pick(&FIRMS);
    let (made, starts) = (rng.day(), rng.day());
    let rent = 12 + rng.below(80);
    truth.money.push(format!("GBP {rent}000.00"));
    let text = format!(
        "LEASE OF BUSINESS PREMISES\n\nTHIS LEASE is made on {}\n\nBETWEEN\n\n(1) {landlord} (the Landlord); and\n\n(2) {tenant} (the Tenant).\n\n1. The Landlord lets the Premises for a term of five years beginning on {}.\n\n2. The Tenant shall pay a yearly rent of £{rent},000 by equal quarterly payments.\n\n3. The Tenant may end this Lease by giving not less than six months' notice in writing.\n\nSigned as a deed in the presence of {witness}.\n",
        british(made),
        british(starts),
    );
    truth.event(made, EventKind::Agreement);
    truth.event(starts, EventKind::Agreement);
    truth.deadlines.push((6, DeadlineUnit::Months, None));
    truth.parties =
        vec![(landlord.to_owned(), Role::Contracting), (tenant.to_owned(), Role::Contracting)];
    truth.organisation(landlord);
    (vec![text], truth)
}

const NAMES: [&str; 5] = ["Прогресс-Агро", "Невский причал", "ЭнергоСбыт", "Кама", "Белый дом"];

pub(super) fn ruling(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "order", ..ExpectedFacts::default() };
    let first = rng.below(NAMES.len());
    let (ours, theirs) = (NAMES[first], NAMES[(first + 1 + rng.below(4)) % NAMES.len()]);
    let number = format!("А56-{}/202{}", 1_000 + rng.below(90_000), rng.below(4));
    let made = rng.day();
    let hearing = later(made, 45);
    let text = format!(
        "Арбитражный суд города Санкт-Петербурга и Ленинградской области\n\nОПРЕДЕЛЕНИЕ\n\nг. Санкт-Петербург\n{}                                   Дело № {number}\n\nСудья Лаврентьева О.С., ознакомившись с исковым заявлением акционерного общества «{ours}» к обществу с ограниченной ответственностью «{theirs}» о расторжении договора,\n\nОПРЕДЕЛИЛ:\n\nПринять исковое заявление к производству. Назначить предварительное судебное заседание на {} в 11 часов. Ответчику представить отзыв не позднее чем за 5 дней до заседания (ст. 131 АПК РФ).\n\nСудья                    О.С. Лаврентьева\n",
        spelled(made),
        dotted(hearing),
    );
    truth.cites(&["ст. 131 АПК РФ"]);
    truth.event(made, EventKind::Dated);
    truth.event(hearing, EventKind::Hearing);
    let back = later(hearing, -5);
    let due = match back.weekday() {
        jiff::civil::Weekday::Saturday => later(back, -1),
        jiff::civil::Weekday::Sunday => later(back, -2),
        _ => back,
    };
    truth.deadlines.push((5, DeadlineUnit::Days, Some(due.to_string())));
    truth.parties =
        vec![(format!("АО {ours}"), Role::Plaintiff), (format!("ООО {theirs}"), Role::Defendant)];
    truth.judges.push("Лаврентьева О.С.".to_owned());
    truth.courts.push("Арбитражный суд города Санкт-Петербурга и Ленинградской области".to_owned());
    truth.numbers.push(number);
    truth.organisations = vec![format!("АО {ours}"), format!("ООО {theirs}")];
    (vec![text], truth)
}

pub(super) fn motion(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "motion", ..ExpectedFacts::default() };
    let ours = NAMES[rng.below(NAMES.len())];
    let number = format!("А40-{}/202{}", 1_000 + rng.below(90_000), rng.below(4));
    let (signed, filed) = (rng.day(), rng.day());
    let thousands = 15 + rng.below(800);
    truth.money.push(format!("RUB {thousands}000.00"));
    let text = format!(
        "В Арбитражный суд города Москвы\n\nпо делу № {number}\n\nОтветчик: ООО «{ours}»\n\nХОДАТАЙСТВО\nоб отложении судебного разбирательства\n\nИсковое заявление подано {}. Как следует из материалов, договор аренды заключен {}, арендная плата составляет {thousands} тыс. руб. в месяц. В соответствии со ст. 158 АПК РФ просим отложить разбирательство.\n\nПредставитель ответчика по доверенности                    Носков И.Е.\n",
        dotted(filed),
        spelled(signed),
    );
    truth.cites(&["ст. 158 АПК РФ"]);
    truth.event(filed, EventKind::Filed);
    truth.event(signed, EventKind::Agreement);
    truth.parties.push((format!("ООО {ours}"), Role::Defendant));
    truth.attorneys.push("Носков И.Е.".to_owned());
    truth.courts.push("Арбитражный суд города Москвы".to_owned());
    truth.numbers.push(number);
    truth.organisations.push(format!("ООО {ours}"));
    (vec![text], truth)
}
