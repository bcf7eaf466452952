//! Builds the server from store, venues, services and pipeline, and shuts them down in order.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use archive_accounts::Accounts;
use auth::{AccessCounters, AccessPolicy, Authority, Keyring, SqlRevocations};
use clock::{Clock, SystemClock};
use contract::{Authenticator as _, Catalog, Credential, Pipeline, Service, View};
use jobs::{Jobs, QueueLimits};
use market::{BarArchive, Venue};
use market_bars::BarHistory;
use market_bars::BarStore;
use service_indicators::{LiveSetup, Queues};
use service_quotes::{LocalApi, RemoteApi};
use store::{Db, StoreConfig};
use telemetry::{BuildInfo, Metrics};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::archive;
use crate::commands::names;
use crate::config::Config;
use crate::exit::CommandError;
use crate::health::HealthMonitor;
use crate::language_model;
use crate::meters::Meters;
use crate::pricing;
use crate::tool_caller::PipelineToolCaller;
use crate::venues::{self, Venues};

/// How long shutdown waits for background work.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The parts that every command with tools needs.
pub(crate) struct App {
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) view: View,
    pub(crate) authenticator: Arc<AccessPolicy>,
    pub(crate) authority: Arc<Authority>,
    /// The users of the archive. Its clones count failed logins together.
    pub(crate) accounts: Accounts,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) stop: CancellationToken,
    /// Kept for the metrics, which show how many series are being fetched.
    pub(crate) history: Arc<BarHistory>,
    pub(crate) tasks: TaskTracker,
    pub(crate) db: Db,
    pub(crate) jobs: Jobs,
    venues: Venues,
}

/// Who calls the tools of a process.
pub(crate) enum Audience {
    /// The user who started it, over stdio or on the command line.
    LocalUser,
    /// Clients over HTTP.
    HttpClients {
        /// Whether a caller without a credential may read.
        open: bool,
        /// The address at which they reach the server.
        base_url: String,
    },
}

impl Audience {
    fn may_read(&self) -> bool {
        matches!(self, Self::LocalUser | Self::HttpClients { open: true, .. })
    }

    /// Signs the local user in. A database that other machines share has no local user.
    fn sign_in(&self, policy: AccessPolicy, config: &Config, accounts: &Accounts) -> AccessPolicy {
        match self {
            Self::LocalUser if config.database_url.is_none() => {
                policy.with_local_user(Arc::new(archive::LocalAccount(accounts.clone())))
            }
            _ => policy,
        }
    }

    fn base_url(&self) -> Option<String> {
        match self {
            Self::LocalUser => None,
            Self::HttpClients { base_url, .. } => Some(base_url.clone()),
        }
    }
}

/// The dependencies of the services.
pub(crate) struct Parts<'a> {
    pub(crate) config: &'a Config,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) archive: Arc<BarStore>,
    pub(crate) history: Arc<BarHistory>,
    /// One handle for all services, because its clones wake each other.
    pub(crate) jobs: Jobs,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}

impl App {
    /// The tools for the user who starts this process, without a server.
    pub(crate) async fn start(config: &Config) -> Result<Self, CommandError> {
        Self::start_for(config, Audience::LocalUser).await
    }

