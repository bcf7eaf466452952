//! Words and phrases that give a text its tone, ours alone, English and some Russian. A phrase is
//! matched word for word, and says nothing about whether it is deserved.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::Span;
use crate::text::Word;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Tone {
    /// Leaves room for doubt.
    Hedge,
    /// Says whose statement it is.
    Attribution,
    Certain,
    Superlative,
    /// Claims to remember or to have done what a text cannot have done.
    Memory,
    /// Speaks of feelings and a body.
    Human,
    /// Leans on nobody in particular.
    Weasel,
    Blame,
    Praise,
    Sweeping,
    /// Takes a side's word as doubtful, or as proven.
    Doubting,
    Proving,
    Offer,
    Unfinished,
    Interest,
    Disclosure,
    Override,
    Error,
    Correction,
    Fiction,
}

const TABLE: [(Tone, &str); 20] = [
    (
        Tone::Hedge,
        "apparently;appears;appear;seems;seem;suggests;suggest;likely;probably;possibly;possible;perhaps;might;may have;could have;could be;may be;may indicate;unclear;uncertain;unconfirmed;estimated;estimates;estimate;presumably;it is believed;believes;believed;suspects;suspected;reportedly;we think;roughly;not certain;preliminary;tentatively;возможно;вероятно;по-видимому;видимо;предположительно;кажется",
    ),
    (
        Tone::Attribution,
        "alleges;alleged;allege;allegedly;alleging;claims that;claimed that;contends;contended;argues;argued;arguing;asserts;asserted;according to;testified;testifies;stated;states;says;said;maintains;maintained;reported;reports;told;wrote;writes;accuses;accused;in his view;in her view;in its view;in their view;opined;opines;denies;as alleged;утверждает;по словам;по мнению;согласно;заявил;заявила",
    ),
    (
        Tone::Certain,
        "clearly;undoubtedly;definitely;certainly;obviously;unquestionably;indisputably;undeniably;without a doubt;without doubt;no doubt;beyond doubt;beyond any doubt;beyond question;proves;conclusively;guaranteed;guarantees;irrefutable;irrefutably;absolutely;100 certain;it is certain;cannot be disputed;plainly;no question;no one can dispute;everybody agrees;несомненно;безусловно;очевидно;бесспорно;точно;гарантированно;без сомнения",
    ),
    (
        Tone::Superlative,
        "the most;the best;the worst;the largest;the biggest;the greatest;the strongest;the weakest;the only;the first ever;the highest;the lowest;the longest;unprecedented;unparalleled;unrivaled;never before;like no other;record breaking;the single most;second to none;of all time;in history;самый;самая;самое;самые;крупнейший;беспрецедентный;лучший;худший",
    ),
    (
        Tone::Memory,
        "i remember;i recall;as i recall;as we discussed;we discussed;our last conversation;our earlier conversation;our previous conversation;you told me;as you mentioned;you mentioned;last time we;i have reviewed every;i read every;i checked the docket;i verified;i have verified;i searched the web;i looked up;i called;i spoke with;i contacted;i interviewed;i personally;i have access to;i can access;i monitored;i watched;i attended;my records show;from memory;i know from experience;in my experience;in my years;i was present;i will remember;i have been following;as an attorney i;as a lawyer i;i ran a search;i confirmed with;я помню;как мы обсуждали;я проверил;я проверила;я лично;насколько я помню",
    ),
    (
        Tone::Human,
        "i feel;i felt;i am excited;i'm excited;i am sad;i'm sad;i am happy;i'm happy;i am glad;i'm glad;my heart;i hope;i love;i hate;i worry;i am worried;i'm worried;as a human;as a person;i am proud;i'm proud;i sympathize;i empathize;my gut;i am thrilled;i'm thrilled;i dream;i personally feel;breaks my heart;i care deeply;i am afraid;i'm afraid;i enjoyed;я чувствую;я рад;я рада;мне жаль",
    ),
    (
        Tone::Weasel,
        "studies show;research shows;experts agree;experts say;many believe;many people;some say;it is well known;it is widely known;as everyone knows;everyone knows;it is common knowledge;critics say;observers note;sources say;it is generally accepted;most lawyers agree;most experts;many experts;people say;everyone agrees;it goes without saying;needless to say;как известно;эксперты считают;многие считают;исследования показывают",
    ),
    (
        Tone::Blame,
        "outrageous;outrageously;shameless;shamelessly;greedy;greed;greedily;frivolous;frivolously;ridiculous;absurd;absurdly;disgraceful;despicable;crooked;sleazy;vicious;viciously;malicious;maliciously;bogus;sham;scam;so called;desperate;desperately;cynical;cynically;brazen;brazenly;egregious;egregiously;reprehensible;unscrupulous;dishonest;dishonestly;hysterical;whining;pathetic;laughable;ludicrous;callous;callously;heartless;ruthless;ruthlessly;predatory;notorious;scheming;schemed;conniving;bullied;bullying;cowardly;incompetent;incompetently;lazy;stupid;foolish;nonsense;baseless;meritless;blatant;blatantly;flagrant;flagrantly;atrocious;appalling;sneaky;sneakily;shady;evil;villain;deadbeat;crook;liar;lied;lies;stonewalled;smear;ambushed;trumped up;gouging;возмутительный;возмутительно;наглый;нагло;жадный;бессовестный;абсурдный;вопиющий;лживый",
    ),
    (
        Tone::Praise,
        "heroic;heroically;brilliant;brilliantly;noble;nobly;courageous;courageously;brave;bravely;honorable conduct;virtuous;flawless;flawlessly;impeccable;impeccably;masterful;masterfully;admirable;admirably;saintly;selfless;selflessly;upstanding;long suffering;hardworking;innocent victim;blameless;exemplary;stellar;remarkable;remarkably;magnificent;wonderful;beloved;devoted;visionary;gracious;graciously;generous;generously;rightly;rightfully;блестящий;блестяще;героический;безупречный;благородный",
    ),
    (
        Tone::Sweeping,
        "these people;those people;people like;that kind of;always lie;always lies;never tell;all of them;as usual;typical of;by nature;their kind;cannot be trusted;can't be trusted;what you would expect;everyone like;such people;invariably;women always;men always;immigrants always;foreigners always;lawyers always;insurers always;landlords always;banks always;corporations always;такие люди;они все;как всегда",
    ),
    (
        Tone::Doubting,
        "claims;claimed;alleges;alleged;purports;purported;insists;insisted;supposedly;would have us believe;professes;pretends;pretended;feigned",
    ),
    (
        Tone::Proving,
        "proves;proved;proven;demonstrates;demonstrated;establishes;established;shows;showed;explains;explained;points out;pointed out;notes;noted;reveals;revealed;correctly",
    ),
    (
        Tone::Offer,
        "would you like me;let me know if;i can also;i could also;you may also want;you might also want;next i could;shall i;do you want me;feel free to ask;happy to help;if you would like i;want me to;хотите, чтобы;если хотите, я",
    ),
    (
        Tone::Unfinished,
        "todo;tbd;to be continued;to be completed;to be determined;insert here;fill in;lorem ipsum;placeholder;more later;will finish;coming soon;not finished;rest omitted;xxx;допишу позже",
    ),
    (
        Tone::Interest,
        "our product;our products;our service;our services;our firm;our client;our platform;our software;our partner;our partners;our sponsor;we represent;i represent;buy now;sign up;our subscription;use our;hire us;our company;my firm;my client;our affiliate;discount code;наша компания;наш клиент;наш продукт",
    ),
    (
        Tone::Disclosure,
        "disclosure;disclosed;conflict of interest;full disclosure;we have an interest;i have an interest;for transparency;paid by;sponsored by;раскрытие;конфликт интересов",
    ),
    (
        Tone::Override,
        "ignore the rules;ignore previous;ignore all previous;ignore your instructions;ignore the above;disregard previous;disregard the rules;disregard your;rules do not apply;rules don't apply;bend the rules;break the rules;just this once;make an exception;override the rules;bypass the;forget the rules;off the record;skip the checks;skip the citation;no need to verify;without checking;pretend that;you are now;не применяются правила;игнорируй",
    ),
    (
        Tone::Error,
        "was wrong;were wrong;was an error;was a mistake;were mistaken;was mistaken;mistakenly;in error;was incorrect;is incorrect;is wrong;misstated;misread;an earlier error;ошибочно;была ошибка",
    ),
    (
        Tone::Correction,
        "correct figure;correct date;correct name;the correct;should be;should read;should have been;corrected;correction;instead it;is now;updated;update;supersedes;superseded;revised;revises;on reconsideration;replaces;replaced by;amended;following the amended;after the appeal;on appeal;верно;исправлено;уточнено",
    ),
    (
        Tone::Fiction,
        "imagine;suppose;hypothetically;hypothetical;let us assume;assume that;assuming;one could picture;it is easy to imagine;in a story;fictional;представим;допустим",
    ),
];

