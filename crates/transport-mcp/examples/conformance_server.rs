//! The conformance fixtures on a port of this machine: `conformance_server 127.0.0.1:8931`.

use axum::serve::ListenerExt;
use transport_mcp::HttpOptions;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:8931".to_owned());
    let listener = tokio::net::TcpListener::bind(address).await?;
    let listener = listener.tap_io(|socket| {
        // Without it every event waits for the last one's acknowledgement.
        socket.set_nodelay(true).ok();
    });
    let router = transport_mcp::conformance_fixtures(&HttpOptions::default())?;
    let router = router.ok_or("built without the feature `conformance`")?;
    axum::serve(listener, router).await?;
    Ok(())
}