    pub(crate) async fn start_for(
        config: &Config,
        audience: Audience,
    ) -> Result<Self, CommandError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let build = BuildInfo { version: VERSION.to_owned(), commit: commit().to_owned() };
        let metrics = Arc::new(Metrics::new(build, clock.now().0 / 1000));
        let db = open_store(config).await?;
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let archive = Arc::new(BarStore::new(db.clone()));
        let kept: Arc<dyn BarArchive> = Arc::<BarStore>::clone(&archive);
        let parts = Parts {
            config,
            clock: Arc::clone(&clock),
            archive,
            history: Arc::new(BarHistory::new(
                kept,
                Arc::clone(&clock),
                tasks.clone(),
                stop.clone(),
            )),
            jobs: Jobs::new(db.clone(), Arc::clone(&clock), QueueLimits::default()),
            metrics: Arc::clone(&metrics),
            tasks,
            stop,
        };
        let venues = Venues::open(&parts).await?;
        let tools = Arc::new(PipelineToolCaller::default());
        let model = config.language_model.as_ref();
        let analyst = language_model::analyst(model, Arc::clone(&tools) as _, Arc::clone(&clock))?;
        let counters = AccessCounters::default();
        let keys = Keyring::open(&config.data)?;
        let authority = Arc::new(Authority::new(keys, Arc::new(SqlRevocations::new(db.clone()))));
        let accounts = archive::accounts(&parts, &db);
        let services = vec![
            quotes(&parts, &venues)?,
            indicators(&parts, &venues)?,
            moex(&parts, &venues)?,
            service_analyst::service(analyst)?,
            pricing::collector(&parts, &db, &counters)?,
            pricing::optimizer(&parts, &db, &counters)?,
            archive::archive(&parts, &db, &authority, accounts.clone(), audience.base_url())?,
        ];
        let limited =
            services.into_iter().map(|it| it.with_default_concurrency(config.tool_concurrency));
        let catalog = Catalog::new(limited.collect())?;
        check_view(&catalog, &config.view)?;
        let http_token = config.http_token.clone();
        let (known, doors) = (catalog.services(), &counters);
        let open = audience.may_read();
        let policy = AccessPolicy::new(authority.clone(), clock, http_token, open, known, doors);
        let authenticator = Arc::new(audience.sign_in(policy, config, &accounts));
        let meter = Arc::new(Meters(Arc::clone(&metrics)));
        let Parts { tasks, stop, history, jobs, .. } = parts;
        let timeout = config.call_timeout;
        let pipeline = Pipeline::new(catalog, Arc::clone(&authenticator) as _, meter, timeout);
        let pipeline = Arc::new(pipeline);
        tools.open(&pipeline);
        Ok(Self {
            pipeline,
            view: config.view.clone(),
            authenticator,
            authority,
            accounts,
            metrics,
            stop,
            history,
            venues,
            tasks,
            db,
            jobs,
        })
    }

    /// Logs which exchanges cannot be reached; it does not wait for them.
    pub(crate) fn check_venues(&self) {
        self.venues.check_in_background(&self.tasks, &self.stop);
    }

    /// The credential of the user who runs this process, from `STOA_TOKEN`. A token that is not
    /// valid is kept, because the tools that need one say what is wrong with it.
    pub(crate) async fn own_credential(&self, config: &Config) -> Credential {
        let Some(token) = &config.token else { return Credential::None };
        let credential = Credential::Bearer(Arc::from(token.reveal()));
        if let Err(fault) = self.authenticator.verify(&credential).await {
            tracing::warn!("STOA_TOKEN is not valid; only calls that need none succeed ({fault})");
        }
        credential
    }

    /// The monitor that answers `/health`.
    pub(crate) fn health_monitor(&self) -> HealthMonitor {
        let provider = self.venues.provider();
        HealthMonitor::new(self.venues.probe(), Arc::clone(&self.history), provider)
            .with_sources(self.venues.sources())
    }

    /// Stops the background tasks, then closes the store that they may still write to.
    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.tasks.close();
        let ended = async {
            self.venues.close().await;
            self.tasks.wait().await;
        };
        if tokio::time::timeout(STOP_TIMEOUT, ended).await.is_err() {
            tracing::warn!(left = self.tasks.len(), "background work was cut at shutdown");
        }
        self.db.close().await;
    }
}

/// The version with the first twelve digits of the commit, as `stoa --version` prints it.
pub(crate) fn version() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let commit = commit();
        format!("{VERSION} ({})", commit.get(..12).unwrap_or(commit))
    });
    &TEXT
}

