//! The restrictions of Linux: `no_new_privs`, Landlock and seccomp. A restriction that the kernel
//! does not have is skipped.

use std::collections::BTreeMap;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError,
    RulesetStatus, Scope,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::confine::{Confinement, FileAccess};

/// The version of Landlock that is requested. An older kernel enforces the rules that it knows.
const LANDLOCK_ABI: ABI = ABI::V6;

pub(crate) fn restrict(files: &FileAccess) -> Confinement {
    let no_new_privileges = rustix::thread::set_no_new_privs(true).is_ok();
    let enforced = restrict_files(files).map(|it| it.ruleset);
    // The seccomp filter comes last, because setting up Landlock needs system calls of its own.
    let system_calls =
        seccomp_filter().and_then(|filter| seccompiler::apply_filter(&filter).ok()).is_some();
    Confinement {
        no_new_privileges,
        files: enforced.is_ok_and(|it| it != RulesetStatus::NotEnforced),
        system_calls,
    }
}

pub(crate) fn supported() -> Confinement {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(Ruleset::create);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let has = |line: &str| status.lines().any(|it| it.starts_with(line));
    Confinement {
        no_new_privileges: has("NoNewPrivs:"),
        files: ruleset.is_ok(),
        system_calls: has("Seccomp:") && seccomp_filter().is_some(),
    }
}

/// Restricts files, TCP sockets, and signals to processes outside the child's own.
fn restrict_files(files: &FileAccess) -> Result<RestrictionStatus, RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(LANDLOCK_ABI))?
        .handle_access(AccessNet::from_all(LANDLOCK_ABI))?
        .scope(Scope::from_all(LANDLOCK_ABI))?
        .create()?;
    let read = AccessFs::from_read(LANDLOCK_ABI);
    // A write folder allows files and folders, but no device, socket or named pipe.
    let special =
        AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::MakeSock | AccessFs::MakeFifo;
    let write =
        AccessFs::from_all(LANDLOCK_ABI) & !(special | AccessFs::Execute | AccessFs::IoctlDev);
    let rules =
        files.read.iter().map(|it| (it, read)).chain(files.write.iter().map(|it| (it, write)));
    for (path, access) in rules {
        let Ok(opened) = PathFd::new(path) else { continue };
        let access =
            if path.is_dir() { access } else { access & AccessFs::from_file(LANDLOCK_ABI) };
        ruleset = ruleset.add_rule(PathBeneath::new(opened, access))?;
    }
    ruleset.restrict_self()
}

/// System calls that are refused with EPERM; a reader of documents and its tools make none of them.
const REFUSED_CALLS: &[i64] = &[
    // The network, and sockets of any kind.
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // Access to other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // The priority of a user or a group is that of other processes too.
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
    // Changes of the system: mounts, namespaces, modules, clocks and the like.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_personality,
    // Large kernel interfaces, in which most exploitable faults have been found.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_memfd_create,
];

/// System calls that change the limits, the processors or the scheduling of the process that their
/// first argument names. They are allowed for 0, which is the caller itself, and refused otherwise.
const REFUSED_FOR_OTHERS: &[i64] = &[
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];

/// On x86-64 every system call has a second number in the x32 ABI: its first number with this bit.
const X32_BIT: i64 = 0x4000_0000;

fn seccomp_filter() -> Option<BpfProgram> {
    let target: TargetArch = std::env::consts::ARCH.try_into().ok()?;
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for call in REFUSED_CALLS {
        rules.insert(*call, Vec::new());
    }
    for call in REFUSED_FOR_OTHERS {
        let other = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0).ok()?;
        rules.insert(*call, vec![SeccompRule::new(vec![other]).ok()?]);
    }
    if matches!(target, TargetArch::x86_64) {
        let x32_calls: Vec<i64> = rules.keys().map(|it| it | X32_BIT).collect();
        rules.extend(x32_calls.into_iter().map(|it| (it, Vec::new())));
    }
    let refuse = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, target).ok()?;
    filter.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seccomp_filter_is_made_for_this_machine() {
        assert!(seccomp_filter().is_some_and(|it| !it.is_empty()));
    }
}
