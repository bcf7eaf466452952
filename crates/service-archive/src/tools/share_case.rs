//! `arkiver_share_case`: shares a case with another user, or stops sharing it.

use archive_accounts::{CaseMember, SharePermission};
use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Archive;
use crate::wire::reply;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Args {
    case_id: String,
    username: String,
    access: AccessArg,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AccessArg {
    Read,
    Write,
    None,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let visibility = cx.service.visibility(&cx.caller).await?;
    let access = match args.access {
        AccessArg::Read => SharePermission::Read,
        AccessArg::Write => SharePermission::Write,
        AccessArg::None => SharePermission::None,
    };
    let shared =
        cx.service.accounts.share(&visibility.owner, &args.case_id, &args.username, access);
    let members = shared.await?;
    let (case, name) = (&args.case_id, &args.username);
    let message = match args.access {
        AccessArg::Read => format!("{name} may read the case {case}"),
        AccessArg::Write => format!("{name} may read and write the case {case}"),
        AccessArg::None => format!("the case {case} is no longer shared with {name}"),
    };
    let members_json: Vec<Value> = members.iter().map(member_json).collect();
    let json =
        json!({ "success": true, "caseId": case, "members": members_json, "message": message });
    Ok(reply(json, message + &next_step("arkiver_list_cases", &json!({ "access": "own" }))))
}

fn member_json(it: &CaseMember) -> Value {
    let access = if it.may_write { "write" } else { "read" };
    json!({ "username": it.username, "access": access })
}
