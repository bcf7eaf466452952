//! Rows of synonyms, by which a rewording is recognised. The first word of a row represents all.
//! Opposites must never share a row.

pub(super) const SAME: &str = "\
sue su sued suing suit lawsuit complaint action
pay repay repaid remit payment
strike strik hit
seek ask request
end terminat cancel discharg
begin commenc start commence
buy purchas purchase acquire
refuse refus reject declin
say stat read provid
lawyer attorney counsel solicitor advocate
car vehicl automobil vehicle automobile
agreement contract agre
lend loan
due matur
injure injur hurt wound
similar like alike identical comparable
total sum amount
offer bid proposal propose
house home residence dwelling
doctor physician
teacher instructor educator
child kid minor
worker workman labourer laborer
pupil student schoolchild
boat vessel yacht
plane aircraft airplane aeroplane
truck lorry
fix repair mend
storm hurricane
error mistake fault
letter mail email
warn caution alert
inform notify tell advise
complain grumble
shut close closed
stop cease halt
keep retain
possess own
fire sack
demand claim
promise undertake pledge
harm damage
die death decease pass
supply furnish
build construct erect
big large
cost expense expenditure
lease rent let
maintain upkeep
drug medicine medication
meeting session
inspect examine check
leak seep
lot parcel plot
shop store
firm business
employ hire
accuse charge
allege contend assert
threaten threat
answer reply respond response
write wrote pen
sign execute
assist help aid
choose select pick elect
appoint nominate
leave depart quit resign
arrive come
transfer convey
hand deliver
permit allow
require need
late overdue delayed
delay postpone
yearly annual annually
monthly month
boss supervisor superior
spouse wife husband
daughter girl
son boy
disabled disability handicap
photo photograph picture
film video footage
phone telephone
dog hound
road street highway
crash collision accident
fall fell tumble
drunk intoxicated alcohol
shove push
beat batter
seize confiscate
search ransack
police policeman officer
witness bystander
proof evidence
weapon gun pistol
motive reason ground
think believe view opinion
estimate calculate reckon compute
figure number
revenue income earnings turnover
profit gain
overcharge overbill
invoice bill
instalment installment
salary wage
quarrel dispute argument
settle compromise
mediate mediation
judge jurist
jury juror
verdict finding
sentence punishment
fine penalty
prison jail
appeal challenge
overhaul refit
engine motor
mill factory plant
warehouse depot
goods merchandise cargo freight
shipment consignment
defect flaw
faulty defective
rust corrosion
crack fissure
roof roofing
slab concrete
basement cellar
attic loft
tree timber
cattle livestock cow
crop harvest
well borehole
river creek stream
lake pond
shore beach
licence license
mortgage lien
will testament
gift donation donate
inherit inheritance
shares stock
shareholder stockholder
chief head
vote ballot
minutes protocol
plan scheme
change modify modification amend alter
copy duplicate
secret confidential
privilege privileged
school academy
hospital clinic
nurse carer
surgery operation operate
wound cut
bleed blood
договор контракт соглашение
деньги средства сумма
дом здание
квартира жилье
машина автомобиль
платить оплатить уплатить оплата платеж выплатить выплата плата
купить приобрести докупить закупить
продать реализовать
поставить поставка
работа труд
работник сотрудник
увольнение уволить уволен
заработок зарплата
долг задолженность
неустойка пеня штраф
ущерб убыток вред
просрочка опоздание
ремонт починка
брак дефект недостаток
недостача нехватка
груз товар
утрата потеря
жалоба претензия
суд судебный
письмо послание
письменно письменный
собрание заседание
протокол запись
голос голосование
отказ отказать отказаться отказываться отказ
возвратить вернуть возврат
предоставить обеспечить предоставлять обеспечивать
составить составлять оформить
подписать подпись подписывать подписание
расходы затраты издержки
доход выручка прибыль
экспертиза исследование
электричество электроэнергия
помещение площадь
участок земля
наследство наследование
ребенок дети
супруг муж
супруга жена
авария столкновение дтп
врач доктор медик
больница клиника
лечение терапия
погасить погашать погашение
требовать требование просить
сообщить известить уведомить уведомление
проверка осмотр ревизия
стоимость цена
срок период
";
