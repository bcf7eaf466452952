//! All services side by side: which tools are listed where, and under which names.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::concurrency::{Concurrency, ConcurrencyLimiter};
use crate::files::ContractError;
use crate::table::{DownloadRow, Service, StreamRow, ToolRow, UploadRow};

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
pub struct VisibleTool<'a> {
    pub name: &'a str,
    pub service: &'a Service,
    pub tool: &'a ToolRow,
}

impl Catalog {
    pub fn new(services: Vec<Service>) -> Result<Self, ContractError> {
        each_at_its_own_address(&services)?;
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

    /// Sets the limiter of every tool that has no number of its own.
    pub(crate) fn limit(&mut self, usual: Concurrency) {
        for service in &mut self.services {
            for tool in &mut service.tools {
                tool.limiter = ConcurrencyLimiter::new(tool.spec.concurrency.unwrap_or(usual));
            }
            for upload in &mut service.uploads {
                upload.limiter = ConcurrencyLimiter::new(upload.spec.concurrency.unwrap_or(usual));
            }
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

    /// Finds an upload of a service.
    pub fn upload(&self, service: &str, name: &str) -> Option<(&Service, &UploadRow)> {
        let service = self.service(service)?;
        let upload = service.uploads.iter().find(|upload| upload.spec.name == name)?;
        Some((service, upload))
    }

    /// Finds a download of a service.
    pub fn download(&self, service: &str, name: &str) -> Option<(&Service, &DownloadRow)> {
        let service = self.service(service)?;
        let download = service.downloads.iter().find(|download| download.spec.name == name)?;
        Some((service, download))
    }

    /// The uploads a view shows; one that is for reading only shows none.
    pub fn uploads<'a>(
        &'a self,
        view: &'a View,
    ) -> impl Iterator<Item = (&'a Service, &'a UploadRow)> {
        let of = |service: &'a Service| service.uploads.iter().map(move |row| (service, row));
        let rows = self.services.iter().flat_map(of);
        rows.filter(|(service, row)| !view.read_only && view.names(service, &[&row.spec.name]))
    }

    /// The downloads a view shows.
    pub fn downloads<'a>(
        &'a self,
        view: &'a View,
    ) -> impl Iterator<Item = (&'a Service, &'a DownloadRow)> {
        let of = |service: &'a Service| service.downloads.iter().map(move |row| (service, row));
        let rows = self.services.iter().flat_map(of);
        rows.filter(|(service, row)| view.names(service, &[&row.spec.name]))
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
    pub fn list<'a>(&'a self, view: &'a View) -> impl Iterator<Item = VisibleTool<'a>> {
        self.services.iter().enumerate().flat_map(move |(at, service)| {
            service.tools.iter().enumerate().filter_map(move |(row, tool)| {
                let name = match &view.service {
                    Some(_) => tool.spec.name.as_str(),
                    None => self.listed.get(&(at, row))?.as_str(),
                };
                view.shows(service, tool, name).then_some(VisibleTool { name, service, tool })
            })
        })
    }
}

/// Two tools may share a path where their methods differ, and nothing else.
fn each_at_its_own_address(services: &[Service]) -> Result<(), ContractError> {
    let mut taken = HashSet::new();
    for service in services {
        let bound = service.tools.iter().filter_map(|tool| tool.spec.http.as_ref());
        let tools = bound.flat_map(|http| http.paths().map(|at| (http.method.as_str(), at)));
        let uploads = service.uploads.iter().flat_map(|row| row.spec.paths());
        let downloads = service.downloads.iter().flat_map(|row| row.spec.paths());
        let all =
            tools.chain(uploads.map(|at| ("POST", at))).chain(downloads.map(|at| ("GET", at)));
        for (method, path) in all {
            if !taken.insert((method, path)) {
                return Err(ContractError(format!("two tools answer at {method} {path}")));
            }
        }
    }
    Ok(())
}

impl View {
    pub fn of_service(name: &Arc<str>) -> Self {
        Self { service: Some(Arc::clone(name)), ..Self::default() }
    }

    /// Whether this view lets a tool be seen and called.
    pub fn shows(&self, service: &Service, tool: &ToolRow, name: &str) -> bool {
        self.names(service, &[name, &tool.spec.name, &host_safe(&tool.spec.name)])
            && (!self.read_only || tool.spec.read_only)
            && (self.http || !tool.spec.http_only)
    }

    /// Whether what has these spellings in a service is among what the view was limited to.
    fn names(&self, service: &Service, spellings: &[&str]) -> bool {
        let named = |list: &Vec<String>| list.iter().any(|it| spellings.contains(&it.as_str()));
        self.service.as_ref().is_none_or(|only| *only == service.name)
            && self.services.as_ref().is_none_or(|list| list.iter().any(|it| **it == *service.name))
            && self.tools.as_ref().is_none_or(named)
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
