//! Checks acknowledged writes through the public API: some after each kill, all at the end.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use testkit::TestRng;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::acknowledged::{AckedFile, AckedSku, AckedUser, AckedWrites};
use crate::clients::archive::{hex, text};
use crate::clients::{Client, RequestFailure, Shared};
use crate::http::Request;
use crate::observations::increment;

/// At most this many checks run at once at the end.
const CHECKS_AT_ONCE: usize = 8;
/// A check that a kill interrupted is made again.
const TRIES_MAX: u32 = 6;
const RETRY_WAIT: Duration = Duration::from_millis(500);
/// Jobs that were queued when the load ended must end within this time.
const JOBS_TIMEOUT: Duration = Duration::from_mins(4);
const JOB_POLL: Duration = Duration::from_millis(500);
const PAGE: usize = 100;
/// Of the files and products that are checked after a kill.
const NEWEST: usize = 4;
const RANDOM: usize = 6;

/// The object of one check.
enum Check {
    User(AckedUser),
    File(AckedUser, AckedFile),
    Sku(String, AckedSku),
}

/// What the checks found.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) lost: Vec<String>,
    pub(crate) unfinished_jobs: Vec<String>,
    pub(crate) failed_jobs: Vec<String>,
    /// Checks that could not be made.
    pub(crate) unchecked: Vec<String>,
}

impl Findings {
    pub(crate) fn add(&mut self, other: Self) {
        self.lost.extend(other.lost);
        self.unfinished_jobs.extend(other.unfinished_jobs);
        self.failed_jobs.extend(other.failed_jobs);
        self.unchecked.extend(other.unchecked);
    }
}

fn checks(writes: &AckedWrites, users: bool) -> Vec<Check> {
    let user = |file: &AckedFile| writes.users.get(file.user).cloned();
    let files = writes.files.iter();
    let files = files.filter_map(|file| Some(Check::File(user(file)?, file.clone())));
    let skus = writes.skus.iter().map(|(name, sku)| Check::Sku(name.clone(), sku.clone()));
    let users = writes.users.iter().filter(|_| users).cloned().map(Check::User);
    files.chain(skus).chain(users).collect()
}

/// Checks the newest files, which a kill is most likely to damage, and random files and products.
pub(crate) async fn check_sample(shared: Arc<Shared>, seed: u64) -> Findings {
    let mut client = Client::new(&shared, seed, 0);
    let mut rng = TestRng::new(seed);
    let mut writes = shared.acknowledged.snapshot();
    let newest = writes.files.len().saturating_sub(NEWEST);
    let mut files = writes.files.split_off(newest);
    if !writes.files.is_empty() {
        files.extend((0..RANDOM).map(|_| rng.pick(&writes.files).clone()));
    }
    writes.files = files;
    while writes.skus.len() > RANDOM + NEWEST {
        let at = rng.index(writes.skus.len());
        let name = writes.skus.keys().nth(at).cloned().unwrap_or_default();
        writes.skus.remove(&name);
    }
    let mut findings = Findings::default();
    for check in checks(&writes, false) {
        // The next kill may come first; what it interrupts is checked at the end.
        let found = shared.stop.run_until_cancelled(check_one(&mut client, &check, false)).await;
        match found {
            Some(Ok(found)) => findings.lost.extend(found),
            Some(Err(_)) | None => return findings,
        }
        increment(&shared.observations.counts.checks);
    }
    findings
}

/// Checks everything that was acknowledged.
pub(crate) async fn check_all(shared: &Arc<Shared>, seed: u64) -> Findings {
    let mut lists: Vec<Vec<Check>> = (0..CHECKS_AT_ONCE).map(|_| Vec::new()).collect();
    for (at, check) in checks(&shared.acknowledged.snapshot(), true).into_iter().enumerate() {
        lists[at % CHECKS_AT_ONCE].push(check);
    }
    let mut tasks = JoinSet::new();
    let until = Instant::now() + JOBS_TIMEOUT;
    for (number, list) in lists.into_iter().enumerate() {
        let mut client = Client::new(shared, seed, number);
        tasks.spawn(async move {
            let mut findings = Findings::default();
            for check in &list {
                findings.add(check_until_ended(&mut client, check, until).await);
            }
            findings
        });
    }
    let mut findings = Findings::default();
    while let Some(found) = tasks.join_next().await {
        match found {
            Ok(found) => findings.add(found),
            Err(error) => findings.unchecked.push(format!("checks: {error}")),
        }
    }
    findings
}

