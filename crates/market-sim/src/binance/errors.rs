//! Binance's error responses, word for word.

use axum::http::StatusCode;

/// An answer such as `{"code":-1121,"msg":"Invalid symbol."}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) code: i32,
    pub(crate) message: String,
}

pub(crate) const SYMBOL_RANGE: &str = "^[A-Z0-9-_.]{1,20}$";
pub(crate) const SYMBOLS_RANGE: &str =
    r#"^\[("[A-Z0-9-_.]{1,20}"(,"[A-Z0-9-_.]{1,20}"){0,}){0,1}\]$"#;
pub(crate) const NUMBER_RANGE: &str = "^[0-9]{1,20}$";

impl ApiError {
    fn bad(code: i32, message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code, message: message.into() }
    }

    pub(crate) fn illegal(parameter: &str, range: &str) -> Self {
        Self::bad(
            -1100,
            format!(
                "Illegal characters found in parameter '{parameter}'; legal range is '{range}'."
            ),
        )
    }

    pub(crate) fn too_many_parameters(read: usize, sent: usize) -> Self {
        Self::bad(
            -1104,
            format!(
                "Not all sent parameters were read; read '{read}' parameter(s) but was sent '{sent}'."
            ),
        )
    }

    pub(crate) fn mandatory(parameter: &str) -> Self {
        Self::bad(
            -1102,
            format!(
                "Mandatory parameter '{parameter}' was not sent, was empty/null, or malformed."
            ),
        )
    }

    pub(crate) fn empty(parameter: &str) -> Self {
        Self::bad(-1105, format!("Parameter '{parameter}' was empty."))
    }

    pub(crate) fn invalid_interval() -> Self {
        Self::bad(-1120, "Invalid interval.")
    }

    pub(crate) fn invalid_symbol() -> Self {
        Self::bad(-1121, "Invalid symbol.")
    }

    pub(crate) fn combination() -> Self {
        Self::bad(-1128, "Combination of optional parameters invalid.")
    }

    pub(crate) fn invalid_data(parameter: &str) -> Self {
        Self::bad(-1130, format!("Data sent for parameter '{parameter}' is not valid."))
    }

    pub(crate) fn over_weight(limit: u32) -> Self {
        Self {
            status: StatusCode::TOO_MANY_REQUESTS,
            code: -1003,
            message: format!(
                "Too much request weight used; current limit is {limit} request weight per 1 \
                 MINUTE. Please use WebSocket Streams for live updates to avoid polling the API."
            ),
        }
    }

    pub(crate) fn banned(until: i64) -> Self {
        Self {
            status: StatusCode::IM_A_TEAPOT,
            code: -1003,
            message: format!(
                "Way too much request weight used; IP banned until {until}. Please use WebSocket \
                 Streams for live updates to avoid bans."
            ),
        }
    }

    pub(crate) fn geo_blocked() -> Self {
        Self {
            status: StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS,
            code: 0,
            message: "Service unavailable from a restricted location according to 'b. \
                      Eligibility' in https://www.binance.com/en/terms. Please contact customer \
                      service if you believe you received this message in error."
                .to_owned(),
        }
    }

    pub(crate) fn overloaded() -> Self {
        Self {
            status: StatusCode::SERVICE_UNAVAILABLE,
            code: -1008,
            message: "Server is currently overloaded with other requests. Please try again in a \
                      few minutes."
                .to_owned(),
        }
    }

    pub(crate) fn failed() -> Self {
        Self {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            code: -1000,
            message: "An unknown error occurred while processing the request.".to_owned(),
        }
    }

    pub(crate) fn body(&self) -> String {
        let message = serde_json::Value::from(self.message.as_str());
        format!("{{\"code\":{},\"msg\":{message}}}", self.code)
    }
}
