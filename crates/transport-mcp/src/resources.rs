//! Resources: the documents of the contracts, and the families that are read through a tool and
//! watched through a stream.

use std::collections::BTreeSet;
use std::sync::Arc;

use contract::{Progress, View};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, MetaObject,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ResourceContents, SubscribeRequestMethod, SubscriptionFilter, UnsubscribeRequestMethod,
};
use rmcp::service::{RequestContext as Cx, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};

use crate::context::{arrival, narrowing};
use crate::families::{Family, Member};
use crate::listing::ListedResource;
use crate::server::{LIST_TTL_MS, McpServer, admit, scope};
use crate::watches::{Listener, WATCHES_MAX, Watch};
use crate::{answer, cursor};

/// What a URI names.
enum Named<'a> {
    Document(&'a ListedResource),
    Member(Member<'a>),
}

impl McpServer {
    pub(crate) fn resources(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: &Cx<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let by = narrowing(&cx.extensions);
        let all = self.house.listing.resources.iter();
        let shown: Vec<_> = all.filter(|it| it.shown_beside(self.shown(by.as_ref()))).collect();
        let size = self.house.options.page_size;
        let asked = request.and_then(|request| request.cursor);
        let start = cursor::start("resources", asked.as_deref(), shown.len())?;
        let page = shown.iter().skip(start).take(size).map(|it| it.resource.clone()).collect();
        let mut result = ListResourcesResult::with_all_items(page);
        result.next_cursor = cursor::next("resources", start, size, shown.len());
        result.ttl_ms = Some(LIST_TTL_MS);
        result.cache_scope = Some(scope(by.is_some()));
        Ok(result)
    }

    pub(crate) fn templates(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: &Cx<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let by = narrowing(&cx.extensions);
        let shown: Vec<_> = self.families(by.as_ref()).collect();
        let size = self.house.options.page_size;
        let asked = request.and_then(|request| request.cursor);
        let start = cursor::start("resources/templates", asked.as_deref(), shown.len())?;
        let page = shown.iter().skip(start).take(size).map(|it| it.template.clone()).collect();
        let mut result = ListResourceTemplatesResult::with_all_items(page);
        result.next_cursor = cursor::next("resources/templates", start, size, shown.len());
        result.ttl_ms = Some(LIST_TTL_MS);
        result.cache_scope = Some(scope(by.is_some()));
        Ok(result)
    }

    pub(crate) fn families<'a>(&'a self, by: Option<&'a View>) -> impl Iterator<Item = &'a Family> {
        let all = self.house.listing.families.iter();
        all.filter(move |family| family.shown_beside(self.shown(by)))
    }

    fn named(&self, uri: &str, by: Option<&View>) -> Option<Named<'_>> {
        let house = &self.house;
        let document = house.listing.resources.iter().find(|it| it.resource.uri == uri);
        if let Some(document) = document {
            return document.shown_beside(self.shown(by)).then_some(Named::Document(document));
        }
        let all = house.listing.families.iter();
        let mut shown = all.filter(|family| family.shown_beside(self.shown(by)));
        let member = shown.find_map(|family| family.member(house.pipeline.catalog(), uri));
        member.map(Named::Member)
    }

    pub(crate) async fn read(
        &self,
        request: ReadResourceRequestParams,
        cx: Cx<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        admit(&cx)?;
        let by = narrowing(&cx.extensions);
        let named = self.named(&request.uri, by.as_ref());
        match named.ok_or_else(|| answer::unknown_resource(&request.uri))? {
            Named::Document(document) => {
                let contents = ResourceContents::text(document.text, request.uri);
                let contents = contents.with_mime_type("application/json");
                let mut result = ReadResourceResult::new(vec![contents]);
                result.ttl_ms = Some(LIST_TTL_MS);
                result.cache_scope = Some(scope(by.is_some()));
                Ok(result.into())
            }
            Named::Member(member) => self.read_member(request.uri, member, &cx).await,
        }
    }

    async fn read_member(
        &self,
        uri: String,
        member: Member<'_>,
        cx: &Cx<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let service = Some(Arc::clone(&member.service.name));
        let tool = member.spec.read.clone();
        let call = self.call(tool, service, member.args, cx, Progress::default());
        let outcome = self.house.pipeline.call(call).await;
        let outcome = outcome
            .ok_or_else(|| ErrorData::internal_error("a listed family has no tool", None))?;
        let reply = outcome.map_err(|failure| answer::failed_resource(&uri, &failure))?;
        let mut contents = ResourceContents::text(reply.result().to_string(), uri)
            .with_mime_type("application/json");
        let meta = reply.meta();
        if !meta.is_empty() {
            contents = contents.with_meta(MetaObject(meta));
        }
        let mut result = ReadResourceResult::new(vec![contents]);
        // It may have changed by the time it is read, and may depend on who asked.
        result.ttl_ms = Some(0);
        result.cache_scope = Some(CacheScope::Private);
        Ok(result.into())
    }

    /// Whether anything here can be watched, which is what the declared capability says.
    fn watchable(&self) -> bool {
        self.house.listing.families.iter().any(|family| family.watchable)
    }

    /// The watch on what a URI names. `None` for what never changes, or cannot say so.
    fn watch_on(&self, uri: &str, cx: &Cx<RoleServer>) -> Result<Option<Watch>, ErrorData> {
        let by = narrowing(&cx.extensions);
        let named = self.named(uri, by.as_ref());
        let member = match named.ok_or_else(|| answer::unknown_resource(uri))? {
            Named::Document(_) => return Ok(None),
            Named::Member(member) => member,
        };
        let Some(stream) = member.stream() else { return Ok(None) };
        let arrival = arrival(&cx.extensions, &self.house.options.credential);
        Ok(Some(Watch {
            pipeline: Arc::clone(&self.house.pipeline),
            uri: uri.to_owned(),
            service: Arc::clone(&member.service.name),
            stream: Arc::clone(stream),
            args: member.args,
            credential: arrival.credential,
            transport: self.house.options.transport,
            request_id: arrival.request_id,
            over: self.watches.over.clone(),
        }))
    }

    /// `resources/subscribe` of the older protocol.
    pub(crate) async fn watch(&self, uri: String, cx: Cx<RoleServer>) -> Result<(), ErrorData> {
        if !self.watchable() {
            return Err(ErrorData::method_not_found::<SubscribeRequestMethod>());
        }
        admit(&cx)?;
        let Some(watch) = self.watch_on(&uri, &cx)? else { return Ok(()) };
        if self.watches.has(&uri) {
            return Ok(());
        }
        let room = self.watches.room(1)?;
        let opened = watch.open(None).await;
        let feed = opened.map_err(|failure| answer::failed_resource(&uri, &failure))?;
        self.watches.start(watch, feed, cx.peer, room);
        Ok(())
    }

    pub(crate) fn unwatch(&self, uri: &str) -> Result<(), ErrorData> {
        if !self.watchable() {
            return Err(ErrorData::method_not_found::<UnsubscribeRequestMethod>());
        }
        self.watches.stop(uri);
        Ok(())
    }

    /// The part of a filter that names something here. What a header hides is found out later.
    pub(crate) fn accepted(&self, asked: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        if !self.watchable() {
            return None;
        }
        let uris = asked.resource_subscriptions.iter().flatten();
        let known = uris.filter(|uri| self.named(uri, None).is_some()).take(WATCHES_MAX);
        Some(SubscriptionFilter::builder().resource_subscriptions(known.cloned()).build())
    }

    /// `subscriptions/listen` of the newer protocol: one request watches until it is given up.
    pub(crate) async fn tell(&self, cx: SubscriptionContext) -> Result<(), ErrorData> {
        let request = cx.request_context();
        admit(request)?;
        let uris: BTreeSet<&String> =
            cx.accepted().resource_subscriptions.iter().flatten().collect();
        let watches = uris
            .into_iter()
            .map(|uri| self.watch_on(uri, request))
            .collect::<Result<Vec<_>, _>>()?;
        let watches: Vec<Watch> = watches.into_iter().flatten().collect();
        let _room = self.watches.room(watches.len())?;
        let listener = Listener::Request(cx.sink());
        let told: FuturesUnordered<_> =
            watches.iter().map(|watch| told(watch, &listener)).collect();
        tokio::select! {
            biased;
            () = cx.cancelled() => Ok(()),
            () = self.watches.over.cancelled() => Ok(()),
            ended = first_end(told) => ended,
        }
    }
}

async fn told(watch: &Watch, listener: &Listener<'_>) -> Result<(), ErrorData> {
    let gone = match watch.open(None).await {
        Ok(feed) => watch.follow(feed, listener).await,
        Err(failure) => Some(failure),
    };
    gone.map_or(Ok(()), |failure| Err(answer::failed_resource(&watch.uri, &failure)))
}

/// A request that watches several is over with the first of them, so that its client hears why and
/// asks again. One that watches nothing waits to be given up.
async fn first_end<F>(mut told: FuturesUnordered<F>) -> Result<(), ErrorData>
where
    F: Future<Output = Result<(), ErrorData>>,
{
    match told.next().await {
        Some(ended) => ended,
        None => std::future::pending().await,
    }
}
