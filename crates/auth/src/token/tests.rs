//! Properties of narrowing, and tokens that were tampered with.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::scope::ScopeName;
use crate::wire::{Claims, TOKEN_BYTES_MAX};

const KEY: [u8; 32] = [9; 32];

fn root(scopes: &[&str], expires: i64, limits: Option<LimitsBlock>) -> RootBlock {
    RootBlock {
        id: "00112233445566778899aabbccddeeff".to_owned(),
        subject: "ops".to_owned(),
        scopes: scopes.iter().map(ToString::to_string).collect(),
        issued: 1_000,
        expires,
        limits,
    }
}

fn token() -> String {
    mint(&KEY, &root(&["read", "write"], 2_000, None)).unwrap().reveal().to_owned()
}

fn verify(token: &str) -> Result<Claims, Fault> {
    let frames = decode(token)?;
    verify_chain(&frames, &KEY)?;
    frames.claims()
}

fn signed(blocks: &[&str]) -> String {
    let blocks: Vec<Vec<u8>> = blocks.iter().map(|block| block.as_bytes().to_vec()).collect();
    let last_signature = blocks.iter().fold(KEY, |key, block| sign(&key, block));
    TokenFrames { blocks, last_signature }.encode().unwrap()
}

#[test]
fn a_token_narrowed_without_the_key_verifies() {
    let narrowing = Narrowing {
        scopes: Some([ScopeName::READ].into_iter().collect()),
        expires_at: Some(1_500),
        limits: TokenLimits { sku_prefix: Some(vec!["TOY-".to_owned()]), ..TokenLimits::default() },
        note: Some("for the dashboard".to_owned()),
    };
    let narrowed = narrow(&token(), &narrowing).unwrap();
    let claims = verify(narrowed.reveal()).unwrap();
    assert_eq!(claims.scopes.to_string(), "read");
    assert_eq!((claims.issued_at, claims.expires_at), (1_000, 1_500));
    assert!(claims.limits.allow_sku("TOY-1") && !claims.limits.allow_sku("CAR-1"));
    assert_eq!(claims.notes, ["for the dashboard"]);
}

#[test]
fn a_token_without_a_service_limit_is_valid_at_all_services() {
    let root = r#"{"id":"00112233445566778899aabbccddeeff","subject":"ops","scopes":["read"],
        "issued":1,"expires":2,"limits":{"market":["DE"]}}"#;
    let old = signed(&[root]);
    assert!(verify(&old).unwrap().limits.allow_service("archive"));
    let service = Some(vec!["archive".to_owned()]);
    let narrowing = Narrowing {
        limits: TokenLimits { service, ..TokenLimits::default() },
        ..Default::default()
    };
    let narrowed = narrow(&old, &narrowing).unwrap();
    let limits = verify(narrowed.reveal()).unwrap().limits;
    assert!(limits.allow_service("archive") && !limits.allow_service("quotes"));
    assert!(limits.allow_market("DE") && !limits.allow_market("FR"));
    let text = inspect(narrowed.reveal()).unwrap().to_string();
    assert!(text.contains("service     [\"archive\"]"), "{text}");
}

#[test]
fn narrowing_to_a_scope_that_the_token_lacks_is_refused() {
    let narrowing =
        Narrowing { scopes: Some(ScopeSet::parse("admin").unwrap()), ..Default::default() };
    let refused = narrow(&token(), &narrowing).unwrap_err();
    assert_eq!(refused.code(), "scope_missing");
    assert!(refused.message().contains("admin"));
}

