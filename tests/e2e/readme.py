"""Runs the README: every `console` block from top to bottom in one shell, in an empty folder.

    readme.py README STOA

A line that begins with `$ ` is a command, with the lines that a backslash continues; the lines up
to the next command are its output. Output is compared in form: numbers, times and identifiers may
differ, `…` stands for any text within a line, and a line of `…` alone for any lines. `stoa serve`
runs in the background until the end, on a port of its own instead of 8080.
"""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

COMMAND_SECONDS = 90
END = "end-of-the-command"


def commands(readme: str) -> list[tuple[str, list[str]]]:
    """The commands of all console blocks, each with the lines that it prints."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```$", readme, re.M | re.S):
        continued = False
        for line in block.splitlines():
            if continued:
                command, output = found.pop()
                found.append((f"{command}\n{line}", output))
            elif line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
            continued = line.endswith("\\") and (continued or line.startswith("$ "))
    return found


FORMS = [
    (r"\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?", "<time>"),
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<id>"),
    (r"[-+−]?\b\d+([.,]\d+)*\b", "<number>"),
]


def form(line: str) -> str:
    for pattern, name in FORMS:
        line = re.sub(pattern, name, line)
    return line.rstrip()


def line_matches(expected: str, printed: str) -> bool:
    parts = [re.escape(part) for part in form(expected).split("…")]
    return re.fullmatch(".*".join(parts), form(printed)) is not None


def matches(expected: list[str], printed: list[str]) -> bool:
    if not expected:
        return not printed
    if expected[0].strip() == "…":
        return any(matches(expected[1:], printed[at:]) for at in range(len(printed) + 1))
    if not printed or not line_matches(expected[0], printed[0]):
        return False
    return matches(expected[1:], printed[1:])


class Shell:
    """One bash, into which commands are typed one after another."""

    def __init__(self, folder: pathlib.Path, environment: dict[str, str]) -> None:
        self.errors = folder / "stderr"
        self.process = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors.open("w"),
            cwd=folder, env=environment, text=True,
        )

    def run(self, command: str) -> tuple[int, list[str]]:
        typed, printed = self.process.stdin, self.process.stdout
        typed.write(f"{command}\nprintf '\\n%s %s\\n' {END} $?\n")
        typed.flush()
        timer = threading.Timer(COMMAND_SECONDS, self.process.kill)
        timer.start()
        lines = []
        for line in printed:
            if line.startswith(END):
                timer.cancel()
                # The line break before the mark is the shell's own where output ends with one.
                while lines and not lines[-1]:
                    lines.pop()
                return int(line.split()[1]), lines
            lines.append(line.rstrip("\n"))
        raise SystemExit(f"the shell ended, or {COMMAND_SECONDS} s passed, in: {command}")

    def close(self) -> None:
        # The end of the server is awaited, so that the folder can be removed.
        try:
            self.process.communicate("kill $server; wait $server\n", timeout=COMMAND_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


SERVE = """stoa serve --log-format pretty 2>banner & server=$!
for _ in $(seq 300); do
  curl -s -o /dev/null {address}/health && break
  kill -0 $server || break
  sleep 0.1
done
sed -n '/is serving/,$p' banner"""


def main() -> None:
    readme, stoa = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    for tool in ["bash", "curl", "jq"]:
        if not shutil.which(tool):
            raise SystemExit(f"the README's commands need {tool}")
    all_commands = commands(readme.read_text(encoding="utf-8"))
    if len(all_commands) < 10:
        raise SystemExit(f"the README has {len(all_commands)} commands; the blocks are not found")
    address = f"127.0.0.1:{free_port()}"
    failed = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        shutil.copytree(readme.parent / "samples", folder / "samples")
        (folder / "bin").mkdir()
        (folder / "bin/stoa").symlink_to(stoa)
        kept = {name: os.environ[name] for name in ["LANG", "LC_ALL", "TMPDIR"] if name in os.environ}
        shell = Shell(folder, {
            **kept, "HOME": temporary, "PORT": address.rsplit(":", 1)[1],
            "PATH": f"{folder}/bin:{os.environ['PATH']}",
        })
        try:
            for command, expected in all_commands:
                typed = command.replace("127.0.0.1:8080", address)
                if command == "stoa serve":
                    typed = SERVE.format(address=address)
                status, printed = shell.run(typed)
                good = status == 0 and matches(expected, printed)
                print("ok    " if good else "FAILED", command.splitlines()[0])
                if not good:
                    failed += 1
                    print(f"  exit code {status}; expected:", *expected, "printed:", *printed, sep="\n  ")
                    print(shell.errors.read_text()[-2000:])
        finally:
            shell.close()
    if failed:
        raise SystemExit(f"{failed} of {len(all_commands)} commands of the README failed")
    print(f"{len(all_commands)} commands of the README work")


if __name__ == "__main__":
    main()
