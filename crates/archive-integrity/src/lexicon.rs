//! Words and phrases with a tone, in English and some Russian; we wrote the list. A phrase matches
//! word for word, with `~` for up to two other words. A match does not say whether the tone is
//! justified.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::text::Word;
use crate::{Span, voice};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Tone {
    /// Leaves room for doubt.
    Hedge,
    /// Attributes a statement to its speaker.
    Attribution,
    Certain,
    Superlative,
    /// Claims a memory or an act that a text cannot have.
    Memory,
    /// Mentions feelings or a body.
    Human,
    /// Cites an unnamed authority.
    Weasel,
    Blame,
    Praise,
    Sweeping,
    /// Treats a side's statement as doubtful, or as proven.
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
        "apparently;appears;appear;seems;seem;suggests;suggest;likely;probably;possibly;possible;perhaps;might;may have;could have;could be;may be;may indicate;unclear;uncertain;unconfirmed;estimated;estimates;estimate;presumably;might;could;it is believed;believes;believed;suspects;suspected;reportedly;we think;roughly;not certain;tentatively;возможно;вероятно;по-видимому;видимо;предположительно;кажется;may well;may possibly;might well;could well;most likely;it is possible;conceivably;arguably;in all probability;наверное;пожалуй;скорее всего",
    ),
    (
        Tone::Attribution,
        "alleges;alleged;allege;allegedly;alleging;claims that;claimed that;contends;contended;argues;argued;arguing;asserts;asserted;according to;testified;testifies;stated;states;says;said;maintains;maintained;reported;reports;told;wrote;writes;accuses;accused;in his view;in her view;in its view;in their view;opined;opines;denies;as alleged;утверждает;по словам;по мнению;согласно;заявил;заявила;say;tell;tells;write;written;testify;allege;argue;contend;contends;assert;maintain;complained;complains;conceded;concedes;admits that;warned;warns;explains;explained;replied;replies;answered;answers;remarked;noted;notes;observed;points to;pointed out;opposes;opposed;blames;blamed;disagrees;disagree;disagreed;demands;demanded;asks;asked;seeks;sought;counters;responds;responded;in the view;in the opinion;in the words;in the witness's opinion;in the expert's view;s opinion;s view;is said to;are said to;finds;determined;attributes;оспаривает;указал;указала;отметил;отметила;сообщил;сообщила;требовал;требовала;просил;просила;пояснил;заявляет;считает",
    ),
    (
        Tone::Certain,
        "absolute certainty;dead certain;no other possible;no other reading;no other explanation;no other conclusion;predetermined;foregone;inescapable;ironclad;open and shut;slam dunk;not a shred of doubt;hands down;there can be no;would dare;cannot possibly;could not possibly;the only possible;never in a million;no sane;no ~ would ever;positively;without fail;is sure to;are sure to;one hundred percent;a hundred percent;it is a fact that;nobody could ~ doubt;no one could ~ doubt;nobody doubts;вне всякого сомнения;вне сомнения;абсолютно ясно;абсолютно очевидно;предрешено;ни за что не;наверняка;сто процентов;на сто процентов;нет никаких сомнений;никто не сомневается;любому ясно;всем ясно;ясно что;однозначно;неоспоримо;неопровержимо;обязательно;clearly;undoubtedly;definitely;certainly;obviously;unquestionably;indisputably;undeniably;without a doubt;without doubt;no doubt;beyond doubt;beyond any doubt;beyond question;proves;conclusively;guaranteed;guarantees;irrefutable;irrefutably;absolutely;100 certain;it is certain;cannot be disputed;plainly;no question;no one can dispute;everybody agrees;несомненно;безусловно;очевидно;бесспорно;точно;гарантированно;без сомнения;inevitably;surely;assuredly;doubtless;unmistakably;incontestably;incontrovertibly;incontrovertible;manifestly;patently;evidently;inarguably;unarguably;without question;without ~ doubt;without ~ question;beyond ~ doubt;beyond ~ question;beyond ~ dispute;no ~ doubt;no ~ doubts;no ~ question;no denying;no two ways;zero chance;no chance;not the slightest doubt;crystal clear;perfectly clear;abundantly clear;plain to see;plain and simple;pure and simple;full stop;period end of story;end of story;end of the matter;end of the story;a given;a certainty;a foregone conclusion;bound to;sure to;certain to;is certain;are certain;is sure;established fact;proven fact;undeniable;undeniable fact;indisputable;nobody can ~ dispute;nobody can ~ deny;no one can ~ deny;no one can ~ dispute;no one could ~ deny;no one could ~ dispute;pointless to argue;cannot be denied;can not be denied;not open to debate;as a matter of fact;in every respect;simply ~ is;will definitely;mark my words;make no mistake;rest assured;нет ~ сомнений;нет ~ сомнения;вне сомнений;вне всяких сомнений;совершенно очевидно;неизбежно;непременно;разумеется;стопроцентно;заведомо;бесспорен;ясно как день",
    ),
    (
        Tone::Superlative,
        "the most;the best;the worst;the largest;the biggest;the greatest;the strongest;the weakest;the only;the first ever;the highest;the lowest;the longest;unprecedented;unparalleled;unrivaled;never before;like no other;record breaking;the single most;second to none;of all time;in history;самый;самая;самое;самые;крупнейший;беспрецедентный;лучший;худший;in the world;in the country;in the region;in the whole ~ state;on earth;alive;of the century;unequaled;unequalled;unmatched;peerless;incomparable;ни один;самого;самой;самую;наихудший;наилучший;никогда прежде",
    ),
    (
        Tone::Memory,
        "i remember;i recall;as i recall;as we discussed;we discussed;our last conversation;our earlier conversation;our previous conversation;you told me;as you mentioned;you mentioned;last time we;i have reviewed every;i read every;i checked the docket;i verified;i have verified;i searched the web;i looked up;i called;i spoke with;i contacted;i interviewed;i personally;i have access to;i can access;i monitored;i watched;i attended;my records show;from memory;i know from experience;in my experience;in my years;i was present;i will remember;i have been following;as an attorney i;as a lawyer i;i ran a search;i confirmed with;я помню;как мы обсуждали;я проверил;я проверила;я лично;насколько я помню;my recollection;my memory;from recollection;you told me;you said ~ earlier;you and i;as you know;last time;in the previous session;in a previous session;in the last session;in our last;having attended;having walked;having read;having seen;having visited;having inspected;having spoken;having met;having handled;as discussed;as agreed;as mentioned;as noted earlier;as per our;as previously discussed;from experience;first hand knowledge;на прошлой встрече;по прошлому разговору;из прошлой беседы;как договаривались",
    ),
    (
        Tone::Human,
        "i feel;i felt;i am excited;i'm excited;i am sad;i'm sad;i am happy;i'm happy;i am glad;i'm glad;my heart;i hope;i love;i hate;i worry;i am worried;i'm worried;as a human;as a person;i am proud;i'm proud;i sympathize;i empathize;my gut;i am thrilled;i'm thrilled;i dream;i personally feel;breaks my heart;i care deeply;i am afraid;i'm afraid;i enjoyed;я чувствую;я рад;я рада;мне жаль",
    ),
    (
        Tone::Weasel,
        "any ~ will tell you;any ~ can tell you;any ~ knows;everybody knows;everyone knows;it is well known;common knowledge;people say;they say;sources say;studies show;research shows;rumor has it;word has it;общеизвестно;всем известно;как известно;любой ~ скажет;любой ~ подтвердит;говорят что;исследования показывают;практика показывает;studies show;research shows;experts agree;experts say;many believe;many people;some say;it is well known;it is widely known;as everyone knows;everyone knows;it is common knowledge;critics say;observers note;sources say;it is generally accepted;most lawyers agree;most experts;many experts;people say;everyone agrees;it goes without saying;needless to say;как известно;эксперты считают;многие считают;исследования показывают;everybody knows;it is no secret;it is an open secret;as is well known;rumor has it;word has it;conventional wisdom;public opinion;всем известно;общеизвестно;не секрет;по слухам;ни для кого не секрет",
    ),
    (
        Tone::Blame,
        "freeloading;freeloader;got what he deserved;got what she deserved;got what they deserved;laughed out;preyed;preys;gouged;gouging;fleeced;ripped off;shameless;shamelessly;heartless;soulless;cronies;bullies;bully;bullied;bullying;railroaded;whitewash;kangaroo court;sham;farce;charade;gold digger;deadbeat;slumlord;shyster;fat cats;henchmen;stooge;lapdog;crooked;conniving;two faced;cold blooded;bloodsucking;clueless;bumbling;laughable;ludicrous;despicable;unscrupulous;sleazy;sneaky;devious;hoodwinked;duped;strong armed;trampled;crushed the;bled dry;milked;lined their pockets;lined his pockets;lined its pockets;feathered;weaseled;stonewalled;bamboozled;so called expert;outrageous;outrageously;shameless;shamelessly;greedy;greed;greedily;frivolous;frivolously;ridiculous;absurd;absurdly;disgraceful;despicable;crooked;sleazy;vicious;viciously;malicious;maliciously;bogus;sham;scam;so called;desperate;desperately;cynical;cynically;brazen;brazenly;egregious;egregiously;reprehensible;unscrupulous;dishonest;dishonestly;hysterical;whining;pathetic;laughable;ludicrous;callous;callously;heartless;ruthless;ruthlessly;predatory;notorious;scheming;schemed;conniving;bullied;bullying;cowardly;incompetent;incompetently;lazy;stupid;foolish;nonsense;baseless;meritless;blatant;blatantly;flagrant;flagrantly;atrocious;appalling;sneaky;sneakily;shady;evil;villain;deadbeat;crook;liar;lied;lies;stonewalled;smear;ambushed;trumped up;gouging;возмутительный;возмутительно;наглый;нагло;жадный;бессовестный;абсурдный;вопиющий;лживый;abominable;abhorrent;abusive;abuser;aggressive tactics;alcoholic;amateurish;animals;arrogant;awful;barbaric;beastly;belligerent;bigoted;bloodthirsty;boastful;bogeyman;botched;bungled;bungling;brutal;brute;bully;bullies;charlatan;cheat;cheated;cheats;cheap trick;childish;clueless;clumsy;con artist;con man;contemptible;corrupt;cover up;coward;cowards;crafty;cruel;crushed;cunning;cutthroat;dastardly;deceitful;delusional;demented;depraved;deranged;devious;dishonorable;disgrace;disgraced;disgusting;dishonesty;disingenuous;draconian;dreadful;drunken;enslaves;enslaved;exploitative;exploited;extortionate;failed miserably;farce;farcical;fat cat;feeble;fiasco;fiendish;filthy;flimsy;fraudster;ghastly;grabbed;grasping;grotesque;gullible;hateful;heavy handed;heinous;hideous;hired gun;horrendous;horrible;horrific;hounded;hush money;hypocrite;hypocritical;idiot;idiotic;ignorant;immoral;inept;infamous;inhuman;insane;insidious;insolent;irresponsible;jerk;junk;killed a;leech;leeches;lunatic;lousy;lying;maniac;manipulative;mean spirited;mediocre;menace;merciless;mercilessly;mercenary;messy;mindless;miserable;miserly;monster;monstrous;moron;mudslinging;nasty;nefarious;obnoxious;obscene;obstinate;odious;offensive;opportunist;opportunistic;oppressive;outlandish;pampered;parasite;parasitic;peddled;peddling;petty;pigheaded;pompous;preposterous;profiteer;profiteering;rapacious;rascal;reckless;recklessly;repugnant;repulsive;revolting;robbed;rogue;rotten;sabotage;sadistic;savage;scandalous;scoundrel;selfish;selfishly;senseless;shabby;shameful;shamefully;shenanigans;shoddy;sinister;sloppy;slimy;sly;smug;sneered;sordid;spiteful;spineless;spoiled;squeezes;squandered;steamrolled;stubborn;stubbornly;swindle;swindled;swindler;tantrum;tawdry;terrible;thief;thieves;thug;thugs;thuggish;toxic;travesty;treacherous;trickery;troll;trolls;tyrannical;tyrant;unconscionably greedy;underhanded;unhinged;unjustly;unprincipled;vandal;vengeful;venomous;vile;villainous;vindictive;vulgar;vulture;vultures;weak willed;weaselly;whine;whines;whiner;wicked;witch hunt;worthless;wretched;for a song;money grubbing;power hungry;алчный;алчная;алчные;бессовестная;бессовестно;бесстыдный;бесчестный;вероломный;возмутительная;гнусный;грабительский;жадная;жадные;жестокий;жестоко;злобный;коварный;корыстный;лживая;мерзкий;мошенник;мошенники;наглая;наглые;негодяй;недобросовестно вышвырнул;вышвырнул;обобрал;обобрали;ограбил;отвратительный;подлый;подло;позорный;позорно;продажный;скандальный;трусливый;хищный;циничный;цинично;чудовищный",
    ),
    (
        Tone::Praise,
        "devoted teacher;honest craftswoman;honest craftsman;gifted musician;peaceful neighbor;heroic;heroically;brilliant;brilliantly;noble;nobly;courageous;courageously;brave;bravely;honorable conduct;virtuous;flawless;flawlessly;impeccable;impeccably;masterful;masterfully;admirable;admirably;saintly;selfless;selflessly;upstanding;long suffering;hardworking;innocent victim;blameless;exemplary;stellar;remarkable;remarkably;magnificent;wonderful;beloved;devoted;visionary;gracious;graciously;generous;generously;rightly;rightfully;блестящий;блестяще;героический;безупречный;благородный;adept;amazing;angel;angelic;astute;awe inspiring;big hearted;brave hearted;charming;compassionate;conscientious;dauntless;delightful;dignified;eloquent;eloquently;extraordinary;fabulous;fair minded;fantastic;fearless;fearlessly;gallant;genius;gifted;good hearted;great hearted;hard working;heartwarming;hero;heroes;heroine;honest man;honest brewer;honest woman;honest people;incorruptible;ingenious;innocent man;innocent woman;inspiring;intrepid;kind hearted;legendary;lovely;loving;marvelous;marvellous;mild mannered;miraculous;outstanding;poor dear;praiseworthy;principled;pure hearted;righteous;sane;skillful;skilful;skillfully;splendid;superb;superbly;talented;tenacious;tireless;tirelessly;triumphant;triumphantly;trustworthy;unblemished;unselfish;valiant;valiantly;venerable;warm hearted;well meaning;благородная;бесстрашный;великолепный;выдающийся;гениальный;доблестный;добросовестный человек;достойный;замечательный;героически;мужественный;мужественно;отважный;порядочный;прекрасный;самоотверженный;талантливый;честная;честную;честный человек;честного",
    ),
    (
        Tone::Sweeping,
        "these people;those people;people like;that kind of;always lie;always lies;never tell;all of them;as usual;typical of;by nature;their kind;cannot be trusted;can't be trusted;what you would expect;everyone like;such people;invariably;women always;men always;immigrants always;foreigners always;lawyers always;insurers always;landlords always;banks always;corporations always;такие люди;они все;как всегда;people of this kind;of this kind;of his kind;of her kind;of their kind;of that kind;of this sort;of his sort;of that sort;of this ilk;of his ilk;of their ilk;like him;like her;like them;like these;like this one;is no exception;is no different;are all the same;are all alike;all alike;typical ~ behavior;only want;only wants;always find;always cheat;always cut;never care;never return;exist to;themselves to blame;такие ~ всегда;все они;все одинаковы;всегда обманывают;всегда лгут",
    ),
    (
        Tone::Doubting,
        "claims;claimed;alleges;alleged;purports;purported;insists;insisted;supposedly;would have us believe;professes;pretends;pretended;feigned;merely;excuses;makes excuses;make excuses;merely asserts;lies;fails to explain;falsely",
    ),
    (
        Tone::Proving,
        "proves;proved;proven;demonstrates;demonstrated;establishes;established;shows;showed;explains;explained;points out;pointed out;notes;noted;reveals;revealed;correctly;tell the truth;tells the truth;rightly;confirms;confirmed",
    ),
    (
        Tone::Offer,
        "would you like me;let me know if;i can also;i could also;you may also want;you might also want;next i could;shall i;do you want me;feel free to ask;happy to help;if you would like i;want me to;хотите, чтобы;если хотите, я;if you like;if you wish;if you want;if you need;if you would like;let me know;happy to;glad to help;please let me;i can;would you like;should you want;хотите;если нужно;могу также",
    ),
    (
        Tone::Unfinished,
        "todo;tbd;to be continued;to be completed;to be determined;insert here;fill in;lorem ipsum;placeholder;more later;will finish;coming soon;not finished;rest omitted;xxx;допишу позже",
    ),
    (
        Tone::Interest,
        "our product;our products;our service;our services;our firm;our client;our platform;our software;our partner;our partners;our sponsor;we represent;i represent;buy now;sign up;our subscription;use our;hire us;our company;my firm;my client;our affiliate;discount code;наша компания;наш клиент;наш продукт;we recommend;hire our;hire my;retain our;retain us;contact us;call us;order now;our fund;which we hold;which holds the shares;we own;we sell",
    ),
    (
        Tone::Disclosure,
        "disclosure;disclosed;conflict of interest;full disclosure;we have an interest;i have an interest;for transparency;paid by;sponsored by;раскрытие;конфликт интересов",
    ),
    (
        Tone::Override,
        "set ~ rules aside;set ~ aside this once;set the ~ rules aside;just accept it;just believe;simply believe;simply accept;do not bother;no need to read;no need to consult;on my word;можно не сверять;не сверяйте;просто поверьте;не надо проверять;без проверки;не проверяйте;верьте на слово;поверьте на слово;отложим правила;забудьте о правилах;ignore the rules;ignore previous;ignore all previous;ignore your instructions;ignore the above;disregard previous;disregard the rules;disregard your;rules do not apply;rules don't apply;bend the rules;break the rules;just this once;make an exception;override the rules;bypass the;forget the rules;off the record;skip the checks;skip the citation;no need to verify;without checking;pretend that;you are now;не применяются правила;игнорируй;no need to check;no need to look;no need to compare;no need for a source;need not check;need not verify;need not compare;need not look;take my word;trust me;needs to ~ look;needs to verify;needs to check;do not check;do not verify;don't check;don't verify;skip the source;skip the ~ checks;ignore the ~ checks;ignore the ~ rules;ignore the source;ignore any;forget the ~ rules;forget about ~ rules;disregard the ~;never mind the ~ rules;never mind the source;waive the rules;suspend the rules;regardless of the rules;rules aside;unnecessary to check;unnecessary to verify;можно не проверять;не нужно проверять;поверьте мне;забудь правила",
    ),
    (
        Tone::Error,
        "named the wrong;the wrong figure;was not right;were not right;was not correct;were not correct;got ~ wrong;had it wrong;erred;misquoted;misstates;mixed up;должно было быть;была неточность;допущена ошибка;я ошибся;мы ошиблись;неправильно указал;неверно указал;was wrong;were wrong;was an error;was a mistake;were mistaken;was mistaken;mistakenly;in error;was incorrect;is incorrect;is wrong;misstated;misread;an earlier error;ошибочно;была ошибка;was false;were false;was inaccurate;were inaccurate;were incorrect;was erroneous;were erroneous;stated the wrong;gave the wrong;reported the wrong;had the wrong;is mistaken;are mistaken;are wrong;было неверно;была неверна;неверно указано;ошибка в прошлой",
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

/// Beginnings of Russian words, which have many endings.
const BLAME_RU: &str = "вороват ворьё ворье ворюг растащ кабальн растерз доил беззащитн бессовестн \
жадн алчн наглы нагло подлы лжив мошенн грабит ограб хищн коварн циничн жесток беспринцип продажн \
гнусн мерзк позорн издева крохобор хапуг рвач вымогат шантаж беспредел чудовищн возмутит безжалостн \
бездушн лицемер трусл посмел обчист обдир обдур надува облапош бесстыж бесстыд вероломн негодя \
мерзав проходим аферист жулик кровопий мучител изувер травил затравил";
const PRAISE_RU: &str = "благородн героич самоотверж безупречн блестящ мужествен доблест мудрейш \
великодуш многострадальн несчастн";

fn is_cyrillic(it: char) -> bool {
    ('а'..='я').contains(&it)
}

/// One match of a phrase.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToneHit {
    pub(crate) tone: Tone,
    pub(crate) span: Span,
    /// First word, as an index into the given words.
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
pub(crate) fn find(words: &[Word<'_>]) -> Vec<ToneHit> {
    let folded: Vec<String> =
        words.iter().map(|it| it.text.to_lowercase().replace('’', "'")).collect();
    let mut list = voice::find(&folded, words);
    for (at, word) in folded.iter().enumerate() {
        for (phrase, tone) in PHRASES.get(word.as_str()).into_iter().flatten() {
            if let Some(end) = ends(&folded, at, phrase) {
                let span = Span { start: words[at].start, end: words[end - 1].end };
                list.push(ToneHit { tone: *tone, span, at });
            }
        }
    }
    for (at, word) in folded.iter().enumerate().filter(|it| it.1.starts_with(is_cyrillic)) {
        let starts = |list: &str| list.split(' ').any(|it| word.starts_with(it));
        let span = Span { start: words[at].start, end: words[at].end };
        if starts(BLAME_RU) {
            list.push(ToneHit { tone: Tone::Blame, span, at });
        } else if starts(PRAISE_RU) {
            list.push(ToneHit { tone: Tone::Praise, span, at });
        }
    }
    list.sort_by_key(|it| (it.at, it.span.end));
    list
}

/// The end of the phrase that begins here; `~` in it stands for up to two words.
fn ends(folded: &[String], at: usize, phrase: &[&str]) -> Option<usize> {
    let Some((first, rest)) = phrase.split_first() else { return Some(at) };
    if *first == "~" {
        return (0..=2).find_map(|skip| ends(folded, at + skip, rest));
    }
    let same = folded.get(at).is_some_and(|it| it == first);
    same.then(|| ends(folded, at + 1, rest)).flatten()
}

pub(crate) fn has(hits: &[ToneHit], tone: Tone) -> bool {
    hits.iter().any(|it| it.tone == tone)
}
