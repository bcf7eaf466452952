//! `stoa serve`: everything over HTTP on one port.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use contract::View;
use http::HeaderValue;
use limits::RateLimiter;
use tokio::net::TcpListener;
use transport_http::{
    AllowedHosts, BodyLimits, ConnectionCount, EdgeConfig, EdgeRoute, Limits, OriginCheck,
    RequestMemory, StreamOptions, SystemPages,
};
use transport_mcp::{HttpOptions, ServerOptions};

use crate::agents;
use crate::app::{App, VERSION};
use crate::cli::ServeArgs;
use crate::config::{Config, MoexProvider, Provider};
use crate::exit::CommandError;
use crate::open_files::{self, OURS};

/// The most clients whose rates are tracked.
const CLIENTS_MAX: usize = 16_384;
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) async fn run(args: ServeArgs, config: Config) -> Result<(), CommandError> {
    refuse_exposure(&config)?;
    let listener = TcpListener::bind(config.listen).await.map_err(|error| {
        CommandError::usage(format!("cannot listen on {}: {error}; try --listen", config.listen))
    })?;
    let address = listener.local_addr()?;
    let app = App::start(&config, config.is_open()).await?;
    let router = routes(&app, &config, args.conformance_fixtures)?;
    banner(&config, address);
    app.check_venues();
    let limits = Limits {
        connections_max: connections_max(&config),
        connections_per_client_max: connections_per_client_max(&config),
        trusted_proxies: config.trusted_proxies.clone(),
        header_timeout: config.client_timeout,
        shutdown_timeout: SHUTDOWN_TIMEOUT,
    };
    let stop = app.stop.clone();
    let metrics = Arc::clone(&app.metrics);
    let (open_now, pending_now) = (metrics.connections(), metrics.pending_connections());
    let count = move |it| match it {
        ConnectionCount::Open(open) => open_now.set(gauge(open)),
        ConnectionCount::Pending(pending) => pending_now.set(gauge(pending)),
        ConnectionCount::Refused(limit) => metrics.connection_refused(limit),
    };
    let served = transport_http::serve(listener, router, limits, stop.clone(), count);
    tokio::pin!(served);
    tokio::select! {
        () = &mut served => {}
        () = stop_signal() => {
            tracing::info!("stopping: requests under way are finished first");
            stop.cancel();
            served.await;
        }
    }
    app.stop().await;
    Ok(())
}

