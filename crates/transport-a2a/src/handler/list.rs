//! Lists of tasks, a page at a time. A page's token is the position of its last task, so that pages
//! neither repeat nor skip what does not change meanwhile.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::{AuthenticatedCaller, RequestHandler, history_length, is_name};
use crate::error::A2aError;
use crate::stamp;
use crate::store::{TaskCursor, TaskFilter, TaskRecord};
use crate::wire::{ListParams, Task, TaskList, TaskState};

const PAGE_USUAL: usize = 50;
const PAGE_MAX: usize = 100;
/// Lost tasks that are failed before a list, so that it does not show them as running.
const LOST_MAX: usize = 100;

impl RequestHandler {
    pub(crate) async fn list(
        &self,
        caller: &AuthenticatedCaller,
        params: ListParams,
    ) -> Result<TaskList, A2aError> {
        let length = history_length(params.history_length)?;
        let artifacts = params.include_artifacts.unwrap_or_default();
        let filter = filter(params)?;
        let (name, owner) = (self.name(), &caller.owner);
        let store = &self.context.store;
        for record in store.lost(name, Some(owner), LOST_MAX).await? {
            self.context.fail_lost(record).await?;
        }
        // One more than asked for says whether there is another page.
        let more = TaskFilter { limit: filter.limit + 1, ..filter.clone() };
        let mut page = store.list(name, owner, &more).await?;
        let next = (page.tasks.len() > filter.limit).then(|| {
            page.tasks.truncate(filter.limit);
            page.tasks.last().map(token).unwrap_or_default()
        });
        let shown = |record: TaskRecord| {
            let task = record.task.with_history(length);
            match artifacts {
                true => Task { artifacts: Some(task.artifacts.unwrap_or_default()), ..task },
                false => Task { artifacts: None, ..task },
            }
        };
        Ok(TaskList {
            tasks: page.tasks.into_iter().map(shown).collect(),
            next_page_token: next.unwrap_or_default(),
            page_size: filter.limit,
            total_size: page.total,
        })
    }
}

fn filter(params: ListParams) -> Result<TaskFilter, A2aError> {
    let set = |text: Option<String>| text.filter(|text| !text.is_empty());
    let limit = match params.page_size {
        None => PAGE_USUAL,
        Some(size) => usize::try_from(size)
            .ok()
            .filter(|size| (1..=PAGE_MAX).contains(size))
            .ok_or_else(|| A2aError::params("pageSize", "1 to 100"))?,
    };
    let state = set(params.status).filter(|word| word != "TASK_STATE_UNSPECIFIED");
    let state = state.map(|word| {
        TaskState::parse(&word).ok_or_else(|| A2aError::params("status", "a state of tasks"))
    });
    let since = set(params.status_timestamp_after).map(|text| {
        let wrong = || A2aError::params("statusTimestampAfter", "a time in ISO 8601");
        stamp::parse_ms(&text).ok_or_else(wrong)
    });
    let after = set(params.page_token).map(|text| {
        place(&text).ok_or_else(|| A2aError::params("pageToken", "the token of a page before"))
    });
    let context_id = set(params.context_id);
    if context_id.as_deref().is_some_and(|context| !is_name(context)) {
        return Err(A2aError::params("contextId", "up to 256 characters"));
    }
    Ok(TaskFilter {
        context_id,
        state: state.transpose()?,
        since_ms: since.transpose()?,
        after: after.transpose()?,
        limit,
    })
}

fn token(record: &TaskRecord) -> String {
    URL_SAFE_NO_PAD.encode(format!("{} {}", record.updated_ms, record.task.id))
}

fn place(token: &str) -> Option<TaskCursor> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
    let (updated_ms, id) = text.split_once(' ')?;
    is_name(id).then_some(())?;
    Some(TaskCursor { updated_ms: updated_ms.parse().ok()?, id: id.to_owned() })
}
