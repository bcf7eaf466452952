//! Who may come in: the gate of the pipeline, over capability tokens and the static HTTP token.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use auth::{AuthMetrics, Authority, Secret, same_secret, token_missing};
use contract::{Caller, Credential, Gate};
use fault::{Fault, Kind};
use market::Clock;

pub(crate) struct Access {
    authority: Arc<Authority>,
    clock: Arc<dyn Clock>,
    /// The one token an operator may set for the whole server; it allows reading.
    http_token: Option<Secret>,
    /// Whether a caller without a credential may read.
    open: bool,
    reader: Caller,
    operator: Caller,
    /// Counted for each service, because the pricing contract reports them for each.
    metrics: HashMap<String, AuthMetrics>,
}

impl Access {
    pub(crate) fn new(
        authority: Arc<Authority>,
        clock: Arc<dyn Clock>,
        http_token: Option<Secret>,
        open: bool,
        services: &[&str],
    ) -> Self {
        let read: Arc<[String]> = Arc::from([contract::Scope::Read.word().to_owned()]);
        let caller = |subject: &str| Caller { subject: subject.into(), scopes: Arc::clone(&read) };
        let metrics = |name: &&str| ((*name).to_owned(), AuthMetrics::new(*name));
        Self {
            reader: caller("anonymous"),
            operator: caller("operator"),
            metrics: services.iter().map(metrics).collect(),
            authority,
            clock,
            http_token,
            open,
        }
    }

    async fn look(&self, credential: &Credential, service: &str) -> Result<Caller, Fault> {
        match credential {
            Credential::None if self.open => Ok(self.reader.clone()),
            Credential::None => Err(token_missing(Some(contract::Scope::Read.word()))),
            Credential::Bearer(token) => {
                let set = self.http_token.as_ref();
                if set.is_some_and(|set| same_secret(token, set.reveal())) {
                    return Ok(self.operator.clone());
                }
                let grant = self.authority.verify(token, self.clock.now().0 / 1000).await?;
                // No service honours these yet, and a limit that is not honoured must not be
                // forgotten. The edge only asks whether the token holds.
                let limited = grant.limits.market.is_some() || grant.limits.sku_prefix.is_some();
                if limited && self.metrics.contains_key(service) {
                    return Err(Fault::new(
                        Kind::Forbidden,
                        "limit_not_honoured",
                        format!(
                            "this token is limited to markets or SKUs, which {service} has none of"
                        ),
                    ));
                }
                Ok(Caller {
                    subject: grant.subject.as_str().into(),
                    scopes: grant.scopes.iter().map(ToString::to_string).collect(),
                })
            }
        }
    }
}

#[async_trait]
impl Gate for Access {
    async fn admit(&self, credential: &Credential, service: &str) -> Result<Caller, Fault> {
        let looked = self.look(credential, service).await;
        if let (Some(metrics), Err(fault)) = (self.metrics.get(service), &looked) {
            metrics.record_fault(None, fault);
        }
        looked
    }

    fn decided(&self, service: &str, scope: contract::Scope, denied: Option<&Fault>) {
        let Some(metrics) = self.metrics.get(service) else { return };
        match denied {
            None => metrics.record_ok(Some(scope.word())),
            Some(fault) => metrics.record_fault(Some(scope.word()), fault),
        }
    }
}
