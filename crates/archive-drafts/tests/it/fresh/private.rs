//! Letters, messages and contracts.

use archive_entities::testing::{CorpusRng, ExpectedFacts};
use archive_entities::{DeadlineUnit, EventKind, Role};
use jiff::civil::Date;

use super::russian::MONTHS;
use super::{FIRMS, GeneratedDocument, american, dollars, later, people, two_firms};

pub(super) fn severance(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "letter", ..ExpectedFacts::default() };
    let [worker, writer] = people(rng);
    let company = rng.pick(&FIRMS);
    let (today, last) = (rng.day(), rng.day());
    let pay = dollars(rng, &mut truth);
    let text = format!(
        "{company}\n\n{}\n\n{worker}\n77 Quince Street\n\nDear {}:\n\nThis letter confirms that your employment with {company} ends on {}. If you sign the enclosed release, the company will pay you {pay}, less withholding. You have 21 days from receipt of this letter to consider it, and you may revoke within seven (7) days after signing.\n\nWith best wishes,\n\n{writer}\nDirector of Human Resources\n",
        american(today),
        worker.split(' ').next().unwrap(),
        american(last),
    );
    truth.event(today, EventKind::Dated);
    truth.event(last, EventKind::Employment);
    truth.deadlines.push((21, DeadlineUnit::Days, None));
    truth.deadlines.push((7, DeadlineUnit::Days, None));
    truth.organisation(company);
    (vec![text], truth)
}

pub(super) fn settlement(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "e-mail", ..ExpectedFacts::default() };
    let [from, to, mediator] = people(rng);
    let (left, right) = two_firms(rng);
    let (sent, met, close) = (rng.day(), rng.day(), rng.day());
    let (offer, demand) = (dollars(rng, &mut truth), dollars(rng, &mut truth));
    let text = format!(
        "From: {from}\nSent: {}\nTo: {to}\nSubject: {left} / {right} - confidential\n\nFollowing the mediation before {mediator} on {}, my client is prepared to pay {offer} against your demand of {demand}. The offer stays open until {}. Please tell {right} that nothing here is an admission. See Fed. R. Evid. 408.\n",
        american(sent),
        american(met),
        american(close),
    );
    truth.cites(&["Fed. R. Evid. 408"]);
    truth.event(sent, EventKind::Dated);
    truth.event(met, EventKind::Hearing);
    truth.event(close, EventKind::Deadline);
    truth.organisation(left);
    truth.organisation(right);
    (vec![text], truth)
}

pub(super) fn secrecy(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "contract", ..ExpectedFacts::default() };
    let [signer, _] = people(rng);
    let (left, right) = two_firms(rng);
    let made = rng.day();
    let text = format!(
        "MUTUAL NON-DISCLOSURE AGREEMENT\n\nEffective Date: {}\n\nThis Agreement is made by and between {left}, a Delaware corporation with offices in Wilmington, and {right}, an Oregon limited liability company (each a \"Party\").\n\n1. Neither Party shall disclose Confidential Information for three (3) years after the Effective Date.\n\n2. On request, the receiving Party shall return all copies within ten (10) business days after receipt of the request.\n\nBy: /s/ {signer}\nName: {signer}\nTitle: Chief Executive Officer\n",
        american(made),
    );
    truth.event(made, EventKind::Agreement);
    truth.deadlines.push((10, DeadlineUnit::BusinessDays, None));
    truth.parties =
        vec![(left.to_owned(), Role::Contracting), (right.to_owned(), Role::Contracting)];
    truth.organisation(left);
    truth.organisation(right);
    (vec![text], truth)
}

pub(super) fn supply(rng: &mut CorpusRng) -> GeneratedDocument {
    let mut truth = ExpectedFacts { document_type: "contract", ..ExpectedFacts::default() };
    let spelled = |day: Date| {
        format!("«{:02}» {} {} г.", day.day(), MONTHS[day.month() as usize - 1], day.year())
    };
    let seller = rng.pick(&["Ладога-Трейд", "Степь", "Верхний Дон"]);
    let buyer = rng.pick(&["Апрель", "Мегаполис Строй", "Вымпел"]);
    let (made, until) = (rng.day(), later(rng.day(), 400));
    let thousands = 120 + rng.below(700);
    truth.money.push(format!("RUB {thousands}000.00"));
    let text = format!(
        "ДОГОВОР ПОСТАВКИ № 14/22\n\nг. Казань                                        {}\n\nООО «{seller}», именуемое в дальнейшем «Поставщик», в лице генерального директора Ершова К.Л., и АО «{buyer}», именуемое в дальнейшем «Покупатель», заключили настоящий договор о нижеследующем:\n\n1. Поставщик обязуется передать товар на сумму {thousands} 000 рублей.\n\n2. Оплата производится в течение 5 банковских дней после получения товара.\n\n3. Договор действует до {}. К отношениям сторон применяется ст. 506 ГК РФ.\n",
        spelled(made),
        spelled(until),
    );
    truth.cites(&["ст. 506 ГК РФ"]);
    truth.event(made, EventKind::Dated);
    truth.event(until, EventKind::Deadline);
    truth.deadlines.push((5, DeadlineUnit::BusinessDays, None));
    truth.parties = vec![
        (format!("ООО {seller}"), Role::Contracting),
        (format!("АО {buyer}"), Role::Contracting),
    ];
    truth.organisations = vec![format!("ООО {seller}"), format!("АО {buyer}")];
    (vec![text], truth)
}
