//! All services of a server: which tools a view lists, and under which names they are called.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::files::ContractError;
use crate::row_ref::{DownloadRef, RowRef, StreamRef, UploadRef};
use crate::schema::Schema;
use crate::table::{Service, ToolRow};

/// A tool name that every MCP host accepts: some refuse a dot, and then drop the whole server.
pub fn host_safe(name: &str) -> String {
    name.replace('.', "_")
}

/// A tool that was looked up once: its service and its row. Transports resolve a call's tool with
/// [`Catalog::find`], and everything after that uses the reference.
#[derive(Clone)]
pub struct ToolRef {
    service: Arc<Service>,
    /// In range: only the catalog creates references, and a shared service keeps its rows.
    row: usize,
    /// Whether the caller addressed the service alone, not the whole server.
    service_addressed: bool,
}

impl ToolRef {
    /// The service of the tool.
    pub fn service(&self) -> &Arc<Service> {
        &self.service
    }

    /// The contract's part and the handler of the tool.
    pub fn row(&self) -> &ToolRow {
        &self.service.tools[self.row]
    }

    /// The schema that the arguments must match: the contract's own if the caller addressed the
    /// service alone, otherwise without the credential argument among the required ones.
    pub fn input(&self) -> &Schema {
        self.row().spec.input_for(self.service_addressed)
    }
}

impl ToolRef {
    /// The same tool as a caller of the whole server addresses it.
    #[must_use]
    pub fn on_whole_server(self) -> Self {
        Self { service_addressed: false, ..self }
    }
}

impl PartialEq for ToolRef {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.service, &other.service) && self.row == other.row
    }
}

impl Eq for ToolRef {}

impl std::fmt::Debug for ToolRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ToolRef({}/{})", self.service.name, self.row().spec.name)
    }
}

/// Every service, and every spelling under which its tools can be called.
pub struct Catalog {
    services: Vec<Arc<Service>>,
    /// By spelling, for callers that address the whole server.
    by_name: HashMap<String, ToolRef>,
    /// By service and spelling, for callers that address one service.
    by_service: HashMap<Arc<str>, HashMap<String, ToolRef>>,
    /// Every tool in contract order, with the name it has beside the tools of other services.
    listed: Vec<(String, ToolRef)>,
    streams: Vec<StreamRef>,
    uploads: Vec<UploadRef>,
    downloads: Vec<DownloadRef>,
}

/// What a client is shown and may call. Views only narrow: see [`View::narrowed`].
#[derive(Debug, Clone, Default)]
pub struct View {
    /// One service alone, under the contract's own names.
    pub service: Option<Arc<str>>,
    /// The services that are visible; `None` for all.
    pub services: Option<Vec<String>>,
    /// The tools that are visible, in any spelling; `None` for all.
    pub tools: Option<Vec<String>>,
    /// Whether tools that change something are hidden.
    pub read_only: bool,
    /// Whether tools that only HTTP has are visible.
    pub http: bool,
}

/// A tool as a view shows it.
#[derive(Clone, Copy)]
pub struct VisibleTool<'a> {
    /// The name under which the view lists it.
    pub name: &'a str,
    /// Its service.
    pub service: &'a Arc<Service>,
    /// Its row.
    pub tool: &'a ToolRow,
}

impl VisibleTool<'_> {
    /// Whether a list of tools has this one, where `view` is what the client asked for.
    pub fn is_listed(&self, view: &View) -> bool {
        !self.tool.spec.host.on_request || view.asks_for(self.service, self.tool, self.name)
    }
}

impl Catalog {
    /// Fails if two tools share a name or an address.
    pub fn new(services: Vec<Service>) -> Result<Self, ContractError> {
        check_addresses(&services)?;
        let services: Vec<Arc<Service>> = services.into_iter().map(Arc::new).collect();
        let mut owners: HashMap<String, usize> = HashMap::new();
        for tool in services.iter().flat_map(|service| &service.tools) {
            *owners.entry(tool.spec.host_name()).or_default() += 1;
        }
        let mut by_name = HashMap::new();
        let mut by_service = HashMap::new();
        let mut listed = Vec::new();
        for service in &services {
            let mut within: HashMap<String, ToolRef> = HashMap::new();
            for (row, tool) in service.tools.iter().enumerate() {
                let refer = |service_addressed| ToolRef {
                    service: Arc::clone(service),
                    row,
                    service_addressed,
                };
                for spelling in tool.spec.spellings() {
                    within.entry(spelling).or_insert_with(|| refer(true));
                }
                // A name that two services share is listed with the service in front, never twice.
                let host_name = tool.spec.host_name();
                let shared = owners.get(&host_name).is_some_and(|count| *count > 1);
                let (name, spellings) = if shared {
                    let long = format!("{}_{host_name}", service.name);
                    (long.clone(), BTreeSet::from([long]))
                } else {
                    (host_name, BTreeSet::from(tool.spec.spellings()))
                };
                for spelling in spellings {
                    if by_name.insert(spelling.clone(), refer(false)).is_some() {
                        return Err(ContractError(format!("two tools are called {spelling}")));
                    }
                }
                listed.push((name, refer(false)));
            }
            by_service.insert(Arc::clone(&service.name), within);
        }
        let all = || services.iter();
        Ok(Self {
            streams: all().flat_map(|it| RowRef::all_of(it, |it| &it.streams)).collect(),
            uploads: all().flat_map(|it| RowRef::all_of(it, |it| &it.uploads)).collect(),
            downloads: all().flat_map(|it| RowRef::all_of(it, |it| &it.downloads)).collect(),
            services,
            by_name,
            by_service,
            listed,
        })
    }

