//! Keywords that give the kind of event of a date, regardless of their position.

use crate::chronology::EventKind::{
    self, Agreement, Employment, Filed, Hearing, Incident, Judgment, Notice, Order, Other, Payment,
    Served,
};

/// The kind of event that a word gives by itself.
pub(super) fn kind_of_word(word: &str) -> Option<EventKind> {
    Some(match word {
        "filed" | "files" | "filing" | "lodged" | "commenced" | "e-filed" | "sued" | "answered"
        | "appealed" | "impleaded" | "petitioned" | "docketed" | "counterclaimed" | "noticed" => {
            Filed
        }
        "served" | "serve" | "serving" | "service" | "furnished" => Served,
        "hearing" | "hearings" | "heard" | "argument" | "argued" | "trial" | "conference"
        | "deposition" | "mediation" | "arraignment" | "sentencing" | "plead" | "pleaded"
        | "pled" | "plea" | "arraigned" | "deposed" | "testified" | "pretrial" => Hearing,
        "decision" | "order" | "ordered" | "granted" | "denied" | "orders" | "ruled"
        | "entered" | "issued" | "dismissed" | "vacated" | "appointed" | "overruled"
        | "revoked" | "approved" | "authorized" | "stayed" | "quashed" | "certified"
        | "consolidated" | "reinstated" | "injunction" | "confirmed" => Order,
        "judgment" | "verdict" | "judgement" | "decided" | "sentenced" | "convicted"
        | "acquitted" | "decree" | "affirmed" | "reversed" | "remanded" => Judgment,
        "agreement" | "signed" | "executed" | "contract" | "lease" | "effective" | "merger"
        | "settled" | "settlement" | "guaranteed" | "renewed" | "retained" | "contracted" => {
            Agreement
        }
        "paid" | "pay" | "payment" | "payments" | "invoice" | "invoiced" | "wired" | "remitted"
        | "deposited" | "refunded" | "reimbursed" | "installment" | "instalment" | "check"
        | "cheque" | "tendered" | "disbursed" => Payment,
        "sent" | "letter" | "e-mailed" | "emailed" | "mailed" | "notified" | "notice" | "wrote"
        | "demanded" | "requested" | "informed" | "publication" | "published" | "faxed"
        | "texted" | "complained" | "warned" | "reported" | "advised" | "e-mail" | "email"
        | "called" | "telephoned" | "alerted" | "rejected" | "repudiated" | "contacted"
        | "objected" | "offered" | "posted" => Notice,
        "hired" | "terminated" | "fired" | "resigned" | "discharged" | "promoted" | "demoted"
        | "retired" | "employed" | "rehired" | "employment" | "worked" | "resignation"
        | "eliminated" | "layoff" => Employment,
        "дтп" => Incident,
        // These words exclude the other kinds.
        "submitted" | "shipped" | "delivered" | "shipment" | "delivery" | "meeting"
        | "inspected" | "installed" | "completed" | "born" | "conferred" | "interview"
        | "underwent" | "examined" | "diagnosed" | "surgery" | "received" | "recorded"
        | "birth" | "visited" | "inspection" | "acquired" | "married" | "moved" => Other,
        "accident" | "collision" | "incident" | "crash" | "injured" | "injury" | "struck"
        | "fell" | "occurred" | "collided" | "fire" | "explosion" | "overturned" | "stole"
        | "stolen" | "theft" | "robbery" | "assaulted" | "died" | "drowned" | "derailed"
        | "attacked" | "bit" | "bitten" | "broke" | "burned" | "burglary" | "killed" | "death"
        | "arrested" | "shot" | "slipped" | "tripped" | "leaked" | "flooded" | "flood"
        | "ruptured" | "collapsed" | "exploded" | "crashed" | "robbed" | "assault" | "stabbed"
        | "rear-ended" | "malfunctioned" | "ignited" | "spilled" | "vandalized" | "capsized"
        | "arrest" | "stroke" | "grounded" | "burst" | "hurt" | "electrocuted" | "collapse"
        | "sank" | "mauled" | "punched" | "beaten" | "raped" | "abused" | "hacked" | "outage"
        | "skidded" | "injuries" | "damaged" | "destroyed" | "hit" | "caught" => Incident,
        _ => return russian(word),
    })
}

const STEMS: [(&str, EventKind); 77] = [
    ("доверенност", Other),
    ("накладн", Other),
    ("заключени", Other),
    ("экспертиз", Other),
    ("ордер", Other),
    ("передан", Other),
    ("рожд", Other),
    ("родил", Other),
    ("отгруж", Other),
    ("отгруз", Other),
    ("брак", Other),
    ("подан", Filed),
    ("подал", Filed),
    ("обратил", Filed),
    ("поступил", Filed),
    ("вручен", Served),
    ("вручил", Served),
    ("получен", Served),
    ("получил", Served),
    ("заседани", Hearing),
    ("слушани", Hearing),
    ("разбирательств", Hearing),
    ("определени", Order),
    ("постановлени", Order),
    ("возбужд", Order),
    ("решени", Judgment),
    ("приговор", Judgment),
    ("авари", Incident),
    ("залив", Incident),
    ("залит", Incident),
    ("затоплен", Incident),
    ("пожар", Incident),
    ("столкновени", Incident),
    ("происшестви", Incident),
    ("поврежд", Incident),
    ("повреди", Incident),
    ("затоплени", Incident),
    ("предъявл", Filed),
    ("возвратил", Payment),
    ("возвращен", Payment),
    ("перевед", Payment),
    ("перевел", Payment),
    ("перевёл", Payment),
    ("погаш", Payment),
    ("работал", Employment),
    ("трудоустро", Employment),
    ("произош", Incident),
    ("скончал", Incident),
    ("умер", Incident),
    ("смерт", Incident),
    ("похищ", Incident),
    ("похитил", Incident),
    ("задержан", Incident),
    ("недостач", Incident),
    ("заключ", Agreement),
    ("договор", Agreement),
    ("подпис", Agreement),
    ("оплат", Payment),
    ("оплач", Payment),
    ("перечисл", Payment),
    ("платеж", Payment),
    ("платёж", Payment),
    ("выплат", Payment),
    ("выплач", Payment),
    ("уплат", Payment),
    ("уплач", Payment),
    ("внес", Payment),
    ("внёс", Payment),
    ("претензи", Notice),
    ("уведом", Notice),
    ("извещ", Notice),
    ("предупрежд", Notice),
    ("письм", Notice),
    ("телеграмм", Notice),
    ("уволен", Employment),
    ("увольнени", Employment),
    ("направ", Notice),
];

fn russian(word: &str) -> Option<EventKind> {
    if word.is_ascii() {
        return None;
    }
    STEMS.iter().find(|(stem, _)| word.starts_with(stem)).map(|(_, kind)| *kind)
}
