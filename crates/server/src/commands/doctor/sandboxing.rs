//! Says which restrictions of the processes that read documents this kernel has.

use super::Finding;

pub(super) fn check() -> Vec<Finding> {
    judge(sandbox::supported())
}

fn judge(kernel: sandbox::Confinement) -> Vec<Finding> {
    let row = |what, is_on: bool, on: &str, off: &str, fix: &str| match is_on {
        true => Finding::ok(what, on),
        false => Finding::warn(what, off).fix(fix),
    };
    vec![
        row(
            "privileges",
            kernel.no_new_privileges,
            "what reads documents gains no rights (no_new_privs)",
            "what reads documents may start programs with more rights: there is no no_new_privs",
            "run it on Linux 3.5 or later",
        ),
        row(
            "landlock",
            kernel.files,
            "what reads documents opens the document, its scratch folder and system libraries only",
            "what reads documents may open every file of this user: the kernel has no Landlock",
            "run it on Linux 5.13 or later with lsm=landlock, or under a user of its own",
        ),
        row(
            "seccomp",
            kernel.system_calls,
            "what reads documents has no network and may not trace, mount or load anything",
            "what reads documents may use the network: there is no seccomp filter here",
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
        let lines = |it| judge(it).into_iter().map(|it| (it.what, it.level)).collect::<Vec<_>>();
        let rows = ["privileges", "landlock", "seccomp"];
        assert_eq!(lines(all), rows.map(|it| (it, Level::Ok)));
        let some = sandbox::Confinement { files: false, ..all };
        assert_eq!(lines(some)[1], ("landlock", Level::Warn));
        assert_eq!(lines(sandbox::Confinement::default()), rows.map(|it| (it, Level::Warn)));
    }
}
