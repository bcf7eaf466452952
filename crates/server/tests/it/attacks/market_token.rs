//! A token that is limited to one market changes and reads nothing of another one.

use serde_json::{Value, json};

use crate::pricing_path::{OPTIMIZER, ask, mint};
use crate::process::{Folder, Server};

#[tokio::test]
async fn a_token_of_another_market_cannot_change_the_catalogue() {
    let folder = Folder::new();
    let every = "import,propose,read,write,apply,admin";
    let foreign = mint(folder.path(), &["--scope", every, "--market", "EU"]);
    let own = mint(folder.path(), &["--scope", every, "--market", "DEFAULT"]);
    let server = Server::start(folder.path(), &[]);
    let rows = json!({ "rows": [{ "sku": "ANY-1", "price": "999.99", "cost": "1" }] });
    let price = json!({ "sku": "ANY-1", "our_price": 20, "competitor_price": 16, "cost": 5 });
    for (path, tool, arguments) in [
        ("/mcp/collector", "import_product_catalog", rows),
        (OPTIMIZER, "propose_price", price),
        (OPTIMIZER, "list_proposals", json!({})),
    ] {
        let call = async |token: &str| -> Result<Value, Value> {
            let mut arguments = arguments.clone();
            arguments["capability_token"] = json!(token);
            ask(&server.url(path), None, tool, arguments).await.unwrap()
        };
        let refused = call(&foreign).await.unwrap_err();
        assert!(refused.to_string().contains("market \\\"DEFAULT\\\""), "{tool}: {refused}");
        let answered = call(&own).await;
        assert!(answered.is_ok(), "{tool}: {answered:?}");
    }
}
