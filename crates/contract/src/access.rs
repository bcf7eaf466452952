//! The `access` section of a contract: how callers prove who they are, where that differs from the
//! server's default.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::call::Credential;
use crate::schema::Schema;

/// Replaces the credential argument while the schema is checked, because the schema requires a
/// string there and the real token must not reach anything but the authenticator.
const PLACEHOLDER: &str = "taken";

/// How a contract authenticates its callers; the `access` section of `contract.json`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccessRules {
    /// The argument that carries the credential. A contract that names one has its caller
    /// authenticated and authorized before the other arguments are validated.
    #[serde(rename = "argument")]
    pub credential_argument: Option<String>,
    /// Whether a credential is required even on a server that lets anonymous callers read.
    #[serde(rename = "closed")]
    pub requires_credential: bool,
    /// Whether the handlers enforce the markets and SKUs that a credential is limited to.
    #[serde(rename = "limits")]
    pub honours_grant_limits: bool,
    /// Whether tools with the scope `open` identify a caller who presents a valid credential.
    #[serde(rename = "recognise")]
    pub identifies_callers: bool,
}

impl AccessRules {
    /// Replaces the credential argument by a placeholder and returns the credential. An argument
    /// that is not a string counts as an empty, and therefore invalid, token.
    pub(crate) fn take_credential(&self, args: &mut Map<String, Value>) -> Option<Credential> {
        let argument = args.get_mut(self.credential_argument.as_deref()?)?;
        let token = std::mem::replace(argument, Value::from(PLACEHOLDER));
        Some(Credential::Bearer(Arc::from(token.as_str().unwrap_or_default())))
    }

    /// Removes the placeholder that [`AccessRules::take_credential`] left.
    pub(crate) fn remove_placeholder(&self, args: &mut Map<String, Value>) {
        if let Some(name) = &self.credential_argument {
            args.remove(name);
        }
    }

    /// The input schema without its credential argument among the required ones, for transports
    /// whose header may carry the credential; `None` if the schema does not change.
    pub(crate) fn without_required_credential(&self, input: &Schema) -> Option<Schema> {
        let name = self.credential_argument.as_ref()?;
        let mut json = input.json().clone();
        json.get_mut("required")?.as_array_mut()?.retain(|it| it != name);
        Some(Schema::new(json))
    }
}
