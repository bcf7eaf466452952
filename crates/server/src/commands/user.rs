//! `stoa user`: the accounts of the archive. Passwords are read from stdin, never from arguments.

use std::fmt::Write as _;
use std::io::{BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::sync::Arc;

use archive_accounts::{Accounts, RegistrationPolicy};
use auth::Secret;
use clock::SystemClock;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::app::open_store;
use crate::cli::UserCommand;
use crate::commands::print;
use crate::config::Config;
use crate::exit::CommandError;

/// The longest password, in bytes.
const LINE_MAX: u64 = 4 * 1024;

pub(crate) async fn run(command: UserCommand, config: Config) -> Result<(), CommandError> {
    // Read before the store is opened, because a person at a terminal may take long.
    let password = match &command {
        UserCommand::Add { .. } | UserCommand::Password { .. } => Some(password().await?),
        UserCommand::List | UserCommand::Remove { .. } => None,
    };
    let db = open_store(&config).await?;
    // The operator may add users even where registration is closed.
    let rules = RegistrationPolicy { registration_open: false };
    let accounts = Accounts::new(db.clone(), Arc::new(SystemClock), rules);
    let text = execute(&accounts, command, password.unwrap_or_else(|| Secret::new(""))).await;
    db.close().await;
    print(&text?)
}

/// Runs the command and returns its text.
async fn execute(
    accounts: &Accounts,
    command: UserCommand,
    password: Secret,
) -> Result<String, CommandError> {
    let password = password.reveal();
    Ok(match command {
        UserCommand::Add { name, email } => {
            let user = accounts.add(&name, password, email.as_deref()).await?;
            format!("{}\n", user.id)
        }
        UserCommand::List => list(accounts).await?,
        UserCommand::Remove { name } => {
            let removed = accounts.remove(&name).await?;
            let (user, cases) = (&removed.user, removed.cases_left);
            format!(
                "removed {} ({}) and ended {} sessions\n\
                 their files and {cases} cases stay, but no user who can sign in owns them; cases \
                 that were shared with other users stay visible to those\n",
                user.username, user.id, removed.sessions_ended
            )
        }
        UserCommand::Password { name } => {
            let ended = accounts.set_password(&name, password).await?;
            format!("the password of {name} is set; {ended} sessions ended\n")
        }
    })
}

async fn list(accounts: &Accounts) -> Result<String, CommandError> {
    let listed = accounts.list().await?;
    if listed.is_empty() {
        return Ok("there are no users; `stoa user add NAME` adds one\n".to_owned());
    }
    let name = |it: &archive_accounts::UserListing| it.user.username.len();
    let width = listed.iter().map(name).max().unwrap_or_default();
    let mut text = String::new();
    for archive_accounts::UserListing { user, sessions } in &listed {
        let email = user.email.as_deref().unwrap_or("-");
        let (name, id, made) = (&user.username, &user.id, user.created_at);
        _ = writeln!(text, "{name:<width$}  {id}  {made:<24}  {sessions:>3} sessions  {email}");
    }
    Ok(text)
}

/// One line of stdin. A person at a terminal types it twice, without echo.
async fn password() -> Result<Secret, CommandError> {
    if !std::io::stdin().is_terminal() {
        return read_line().await;
    }
    let _silence = EchoOff::begin()?;
    let asked = async {
        let first = prompt_line("Password: ").await?;
        match first == prompt_line("Again: ").await? {
            true => Ok(first),
            false => Err(CommandError::usage("the two passwords differ; nothing was changed")),
        }
    };
    tokio::select! {
        password = asked => password,
        // If the signal ended the process, the terminal would stay without echo.
        _ = tokio::signal::ctrl_c() => Err(CommandError::other("stopped; nothing was changed")),
    }
}

async fn prompt_line(prompt: &str) -> Result<Secret, CommandError> {
    let mut screen = std::io::stderr();
    screen.write_all(prompt.as_bytes())?;
    screen.flush()?;
    let answer = read_line().await;
    screen.write_all(b"\n")?;
    answer
}

/// One line of stdin, which must not be empty.
async fn read_line() -> Result<Secret, CommandError> {
    let read = || {
        let mut line = String::new();
        std::io::stdin().lock().take(LINE_MAX).read_line(&mut line).map(|_| line)
    };
    let line = tokio::task::spawn_blocking(read).await.map_err(CommandError::other)??;
    let line = line.strip_suffix('\n').unwrap_or(&line);
    match line.strip_suffix('\r').unwrap_or(line) {
        "" => Err(CommandError::usage("there is no password on stdin; give it as one line")),
        password => Ok(Secret::new(password)),
    }
}

/// Turns off the terminal's echo until it is dropped.
struct EchoOff(Termios);

impl EchoOff {
    fn begin() -> Result<Self, CommandError> {
        let before = tcgetattr(std::io::stdin()).map_err(CommandError::other)?;
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Flush, &silent)
            .map_err(CommandError::other)?;
        Ok(Self(before))
    }
}

impl Drop for EchoOff {
    fn drop(&mut self) {
        // An error is ignored, because the terminal may be gone.
        _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}