    /// The services, in the order they were given.
    pub fn services(&self) -> &[Arc<Service>] {
        &self.services
    }

    /// A service by its name.
    pub fn service(&self, name: &str) -> Option<&Arc<Service>> {
        self.services.iter().find(|service| &*service.name == name)
    }

    /// Finds a tool by any of its spellings, within one service if the caller addressed one.
    pub fn find(&self, service: Option<&str>, name: &str) -> Option<&ToolRef> {
        match service {
            Some(service) => self.by_service.get(service)?.get(name),
            None => self.by_name.get(name),
        }
    }

    /// Finds a stream of a service.
    pub fn stream(&self, service: &str, name: &str) -> Option<&StreamRef> {
        let is_it = |it: &&StreamRef| *it.service().name == *service && it.row().spec.name == name;
        self.streams.iter().find(is_it)
    }

    /// The uploads a view shows; a read-only view shows none.
    pub fn uploads<'a>(&'a self, view: &'a View) -> impl Iterator<Item = &'a UploadRef> {
        let shown = move |it: &&UploadRef| {
            !view.read_only && view.names(it.service(), &[&it.row().spec.name])
        };
        self.uploads.iter().filter(shown)
    }

    /// The downloads a view shows.
    pub fn downloads<'a>(&'a self, view: &'a View) -> impl Iterator<Item = &'a DownloadRef> {
        self.downloads.iter().filter(move |it| view.names(it.service(), &[&it.row().spec.name]))
    }

    /// The streams a view shows: those of the services it shows, unless it names single tools.
    pub fn streams<'a>(&'a self, view: &'a View) -> impl Iterator<Item = &'a StreamRef> {
        let shown = move |it: &&StreamRef| view.tools.is_none() && view.shows_service(it.service());
        self.streams.iter().filter(shown)
    }

    /// The tools a view shows, in contract order, which never changes between calls.
    pub fn list<'a>(&'a self, view: &'a View) -> impl Iterator<Item = VisibleTool<'a>> {
        self.listed.iter().filter_map(move |(listed, tool_ref)| {
            let (service, tool) = (tool_ref.service(), tool_ref.row());
            let name = match &view.service {
                Some(_) => tool.spec.name.as_str(),
                None => listed.as_str(),
            };
            view.shows(service, tool, name).then_some(VisibleTool { name, service, tool })
        })
    }
}

/// Fails if two tools, uploads or downloads answer the same method at the same path.
fn check_addresses(services: &[Service]) -> Result<(), ContractError> {
    let mut taken = HashSet::new();
    for service in services {
        let bound = service.tools.iter().filter_map(|tool| tool.spec.http.as_ref());
        let tools = bound.flat_map(|http| http.paths().map(|at| (http.method.as_str(), at)));
        let uploads = service.uploads.iter().flat_map(|row| {
            let methods = row.spec.methods().iter();
            methods.flat_map(|method| row.spec.paths().map(move |at| (*method, at)))
        });
        let downloads = service.downloads.iter().flat_map(|row| row.spec.paths());
        let all = tools.chain(uploads).chain(downloads.map(|at| ("GET", at)));
        for (method, path) in all {
            if !taken.insert((method, path)) {
                return Err(ContractError(format!("two tools answer at {method} {path}")));
            }
        }
    }
    Ok(())
}

impl View {
    /// A view of one service alone.
    pub fn of_service(name: &Arc<str>) -> Self {
        Self { service: Some(Arc::clone(name)), ..Self::default() }
    }

    /// Whether a client with this view may see and call a tool.
    pub fn shows(&self, service: &Service, tool: &ToolRow, name: &str) -> bool {
        let [own, safe, host] = &tool.spec.spellings();
        self.names(service, &[name, own, safe, host])
            && (!self.read_only || tool.spec.read_only)
            && (self.http || !tool.spec.http_only)
    }

    /// Whether the view asks for a tool by its name, or for its service by name. Tools that are
    /// listed on request are listed where a view asks for them.
    pub fn asks_for(&self, service: &Service, tool: &ToolRow, name: &str) -> bool {
        let [own, safe, host] = &tool.spec.spellings();
        let spellings = [name, own, safe, host];
        let names = |list: &Vec<String>| list.iter().any(|it| spellings.contains(&it.as_str()));
        let services = |list: &Vec<String>| list.iter().any(|it| **it == *service.name);
        self.service.as_ref().is_some_and(|only| *only == service.name)
            || self.services.as_ref().is_some_and(services)
            || self.tools.as_ref().is_some_and(names)
    }

    /// Whether the view is limited to neither other services nor other names than these.
    fn names(&self, service: &Service, spellings: &[&str]) -> bool {
        let named = |list: &Vec<String>| list.iter().any(|it| spellings.contains(&it.as_str()));
        self.shows_service(service) && self.tools.as_ref().is_none_or(named)
    }

    fn shows_service(&self, service: &Service) -> bool {
        let listed = |list: &Vec<String>| list.iter().any(|it| **it == *service.name);
        self.service.as_ref().is_none_or(|only| *only == service.name)
            && self.services.as_ref().is_none_or(listed)
    }

    /// The intersection of two views: what either hides stays hidden.
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
