//! `system.metadata`: versions and limits. The call sends no request.

use contract::Cx;
use fault::Fault;

use crate::Quotes;
use crate::reply::MetadataReply;
use crate::wire::NoArgs;

pub(crate) async fn call(cx: Cx<Quotes>, _: NoArgs) -> Result<MetadataReply, Fault> {
    Ok(cx.service.metadata.clone())
}
