//! All faults of this crate in one place, so that no message reveals more than another.

use std::time::Duration;

use fault::{Fault, Kind};

/// The same message whether the user or the password is wrong.
pub(crate) fn wrong_credentials() -> Fault {
    Fault::new(Kind::Unauthenticated, "wrong_credentials", "the username or the password is wrong")
}

pub(crate) fn too_many_attempts(wait: Duration) -> Fault {
    let seconds = wait.as_millis().div_ceil(1000);
    let message = format!("too many failed logins; try again in {seconds} s");
    Fault::new(Kind::RateLimited, "too_many_attempts", message).retry_after(wait)
}

pub(crate) fn too_many_registrations(wait: Duration) -> Fault {
    let seconds = wait.as_millis().div_ceil(1000);
    let message = format!("too many registrations from this address; try again in {seconds} s");
    Fault::new(Kind::RateLimited, "too_many_attempts", message).retry_after(wait)
}

pub(crate) fn busy() -> Fault {
    Fault::unavailable("busy", "too many passwords are being checked; try again in a moment")
        .retry_after(Duration::from_secs(1))
}

pub(crate) fn session_ended() -> Fault {
    let message = "the session has ended; log in again";
    Fault::new(Kind::Unauthenticated, "session_ended", message)
}

pub(crate) fn wrong_refresh_token() -> Fault {
    let message = "the refresh token is not known here; log in again";
    Fault::new(Kind::Unauthenticated, "wrong_refresh_token", message)
}

pub(crate) fn refresh_raced() -> Fault {
    let message = "another refresh used this token a moment ago; use the tokens it was given";
    Fault::new(Kind::Unauthenticated, "refresh_raced", message)
}

pub(crate) fn refresh_reused() -> Fault {
    let message = "this refresh token was used before, so another program may have it; the session \
                   has been ended, log in again";
    Fault::new(Kind::Unauthenticated, "refresh_reused", message)
}

pub(crate) fn registration_closed() -> Fault {
    let message = "registration is closed here; ask the operator, who adds users with \
                   `stoa user add`";
    Fault::new(Kind::Forbidden, "registration_closed", message)
}

pub(crate) fn too_many_users(most: u64) -> Fault {
    Fault::new(Kind::Forbidden, "too_many_users", format!("there are {most} users already"))
}

pub(crate) fn username_taken(username: &str) -> Fault {
    let message = format!("the username {username:?} is taken");
    Fault::new(Kind::Conflict, "username_taken", message)
        .problem("username", "a name that no user has")
}

pub(crate) fn email_taken(email: &str) -> Fault {
    let message = format!("a user with the email {email:?} exists already");
    Fault::new(Kind::Conflict, "email_taken", message).problem("email", "an email that no user has")
}

pub(crate) fn user_not_found(username: &str) -> Fault {
    Fault::not_found("user_not_found", format!("there is no user {username:?}"))
}

/// For a logged-in user who shares a case, and so may learn which users exist.
pub(crate) fn unknown_user(username: &str) -> Fault {
    Fault::invalid("unknown_user", format!("there is no user {username:?}"))
        .problem("username", "the name of a registered user")
}

pub(crate) fn own_case() -> Fault {
    Fault::invalid("own_case", "the case is yours already")
        .problem("username", "a user other than yourself")
}

pub(crate) fn case_not_found(name: &str) -> Fault {
    Fault::not_found("case_not_found", format!("you have no case {name:?}"))
        .problem("caseId", "a case of your own")
}

pub(crate) fn case_not_yours(name: &str) -> Fault {
    let message = format!("only the owner of the case {name:?} may share it");
    Fault::new(Kind::Forbidden, "case_not_yours", message)
}

pub(crate) fn case_read_only(name: &str) -> Fault {
    let message = format!("the case {name:?} is shared with you for reading only");
    Fault::new(Kind::Forbidden, "case_read_only", message)
}

pub(crate) fn case_name_taken(name: &str, username: &str) -> Fault {
    let message = format!("{username:?} sees another case that is named {name:?} already");
    Fault::new(Kind::Conflict, "case_name_taken", message)
        .problem("username", "a user who has no case of this name")
}

pub(crate) fn too_many_cases(most: u64) -> Fault {
    Fault::invalid("too_many_cases", format!("a user has at most {most} cases"))
        .problem("caseId", "one of the cases you have")
}

pub(crate) fn too_many_shared(most: u64, username: &str) -> Fault {
    Fault::invalid("too_many_cases", format!("{most} cases are shared with {username:?} already"))
        .problem("username", "a user with fewer cases")
}

pub(crate) fn too_many_members(most: u64) -> Fault {
    Fault::invalid("too_many_members", format!("the case is shared with {most} users already"))
        .problem("username", "one of those with whom it is shared")
}
