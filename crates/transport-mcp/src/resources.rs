//! Resources: the documents of the contracts, and templates that are read through a tool and
//! subscribed to through a stream.

use std::collections::BTreeSet;
use std::sync::Arc;

use contract::{Progress, View};
use fault::Kind;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, MetaObject,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceContents, SubscribeRequestMethod, SubscriptionFilter,
    UnsubscribeRequestMethod,
};
use rmcp::service::{RequestContext as Cx, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler as _};

use crate::context::{narrowing, request_meta};
use crate::listing::ListedResource;
use crate::resource_templates::{ListedTemplate, TemplateMatch};
use crate::server::{LIST_TTL_MS, McpServer, scope};
use crate::subscriptions::{ResourceSubscription, SUBSCRIPTIONS_MAX, UpdateSink};
use crate::{answer, cursor};

/// A resource that a URI names.
enum NamedResource<'a> {
    Document(&'a ListedResource),
    Templated(TemplateMatch<'a>),
}

impl McpServer {
    pub(crate) fn resources(
        &self,
        request: Option<PaginatedRequestParams>,
        cx: &Cx<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let by = narrowing(&cx.extensions);
        let all = self.state.listing.resources.iter();
        let visible = all.filter(|it| it.shown_beside(self.visible_tools(by.as_ref())));
        let mut shown: Vec<Resource> = visible.map(|it| it.resource.clone()).collect();
        shown.extend(self.state.extension.iter().flat_map(|extension| extension.resources()));
        let size = self.state.options.page_size;
        let asked = request.and_then(|request| request.cursor);
        let start = cursor::start("resources", asked.as_deref(), shown.len())?;
        let page = shown.iter().skip(start).take(size).cloned().collect();
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
        let shown: Vec<_> = self.visible_templates(by.as_ref()).collect();
        let size = self.state.options.page_size;
        let asked = request.and_then(|request| request.cursor);
        let start = cursor::start("resources/templates", asked.as_deref(), shown.len())?;
        let page = shown.iter().skip(start).take(size).map(|it| it.template.clone()).collect();
        let mut result = ListResourceTemplatesResult::with_all_items(page);
        result.next_cursor = cursor::next("resources/templates", start, size, shown.len());
        result.ttl_ms = Some(LIST_TTL_MS);
        result.cache_scope = Some(scope(by.is_some()));
        Ok(result)
    }

    pub(crate) fn visible_templates<'a>(
        &'a self,
        by: Option<&'a View>,
    ) -> impl Iterator<Item = &'a ListedTemplate> {
        let all = self.state.listing.templates.iter();
        all.filter(move |template| template.shown_beside(self.visible_tools(by)))
    }

    fn named(&self, uri: &str, by: Option<&View>) -> Option<NamedResource<'_>> {
        let state = &self.state;
        let document = state.listing.resources.iter().find(|it| it.resource.uri == uri);
        if let Some(document) = document {
            return document
                .shown_beside(self.visible_tools(by))
                .then_some(NamedResource::Document(document));
        }
        let all = state.listing.templates.iter();
        let mut shown = all.filter(|template| template.shown_beside(self.visible_tools(by)));
        let matched = shown.find_map(|template| template.match_uri(uri));
        matched.map(NamedResource::Templated)
    }

    pub(crate) async fn read(
        &self,
        request: ReadResourceRequestParams,
        cx: Cx<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if let Some(contents) = self.extension_contents(&request.uri) {
            let mut result = ReadResourceResult::new(vec![contents]);
            result.ttl_ms = Some(0);
            result.cache_scope = Some(CacheScope::Private);
            return Ok(result.into());
        }
        let by = narrowing(&cx.extensions);
        let named = self.named(&request.uri, by.as_ref());
        match named.ok_or_else(|| answer::unknown_resource(&request.uri))? {
            NamedResource::Document(document) => {
                let contents = ResourceContents::text(document.text, request.uri);
                let contents = contents.with_mime_type("application/json");
                let mut result = ReadResourceResult::new(vec![contents]);
                result.ttl_ms = Some(LIST_TTL_MS);
                result.cache_scope = Some(scope(by.is_some()));
                Ok(result.into())
            }
            NamedResource::Templated(matched) => {
                self.read_templated(request.uri, matched, &cx).await
            }
        }
    }

    async fn read_templated(
        &self,
        uri: String,
        matched: TemplateMatch<'_>,
        cx: &Cx<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let pipeline = &self.state.pipeline;
        let tool = &matched.template.tool;
        let mut call = self.call(matched.args, cx, Progress::default());
        self.choose_credential(&mut call, tool, None);
        let outcome = pipeline.call(tool, call).await;
        let reply = outcome.map_err(|failure| answer::failed_resource(&uri, &failure))?;
        let mut contents = ResourceContents::text(reply.result().to_string(), uri)
            .with_mime_type("application/json");
        let meta = reply.meta();
        if !meta.is_empty() {
            contents = contents.with_meta(MetaObject(meta));
        }
        let mut result = ReadResourceResult::new(vec![contents]);
        // It changes at any time and may depend on the caller.
        result.ttl_ms = Some(0);
        result.cache_scope = Some(CacheScope::Private);
        Ok(result.into())
    }

    fn extension_contents(&self, uri: &str) -> Option<ResourceContents> {
        self.state.extension.as_ref().and_then(|extension| extension.contents(uri))
    }

    /// Whether any template can be subscribed to, as the declared capability says.
    fn can_subscribe(&self) -> bool {
        self.state.listing.templates.iter().any(|template| template.stream.is_some())
    }

    /// The subscription to a URI; `None` for a resource without a stream.
    fn subscription_to(
        &self,
        uri: &str,
        cx: &Cx<RoleServer>,
    ) -> Result<Option<ResourceSubscription>, ErrorData> {
        let by = narrowing(&cx.extensions);
        let named = self.named(uri, by.as_ref());
        let matched = match named.ok_or_else(|| answer::unknown_resource(uri))? {
            NamedResource::Document(_) => return Ok(None),
            NamedResource::Templated(matched) => matched,
        };
        let Some(stream) = &matched.template.stream else { return Ok(None) };
        let meta = request_meta(&cx.extensions, &self.state.options.credential);
        let pipeline = Arc::clone(&self.state.pipeline);
        Ok(Some(ResourceSubscription {
            uri: uri.to_owned(),
            stream: stream.clone(),
            args: matched.args,
            // The subscription outlives the request and may open its stream again.
            credential: pipeline.connection_credential(meta.credential, &stream.service().name),
            transport: self.state.options.transport,
            request_id: meta.request_id,
            pipeline,
            ended: self.subscriptions.ended.clone(),
        }))
    }

    /// `resources/subscribe` of the older protocol: the session is notified until it unsubscribes.
    pub(crate) async fn subscribe_to(
        &self,
        uri: String,
        cx: Cx<RoleServer>,
    ) -> Result<(), ErrorData> {
        if self.extension_contents(&uri).is_some() {
            return Ok(());
        }
        if !self.can_subscribe() {
            return Err(ErrorData::method_not_found::<SubscribeRequestMethod>());
        }
        let Some(subscription) = self.subscription_to(&uri, &cx)? else { return Ok(()) };
        if self.subscriptions.has(&uri) {
            return Ok(());
        }
        let permit = self.subscriptions.acquire(1)?;
        let opened = subscription.open(None).await;
        let feed = opened.map_err(|failure| answer::failed_resource(&uri, &failure))?;
        self.subscriptions.start(subscription, feed, cx.peer, permit);
        Ok(())
    }

    pub(crate) fn unsubscribe_from(&self, uri: &str) -> Result<(), ErrorData> {
        if self.extension_contents(uri).is_some() {
            return Ok(());
        }
        if !self.can_subscribe() {
            return Err(ErrorData::method_not_found::<UnsubscribeRequestMethod>());
        }
        self.subscriptions.stop(uri);
        Ok(())
    }

    /// Whether a URI names a resource, and its arguments are those of its stream.
    fn is_possible(&self, uri: &str) -> bool {
        match self.named(uri, None) {
            None => false,
            Some(NamedResource::Document(_)) => true,
            Some(NamedResource::Templated(TemplateMatch { template, args })) => {
                template.stream.as_ref().is_none_or(|stream| {
                    stream.row().spec.input.check(&serde_json::Value::Object(args)).is_ok()
                })
            }
        }
    }

    /// The possible URIs of a filter. URIs that request headers hide are refused later.
    pub(crate) fn accepted_filter(&self, asked: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        if self.state.extension.is_some() {
            return Some(asked.supported_by(&self.get_info().capabilities));
        }
        if !self.can_subscribe() {
            return None;
        }
        let uris = asked.resource_subscriptions.iter().flatten();
        let known = uris.filter(|uri| self.is_possible(uri)).take(SUBSCRIPTIONS_MAX);
        Some(SubscriptionFilter::builder().resource_subscriptions(known.cloned()).build())
    }

    /// `subscriptions/listen` of the newer protocol: one request is notified until it is cancelled.
    pub(crate) async fn listen_to(&self, cx: SubscriptionContext) -> Result<(), ErrorData> {
        if let Some(extension) = &self.state.extension {
            extension.listen(&cx).await;
            return Ok(());
        }
        let request = cx.request_context();
        let uris: BTreeSet<&String> =
            cx.accepted().resource_subscriptions.iter().flatten().collect();
        let subscriptions = uris
            .into_iter()
            .map(|uri| self.subscription_to(uri, request))
            .collect::<Result<Vec<_>, _>>()?;
        let subscriptions: Vec<ResourceSubscription> =
            subscriptions.into_iter().flatten().collect();
        let _permits = self.subscriptions.acquire(subscriptions.len())?;
        let sink = UpdateSink::Request(cx.sink());
        let following: FuturesUnordered<_> =
            subscriptions.iter().map(|it| follow(it, &sink)).collect();
        tokio::select! {
            biased;
            () = cx.cancelled() => Ok(()),
            () = self.subscriptions.ended.cancelled() => Ok(()),
            ended = first_end(following) => ended,
        }
    }
}

