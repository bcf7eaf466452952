//! Tests of whole proposals: the promises to merchants, and the properties that hold for any input.

use proptest::prelude::*;

use crate::*;

const DAY: i64 = 86_400_000;

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

fn input(price: &str, cost: Option<&str>) -> PricingInput {
    PricingInput { cost: cost.map(amount), ..PricingInput::new("MUG", amount(price), 100 * DAY) }
}

#[track_caller]
fn acted(proposal: &Proposal, name: &str) -> GuardrailAct {
    let found = proposal.acted.iter().find(|it| it.name == name);
    found.unwrap_or_else(|| panic!("{name} did not act: {:#?}", proposal.acted)).clone()
}

#[track_caller]
fn check_refused(input: &PricingInput, policy: &Policy, message: &str) {
    assert_eq!(propose(input, policy).unwrap_err().to_string(), message);
}

#[test]
fn prices_rise_as_well_as_fall() {
    let policy = Policy::default();
    let cheap = propose(&input("12", Some("10")), &policy).unwrap();
    assert!(cheap.price > amount("12"), "{}", cheap.reasoning);
    let dear = propose(&input("30", Some("10")), &policy).unwrap();
    assert!(dear.price < amount("30"), "{}", dear.reasoning);
}

#[test]
fn the_margin_floor_holds_or_there_is_no_proposal() {
    let policy = Policy { ending: PriceEnding::NinetyNine, ..Policy::default() };
    let mut tight = input("11.40", Some("10"));
    tight.competitor_price = Some(amount("9"));
    let proposal = propose(&tight, &policy).unwrap();
    assert!(proposal.price >= amount("11.37") && proposal.expected_margin >= 0.12);
    tight.max_price = Some(amount("11.36"));
    check_refused(
        &tight,
        &policy,
        "no price is allowed: margin_floor asks for at least 11.37, max_price for at most 11.36",
    );
    tight.max_price = Some(amount("11.37"));
    assert_eq!(propose(&tight, &policy).unwrap().price, amount("11.37"));
}

#[test]
fn a_strict_step_is_a_limit_and_a_plain_one_yields() {
    let below = input("10", Some("20"));
    let strict = Policy { strict_step: true, ..Policy::default() };
    check_refused(
        &below,
        &strict,
        "no price is allowed: margin_floor asks for at least 22.73, max_step for at most 11",
    );
    let plain = Policy { mode: Mode::Auto, auto_confidence: 0.0, ..Policy::default() };
    let proposal = propose(&below, &plain).unwrap();
    assert_eq!(proposal.price, amount("22.73"));
    assert!(acted(&proposal, "max_step").why.contains("at most 10%"));
    assert_eq!(proposal.mode, Mode::Review);
}

#[test]
fn simulated_data_are_marked_and_never_applied_automatically() {
    let auto = Policy { mode: Mode::Auto, auto_confidence: 0.0, ..Policy::default() };
    let seen = input("16", Some("10"));
    let proposal = propose(&seen, &auto).unwrap();
    assert_eq!((proposal.mode, proposal.simulated), (Mode::Auto, false));
    let invented = PricingInput { simulated: true, ..seen };
    let marked = propose(&invented, &auto).unwrap();
    assert_eq!((marked.mode, marked.simulated, marked.price), (Mode::Review, true, proposal.price));
    let act = acted(&marked, "simulated");
    assert_eq!((act.before, act.after), (marked.price, marked.price));
    assert!(marked.reasoning.contains("Simulated prices took part"), "{}", marked.reasoning);
    assert!(!marked.review_because.is_empty());
}

