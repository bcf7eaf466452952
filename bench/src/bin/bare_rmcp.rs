//! The least an rmcp server can do: one tool that answers a constant, read from stdin at start. It
//! validates nothing, authenticates no caller and counts nothing.
//!
//! Usage: `bare_rmcp PORT < result.json`

use std::error::Error;
use std::io::Read as _;
use std::sync::Arc;

use axum::Router;
use axum::serve::ListenerExt as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use tokio::net::TcpListener;

#[derive(Clone)]
struct Bare(Arc<Constant>);

struct Constant {
    tool: Tool,
    answer: CallToolResult,
}

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == self.0.tool.name).then(|| self.0.tool.clone())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![self.0.tool.clone()]))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(self.0.answer.clone().into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port: u16 =
        std::env::args().nth(1).ok_or("usage: bare_rmcp PORT < result.json")?.parse()?;
    let mut answer = String::new();
    std::io::stdin().read_to_string(&mut answer)?;
    let answer = serde_json::from_str(&answer)?;
    let schema = json!({
        "type": "object",
        "properties": { "tickers": { "type": "array", "items": { "type": "string" } } },
    });
    let schema = Arc::new(schema.as_object().cloned().unwrap_or_default());
    let tool = Tool::new("quotes_live", "Fetch latest quotes for up to 50 tickers.", schema);
    let bare = Bare(Arc::new(Constant { tool, answer }));
    // The modern protocol is stateless either way; the older one gets sessions, as Stoa gives it.
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(bare.clone()), sessions, config);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    // Without this, every answer that is written in two pieces waits for a delayed ACK.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
