//! Runs a tool with bounded time and output.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::{ProblemCode, ReadProblem};

/// A page rendered in grey at 300 dpi has 9 MB; large formats have more.
const OUTPUT_MAX: u64 = 256 << 20;

/// Runs the tool and returns its output; the error `Unsupported` means that it could not be
/// started.
pub(crate) fn run(
    program: &Path,
    arguments: &[&str],
    input: &[u8],
    time: Duration,
) -> Result<Vec<u8>, ReadProblem> {
    let shown = program.display();
    let failed = |what: String| ReadProblem::new(ProblemCode::OcrFailed, format!("{shown} {what}"));
    let mut command = Command::new(program);
    command
        .args(arguments)
        // One thread for a page; several pages run at the same time instead.
        .env("OMP_THREAD_LIMIT", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = sandbox::with_tool_cpu_limit(|| command.spawn())
        .map_err(|error| ReadProblem::new(ProblemCode::Unsupported, format!("{shown}: {error}")))?;
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(failed("could not be connected".to_owned()));
    };
    let (done, wait) = mpsc::sync_channel(1);
    let (output, timed_out) = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new;
        let writer = thread().spawn_scoped(scope, move || {
            // The write fails if the tool has ended; its exit status is reported below.
            drop(stdin.write_all(input));
        });
        let reader = thread().spawn_scoped(scope, move || {
            let mut output = Vec::new();
            let outcome = stdout.take(OUTPUT_MAX).read_to_end(&mut output).map(|_| output);
            done.send(()).ok();
            outcome
        });
        // If a thread could not be started, the tool is killed.
        let timed_out = writer.is_ok() && reader.is_ok() && wait.recv_timeout(time).is_err();
        if timed_out || writer.is_err() || reader.is_err() {
            drop(child.kill());
        }
        (reader.ok().and_then(|it| it.join().ok()), timed_out)
    });
    // Without output the tool is killed, because it may still run.
    if output.is_none() {
        drop(child.kill());
    }
    let status = child.wait().map_err(|error| failed(format!("was lost: {error}")))?;
    if timed_out {
        return Err(ReadProblem::new(
            ProblemCode::TimedOut,
            format!("{shown} did not end in time"),
        ));
    }
    if !status.success() {
        return Err(failed(format!("failed ({status}); the picture may be damaged")));
    }
    match output {
        Some(Ok(output)) => Ok(output),
        _ => Err(failed("gave no answer".to_owned())),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, input: &[u8], seconds: u64) -> Result<Vec<u8>, ProblemCode> {
        let time = Duration::from_secs(seconds);
        run(Path::new("/bin/sh"), &["-c", script], input, time).map_err(|it| it.code)
    }

    #[test]
    fn tools_answer_fail_or_are_stopped() {
        assert_eq!(check("cat", b"echo", 60), Ok(b"echo".to_vec()));
        assert_eq!(check("exit 3", &vec![0; 1 << 20], 60), Err(ProblemCode::OcrFailed));
        assert_eq!(check("exec sleep 600", b"", 0), Err(ProblemCode::TimedOut));
        let absent = run(Path::new("/nonexistent/tool"), &[], b"", Duration::from_secs(1));
        assert_eq!(absent.map_err(|it| it.code), Err(ProblemCode::Unsupported));
    }
}