#[test]
fn invalid_inputs_are_refused_with_the_field() {
    let policy = Policy::default();
    let mut wrong = input("10", Some("5"));
    wrong.min_margin = Rate::ONE;
    check_refused(
        &wrong,
        &policy,
        "no price is allowed: a min_margin of 1 leaves nothing for a cost of 5; choose one below 1",
    );
    wrong.cost = Some(Amount::ZERO);
    assert!(propose(&wrong, &policy).is_ok());
    wrong.min_price = amount("12");
    wrong.max_price = Some(amount("11"));
    check_refused(&wrong, &policy, "min_price must be at most max_price 11, not 12");
    let free = PricingInput { max_price: Some(Amount::ZERO), ..input("10", None) };
    check_refused(
        &free,
        &policy,
        "no price is allowed: smallest_coin asks for at least 0.01, max_price for at most 0",
    );
    let blocked = Policy { mode: Mode::Block, ..Policy::default() };
    check_refused(&input("10", None), &blocked, "pricing of MUG is blocked by its policy");
    let yen = PricingInput { currency: Currency::of("JPY"), ..input("1000", None) };
    let ending = Policy { ending: PriceEnding::NinetyNine, ..Policy::default() };
    assert!(propose(&yen, &ending).is_err());
}

#[test]
fn soft_guardrails_clamp_and_are_reported() {
    let base = input("16", Some("10"));
    let still = Policy { hysteresis: Rate::percent(50), ..Policy::default() };
    assert_eq!(acted(&propose(&base, &still).unwrap(), "hysteresis").after, amount("16"));
    let hasty = PricingInput { last_change_ms: Some(99 * DAY), ..base.clone() };
    let patient = Policy { cooldown_ms: 2 * DAY, hysteresis: Rate::ZERO, ..Policy::default() };
    let proposal = propose(&hasty, &patient).unwrap();
    assert_eq!(proposal.price, amount("16"));
    assert!(acted(&proposal, "cooldown").why.contains("24 hours ago"));
    let maker = Policy { map_price: Some(amount("17.50")), ..Policy::default() };
    assert_eq!(acted(&propose(&base, &maker).unwrap(), "map").after, amount("17.50"));
    // A price that is not allowed moves even in the cooldown.
    let cheap = PricingInput { min_price: amount("18"), ..hasty };
    let proposal = propose(&cheap, &patient).unwrap();
    assert_eq!(proposal.price, amount("18"));
    assert!(acted(&proposal, "cooldown").why.contains("not allowed"));
}

#[test]
fn the_position_against_competitors_is_kept_when_possible() {
    let mut base = input("20", Some("10"));
    base.competitor_price = Some(amount("19"));
    let under = Position::Undercut { at_least: Rate::percent(5), at_most: Rate::percent(8) };
    let policy = Policy { position: under, ..Policy::default() };
    let proposal = propose(&base, &policy).unwrap();
    assert!(proposal.price <= amount("18.05") && proposal.price >= amount("17.48"));
    base.cost = Some(amount("17"));
    let proposal = propose(&base, &policy).unwrap();
    assert_eq!(proposal.price, amount("19.32"));
    assert!(proposal.acted.iter().any(|it| it.why.contains("yields")), "{:#?}", proposal.acted);
}

#[test]
fn without_a_cost_revenue_is_optimized_and_reported() {
    let alone = propose(&input("20", None), &Policy::default()).unwrap();
    assert_eq!((alone.price, alone.held), (amount("20"), true));
    assert!(alone.reasoning.contains("nothing to weigh"), "{}", alone.reasoning);
    let mut market = input("20", None);
    market.competitor_price = Some(amount("18"));
    let proposal = propose(&market, &Policy::default()).unwrap();
    assert_eq!(proposal.aim, Aim::Revenue);
    assert!(proposal.price < amount("20") && proposal.price >= amount("13.50"));
    assert!(proposal.reasoning.contains("no margin can be promised"));
}

#[test]
fn demand_and_competitors_move_the_price() {
    let policy = Policy { hysteresis: Rate::ZERO, ..Policy::default() };
    let price = |index: Option<f64>, rival: Option<&str>| {
        let base = input("17", Some("10"));
        let it = PricingInput { demand_index: index, competitor_price: rival.map(amount), ..base };
        propose(&it, &policy).unwrap().price
    };
    assert!(price(Some(1.6), None) > price(Some(1.0), None));
    assert!(price(Some(0.6), None) < price(Some(1.0), None));
    assert!(price(None, Some("14")) < price(None, Some("19")));
}

