//! `arkiver_share_case`: lets another user see a case, or takes that back.

use archive_accounts::{Access, Member};
use contract::Cx;
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Archive;
use crate::said::Said;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    case_id: String,
    username: String,
    access: Wanted,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Wanted {
    Read,
    Write,
    None,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<Said, Fault> {
    let visibility = cx.service.visibility(&cx.caller).await?;
    let access = match args.access {
        Wanted::Read => Access::Read,
        Wanted::Write => Access::Write,
        Wanted::None => Access::None,
    };
    let shared = cx.service.people.share(&visibility.owner, &args.case_id, &args.username, access);
    let members = shared.await?;
    let (case, name) = (&args.case_id, &args.username);
    let message = match args.access {
        Wanted::Read => format!("{name} may read the case {case}"),
        Wanted::Write => format!("{name} may read and write the case {case}"),
        Wanted::None => format!("the case {case} is no longer shared with {name}"),
    };
    let told: Vec<Value> = members.iter().map(member).collect();
    let json = json!({ "success": true, "caseId": case, "members": told, "message": message });
    Ok(Said::new(json, message))
}

fn member(it: &Member) -> Value {
    let access = if it.may_write { "write" } else { "read" };
    json!({ "username": it.username, "access": access })
}
