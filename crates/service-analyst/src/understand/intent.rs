//! Finds the intent of a question from its words and from the securities it names.

use super::vocabulary::{MOVED, begins};
use super::{Amount, Asked, Mention, focus};
use crate::dates::Period;
use crate::words::Word;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    Overview,
    Comparison,
    IndexScan,
    PortfolioRisk,
    Correlation,
    Dividends,
    Movers,
    Calendar,
    /// Technical indicators of securities or of crypto pairs.
    Indicators,
    /// The beta, the correlation with the index and the Sharpe ratio.
    MarketRisk,
    /// The securities of an index ranked by a figure.
    Ranking,
    /// Prices of crypto pairs.
    Crypto,
    Help,
}

impl Intent {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Overview => "security_overview",
            Self::Comparison => "comparison",
            Self::IndexScan => "index_scan",
            Self::PortfolioRisk => "portfolio_risk",
            Self::Correlation => "correlation",
            Self::Dividends => "dividends",
            Self::Movers => "movers",
            Self::Calendar => "trading_calendar",
            Self::Indicators => "indicators",
            Self::MarketRisk => "market_risk",
            Self::Ranking => "ranking",
            Self::Crypto => "crypto",
            Self::Help => "help",
        }
    }

    /// Reports whether the intent is about an index as a whole.
    pub(crate) fn is_of_index(self) -> bool {
        matches!(self, Self::IndexScan | Self::Movers)
    }
}

/// Returns the intent that the figures beyond prices state.
pub(super) fn of_asked(asked: &Asked, mentions: &[Mention]) -> Option<Intent> {
    let rules: [(bool, Intent); 4] = [
        (asked.ranking.is_some(), Intent::Ranking),
        (!asked.indicators.is_empty(), Intent::Indicators),
        (!asked.crypto.is_empty(), Intent::Crypto),
        ((asked.beta || asked.sharpe) && !mentions.is_empty(), Intent::MarketRisk),
    ];
    rules.into_iter().find(|it| it.0).map(|it| it.1)
}

/// Words about the constituents of an index.
const COMPOSITION: &str = "состав состо вес веса весом весу весам структур constituent weight входит \
    входят крупнейш largest компани бумаг акци";

/// Words for figures of the index itself.
const FIGURES: &str =
    "волатильн волатилен просадк максимум минимум риск volatil drawdown high low risk";

/// Words that ask which securities pay dividends.
pub(super) const PAYERS: &str = "кто кого каких какие самые самых самая лидер топ top who which whose \
    highest most best";

/// Words that ask which securities moved.
const WHICH_MOVED: &str = "что кто какие какая лидер аутсайдер топ top what which who biggest mover gainer \
    loser";

/// Words that ask about the state of the market.
const MARKET: &str = "как обзор how дел сводк overview итог торг что what";

/// The properties of a question that decide its intent.
struct QuestionTraits {
    /// No mention looks like a name. Weak mentions do not turn a question about the market into one
    /// about a security.
    unnamed: bool,
    /// The question mentions an index.
    index: bool,
    market: bool,
    sector: bool,
    moved: bool,
    which: bool,
    composition: bool,
    /// The question gives a count: «топ-3».
    topped: bool,
    /// The question gives portfolio weights.
    weighed: bool,
    /// The question compares a security with the market: «с рынком».
    against: bool,
}

impl QuestionTraits {
    /// Reports whether the question is about the level of an index and not about its constituents.
    fn is_of_level(&self, words: &[Word], period: Option<Period>) -> bool {
        let mentioned = self.index && (self.moved || period.is_some())
            || self.moved && has(words, "рынок рынк market");
        let others = self.composition || self.sector;
        let several = self.topped || has(words, "какие кто which who лидер");
        let figure = self.index && has(words, FIGURES) && !several;
        self.unnamed && !others && (figure || mentioned && !self.which)
    }

    fn is_of_composition(&self, words: &[Word]) -> bool {
        let mentioned = self.index
            || self.sector
            || has(words, "состав constituent")
            || self.topped && self.composition;
        self.unnamed && mentioned
    }
}

pub(super) fn has(words: &[Word], stems: &str) -> bool {
    begins(words, &stems.split_whitespace().collect::<Vec<_>>())
}