async fn check_until_ended(client: &mut Client, check: &Check, until: Instant) -> Findings {
    let mut findings = Findings::default();
    for attempt in 1..=TRIES_MAX {
        match check_one(client, check, true).await {
            Ok(lost) => {
                findings.lost.extend(lost);
                break;
            }
            Err(_) if attempt < TRIES_MAX => tokio::time::sleep(RETRY_WAIT).await,
            Err(_) => findings.unchecked.push(name(check)),
        }
    }
    if let Check::File(user, file) = check {
        for job in &file.jobs {
            job_end(client, user, job, until, &mut findings).await;
        }
    }
    increment(&client.shared.observations.counts.checks);
    findings
}

fn name(check: &Check) -> String {
    match check {
        Check::User(user) => format!("user {}", user.name),
        Check::File(user, file) => format!("file {} of {}", file.id, user.name),
        Check::Sku(name, _) => format!("product {name}"),
    }
}

/// Checks one object and returns what is lost of it.
async fn check_one(
    client: &mut Client,
    check: &Check,
    at_the_end: bool,
) -> Result<Vec<String>, RequestFailure> {
    let mut lost = match check {
        Check::User(user) => login(client, user).await?,
        Check::File(user, file) => file_and_insights(client, user, file).await?,
        Check::Sku(name, sku) => {
            let mut lost = ticks(client, name, sku, at_the_end).await?;
            lost.extend(proposals(client, name, sku).await?);
            if at_the_end {
                lost.extend(price(client, name, sku).await?);
            }
            lost
        }
    };
    lost.iter_mut().for_each(|it| *it = format!("{}: {it}", name(check)));
    Ok(lost)
}

async fn login(client: &mut Client, user: &AckedUser) -> Result<Vec<String>, RequestFailure> {
    let ask = json!({ "action": "login", "username": user.name, "password": user.password });
    let answer =
        client.response_below_500("check", &Request::post("/api/arkiver/auth", &ask)).await?;
    match answer.status {
        200 => Ok(Vec::new()),
        429 => Err(RequestFailure::Refused),
        _ => Ok(vec![format!("cannot log in: {}", answer.excerpt())]),
    }
}

async fn file_and_insights(
    client: &mut Client,
    user: &AckedUser,
    file: &AckedFile,
) -> Result<Vec<String>, RequestFailure> {
    let mut lost = Vec::new();
    let path = format!("/api/arkiver/files/{}/content", file.id);
    let answer = client.response_below_500("check", &Request::get(path).token(&user.token)).await?;
    if answer.status != 200 {
        lost.push(format!("its content: {} {}", answer.status, answer.excerpt()));
    } else if hex(&Sha256::digest(&answer.body)) != file.sha256 {
        lost.push(format!("its content has changed, {} bytes", answer.body.len()));
    }
    for job in &file.jobs {
        let path = format!("/api/arkiver/jobs/{job}");
        let answer =
            client.response_below_500("check", &Request::get(path).token(&user.token)).await?;
        if answer.status != 200 {
            lost.push(format!("job {job}: {} {}", answer.status, answer.excerpt()));
        }
    }
    if !file.insights.is_empty() {
        let ask = json!({ "filters": { "fileId": file.id, "sourceLLM": "soak" },
            "pagination": { "limit": PAGE } });
        let request = Request::post("/api/arkiver/insights/query", &ask).token(&user.token);
        let found = client.response_below_500("check", &request).await?.json();
        let found = found["insights"].as_array().cloned().unwrap_or_default();
        for (id, title) in &file.insights {
            if !found.iter().any(|it| it["insightId"] == **id && it["title"] == **title) {
                lost.push(format!("insight {id}"));
            }
        }
    }
    Ok(lost)
}