fn gauge(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn routes(app: &App, config: &Config, fixtures: bool) -> Result<Router, CommandError> {
    let memory =
        RequestMemory::new(config.body_memory_max, config.json_memory_max, config.client_timeout);
    let options = HttpOptions {
        allowed_origins: config.cors_origins.clone(),
        body: body_limits(config),
        memory: memory.clone(),
        shutdown: app.stop.clone(),
        ..HttpOptions::default()
    };
    let (metrics, history) = (Arc::clone(&app.metrics), Arc::clone(&app.history));
    let fills = metrics.queue_depth("history_fills");
    let (body_bytes, held) = (metrics.body_bytes(), memory.clone());
    let pages = SystemPages {
        version: VERSION,
        health: app.health_monitor().probe(),
        metrics: Box::new(move || {
            fills.set(gauge(history.active_fills()));
            body_bytes.set(gauge(held.body_bytes_held()));
            metrics.render()
        }),
        metrics_type: telemetry::METRICS_CONTENT_TYPE,
    };
    let streams = StreamOptions {
        sse: config.surfaces.sse,
        ws: config.surfaces.ws,
        client_limits: config.client_streams,
        ..StreamOptions::default()
    };
    let view = http_view(app, config);
    let mut routes = transport_http::router(&app.pipeline, &view, pages, &streams).merge(
        transport_mcp::router(&app.pipeline, &app.view, &ServerOptions::http(VERSION), &options),
    );
    if config.surfaces.http {
        routes = routes.merge(agents::routes(app, config)?);
    } else {
        routes = routes.merge(transport_http::disabled_routes(&app.pipeline, &app.view));
    }
    if fixtures {
        let mcp = transport_mcp::conformance_fixtures(&options).map_err(CommandError::other)?;
        let (Some(mcp), Some(a2a)) = (mcp, agents::fixtures(app, config)?) else {
            let message = "--conformance-fixtures needs a build with --features conformance";
            return Err(CommandError::usage(message));
        };
        // The suite sends origins of this machine, which MCP allows.
        let fixture = EdgeRoute { origins: OriginCheck::Route, ..EdgeRoute::default() };
        routes = routes.merge(a2a).nest("/conformance", mcp);
        routes = routes.declare_prefix("/conformance", fixture);
    }
    Ok(transport_http::with_edge(routes, edge(app, config, memory)?))
}

/// The routes over plain HTTP: all, or only the operators' pages.
fn http_view(app: &App, config: &Config) -> View {
    let nothing = (!config.surfaces.http).then(Vec::new);
    View { services: nothing.or_else(|| app.view.services.clone()), ..app.view.clone() }
}

fn body_limits(config: &Config) -> BodyLimits {
    BodyLimits { bytes_max: config.body_bytes_max, timeout: config.client_timeout }
}

fn edge(app: &App, config: &Config, memory: RequestMemory) -> Result<EdgeConfig, CommandError> {
    let origin = |text: &String| {
        HeaderValue::from_str(text)
            .map_err(|_| CommandError::usage(format!("CORS origin {text:?} is not valid")))
    };
    let (metrics, limited) = (Arc::clone(&app.metrics), Arc::clone(&app.metrics));
    Ok(EdgeConfig {
        limiter: RateLimiter::new(config.rate, CLIENTS_MAX),
        pipeline: Arc::clone(&app.pipeline),
        hosts: hosts(config),
        cors_origins: config.cors_origins.iter().map(origin).collect::<Result<_, _>>()?,
        own_origin: config.public_url.as_deref().and_then(origin_of),
        trusted_proxies: config.trusted_proxies.clone(),
        memory,
        body: body_limits(config),
        meter: Box::new(move |route, method, status, elapsed| {
            metrics.route(route, method).record(status, elapsed);
        }),
        on_rate_limited: Box::new(move || limited.rate_limited()),
    })
}

/// Scheme and authority of a URL, as a browser writes them into `Origin`.
fn origin_of(url: &str) -> Option<HeaderValue> {
    let uri: http::Uri = url.parse().ok()?;
    HeaderValue::from_str(&format!("{}://{}", uri.scheme_str()?, uri.authority()?)).ok()
}

/// The accepted host names: on loopback, the loopback names and the configured ones. Beyond
/// loopback the token protects the server, so any name is accepted unless names are configured.
fn hosts(config: &Config) -> AllowedHosts {
    if config.allowed_hosts.is_empty() && !config.listen.ip().is_loopback() {
        return AllowedHosts::Any;
    }
    AllowedHosts::Only(config.allowed_hosts.clone())
}

/// The configured number of connections, limited by the open files that the system allows.
fn connections_max(config: &Config) -> usize {
    let files = open_files::limit().map_or(u64::MAX, |limit| limit.saturating_sub(OURS).max(16));
    config.connections_max.min(usize::try_from(files).unwrap_or(usize::MAX))
}

/// The default is half of the connections, so one address cannot shut all others out. On loopback
/// there is no such limit: all clients are this machine, or a proxy on it that serves many.
fn connections_per_client_max(config: &Config) -> usize {
    let usual = match config.listen.ip().is_loopback() {
        true => 0,
        false => connections_max(config).div_ceil(2),
    };
    config.connections_per_client_max.unwrap_or(usual)
}

/// Every client on the network could read, and a later setting could let them write.
fn refuse_exposure(config: &Config) -> Result<(), CommandError> {
    if config.is_open() || config.http_token.is_some() {
        return Ok(());
    }
    Err(CommandError::usage(format!(
        "refusing to listen on {} without a token; set MCP_HTTP_TOKEN, or say --insecure",
        config.listen
    )))
}

#[expect(clippy::print_stderr, reason = "the banner is for whoever started the server")]
fn banner(config: &Config, address: std::net::SocketAddr) {
    let settings = config.file.used.as_ref();
    let rest = match config.surfaces.http {
        true => format!("http://{address}/v1/quotes?tickers=BTCUSDT"),
        false => "switched off".to_owned(),
    };
    let archive = match config.registration_open {
        true => {
            format!("with a token: register at http://{address}/api/arkiver/auth (docs/archive.md)")
        }
        false => "registration is closed: `stoa user add NAME`, then log in at /api/arkiver/auth"
            .to_owned(),
    };
    eprintln!(
        "stoa {VERSION} is serving\n\
         \x20 MCP      http://{address}/mcp\n\
         \x20 REST     {rest}\n\
         \x20 docs     http://{address}/docs\n\
         \x20 markets  {}\n\
         \x20 analyst  {}\n\
         \x20 data     {}\n\
         \x20 settings {}\n\
         \x20 access   {}\n\
         \x20 pricing  with a token: `stoa token mint --scope read,propose,apply --ttl 1h`\n\
         \x20 archive  {archive}",
        markets(config),
        analyst(config),
        config.data.display(),
        settings.map_or_else(|| "no file".to_owned(), |file| file.display().to_string()),
        access(config),
    );
}

/// Who may read.
fn access(config: &Config) -> &'static str {
    match (config.is_open(), config.insecure) {
        (true, _) if config.listen.ip().is_loopback() => "open for reading on this machine",
        (true, _) => "open for reading to everyone who reaches this address",
        (false, true) => "bearer token required; --insecure changes nothing while a token is set",
        (false, false) => "bearer token required",
    }
}