#[test]
fn the_explanation_describes_the_proposal() {
    let mut base = input("20", Some("12"));
    base.competitor_price = Some(amount("19"));
    base.competitors = vec![CompetitorPrice {
        name: "slip".to_owned(),
        price: amount("1900"),
        at_ms: base.now_ms,
        in_stock: true,
    }];
    let policy = Policy { ending: PriceEnding::NinetyNine, ..Policy::default() };
    let proposal = propose(&base, &policy).unwrap();
    for part in ["MUG", "cost of 12", "no history", "One competitor asks 19", "set aside", ".99"] {
        assert!(proposal.reasoning.contains(part), "{part}: {}", proposal.reasoning);
    }
    let json = serde_json::to_string(&proposal).unwrap();
    assert_eq!(serde_json::from_str::<Proposal>(&json).unwrap(), proposal);
}

/// Any pricing input, sensible or not.
fn any_ask() -> impl Strategy<Value = PricingInput> {
    let money = || {
        prop_oneof![
            (1_i64..200_000).prop_map(|it| it * 10_000),
            (-10_i64..1_000_000_000_000),
            any::<i64>().prop_map(|it| it / 10),
        ]
    };
    let maybe = move || proptest::option::of(money());
    let history = proptest::collection::vec((0_i64..100, money(), any::<f64>(), maybe()), 0..25);
    (
        money(),
        maybe(),
        maybe(),
        maybe(),
        maybe(),
        any::<Option<f64>>(),
        0_i64..=1_000_000_000,
        history,
    )
        .prop_map(|(price, rival, cost, min, max, index, margin, history)| {
            let read = |it: i64| Amount::from_micros(it).unwrap_or(Amount::ZERO);
            let history = history.into_iter().map(|(day, price, units, rival)| HistoryPoint {
                at_ms: day * DAY,
                price: read(price),
                units: Some(units),
                demand_index: None,
                competitor: rival.map(read),
            });
            PricingInput {
                competitor_price: rival.map(read),
                cost: cost.map(read),
                min_price: min.map_or(Amount::ZERO, read),
                max_price: max.map(read),
                demand_index: index,
                min_margin: Rate::from_billionths(margin).unwrap(),
                history: history.collect(),
                ..PricingInput::new("ANY", read(price), 100 * DAY)
            }
        })
}

