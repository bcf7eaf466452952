//! The archive in this server: the location of its files, the process that reads them, and the
//! tokens of its users.

use std::sync::Arc;
use std::time::Duration;

use archive_accounts::Accounts;
use archive_documents::Documents;
use archive_insights::Insights;
use archive_search::Search;
use async_trait::async_trait;
use auth::{Authority, LocalUser, MintRequest, ScopeName, ScopeSet, TokenLimits};
use clock::{Clock, Millis};
use contract::{Caller, Scope, Service};
use fault::{Fault, Kind};
use llm::Model;
use service_archive::{ArchiveParts, ExtractorCommand, IssuedToken, TokenIssuer};
use store::Db;

use crate::app::Parts;
use crate::exit::CommandError;
use crate::meters::Meters;

/// The service that the tokens are limited to.
pub(crate) const SERVICE: &str = "archive";
/// The argument that makes this program read one file and exit.
pub(crate) const READER: &str = "extract-worker";
/// The argument that makes this program analyse the text of one file and exit.
pub(crate) const ANALYSER: &str = "analysis-worker";
/// Languages for OCR, tried in order.
const LANGUAGES: [&str; 2] = ["eng", "rus"];

/// The users of the archive. One handle is shared, because its clones count failed logins together.
pub(crate) fn accounts(parts: &Parts<'_>, db: &Db) -> Accounts {
    let rules =
        archive_accounts::RegistrationPolicy { registration_open: parts.config.registration_open };
    Accounts::new(db.clone(), Arc::clone(&parts.clock), rules)
}

pub(crate) fn archive(
    parts: &Parts<'_>,
    db: &Db,
    authority: &Arc<Authority>,
    accounts: Accounts,
    base_url: Option<String>,
) -> Result<Service, CommandError> {
    let clock = &parts.clock;
    let data = &parts.config.data;
    let documents =
        Documents::new(db.clone(), data, Arc::clone(clock), parts.config.uploads.clone());
    sweep(parts, documents.clone(), accounts.clone());
    let mut models: Vec<Arc<dyn Model>> = Vec::new();
    if let Some(model) = &parts.config.language_model {
        models.push(Arc::new(model.client()?));
    }
    Ok(service_archive::service(ArchiveParts {
        jobs: parts.jobs.clone(),
        clock: Arc::clone(clock),
        accounts,
        insights: Insights::new(db.clone(), Arc::clone(clock)),
        search: Search::new(db.clone()),
        documents,
        tokens: Arc::new(Keys { authority: Arc::clone(authority), clock: Arc::clone(clock) }),
        base_url,
        models,
        extractor: ExtractorCommand {
            program: std::env::current_exe()?,
            arguments: vec![READER.to_owned()],
            analysis_arguments: vec![ANALYSER.to_owned()],
            scratch: data.join("scratch"),
            languages: LANGUAGES.map(str::to_owned).into(),
        },
        meter: Some(Arc::new(Meters(Arc::clone(&parts.metrics)))),
        tasks: parts.tasks.clone(),
        stop: parts.stop.clone(),
        db: db.clone(),
    })?)
}

/// Deletes the leftovers of dead processes and expired sessions, now and every hour.
fn sweep(parts: &Parts<'_>, documents: Documents, accounts: Accounts) {
    let stop = parts.stop.clone();
    parts.tasks.spawn(async move {
        let sweeping = async {
            let mut hours = tokio::time::interval(Duration::from_hours(1));
            loop {
                hours.tick().await;
                if let Err(fault) = documents.sweep().await {
                    tracing::warn!("the leftovers of uploads could not be removed: {fault}");
                }
                if let Err(fault) = accounts.sweep().await {
                    tracing::warn!("the sessions that are over could not be removed: {fault}");
                }
            }
        };
        stop.run_until_cancelled(sweeping).await;
    });
}

/// Issues tokens for the archive's users, which are limited to the archive.
struct Keys {
    authority: Arc<Authority>,
    clock: Arc<dyn Clock>,
}

/// What the token of an upload link is limited to. It is the name of no service, so no service
/// accepts the token.
fn upload_limit(upload_id: &str) -> String {
    format!("{SERVICE}/uploads/{upload_id}")
}

/// The fault of a link whose token does not hold; a store that cannot be asked is another matter.
fn invalid_link(fault: Fault) -> Fault {
    match fault.kind() {
        Kind::Unauthenticated | Kind::Forbidden | Kind::Invalid => {
            let message = "this upload link is not valid or has expired; ask for another with \
                           arkiver_add_file";
            Fault::new(Kind::Unauthenticated, "upload_link_invalid", message)
        }
        _ => fault,
    }
}

#[async_trait]
impl TokenIssuer for Keys {
    async fn issue(&self, subject: &str, ttl: Duration) -> Result<IssuedToken, Fault> {
        self.mint(subject, &[ScopeName::READ, ScopeName::WRITE], SERVICE.to_owned(), ttl)
    }

    async fn issue_upload(
        &self,
        subject: &str,
        upload_id: &str,
        ttl: Duration,
    ) -> Result<IssuedToken, Fault> {
        self.mint(subject, &[ScopeName::WRITE], upload_limit(upload_id), ttl)
    }

    async fn verify_upload(&self, token: &str, upload_id: &str) -> Result<String, Fault> {
        let now = self.clock.now().0 / 1000;
        let grant = self.authority.verify(token, now).await.map_err(invalid_link)?;
        // A token without a limit to services is not meant for links.
        let limit = grant.limits.service.as_deref();
        let is_for_it = limit == Some(&[upload_limit(upload_id)]) && grant.scopes.contains("write");
        match is_for_it {
            true => Ok(grant.subject.clone()),
            false => {
                let message = "the token is not of this upload";
                let fault = Fault::new(Kind::Forbidden, "upload_link_invalid", message);
                Err(invalid_link(fault))
            }
        }
    }
}

/// The user who started this process, as a user of the archive.
pub(crate) struct LocalAccount(pub(crate) Accounts);

#[async_trait]
impl LocalUser for LocalAccount {
    async fn caller(&self) -> Result<Caller, Fault> {
        let subject = self.0.local_subject().await?;
        Ok(Caller::new(subject, [Scope::Read, Scope::Write].map(|it| it.as_str().to_owned())))
    }

    fn is_account(&self, subject: &str) -> bool {
        archive_accounts::session_of(subject).is_some()
    }
}

impl Keys {
    fn mint(
        &self,
        subject: &str,
        scopes: &[ScopeName],
        service: String,
        ttl: Duration,
    ) -> Result<IssuedToken, Fault> {
        let now = self.clock.now();
        let request = MintRequest {
            subject: subject.to_owned(),
            scopes: scopes.iter().cloned().collect::<ScopeSet>(),
            ttl,
            limits: TokenLimits { service: Some(vec![service]), ..TokenLimits::default() },
        };
        let token = self.authority.mint(&request, now.0 / 1000)?;
        let life = i64::try_from(ttl.as_secs()).map_err(Fault::internal)?;
        Ok(IssuedToken {
            token: archive_accounts::Secret::new(token.reveal()),
            expires_at: Millis((now.0 / 1000 + life) * 1000),
        })
    }
}
