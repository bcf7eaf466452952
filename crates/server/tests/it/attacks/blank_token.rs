//! A blank token of the operator is refused at start: it would let in every caller that sends an
//! empty one.

use crate::process::{Folder, run, stoa};

#[test]
fn a_blank_token_is_refused_at_start() {
    let folder = Folder::new();
    for blank in ["", "  ", "\\t"] {
        let file = folder.path().join("stoa.toml");
        std::fs::write(&file, format!("\nhttp_token = \"{blank}\"\n")).unwrap();
        let (code, _, err) = run(stoa(folder.path()).arg("tools"));
        assert_eq!(code, 2, "{blank:?}: {err}");
        assert!(err.contains("line 2: http_token must be text that is not blank"), "{err}");
        std::fs::remove_file(file).unwrap();
    }
    let (code, _, err) = run(stoa(folder.path()).arg("tools").env("MCP_HTTP_TOKEN", " "));
    assert!(code == 2 && err.contains("MCP_HTTP_TOKEN must be text that is not blank"), "{err}");
}