fn any_policy() -> impl Strategy<Value = Policy> {
    let ending = prop_oneof![
        Just(PriceEnding::None),
        Just(PriceEnding::NinetyNine),
        Just(PriceEnding::NinetyFive),
        Just(PriceEnding::Whole),
    ];
    let position = prop_oneof![
        Just(Position::Free),
        (0_i32..20).prop_map(|it| Position::Match { within: Rate::percent(it) }),
        (1_i32..20)
            .prop_map(|it| Position::Premium { at_least: Rate::ZERO, at_most: Rate::percent(it) }),
    ];
    (
        ending,
        position,
        0_i32..60,
        any::<bool>(),
        0_i32..5,
        0_i32..10,
        proptest::option::of(1_i64..100_000_000),
    )
        .prop_map(|(ending, position, step, strict_step, hysteresis, explore, map)| Policy {
            ending,
            position,
            max_step: Rate::percent(step),
            strict_step,
            hysteresis: Rate::percent(hysteresis),
            explore: Rate::percent(explore),
            map_price: map.and_then(Amount::from_micros),
            ..Policy::default()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_proposal_is_within_its_limits_and_adds_up(input in any_ask(), policy in any_policy()) {
        let answer = propose(&input, &policy);
        prop_assert_eq!(&answer, &propose(&input, &policy));
        let Ok(it) = answer else { return Ok(()) };
        prop_assert!(it.price.is_positive() && it.price >= input.min_price);
        prop_assert!(input.max_price.is_none_or(|max| it.price <= max));
        prop_assert!(policy.map_price.is_none_or(|map| it.price >= map));
        if let Some(cost) = input.cost {
            let (price, cost) = (i128::from(it.price.micros()), i128::from(cost.micros()));
            let margin = i128::from(input.min_margin.billionths());
            prop_assert!((price - cost) * 1_000_000_000 >= price * margin);
        }
        let sum: i64 = it.factors.iter().map(|factor| factor.effect.micros()).sum();
        prop_assert_eq!(sum, it.price.less(it.current).micros());
        prop_assert!((0.0..=1.0).contains(&it.confidence.value));
        prop_assert!(it.expected_margin.is_finite() && it.outlook.units_ratio.is_finite());
        prop_assert!(!it.reasoning.contains("NaN") && !it.reasoning.contains("inf"));
        let json = serde_json::to_string(&it).unwrap();
        let back: Proposal = serde_json::from_str(&json).unwrap();
        prop_assert_eq!((back.price, back.current), (it.price, it.current));
        prop_assert_eq!(back.reasoning, it.reasoning);
        if policy.strict_step {
            let moved = i128::from(it.price.less(input.our_price).micros().abs());
            let most = i128::from(input.our_price.micros()) * i128::from(policy.max_step.billionths());
            prop_assert!(moved * 1_000_000_000 <= most);
        }
    }

    #[test]
    fn dearer_competitors_and_higher_margins_never_lower_the_price(
        input in any_ask(), policy in any_policy(), rival in 1_i64..100_000_000,
        more in 0_i64..50_000_000, margin in 0_i64..500_000_000, extra in 0_i64..400_000_000,
    ) {
        let policy = Policy { ending: PriceEnding::None, ..policy };
        let price = |rival: i64, margin: i64| {
            let input = PricingInput {
                competitor_price: Amount::from_micros(rival),
                min_margin: Rate::from_billionths(margin).unwrap(),
                history: vec![],
                ..input.clone()
            };
            propose(&input, &policy).map(|it| (it.price, it.market.used))
        };
        let base = price(rival, margin);
        // Inputs in which different competitors count are not comparable.
        if let (Ok((low, 1)), Ok((high, 1))) = (&base, &price(rival + more, margin)) {
            prop_assert!(low <= high);
        }
        if let (Ok((low, _)), Ok((high, _))) = (&base, &price(rival, margin + extra)) {
            prop_assert!(low <= high);
        }
    }

    #[test]
    fn any_rule_is_followed_or_refused(
        mean in any::<f64>(), sd in any::<f64>(), normal in any::<f64>(), response in any::<f64>(),
        rates in proptest::collection::vec(any::<f64>(), 5), cooldown in any::<i64>(),
        age in any::<i64>(), input in any_ask(),
    ) {
        let rate = |at: usize| Rate::from_f64(rates[at]).unwrap_or(Rate::percent(5));
        let policy = Policy {
            prior: Prior { mean, sd },
            demand_normal: normal,
            demand_response: response,
            max_step: rate(0),
            hysteresis: rate(1),
            explore: rate(2),
            position: Position::Band { min_ratio: rate(3), max_ratio: rate(4) },
            cooldown_ms: cooldown,
            competitor_age_max_ms: age,
            ..Policy::default()
        };
        if let Ok(it) = propose(&input, &policy) {
            prop_assert!(it.price.is_positive());
        }
    }

    #[test]
    fn a_higher_cost_never_lowers_the_price(
        input in any_ask(), policy in any_policy(), low in 0_i64..100_000_000, more in 0_i64..50_000_000,
    ) {
        let policy = Policy { ending: PriceEnding::None, ..policy };
        let price = |cost: i64| {
            propose(&PricingInput { cost: Amount::from_micros(cost), ..input.clone() }, &policy).map(|it| it.price)
        };
        if let (Ok(cheap), Ok(dear)) = (price(low), price(low + more)) {
            prop_assert!(cheap <= dear, "{} at {}, {} at {}", cheap, low, dear, low + more);
        }
    }
}
