//! `system.metadata`: versions and limits. It never leaves the process.

use contract::Cx;
use fault::Fault;

use crate::Quotes;
use crate::answer::MetadataReply;
use crate::wire::NoArgs;

pub(crate) async fn call(cx: Cx<Quotes>, _: NoArgs) -> Result<MetadataReply, Fault> {
    Ok(cx.service.metadata.clone())
}
