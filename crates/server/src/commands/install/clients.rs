//! The table of clients: for each its files, its notation, and what shows that it is installed. The
//! notations follow each client's documentation.

use crate::cli::Client;

/// Everything about one client.
#[derive(Debug)]
pub(super) struct ClientRow {
    pub(super) client: Client,
    pub(super) title: &'static str,
    /// The first file is the default; empty if the client has no file.
    pub(super) files: &'static [FileRow],
    pub(super) notation: Notation,
    /// Folders below the user's home, and programs, that show that the client is installed.
    pub(super) folders: &'static [&'static str],
    pub(super) programs: &'static [&'static str],
    pub(super) link: Option<Link>,
    /// What to do after the file was written.
    pub(super) afterwards: &'static str,
}

/// One configuration file of a client.
#[derive(Debug)]
pub(super) struct FileRow {
    pub(super) reach: Reach,
    /// The path below the home folder, or below the project's folder.
    pub(super) linux: &'static str,
    pub(super) macos: &'static str,
    /// The variable that names another folder, and the path below that.
    pub(super) variable: Option<(&'static str, &'static str)>,
}

/// Whether a file is for all projects of the user, or belongs to one project and is shared with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    User,
    Project,
}

impl Reach {
    pub(super) fn flag_name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

#[derive(Debug)]
pub(super) enum Notation {
    Json(JsonForm),
    /// The tables `[mcp_servers.NAME]` of `config.toml`.
    Codex,
    /// The map `extensions` of `config.yaml`.
    Goose,
}

/// The form of a list of servers in JSON.
#[derive(Debug)]
pub(super) struct JsonForm {
    /// The member of the file that holds the servers.
    pub(super) section: &'static str,
    /// The value of `type` for a command, if the client requires one.
    pub(super) stdio_type: Option<&'static str>,
    /// How a server with a URL is written; `None` if the client only starts commands.
    pub(super) http: Option<HttpForm>,
    /// How a value refers to an environment variable, around its name; `None` if it cannot.
    pub(super) variable: Option<(&'static str, &'static str)>,
}

#[derive(Debug)]
pub(super) struct HttpForm {
    pub(super) url: &'static str,
    pub(super) kind: Option<&'static str>,
}

/// The notation of a link that installs a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    /// `cursor://anysphere.cursor-deeplink/mcp/install?name=…&config=BASE64`
    Cursor,
    /// `vscode:mcp/install?ENCODED_JSON`
    Vscode,
    /// `lmstudio://add_mcp?name=…&config=BASE64`
    LmStudio,
}

const fn home(path: &'static str) -> FileRow {
    FileRow { reach: Reach::User, linux: path, macos: path, variable: None }
}

const fn project(path: &'static str) -> FileRow {
    FileRow { reach: Reach::Project, ..home(path) }
}

const fn by_system(linux: &'static str, macos: &'static str) -> FileRow {
    FileRow { reach: Reach::User, linux, macos, variable: None }
}

/// A file of the user that a variable moves to another folder.
const fn movable(path: &'static str, variable: &'static str, below: &'static str) -> FileRow {
    FileRow { variable: Some((variable, below)), ..home(path) }
}

const MCP_SERVERS: JsonForm = JsonForm {
    section: "mcpServers",
    stdio_type: None,
    http: Some(HttpForm { url: "url", kind: None }),
    variable: None,
};

