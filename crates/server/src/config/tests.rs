//! How settings become the configuration.

use super::*;

fn settings() -> Settings {
    Settings { data: Some("/data".into()), ..Settings::default() }
}

#[test]
fn without_http_there_are_no_streams() {
    let surfaces = |http, sse| {
        let settings = Settings { enable_http: http, enable_sse: sse, ..settings() };
        let Surfaces { http, sse, ws } = Config::resolve(settings).unwrap().surfaces;
        (http, sse, ws)
    };
    assert_eq!(surfaces(true, true), (true, true, true));
    assert_eq!(surfaces(true, false), (true, false, true));
    assert_eq!(surfaces(false, true), (false, false, false));
}

#[track_caller]
fn check_open(listen: &str, token: Option<&str>, insecure: bool, open: bool, register: bool) {
    let settings = Settings {
        listen: Some(listen.to_owned()),
        http_token: token.map(Secret::new),
        insecure,
        ..settings()
    };
    let config = Config::resolve(settings).unwrap();
    let found = (config.is_open(), config.registration_open);
    assert_eq!(found, (open, register), "{listen} {token:?} {insecure}");
}

#[test]
fn a_server_with_a_token_is_closed_whatever_else_is_said() {
    let token = Some("a-token");
    check_open("127.0.0.1:80", None, false, true, true);
    check_open("127.0.0.1:80", None, true, true, true);
    check_open("127.0.0.1:80", token, false, false, false);
    check_open("127.0.0.1:80", token, true, false, false);
    check_open("0.0.0.0:80", token, true, false, false);
    check_open("0.0.0.0:80", None, true, true, false);
    check_open("0.0.0.0:80", None, false, false, false);
    let settings = Settings {
        http_token: token.map(Secret::new),
        archive_registration: Some(true),
        ..settings()
    };
    assert!(Config::resolve(settings).unwrap().registration_open);
}

#[test]
fn a_blank_token_is_refused() {
    for blank in ["", " ", "\t\n"] {
        let settings = Settings { http_token: Some(Secret::new(blank)), ..settings() };
        let error = Config::resolve(settings).unwrap_err().to_string();
        assert_eq!(error, "http_token must be text that is not blank");
    }
}

#[test]
fn a_tool_concurrency_of_zero_is_refused() {
    let calls = |max, queue| {
        let settings = Settings { tool_concurrency: max, tool_queue: queue, ..settings() };
        Config::resolve(settings).map(|config| config.tool_concurrency).ok()
    };
    assert_eq!(calls(64, 1024), Some(Concurrency::default()));
    assert_eq!(calls(1, 0), Some(Concurrency { max: 1, queue: 0 }));
    assert_eq!(calls(0, 0), None);
}

#[test]
fn memory_budgets_and_proxies_are_checked() {
    let resolved = |change: fn(&mut Settings)| {
        let mut settings = settings();
        change(&mut settings);
        Config::resolve(settings).is_ok()
    };
    assert!(resolved(|it| it.body_memory_max = 1024 * 1024));
    assert!(!resolved(|it| it.body_memory_max = 1024 * 1024 - 1));
    assert!(!resolved(|it| it.json_memory_max = 1024 * 1024));
    assert!(!resolved(|it| it.answer_memory_max = 1024 * 1024));
    assert!(!resolved(|it| it.stream_memory_max = 1024 * 1024));
    assert!(resolved(|it| it.trusted_proxies = vec!["::1".into(), "10.0.0.0/8".into()]));
    assert!(!resolved(|it| it.trusted_proxies = vec!["proxy.example".into()]));
}

#[test]
fn stream_limits_are_checked_and_fit_the_venue_s() {
    let limits = |queue, replay| {
        let settings =
            Settings { stream_queue_max: queue, stream_replay_max: replay, ..settings() };
        Config::resolve(settings).map(|config| config.stream_limits).ok()
    };
    let usual = StreamLimits::default();
    assert_eq!(limits(usual.queue_max, usual.replay_max), Some(usual));
    let set = StreamLimits { queue_max: 50, replay_max: 20, ..usual };
    assert_eq!(limits(50, 20), Some(set));
    for (queue, replay) in [(0, 20), (1 << 30, 20), (50, 0)] {
        assert_eq!(limits(queue, replay), None);
    }
    let venue = StreamConfig::new("ws://127.0.0.1:9");
    assert!(venue.subscribers_max >= service_indicators::CHANNELS_MAX);
    assert!(venue.series_max >= service_indicators::CHANNELS_MAX);
    assert!(venue.replay_max >= *StreamLimits::REPLAY.end());
}

#[test]
fn the_exchange_s_addresses_are_used_and_its_key_is_never_printed() {
    let adapter = |ws_url: Option<&str>, key: &str| {
        let settings = Settings {
            provider: "binance".to_owned(),
            binance_ws_url: ws_url.map(str::to_owned),
            binance_api_key: Some(Secret::new(key)),
            binance_api_secret: Some(Secret::new("hunter2")),
            ..settings()
        };
        let config = Config::resolve(settings).unwrap();
        assert!(!format!("{config:?}").contains("hunter2"));
        let Provider::Binance(site) = config.provider else { panic!("another provider") };
        site.adapter("binance").map_err(|failure| failure.to_string())
    };
    let ours = adapter(Some("wss://stream.binance.com/ws"), "hunter2").unwrap();
    assert_eq!(ours.streams.url, "wss://stream.binance.com/ws");
    assert!(ours.api_key.is_some() && !format!("{ours:?}").contains("hunter2"));
    let usual = adapter(None, "hunter2").unwrap();
    assert_eq!(usual.streams.url, "wss://data-stream.binance.vision");
    assert!(!adapter(None, "hunter2\n").unwrap_err().contains("hunter2"));
}
