//! `arkiver_list_cases`: the cases the caller may see, by name, page by page, with the number of
//! their files and insights.

use archive_accounts::CaseAccess;
use contract::{Cx, JsonReply, next_step};
use fault::Fault;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Archive;
use crate::wire::{self, put, reply};

#[derive(Deserialize)]
pub(crate) struct Args {
    access: Option<AccessArg>,
    limit: u32,
    offset: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AccessArg {
    Own,
    Shared,
}

pub(crate) async fn call(cx: Cx<Archive>, args: Args) -> Result<JsonReply, Fault> {
    let archive = &cx.service;
    let visibility = archive.visibility(&cx.caller).await?;
    let wanted = |case: &&CaseAccess| match args.access {
        None => true,
        Some(access) => case.own == (access == AccessArg::Own),
    };
    let cases: Vec<&CaseAccess> = visibility.cases.iter().filter(wanted).collect();
    let total = cases.len() as u64;
    let offset = usize::try_from(args.offset).unwrap_or(usize::MAX);
    let page = cases.into_iter().skip(offset).take(args.limit as usize);
    let page: Vec<&CaseAccess> = page.collect();
    let ids: Vec<&str> = page.iter().map(|case| case.id.as_str()).collect();
    let records = archive.accounts.case_records(&visibility, &ids).await?;
    let files = archive.documents.count_by_case(&visibility, &ids).await?;
    let insights = archive.insights.count_by_case(&visibility, &ids).await?;
    let mut text = format!("{total} cases.");
    let mut listed: Vec<Value> = Vec::with_capacity(page.len());
    for case in page {
        let count = |counts: &std::collections::HashMap<String, u64>| {
            counts.get(&case.id).copied().unwrap_or_default()
        };
        let (files, insights) = (count(&files), count(&insights));
        let access = access_word(case);
        let mut json = json!({ "caseId": case.name, "own": case.own, "access": access,
            "fileCount": files, "insightCount": insights });
        if let Some(record) = records.get(&case.id) {
            json["createdAt"] = Value::from(record.created_at.to_rfc3339_millis());
            json["sharedWith"] = Value::from(record.members);
            put(&mut json, "owner", record.owner_name.as_deref());
        }
        text.push_str(&format!("\n- {} ({access}): {files} files, {insights} insights", case.name));
        listed.push(json);
    }
    let next = args.offset.saturating_add(listed.len() as u64);
    if next < total && !listed.is_empty() {
        let access = args.access.map(|it| if it == AccessArg::Own { "own" } else { "shared" });
        let page = json!({ "access": access, "limit": args.limit, "offset": next });
        text.push_str(&next_step("arkiver_list_cases", &page));
    }
    let pagination = wire::pagination(args.limit, args.offset, listed.len(), total);
    let json =
        json!({ "success": true, "cases": listed, "total": total, "pagination": pagination });
    Ok(reply(json, text))
}

fn access_word(case: &CaseAccess) -> &'static str {
    match (case.own, case.may_write) {
        (true, _) => "owner",
        (false, true) => "write",
        (false, false) => "read",
    }
}
