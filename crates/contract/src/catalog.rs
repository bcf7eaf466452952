//! All services side by side: which tools are listed where, and under which names.

use std::collections::HashMap;
use std::sync::Arc;

use crate::files::ContractError;
use crate::table::{Service, StreamRow, ToolRow};
use crate::turns::{Concurrency, Turns};

/// A name that every host accepts: some refuse a dot, and then drop the whole server.
pub fn host_safe(name: &str) -> String {
    name.replace('.', "_")
}

/// Every service, and every spelling under which its tools can be called.
pub struct Catalog {
    services: Vec<Service>,
    /// Spelling to position, for callers that address no service.
    everywhere: HashMap<String, (usize, usize)>,
    /// The one name each tool is listed under beside the tools of other services.
    listed: HashMap<(usize, usize), String>,
}

/// What a caller is shown and may call. Views only narrow: see [`View::narrowed`].
#[derive(Debug, Clone, Default)]
pub struct View {
    /// One service alone, under the contract's own names.
    pub service: Option<Arc<str>>,
    pub services: Option<Vec<String>>,
    pub tools: Option<Vec<String>>,
    pub read_only: bool,
    /// Whether what only HTTP has is shown.
    pub http: bool,
}

/// A tool as a view shows it.
#[derive(Clone, Copy)]
pub struct Listed<'a> {
    pub name: &'a str,
    pub service: &'a Service,
    pub tool: &'a ToolRow,
}

impl Catalog {
    pub fn new(services: Vec<Service>) -> Result<Self, ContractError> {
        let mut owners: HashMap<String, usize> = HashMap::new();
        for tool in services.iter().flat_map(|service| &service.tools) {
            *owners.entry(host_safe(&tool.spec.name)).or_default() += 1;
        }
        let mut everywhere = HashMap::new();
        let mut listed = HashMap::new();
        for (at, service) in services.iter().enumerate() {
            for (row, tool) in service.tools.iter().enumerate() {
                let plain = host_safe(&tool.spec.name);
                // A name that two services share is listed with the service in front, never twice.
                let shared = owners.get(&plain).is_some_and(|count| *count > 1);
                let name = if shared { format!("{}_{plain}", service.name) } else { plain };
                let mut spellings = vec![name.clone()];
                if !shared && tool.spec.name != name {
                    spellings.push(tool.spec.name.clone());
                }
                for spelling in spellings {
                    if everywhere.insert(spelling.clone(), (at, row)).is_some() {
                        return Err(ContractError(format!("two tools are called {spelling}")));
                    }
                }
                listed.insert((at, row), name);
            }
        }
        Ok(Self { services, everywhere, listed })
    }

    /// Sets the turns of every tool that has no number of its own.
    pub(crate) fn limit(&mut self, usual: Concurrency) {
        for tool in self.services.iter_mut().flat_map(|service| &mut service.tools) {
            tool.turns = Turns::new(tool.spec.concurrency.unwrap_or(usual));
        }
    }

    pub fn services(&self) -> &[Service] {
        &self.services
    }

    pub fn service(&self, name: &str) -> Option<&Service> {
        self.services.iter().find(|service| &*service.name == name)
    }

    /// Finds a tool by any of its spellings, within one service where the caller addressed one.
    pub fn find(&self, service: Option<&str>, name: &str) -> Option<(&Service, &ToolRow)> {
        if let Some(service) = service {
            let service = self.service(service)?;
            let called = |tool: &&ToolRow| {
                let own = &tool.spec.name;
                own == name || (own.contains('.') && host_safe(own) == name)
            };
            return service.tools.iter().find(called).map(|tool| (service, tool));
        }
        let (at, row) = self.everywhere.get(name)?;
        let service = self.services.get(*at)?;
        Some((service, service.tools.get(*row)?))
    }

    /// Finds a stream of a service.
    pub fn stream(&self, service: &str, name: &str) -> Option<(&Service, &StreamRow)> {
        let service = self.service(service)?;
        let stream = service.streams.iter().find(|stream| stream.spec.name == name)?;
        Some((service, stream))
    }

    /// The streams a view shows: those of the services it shows, unless it names single tools.
    pub fn streams<'a>(
        &'a self,
        view: &'a View,
    ) -> impl Iterator<Item = (&'a Service, &'a StreamRow)> {
        let shown = |service: &&Service| {
            view.tools.is_none()
                && view.service.as_ref().is_none_or(|only| *only == service.name)
                && view
                    .services
                    .as_ref()
                    .is_none_or(|list| list.iter().any(|it| **it == *service.name))
        };
        self.services
            .iter()
            .filter(shown)
            .flat_map(|service| service.streams.iter().map(move |stream| (service, stream)))
    }

    /// The tools a view shows, in contract order, which never changes between calls.
    pub fn list<'a>(&'a self, view: &'a View) -> impl Iterator<Item = Listed<'a>> {
        self.services.iter().enumerate().flat_map(move |(at, service)| {
            service.tools.iter().enumerate().filter_map(move |(row, tool)| {
                let name = match &view.service {
                    Some(_) => tool.spec.name.as_str(),
                    None => self.listed.get(&(at, row))?.as_str(),
                };
                view.shows(service, tool, name).then_some(Listed { name, service, tool })
            })
        })
    }
}

impl View {
    pub fn of_service(name: &Arc<str>) -> Self {
        Self { service: Some(Arc::clone(name)), ..Self::default() }
    }

    /// Whether this view lets a tool be seen and called.
    pub fn shows(&self, service: &Service, tool: &ToolRow, name: &str) -> bool {
        let named = |list: &Vec<String>| {
            list.iter()
                .any(|it| it == name || *it == tool.spec.name || *it == host_safe(&tool.spec.name))
        };
        self.service.as_ref().is_none_or(|only| *only == service.name)
            && self.services.as_ref().is_none_or(|list| list.iter().any(|it| **it == *service.name))
            && self.tools.as_ref().is_none_or(named)
            && (!self.read_only || tool.spec.read_only)
            && (self.http || !tool.spec.http_only)
    }

    /// This view and another at once: what either hides stays hidden.
    #[must_use]
    pub fn narrowed(&self, by: &Self) -> Self {
        let both = |mine: &Option<Vec<String>>, theirs: &Option<Vec<String>>| match (mine, theirs) {
            (Some(mine), Some(theirs)) => {
                let named = |it: &&String| theirs.iter().any(|at| host_safe(at) == host_safe(it));
                Some(mine.iter().filter(named).cloned().collect())
            }
            (mine, theirs) => mine.clone().or_else(|| theirs.clone()),
        };
        Self {
            service: self.service.clone().or_else(|| by.service.clone()),
            services: both(&self.services, &by.services),
            tools: both(&self.tools, &by.tools),
            read_only: self.read_only || by.read_only,
            http: self.http,
        }
    }
}
