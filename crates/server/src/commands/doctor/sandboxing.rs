//! Shows which restrictions of the processes that read documents this kernel supports.

use super::Finding;

pub(super) fn check() -> Vec<Finding> {
    findings(sandbox::supported())
}

fn findings(kernel: sandbox::Confinement) -> Vec<Finding> {
    let row = |what, is_on: bool, on: &str, off: &str, fix: &str| match is_on {
        true => Finding::ok(what, on),
        false => Finding::warn(what, off).fix(fix),
    };
    vec![
        row(
            "privileges",
            kernel.no_new_privileges,
            "processes that read documents gain no rights (no_new_privs)",
            "processes that read documents may gain rights: this kernel has no no_new_privs",
            "run it on Linux 3.5 or later",
        ),
        row(
            "landlock",
            kernel.files,
            "processes that read documents open only the document, a scratch folder and system libraries",
            "processes that read documents may open every file of this user: this kernel has no Landlock",
            "run it on Linux 5.13 or later with lsm=landlock, or under a user of its own",
        ),
        row(
            "seccomp",
            kernel.system_calls,
            "processes that read documents have no network and may not trace, mount or load anything",
            "processes that read documents may use the network: this kernel has no seccomp filter",
            "run it on Linux with CONFIG_SECCOMP_FILTER, or without a network",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Level;

    #[test]
    fn each_restriction_has_a_line() {
        let all = sandbox::Confinement { no_new_privileges: true, files: true, system_calls: true };
        let lines = |it| findings(it).into_iter().map(|it| (it.what, it.level)).collect::<Vec<_>>();
        let rows = ["privileges", "landlock", "seccomp"];
        assert_eq!(lines(all), rows.map(|it| (it, Level::Ok)));
        let some = sandbox::Confinement { files: false, ..all };
        assert_eq!(lines(some)[1], ("landlock", Level::Warn));
        assert_eq!(lines(sandbox::Confinement::default()), rows.map(|it| (it, Level::Warn)));
    }
}