/// How the subscription to one URI ended.
enum FollowEnd {
    /// There is no such resource, so the other subscriptions go on.
    Missing(ErrorData),
    Ended(Result<(), ErrorData>),
}

async fn follow(subscription: &ResourceSubscription, sink: &UpdateSink<'_>) -> FollowEnd {
    let failed = |failure| answer::failed_resource(&subscription.uri, &failure);
    match subscription.open(None).await {
        Ok(feed) => {
            let failure = subscription.follow(feed, sink).await;
            FollowEnd::Ended(failure.map_or(Ok(()), |failure| Err(failed(failure))))
        }
        Err(failure) if matches!(failure.kind, Kind::Invalid | Kind::NotFound) => {
            FollowEnd::Missing(failed(failure))
        }
        Err(failure) => FollowEnd::Ended(Err(failed(failure))),
    }
}

/// Ends with the first subscription that ends, so that the client gets the reason and can listen
/// again, and with the last one if none has a resource. Without any subscription it waits until it
/// is cancelled.
async fn first_end<F>(mut following: FuturesUnordered<F>) -> Result<(), ErrorData>
where
    F: Future<Output = FollowEnd>,
{
    let mut missing = None;
    loop {
        match (following.next().await, missing.take()) {
            (Some(FollowEnd::Ended(ended)), _) => return ended,
            (Some(FollowEnd::Missing(error)), _) => missing = Some(error),
            (None, Some(error)) => return Err(error),
            (None, None) => return std::future::pending().await,
        }
    }
}