/// The data source of each market.
fn markets(config: &Config) -> String {
    let simulated = format!("simulated, seed {} (every answer says so)", config.sim_seed);
    let crypto = match &config.provider {
        _ if config.arche_api_url.is_some() => "quotes from another server's API".to_owned(),
        Provider::Simulated => format!("Binance {simulated}"),
        Provider::Binance(site) => format!("Binance at {}", shown(&site.rest_url)),
    };
    let stocks = match &config.moex {
        MoexProvider::Simulated if matches!(config.provider, Provider::Simulated) => {
            return match config.arche_api_url {
                Some(_) => format!("{crypto}; Moscow Exchange {simulated}"),
                None => format!("Binance and Moscow Exchange {simulated}"),
            };
        }
        MoexProvider::Simulated => format!("Moscow Exchange {simulated}"),
        MoexProvider::Iss(url) => format!("Moscow Exchange at {}", shown(url)),
    };
    format!("{crypto}; {stocks}")
}

fn analyst(config: &Config) -> String {
    let model = config.language_model.as_ref();
    model.map_or_else(
        || "by rules, without a language model".to_owned(),
        |model| format!("with {}, and by rules where it fails", model.shown()),
    )
}

/// An address without parts that may be secret.
fn shown(url: &str) -> String {
    let Ok(uri) = url.parse::<http::Uri>() else { return "an invalid address".to_owned() };
    let scheme = uri.scheme_str().unwrap_or("http");
    let host = uri.authority().map_or("", |it| it.as_str().rsplit('@').next().unwrap_or_default());
    format!("{scheme}://{host}{}", uri.path().trim_end_matches('/'))
}

/// Returns when a terminal or a supervisor sends the process a stop signal.
pub(crate) async fn stop_signal() {
    let interrupted = tokio::signal::ctrl_c();
    let mut terminated =
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(signal) => signal,
            Err(_) => return std::future::pending().await,
        };
    tokio::select! {
        _ = interrupted => {}
        _ = terminated.recv() => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

    #[track_caller]
    fn check(settings: Settings, expected: &str) {
        let settings = Settings { data: Some("/data".into()), ..settings };
        assert_eq!(markets(&Config::resolve(settings).unwrap()), expected);
    }

    #[test]
    fn one_address_has_half_of_the_connections_unless_it_is_this_machine() {
        let set = |listen: &str, of_one: Option<usize>| {
            let settings = Settings {
                data: Some("/data".into()),
                listen: Some(listen.to_owned()),
                connections_max: 16,
                connections_per_client_max: of_one,
                ..Settings::default()
            };
            connections_per_client_max(&Config::resolve(settings).unwrap())
        };
        assert_eq!(set("0.0.0.0:80", None), 8);
        assert_eq!(set("127.0.0.1:80", None), 0);
        assert_eq!(set("127.0.0.1:80", Some(3)), 3);
        assert_eq!(set("0.0.0.0:80", Some(0)), 0);
    }

    #[test]
    fn every_market_is_named_with_its_source() {
        let set = str::to_owned;
        check(
            Settings::default(),
            "Binance and Moscow Exchange simulated, seed 42 (every answer says so)",
        );
        check(
            Settings { moex_provider: set("iss"), ..Settings::default() },
            "Binance simulated, seed 42 (every answer says so); Moscow Exchange at \
             https://iss.moex.com/iss",
        );
        check(
            Settings {
                provider: set("binance"),
                binance_rest_url: set("http://me:hunter2@127.0.0.1:9/"),
                ..Settings::default()
            },
            "Binance at http://127.0.0.1:9; Moscow Exchange simulated, seed 42 (every answer says \
             so)",
        );
        check(
            Settings { arche_api_url: Some(set("http://a")), ..Settings::default() },
            "quotes from another server's API; Moscow Exchange simulated, seed 42 (every answer \
             says so)",
        );
    }
}
