//! `stoa serve`: everything over HTTP on one port.

mod banner;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use contract::View;
use http::HeaderValue;
use limits::RateLimiter;
use tokio::net::TcpListener;
use transport_http::{
    AllowedHosts, BodyLimits, ConnectionCount, EdgeConfig, EdgeRoute, Limits, MetricsFormat,
    OriginCheck, RequestMemory, StreamOptions, SystemPages,
};
use transport_mcp::{HttpOptions, ServerOptions};

use crate::agents;
use crate::app::{App, Audience, VERSION};
use crate::cli::ServeArgs;
use crate::commands::client_address;
use crate::config::{Config, MoexProvider, Provider};
use crate::exit::CommandError;
use crate::oauth;
use crate::open_files::{self, OURS};

/// The most clients whose rates are tracked.
const CLIENTS_MAX: usize = 16_384;
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) async fn run(args: ServeArgs, config: Config) -> Result<(), CommandError> {
    refuse_exposure(&config)?;
    if config.oauth_scopes.is_some() {
        oauth::check_address(config.public_url.as_deref(), config.listen.ip().is_loopback())?;
    }
    let listener = TcpListener::bind(config.listen).await.map_err(|error| {
        CommandError::usage(format!("cannot listen on {}: {error}; try --listen", config.listen))
    })?;
    let address = listener.local_addr()?;
    let own_url = || format!("http://{}", client_address(address));
    let base_url = config.public_url.clone().unwrap_or_else(own_url);
    let base_url = base_url.trim_end_matches('/').to_owned();
    let audience = Audience::HttpClients { open: config.is_open(), base_url };
    let app = App::start_for(&config, audience).await?;
    let router = routes(&app, &config, args.conformance_fixtures)?;
    banner::show(&config, address);
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
        RequestMemory::new(config.body_memory_max, config.json_memory_max, config.client_timeout)
            .with_answers(config.answer_memory_max);
    let options = HttpOptions {
        allowed_origins: config.cors_origins.clone(),
        body: body_limits(config),
        memory: memory.clone(),
        challenge: oauth::challenge(config),
        shutdown: app.stop.clone(),
        ..HttpOptions::default()
    };
    let (metrics, history) = (Arc::clone(&app.metrics), Arc::clone(&app.history));
    let fills = metrics.queue_depth("history_fills");
    let (body_bytes, answer_bytes) = (metrics.body_bytes(), metrics.answer_bytes());
    let held = memory.clone();
    let pages = SystemPages {
        version: VERSION,
        health: app.health_monitor().probe(),
        metrics: Box::new(move |format| {
            fills.set(gauge(history.active_fills()));
            body_bytes.set(gauge(held.body_bytes_held()));
            answer_bytes.set(gauge(held.answer_bytes_held()));
            match format {
                MetricsFormat::Prometheus => metrics.render_prometheus(),
                MetricsFormat::OpenMetrics => metrics.render(),
            }
        }),
    };
    let streams = StreamOptions {
        sse: config.surfaces.sse,
        ws: config.surfaces.ws,
        client_limits: config.client_streams,
        ..StreamOptions::default()
    };
    let view = http_view(app, config);
    let server =
        ServerOptions { notice: simulation_notice(config), ..ServerOptions::http(VERSION) };
    let mcp = transport_mcp::router(&app.pipeline, &app.view, &server, &options);
    let endpoints = mcp.tool_endpoints();
    let plain = transport_http::router(&app.pipeline, &view, pages, &streams, endpoints);
    let mut routes = plain.merge(mcp);
    if config.surfaces.http {
        routes = routes.merge(agents::routes(app, config)?);
    } else {
        routes = routes.merge(transport_http::disabled_routes(&app.pipeline, &app.view));
    }
    if let Some(oauth) = oauth::routes(app, config)? {
        routes = routes.merge(oauth);
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
        authenticator: Arc::clone(app.pipeline.authenticator()),
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
        "refusing to listen on {} without a token; set MCP_HTTP_TOKEN, or say --insecure, or listen \
         on this machine alone with --listen {}",
        config.listen,
        config.listen.port(),
    )))
}

/// The notice about simulated markets for models; empty where no market is simulated.
pub(crate) fn simulation_notice(config: &Config) -> String {
    let binance = matches!(config.provider, Provider::Simulated).then_some("Binance");
    let moex = matches!(config.moex, MoexProvider::Simulated).then_some("Moscow Exchange");
    let simulated: Vec<&str> = binance.into_iter().chain(moex).collect();
    match simulated.as_slice() {
        [] => String::new(),
        names => format!(
            "SIMULATED: prices of {} are made up by a simulator, not market data; say so.",
            names.join(" and ")
        ),
    }
}

/// Returns when a terminal or a supervisor sends the process a stop signal. A terminal that is closed
/// sends a hang-up, which ends the process like the other two: settings are read only at start, so
/// there is nothing to reload.
pub(crate) async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let interrupted = tokio::signal::ctrl_c();
    let Ok(mut terminated) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    let hung_up = async {
        match hangup_is_ignored() {
            true => std::future::pending().await,
            false => match signal(SignalKind::hangup()) {
                Ok(mut hung_up) => hung_up.recv().await,
                Err(_) => std::future::pending().await,
            },
        }
    };
    tokio::select! {
        _ = interrupted => {}
        _ = terminated.recv() => {}
        _ = hung_up => {}
    }
}

/// Whether the parent process asked to ignore hang-ups, as `nohup` does: a handler would undo that.
/// Also true where the system does not say.
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_none_or(|mask| mask & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Settings;

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
    fn models_are_warned_of_simulated_markets_only() {
        let notice = |provider: &str, moex: &str| {
            let settings = Settings {
                data: Some("/data".into()),
                provider: provider.to_owned(),
                moex_provider: moex.to_owned(),
                ..Settings::default()
            };
            simulation_notice(&Config::resolve(settings).unwrap())
        };
        assert!(notice("sim", "sim").contains("Binance and Moscow Exchange"));
        assert!(notice("binance", "sim").contains("prices of Moscow Exchange are"));
        assert_eq!(notice("binance", "iss"), "");
    }
}