/// The commit this binary was built from, where the build knew.
pub(crate) fn commit() -> &'static str {
    option_env!("BUILD_COMMIT").unwrap_or("unknown")
}

pub(crate) async fn open_store(config: &Config) -> Result<Db, CommandError> {
    let url = config.database_url.as_ref().map(|url| url.reveal().to_owned());
    let db = Db::open(&StoreConfig { data_dir: config.data.clone(), url }).await?;
    db.migrate(&[
        market_bars::MIGRATIONS,
        auth::MIGRATIONS,
        transport_a2a_store::MIGRATIONS,
        jobs::MIGRATIONS,
        archive_accounts::MIGRATIONS,
        archive_documents::MIGRATIONS,
        archive_insights::MIGRATIONS,
        archive_search::MIGRATIONS,
        service_pricing::MIGRATIONS,
        transport_oauth::MIGRATIONS,
    ])
    .await?;
    Ok(db)
}

fn quotes(parts: &Parts<'_>, venues: &Venues) -> Result<Service, CommandError> {
    if let Some(base) = &parts.config.arche_api_url {
        let token = parts.config.arche_api_token.as_ref().map(|token| token.reveal());
        return Ok(service_quotes::service(RemoteApi::new(
            base,
            token,
            Arc::clone(&parts.clock),
        )?)?);
    }
    let api = LocalApi::new(service_quotes::LocalApiParts {
        venues: venues.ports(),
        default_venue: venues::DEFAULT,
        history: Arc::clone(&parts.history),
    });
    Ok(service_quotes::service(api)?)
}

fn indicators(parts: &Parts<'_>, venues: &Venues) -> Result<Service, CommandError> {
    let market = service_indicators::Market {
        venues: venues.ports(),
        default_venue: venues::DEFAULT,
        history: Arc::clone(&parts.history),
        health: venues.probe(),
    };
    let tasks =
        service_indicators::Tasks { tracker: parts.tasks.clone(), stop: parts.stop.clone() };
    let queues = Queues::default();
    watch(&parts.metrics, &queues);
    let setup = LiveSetup { tasks, limits: parts.config.stream_limits, queues };
    Ok(service_indicators::service(market, Arc::clone(&parts.clock), VERSION, setup)?)
}

/// Gauges of the events that wait for stream readers: the total, the largest queue of one reader,
/// and the bytes of the stream memory.
fn watch(metrics: &Metrics, queues: &Queues) {
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let all = queues.clone();
    metrics.set_on_scrape(metrics.queue_depth("subscriptions"), move || number(all.depth().all));
    let longest = queues.clone();
    let level = metrics.queue_depth("subscriptions:longest");
    metrics.set_on_scrape(level, move || number(longest.depth().longest));
    let memory = queues.clone();
    metrics.set_on_scrape(metrics.stream_bytes(), move || number(memory.memory_bytes()));
}

fn moex(parts: &Parts<'_>, venues: &Venues) -> Result<Service, CommandError> {
    Ok(service_moex::service(
        venues.stocks(),
        Arc::clone(&parts.clock),
        venues.source(Venue::Moex),
    )?)
}

/// Refuses a service or tool name that does not exist, because the list would be silently empty.
fn check_view(catalog: &Catalog, view: &View) -> Result<(), CommandError> {
    let names: Vec<&str> = catalog.services().iter().map(|it| &*it.name).collect();
    for asked in view.services.iter().flatten() {
        if !names.contains(&asked.as_str()) {
            let known = names.join(", ");
            return Err(CommandError::usage(format!(
                "there is no service {asked:?}; known: {known}"
            )));
        }
    }
    for asked in view.tools.iter().flatten() {
        let everything = View::default();
        let known = catalog
            .list(&everything)
            .any(|listed| listed.name == asked || listed.tool.spec.spellings().contains(asked));
        if !known {
            return Err(names::no_tool(asked, catalog));
        }
    }
    Ok(())
}
