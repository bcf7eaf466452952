"""The npm package: it carries the binary as its command, for `npx stoa` and `npm install stoa`."""

import io
import json
import pathlib
import tarfile

from formats.release import ROOT, SUMMARY, Release, add_file, gzipped


def make(release: Release, out: pathlib.Path) -> pathlib.Path:
    about = {
        "name": "stoa",
        "version": release.version,
        "description": SUMMARY,
        "license": "MIT OR Apache-2.0",
        "bin": {"stoa": "bin/stoa"},
        "os": ["linux"],
        "cpu": [release.npm_machine],
        "libc": ["glibc"],
        "files": ["bin/stoa"],
    }
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        text = (json.dumps(about, indent=2) + "\n").encode()
        add_file(archive, "package/package.json", text, release.time)
        binary = release.binary.read_bytes()
        add_file(archive, "package/bin/stoa", binary, release.time, 0o755)
        for name in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"]:
            add_file(archive, f"package/{name}", (ROOT / name).read_bytes(), release.time)
    made = out / f"stoa-{release.version}-linux-{release.npm_machine}.tgz"
    made.write_bytes(gzipped(buffer.getvalue()))
    return made