fn question_traits(words: &[Word], mentions: &[Mention], cash: Option<Amount>) -> QuestionTraits {
    let amounts = mentions.iter().filter(|it| it.amount.is_some()).count();
    let mine = has(words, "меня мой моем моего my hold holding");
    let value = |it: &Mention| it.amount.and_then(Amount::value);
    let percent = mentions.iter().any(|it| matches!(it.amount, Some(Amount::Percent(_))));
    let short = mentions.iter().any(|it| value(it).is_some_and(|it| it < 0.0));
    let unnamed = mentions.iter().all(|it| !it.strong);
    let index = mentions.iter().any(|it| it.index.is_some()) || has(words, "индекс index");
    let topped = focus::top(words).is_some();
    // «что с индексом» asks about the index, not about its constituents.
    let about = words
        .windows(2)
        .any(|it| it[0].is(&["что", "what"]) && it[1].is(&["с", "со", "about", "s"]));
    QuestionTraits {
        unnamed,
        index,
        market: index || has(words, "рынк рынок бирж market"),
        sector: unnamed && focus::sector_of(words).is_some(),
        moved: begins(words, &MOVED),
        which: topped || !about && has(words, WHICH_MOVED),
        composition: has(words, COMPOSITION),
        topped,
        weighed: amounts + usize::from(cash.is_some()) >= 2 || percent && mine || short,
        against: words.iter().enumerate().any(|(at, it)| {
            let the = usize::from(words.get(at + 1).is_some_and(|it| it.is(&["the"])));
            let next = words.get(at + 1 + the).map_or(&[][..], std::slice::from_ref);
            it.is(&["с", "со", "with"]) && has(next, "рынк индекс market index")
        }),
    }
}

/// Adds the index as a mention if one security is compared with the market.
fn add_index(mentions: &mut Vec<Mention>, market: bool) {
    if market && mentions.iter().all(|it| it.index.is_none()) {
        let text = "IMOEX".to_owned();
        mentions.push(Mention { text, index: Some("IMOEX"), ..Mention::default() });
    }
}

/// Returns the intent that the words state.
pub(super) fn intent(
    words: &[Word],
    mentions: &mut Vec<Mention>,
    period: Option<Period>,
    cash: Option<Amount>,
) -> Option<Intent> {
    let traits = question_traits(words, mentions, cash);
    let names = mentions.iter().filter(|it| it.index.is_none()).count();
    let with_index = traits.market && names == 1 || traits.against && names > 0;
    let indices = mentions.len() - names;
    let compares = has(
        words,
        "сравн против compar vs versus лучше better обгон обогн обыгр опереж опередил beat outperform \
         outperformed",
    );
    let best = has(words, "лучш худш хуже best worst");
    let found = if has(words, "дивиденд дивдоход дивы дивов dividend выплат заплат payout")
    {
        Intent::Dividends
    } else if has(words, "корр correl взаимосвяз") {
        add_index(mentions, with_index);
        Intent::Correlation
    } else if has(words, "портфел portfolio портфол var") || traits.weighed {
        Intent::PortfolioRisk
    } else if traits.index && names > 0 && has(words, "вес веса весит доля долю weight")
    {
        mentions.iter_mut().filter(|it| it.index.is_none()).for_each(|it| it.strong = true);
        Intent::IndexScan
    } else if indices > 1 && compares {
        Intent::Comparison
    } else if traits.is_of_level(words, period) {
        mentions.retain(|it| it.index.is_some());
        add_index(mentions, true);
        Intent::Overview
    } else if traits.unnamed && traits.moved && (traits.which || traits.market || traits.sector) {
        Intent::Movers
    } else if traits.unnamed && traits.sector && best && period.is_some() {
        // «худшие акции года из банковского сектора»
        Intent::Movers
    } else if traits.is_of_composition(words) {
        Intent::IndexScan
    } else if traits.unnamed && traits.market && has(words, MARKET)
        || mentions.is_empty() && best && (traits.composition || period.is_some())
    {
        Intent::Movers
    } else if compares {
        add_index(mentions, with_index);
        Intent::Comparison
    } else {
        return None;
    };
    Some(found)
}
