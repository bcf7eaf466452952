//! How a contract wants its callers to prove themselves, where that differs from the house: a
//! credential among the arguments, nobody let in without one, limits that the handlers honour.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::call::Credential;
use crate::files::ContractError;
use crate::schema::Schema;

/// What stands in for a credential while the arguments are checked: the schema asks for a text, and
/// the real one goes no further than the authenticator.
const TAKEN: &str = "taken";

/// The `access` section of a contract.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccessRules {
    /// The argument that carries a credential. A contract that has one asks who is calling, and for
    /// what, before it looks at what else was said.
    pub argument: Option<String>,
    /// Whether a credential is asked for even where the house is open for reading.
    pub closed: bool,
    /// Whether the handlers keep to the markets and goods that a credential is limited to.
    pub limits: bool,
    /// Whether tools that are open to anybody still learn who calls, where a good credential came.
    pub recognise: bool,
}

impl AccessRules {
    /// Takes the credential out of the arguments, so that nothing after the authenticator can repeat it. One
    /// that is no text is a credential all the same, and a bad one.
    pub(crate) fn take(&self, args: &mut Map<String, Value>) -> Option<Credential> {
        let given = args.get_mut(self.argument.as_deref()?)?;
        let taken = std::mem::replace(given, Value::from(TAKEN));
        Some(Credential::Bearer(Arc::from(taken.as_str().unwrap_or_default())))
    }

    /// Removes what was left in its place.
    pub(crate) fn forget(&self, args: &mut Map<String, Value>) {
        if let Some(name) = &self.argument {
            args.remove(name);
        }
    }

    /// The input where a header may carry the credential instead: the argument is not required.
    pub(crate) fn relaxed(&self, input: &Schema) -> Result<Option<Schema>, ContractError> {
        let Some(name) = &self.argument else { return Ok(None) };
        let mut json = input.json().clone();
        let Some(required) = json.get_mut("required").and_then(Value::as_array_mut) else {
            return Ok(None);
        };
        required.retain(|it| it != name);
        Schema::compile(json).map(Some)
    }
}
