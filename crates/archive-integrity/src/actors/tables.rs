//! Word tables of the actor index: nouns for parties, verbs with the same meaning, and nouns that
//! stand for an act. We wrote the tables; they are not complete.

/// Nouns for a person or body that can act. A second form after a stroke is the stem of a Russian
/// noun.
pub(super) const ROLES: &str = "plaintiff defendant appellant appellee petitioner respondent \
landlord tenant buyer seller lender borrower employer employee licensor licensee contractor owner \
lessor lessee insurer insured claimant supplier purchaser guarantor franchisor franchisee trustee \
debtor creditor manufacturer retailer distributor carrier shipper consignee customer vendor client \
testator executor beneficiary heir decedent superintendent teacher nurse administrator operator \
driver engineer consultant accountant auditor appraiser surveyor architect inspector prosecutor \
sergeant officer detective trooper neighbor neighbour wife husband widow daughter son brother sister \
nephew niece mother father stepson stepdaughter uncle aunt association authority union agency bank \
subcontractor homeowner investor shareholder partner broker agent doctor physician surgeon patient \
veterinarian pilot captain mechanic instructor coach student applicant intervenor conservator \
guardian receiver liquidator principal assignor assignee mortgagor mortgagee bailor bailee sublessee \
hospital clinic university college township municipality department ministry developer builder \
roofer plumber electrician caterer photographer designer publisher author editor manager president \
company firm writer sender deponent expert affiant declarant seafarer chairman chairwoman chair treasurer secretary director foreman supervisor dispatcher coordinator \
истец/истц ответчик покупатель продавец/продавц подрядчик заказчик перевозчик получатель \
отправитель грузоотправитель грузополучатель поставщик арендатор арендодатель субарендатор \
работник работодатель займодавец/займодавц заемщик кредитор должник заявитель управляющий водитель \
свидетель эксперт страховщик страхователь банк завод администрация прокурор потерпевший подсудимый \
обвиняемый осужденный налогоплательщик инспекция поручитель залогодатель исполнитель застройщик \
дольщик учредитель директор председатель товарищество кооператив наследник наследодатель супруг \
супруга мать отец сын дочь брат сестра сосед соседка врач больница пациент охранник механик \
предприниматель учреждение комиссия собственник застрахованный апеллянт взыскатель клиент агент \
принципал комитент комиссионер хранитель поклажедатель даритель одаряемый опекун";

/// Opposed roles of one transaction; one actor cannot hold both.
pub(super) const OPPOSED: &str = "plaintiff defendant;appellant appellee;petitioner respondent;\
landlord tenant;buyer seller supplier vendor;lender borrower;employer employee;licensor licensee;\
contractor owner client;lessor lessee;insurer insured;trustee debtor creditor;carrier shipper \
consignee;assignor assignee;franchisor franchisee;operator passenger plaintiff;истец ответчик;\
покупатель продавец поставщик;подрядчик заказчик;перевозчик получатель отправитель грузоотправитель \
грузополучатель;арендатор арендодатель;работник работодатель;займодавец заемщик;кредитор должник;\
страховщик страхователь;потерпевший подсудимый;застройщик дольщик;исполнитель заказчик;\
даритель одаряемый;хранитель поклажедатель;управляющий должник";

pub(super) const COURTS: [&str; 12] = [
    "court",
    "judge",
    "jury",
    "panel",
    "tribunal",
    "arbitrator",
    "magistrate",
    "justice",
    "суд",
    "судья",
    "commission",
    "board",
];

/// Stems with the same meaning; the first represents all.
pub(super) const CLASSES: [&str; 20] = [
    "argue argu contend claim assert alleg maintain insist",
    "motion mov mo",
    "sue su suit",
    "seek ask request",
    "pay repay",
    "sell",
    "buy purchas",
    "lease leas rent",
    "objection object",
    "send mail",
    "win prevail",
    "hire hir employ",
    "fire fir",
    "lend loan",
    "deliver ship",
    "sign execut",
    "strike strik hit",
    "owe ow",
    "own",
    "end terminat cancel",
];

/// Words that are nouns as often as verbs; alone they do not prove an act.
pub(super) const BOTH: [&str; 25] = [
    "complaint",
    "action",
    "lawsuit",
    "breach",
    "lease",
    "rent",
    "appeal",
    "claim",
    "motion",
    "object",
    "loan",
    "suit",
    "ship",
    "claims",
    "sign",
    "fire",
    "hire",
    "demand",
    "request",
    "purchase",
    "mail",
    "leases",
    "rents",
    "demands",
    "requests",
];

/// The act that filing each of these documents means.
pub(super) const FILED: [(&str, &str); 4] =
    [("complaint", "sue"), ("suit", "sue"), ("action", "sue"), ("lawsuit", "sue")];

pub(super) const NOUNS: [&str; 11] = [
    "motion",
    "appeal",
    "counterclaim",
    "complaint",
    "claim",
    "objection",
    "request",
    "petition",
    "offer",
    "breach",
    "negligence",
];
