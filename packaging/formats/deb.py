"""The Debian package: the binary, a systemd unit with a user of its own, completions, documents."""

import os
import pathlib
import shutil
import subprocess
import tempfile

from formats.release import ROOT, SUMMARY, Release, gzipped

CONTROL = """\
Package: stoa
Version: {version}
Architecture: {machine}
Maintainer: The Stoa developers <stoa@example.invalid>
Installed-Size: {kilobytes}
Depends: ca-certificates, libc6 (>= {glibc}), libgcc-s1, passwd
Recommends: poppler-utils, tesseract-ocr
Suggests: postgresql
Section: net
Priority: optional
Description: {summary}
 One server with exact, versioned contracts. It works without configuration
 and without a network; the service listens on this machine alone until
 /etc/stoa/stoa.toml says otherwise.
"""


def make(release: Release, out: pathlib.Path) -> pathlib.Path:
    made = out / f"stoa_{release.version}_{release.debian_machine}.deb"
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        root.chmod(0o755)
        put(root / "usr/bin/stoa", release.binary.read_bytes(), 0o755)
        source = ROOT / "packaging/deb"
        put(root / "usr/lib/systemd/system/stoa.service", (source / "stoa.service").read_bytes())
        put(root / "etc/stoa/stoa.toml", (source / "stoa.toml").read_bytes(), 0o640)
        bash = subprocess.run(
            [release.binary, "completions", "bash"], check=True, capture_output=True
        )
        put(root / "usr/share/bash-completion/completions/stoa", bash.stdout)
        documents = root / "usr/share/doc/stoa"
        for place, path in release.documents():
            if place == "CHANGELOG.md":
                put(documents / "changelog.gz", gzipped(path.read_bytes()))
            elif not place.startswith("LICENSE"):
                put(documents / place, path.read_bytes())
        put(documents / "copyright", (source / "copyright").read_bytes())
        size = sum(path.stat().st_size for path in root.rglob("*") if path.is_file())
        control = CONTROL.format(
            version=release.version,
            machine=release.debian_machine,
            kilobytes=(size + 1023) // 1024,
            glibc=".".join(str(it) for it in release.glibc),
            summary=SUMMARY,
        )
        put(root / "DEBIAN/control", control.encode())
        put(root / "DEBIAN/conffiles", b"/etc/stoa/stoa.toml\n")
        for script in ["postinst", "prerm", "postrm"]:
            put(root / "DEBIAN" / script, (source / script).read_bytes(), 0o755)
        command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(made)]
        if not shutil.which("dpkg-deb"):
            raise SystemExit("packaging/build: dpkg-deb is needed for the Debian package")
        time = {**os.environ, "SOURCE_DATE_EPOCH": str(release.time)}
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=time)
    return made


def put(path: pathlib.Path, data: bytes, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(mode)
