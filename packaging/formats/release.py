"""What a release is made of: the binary, its version and platform, and the files beside it."""

import dataclasses
import gzip
import io
import os
import pathlib
import platform
import re
import subprocess
import tarfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUMMARY = "Market data, indicators, pricing and legal documents for AI agents, over MCP and HTTP"

# The machine's name as Linux, Debian, npm and OCI write it.
MACHINES = {
    "x86_64": ("amd64", "x64", "amd64"),
    "aarch64": ("arm64", "arm64", "arm64"),
}


@dataclasses.dataclass(frozen=True)
class Release:
    binary: pathlib.Path
    version: str
    machine: str
    glibc: tuple[int, int]
    """The oldest version of glibc that has every symbol of the binary."""
    time: int
    """Unix time of the commit; the time of every file in a package."""

    @classmethod
    def of(cls, binary: pathlib.Path) -> "Release":
        printed = subprocess.run([binary, "--version"], check=True, capture_output=True, text=True)
        version = printed.stdout.split()[1]
        machine = platform.machine()
        if machine not in MACHINES:
            raise SystemExit(f"packaging/build: no packages are made for {machine}")
        needed = set(re.findall(rb"GLIBC_(\d+)\.(\d+)", binary.read_bytes()))
        glibc = max((int(major), int(minor)) for major, minor in needed)
        return cls(binary, version, machine, glibc, commit_time())

    @property
    def debian_machine(self) -> str:
        return MACHINES[self.machine][0]

    @property
    def npm_machine(self) -> str:
        return MACHINES[self.machine][1]

    @property
    def oci_machine(self) -> str:
        return MACHINES[self.machine][2]

    def documents(self) -> list[tuple[str, pathlib.Path]]:
        """The files that a person reads, each with its place in a package."""
        files = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"]
        folders = ["docs", "samples", "packaging/monitoring"]
        listed = [(name, ROOT / name) for name in files]
        for folder in folders:
            for path in sorted((ROOT / folder).rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    listed.append((str(path.relative_to(ROOT)), path))
        return listed


def commit_time() -> int:
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(epoch)
    asked = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    printed = subprocess.run(asked, capture_output=True, text=True, check=False)
    return int(printed.stdout) if printed.returncode == 0 else 0


def entry(name: str, time: int, mode: int = 0o644, size: int = 0) -> tarfile.TarInfo:
    """A tar entry that belongs to root and has the release's time."""
    info = tarfile.TarInfo(name)
    info.mode, info.size, info.mtime = mode, size, time
    info.uname = info.gname = "root"
    return info


def add_file(archive: tarfile.TarFile, name: str, data: bytes, time: int, mode: int = 0o644) -> None:
    archive.addfile(entry(name, time, mode, len(data)), io.BytesIO(data))


def gzipped(data: bytes) -> bytes:
    """Compressed without a name and a time, so that the same data give the same bytes."""
    return gzip.compress(data, compresslevel=6, mtime=0)