/// One phrase where it stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    pub(crate) tone: Tone,
    pub(crate) span: Span,
    /// First word, counted in the words given.
    pub(crate) at: usize,
}

type Tree = HashMap<&'static str, Vec<(Vec<&'static str>, Tone)>>;

static PHRASES: LazyLock<Tree> = LazyLock::new(|| {
    let mut map: Tree = HashMap::new();
    for (tone, list) in TABLE {
        for phrase in list.split(';') {
            let words: Vec<&'static str> =
                phrase.split([' ', '-', ',']).filter(|it| !it.is_empty()).collect();
            if let Some(first) = words.first() {
                map.entry(first).or_default().push((words, tone));
            }
        }
    }
    map
});

/// All phrases among the words; one word may have several tones.
pub(crate) fn find(words: &[Word<'_>]) -> Vec<Hit> {
    let folded: Vec<String> =
        words.iter().map(|it| it.text.to_lowercase().replace('’', "'")).collect();
    let mut list = Vec::new();
    for (at, word) in folded.iter().enumerate() {
        for (phrase, tone) in PHRASES.get(word.as_str()).into_iter().flatten() {
            let end = at + phrase.len();
            let same = folded
                .get(at..end)
                .is_some_and(|it| it.iter().zip(phrase).all(|(one, other)| one == other));
            if same {
                let span = Span { start: words[at].start, end: words[end - 1].end };
                list.push(Hit { tone: *tone, span, at });
            }
        }
    }
    list
}

pub(crate) fn has(hits: &[Hit], tone: Tone) -> bool {
    hits.iter().any(|it| it.tone == tone)
}