pub(super) const CLIENTS: &[ClientRow] = &[
    ClientRow {
        client: Client::ClaudeCode,
        title: "Claude Code",
        files: &[
            project(".mcp.json"),
            movable(".claude.json", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ],
        notation: Notation::Json(JsonForm {
            http: Some(HttpForm { url: "url", kind: Some("http") }),
            variable: Some(("${", "}")),
            ..MCP_SERVERS
        }),
        folders: &[".claude", ".claude.json"],
        programs: &["claude"],
        link: None,
        afterwards: "start `claude` again; it asks once whether to trust a project's entry",
    },
    ClientRow {
        client: Client::ClaudeDesktop,
        title: "Claude Desktop",
        files: &[by_system(
            ".config/Claude/claude_desktop_config.json",
            "Library/Application Support/Claude/claude_desktop_config.json",
        )],
        notation: Notation::Json(JsonForm { http: None, ..MCP_SERVERS }),
        folders: &[".config/Claude", "Library/Application Support/Claude"],
        programs: &["claude-desktop"],
        link: None,
        afterwards: "quit the application and start it again",
    },
    ClientRow {
        client: Client::Cursor,
        title: "Cursor",
        files: &[home(".cursor/mcp.json"), project(".cursor/mcp.json")],
        notation: Notation::Json(JsonForm { variable: Some(("${env:", "}")), ..MCP_SERVERS }),
        folders: &[".cursor"],
        programs: &["cursor", "cursor-agent"],
        link: Some(Link::Cursor),
        afterwards: "turn the server on under Settings, MCP",
    },
    ClientRow {
        client: Client::Vscode,
        title: "VS Code",
        files: &[
            project(".vscode/mcp.json"),
            by_system(
                ".config/Code/User/mcp.json",
                "Library/Application Support/Code/User/mcp.json",
            ),
        ],
        notation: Notation::Json(JsonForm {
            section: "servers",
            stdio_type: Some("stdio"),
            http: Some(HttpForm { url: "url", kind: Some("http") }),
            variable: Some(("${env:", "}")),
        }),
        folders: &[".config/Code", "Library/Application Support/Code", ".vscode"],
        programs: &["code"],
        link: Some(Link::Vscode),
        afterwards: "run `MCP: List Servers` and start it there",
    },
    ClientRow {
        client: Client::Codex,
        title: "Codex",
        files: &[
            movable(".codex/config.toml", "CODEX_HOME", "config.toml"),
            project(".codex/config.toml"),
        ],
        notation: Notation::Codex,
        folders: &[".codex"],
        programs: &["codex"],
        link: None,
        afterwards: "start `codex` again; `/mcp` lists it",
    },
    ClientRow {
        client: Client::Windsurf,
        title: "Windsurf",
        files: &[home(".codeium/windsurf/mcp_config.json")],
        notation: Notation::Json(JsonForm {
            http: Some(HttpForm { url: "serverUrl", kind: None }),
            variable: Some(("${env:", "}")),
            ..MCP_SERVERS
        }),
        folders: &[".codeium/windsurf"],
        programs: &["windsurf"],
        link: None,
        afterwards: "press refresh in the list of MCP servers",
    },
    ClientRow {
        client: Client::Zed,
        title: "Zed",
        files: &[home(".config/zed/settings.json"), project(".zed/settings.json")],
        notation: Notation::Json(JsonForm { section: "context_servers", ..MCP_SERVERS }),
        folders: &[".config/zed"],
        programs: &["zed", "zeditor"],
        link: None,
        afterwards: "Zed starts it at once; the agent panel lists it",
    },
    ClientRow {
        client: Client::GeminiCli,
        title: "Gemini CLI",
        files: &[home(".gemini/settings.json"), project(".gemini/settings.json")],
        notation: Notation::Json(JsonForm {
            http: Some(HttpForm { url: "httpUrl", kind: None }),
            variable: Some(("${", "}")),
            ..MCP_SERVERS
        }),
        folders: &[".gemini"],
        programs: &["gemini"],
        link: None,
        afterwards: "start `gemini` again, in a folder that it trusts; `/mcp` lists it",
    },
    ClientRow {
        client: Client::Cline,
        title: "Cline",
        // One file for the command line and the extensions of version 4.
        files: &[movable(
            ".cline/data/settings/cline_mcp_settings.json",
            "CLINE_DATA_DIR",
            "settings/cline_mcp_settings.json",
        )],
        notation: Notation::Json(JsonForm {
            http: Some(HttpForm { url: "url", kind: Some("streamableHttp") }),
            ..MCP_SERVERS
        }),
        folders: &[
            ".cline",
            ".config/Code/User/globalStorage/saoudrizwan.claude-dev",
            "Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev",
        ],
        programs: &["cline"],
        link: None,
        afterwards: "Cline reads the file at once; versions of the extension before 4 have a file of \
                     their own, which its button Configure MCP Servers opens",
    },
    ClientRow {
        client: Client::Jetbrains,
        title: "JetBrains AI Assistant",
        files: &[],
        notation: Notation::Json(MCP_SERVERS),
        folders: &[".config/JetBrains", "Library/Application Support/JetBrains"],
        programs: &["idea", "pycharm", "webstorm", "goland", "rustrover"],
        link: None,
        afterwards: "paste it under Settings, Tools, AI Assistant, Model Context Protocol, Add, As JSON",
    },
    ClientRow {
        client: Client::Goose,
        title: "Goose",
        files: &[home(".config/goose/config.yaml")],
        notation: Notation::Goose,
        folders: &[".config/goose"],
        programs: &["goose"],
        link: None,
        afterwards: "start a new session",
    },
    ClientRow {
        client: Client::LmStudio,
        title: "LM Studio",
        files: &[home(".lmstudio/mcp.json")],
        notation: Notation::Json(MCP_SERVERS),
        folders: &[".lmstudio"],
        programs: &["lms"],
        link: Some(Link::LmStudio),
        afterwards: "turn it on in the Program tab",
    },
];

/// The row of a client; every client has one.
pub(super) fn row(client: Client) -> Option<&'static ClientRow> {
    CLIENTS.iter().find(|row| row.client == client)
}