#[test]
fn every_flipped_bit_missing_and_truncated_byte_is_refused() {
    let token = narrow(&token(), &Narrowing::default()).unwrap().reveal().to_owned();
    assert!(verify(&token).is_ok());
    for at in 0..token.len() {
        for bit in 0..7 {
            let mut bytes = token.clone().into_bytes();
            bytes[at] ^= 1 << bit;
            let altered = String::from_utf8(bytes).unwrap();
            assert!(verify(&altered).is_err(), "bit {bit} of byte {at} flipped");
        }
        let mut shorter = token.clone();
        shorter.remove(at);
        assert!(verify(&shorter).is_err(), "byte {at} removed");
        assert!(verify(&token[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn narrowings_cannot_be_removed_swapped_or_appended_to_an_older_signature() {
    let first = decode(&token()).unwrap();
    let narrowed = narrow(&token(), &Narrowing::default()).unwrap();
    let narrowing = Narrowing { expires_at: Some(1), ..Default::default() };
    let twice = decode(narrow(narrowed.reveal(), &narrowing).unwrap().reveal()).unwrap();
    assert!(verify_chain(&twice, &KEY).is_ok());

    let without_last =
        TokenFrames { blocks: twice.blocks[..2].to_vec(), last_signature: twice.last_signature };
    let without_middle = TokenFrames {
        blocks: vec![twice.blocks[0].clone(), twice.blocks[2].clone()],
        last_signature: twice.last_signature,
    };
    let mut swapped = twice.clone();
    swapped.blocks.swap(1, 2);
    let appended =
        TokenFrames { blocks: twice.blocks.clone(), last_signature: first.last_signature };
    for (name, forged) in [
        ("without the last", without_last),
        ("without the middle", without_middle),
        ("swapped", swapped),
        ("with an older signature", appended),
    ] {
        assert_eq!(verify_chain(&forged, &KEY).unwrap_err().code(), "token_signature", "{name}");
    }
    assert_eq!(verify_chain(&first, &[8; 32]).unwrap_err().code(), "token_signature");
}

#[test]
fn unknown_fields_and_invalid_blocks_are_refused_although_they_are_signed() {
    const ROOT: &str = r#"{"id":"00112233445566778899aabbccddeeff","subject":"ops",
        "scopes":["read"],"issued":1,"expires":2}"#;
    assert!(verify(&signed(&[ROOT, "{}"])).is_ok());
    let ahead = ROOT.replace("\"issued\"", "\"ip\":\"10.0.0.1\",\"issued\"");
    let short_id = ROOT.replace("00112233", "");
    for blocks in [
        vec![ROOT, r#"{"ip":"10.0.0.1"}"#],
        vec![ROOT, r#"{"limits":{"weekday":["mon"]}}"#],
        vec![ROOT, r#"{"scopes":["READ"]}"#],
        vec![ROOT, r#"{"expires":5,"expires":9}"#],
        vec![ROOT, r#"{"expires":"soon"}"#],
        vec![ROOT, "{} {}"],
        vec![ROOT, ""],
        vec![ROOT, ROOT],
        vec![ahead.as_str()],
        vec![short_id.as_str()],
        vec!["{}"],
    ] {
        let refused = verify(&signed(&blocks)).err().map(|fault| fault.code());
        assert_eq!(refused, Some("token_malformed"), "{blocks:?}");
    }
}

#[track_caller]
fn check_refused(text: &str, code: &str) {
    let refused = verify(text).err().unwrap();
    assert_eq!(refused.code(), code, "{text:?}");
    assert_eq!(refused.kind(), fault::Kind::Unauthenticated);
}

#[test]
fn other_texts_are_malformed_or_missing() {
    check_refused("", "token_missing");
    check_refused(" ", "token_malformed");
    check_refused("stoa1_", "token_malformed");
    check_refused("stoa2_AAAA", "token_malformed");
    check_refused("stoa1_!!!!", "token_malformed");
    check_refused(&format!("{}=", token()), "token_malformed");
    check_refused(&format!("{} ", token()), "token_malformed");
    check_refused(&format!("stoa1_{}", "A".repeat(44)), "token_malformed");
    check_refused(&format!("stoa1_{}", "A".repeat(1_000_000)), "token_malformed");
    check_refused("жетон", "token_malformed");
}

#[test]
fn size_and_depth_are_bounded() {
    let mut deep = token();
    for _ in 0..16 {
        deep = narrow(&deep, &Narrowing::default()).unwrap().reveal().to_owned();
    }
    assert!(verify(&deep).is_ok());
    let refused = narrow(&deep, &Narrowing::default()).unwrap_err();
    assert_eq!(refused.code(), "token_too_large");

    let limits = TokenLimits {
        sku_prefix: Some(vec!["A".repeat(TOKEN_BYTES_MAX)]),
        ..TokenLimits::default()
    };
    let wide = Narrowing { limits, ..Default::default() };
    assert_eq!(narrow(&token(), &wide).unwrap_err().code(), "token_too_large");
    let noted = Narrowing { note: Some("n".repeat(129)), ..Default::default() };
    assert_eq!(narrow(&token(), &noted).unwrap_err().code(), "invalid_note");
}

#[test]
fn inspecting_a_forged_token_says_that_its_signature_was_not_checked() {
    let forged = mint(&[1; 32], &root(&["admin"], 5, None)).unwrap();
    let inspected = inspect(forged.reveal()).unwrap();
    assert_eq!(
        (inspected.subject.as_str(), inspected.narrowings, inspected.expires_at),
        ("ops", 0, 5)
    );
    assert!(inspected.to_string().ends_with("signature   not checked"));
    assert!(!format!("{inspected:?} {inspected}").contains(forged.reveal()));
}

const WORDS: [&str; 4] = ["read", "write", "apply", "admin"];

fn scopes() -> impl Strategy<Value = ScopeSet> {
    proptest::sample::subsequence(WORDS.to_vec(), 0..=4)
        .prop_map(|words| ScopeSet::from_words(words.into_iter()).unwrap())
}

fn limits() -> impl Strategy<Value = TokenLimits> {
    let prefixes = option::of(vec("[AB]{0,3}", 0..3));
    let markets = option::of(vec("[XYZ]", 0..3));
    let services = option::of(vec("[mnp]", 0..3));
    (prefixes, markets, services).prop_map(|(sku_prefix, market, service)| TokenLimits {
        sku_prefix,
        market,
        service,
    })
}

fn narrowing() -> impl Strategy<Value = Narrowing> {
    (option::of(scopes()), option::of(0_i64..100), limits(), option::of(".{0,8}")).prop_map(
        |(scopes, expires_at, limits, note)| Narrowing { scopes, expires_at, limits, note },
    )
}

proptest! {
    #[test]
    fn narrowing_never_widens(
        own in scopes(),
        expires in 0_i64..100,
        own_limits in limits(),
        steps in vec(narrowing(), 0..6),
        sku in "[ABC]{0,4}",
        market in "[XYZ]",
        service in "[mnp]",
    ) {
        let words: Vec<&str> = own.iter().map(ScopeName::as_str).collect();
        let first = root(&words, expires, LimitsBlock::from_limits(&own_limits));
        let mut text = mint(&KEY, &first).unwrap();
        for step in &steps {
            text = append_narrowing(&decode(text.reveal()).unwrap(), step).unwrap();
        }
        let claims = verify(text.reveal()).unwrap();

        for word in WORDS {
            let everywhere = own.contains(word)
                && steps.iter().filter_map(|s| s.scopes.as_ref()).all(|s| s.contains(word));
            prop_assert_eq!(claims.scopes.contains(word), everywhere);
        }
        prop_assert!(claims.scopes.is_subset(&own));
        let earliest = steps.iter().filter_map(|s| s.expires_at).fold(expires, i64::min);
        prop_assert_eq!(claims.expires_at, earliest);
        let all: Vec<&TokenLimits> =
            std::iter::once(&own_limits).chain(steps.iter().map(|s| &s.limits)).collect();
        prop_assert_eq!(claims.limits.allow_sku(&sku), all.iter().all(|l| l.allow_sku(&sku)));
        prop_assert_eq!(
            claims.limits.allow_market(&market),
            all.iter().all(|l| l.allow_market(&market))
        );
        prop_assert_eq!(
            claims.limits.allow_service(&service),
            all.iter().all(|l| l.allow_service(&service))
        );
    }

    #[test]
    fn no_text_panics(text in ".{0,64}", bytes in vec(any::<u8>(), 0..200)) {
        prop_assert!(verify(&text).is_err());
        let frames = TokenFrames { blocks: vec![bytes], last_signature: [0; 32] };
        let forged = frames.encode().unwrap();
        prop_assert!(verify(&forged).is_err());
        // Inspecting may fail or not; it must only return.
        drop(inspect(&forged));
        drop(inspect(&format!("{TOKEN_PREFIX}{text}")));
    }
}