/// Waits for the end of a job.
async fn job_end(
    client: &mut Client,
    user: &AckedUser,
    job: &str,
    until: Instant,
    findings: &mut Findings,
) {
    let request = Request::get(format!("/api/arkiver/jobs/{job}")).token(&user.token);
    let mut last = String::new();
    while Instant::now() < until {
        if let Ok(answer) = client.response_below_500("check", &request).await {
            let status = text(&answer.json(), "status");
            match status.as_str() {
                "completed" => return,
                "queued" | "processing" => last = answer.excerpt(),
                _ => {
                    findings.failed_jobs.push(format!("job {job}: {}", answer.excerpt()));
                    return;
                }
            }
        }
        tokio::time::sleep(JOB_POLL).await;
    }
    findings.unfinished_jobs.push(format!("job {job}: {last}"));
}

async fn ticks(
    client: &mut Client,
    name: &str,
    sku: &AckedSku,
    at_the_end: bool,
) -> Result<Vec<String>, RequestFailure> {
    let ask = json!({ "sku": name, "capability_token": client.shared.token });
    let seen = client.tool_now("check", "fetch_market_features", ask).await?;
    let count = seen["sample_count"].as_u64().unwrap_or_default();
    let units = seen["units"].as_f64().unwrap_or_default();
    let (ticks, unknown) = (sku.ticks, sku.unknown_ticks);
    // While the load goes on there may be more by now.
    let too_many = at_the_end && count > ticks + unknown;
    let changed = at_the_end && unknown == 0 && units != sku.units;
    Ok(if count < ticks || too_many || changed {
        let (had, unknown) = (sku.units, sku.unknown_ticks);
        vec![format!("{count} ticks with {units} units of {ticks} with {had}, {unknown} unknown")]
    } else {
        Vec::new()
    })
}

async fn proposals(
    client: &mut Client,
    name: &str,
    sku: &AckedSku,
) -> Result<Vec<String>, RequestFailure> {
    let kept = pages(client, "list_proposals", "proposals", name).await?;
    let trail = pages(client, "list_price_changes", "changes", name).await?;
    let mut lost = Vec::new();
    for proposal in &sku.proposals {
        let Some(found) = kept.iter().find(|it| it["proposal_id"] == *proposal.id) else {
            lost.push(format!("proposal {}", proposal.id));
            continue;
        };
        if found["proposed_price"] != proposal.price {
            lost.push(format!(
                "proposal {}: its price is {}",
                proposal.id, found["proposed_price"]
            ));
        }
        let in_trail = trail.iter().any(|it| {
            it["proposal_id"] == *proposal.id
                && it["action"] == "applied"
                && it["to_price"] == proposal.price
        });
        if proposal.applied && (found["status"] != "applied" || !in_trail) {
            let status = &found["status"];
            lost.push(format!("application of {}: {status}, in trail {in_trail}", proposal.id));
        }
    }
    Ok(lost)
}

/// The rows of all pages of a list about one product.
async fn pages(
    client: &mut Client,
    tool: &str,
    rows: &str,
    name: &str,
) -> Result<Vec<Value>, RequestFailure> {
    let mut all = Vec::new();
    let mut ask = json!({ "sku": name, "limit": PAGE, "capability_token": client.shared.token });
    loop {
        let page = client.tool_now("check", tool, ask.clone()).await?;
        all.extend(page[rows].as_array().cloned().unwrap_or_default());
        if page["next_cursor"].is_null() {
            return Ok(all);
        }
        ask["cursor"] = page["next_cursor"].clone();
    }
}

/// A proposal from the price that was applied last can be applied, so the catalogue has that price.
async fn price(
    client: &mut Client,
    name: &str,
    sku: &AckedSku,
) -> Result<Vec<String>, RequestFailure> {
    let (Some(price), false) = (sku.price(), sku.unknown_price) else { return Ok(Vec::new()) };
    let ask = json!({ "sku": name, "our_price": price, "cost": 9,
        "capability_token": client.shared.token });
    let proposal = client.tool_now("check", "propose_price", ask).await?;
    let id = proposal["proposal"]["proposal_id"].clone();
    let ask = json!({ "proposal_id": id, "capability_token": client.shared.token });
    match client.tool_now("check", "apply_proposal", ask).await {
        Ok(_) => Ok(Vec::new()),
        Err(RequestFailure::Refused) => Ok(vec![format!("its price is not {price}")]),
        Err(halt) => Err(halt),
    }
}
