"""The tarball: the binary, its unit for systemd, documents and samples in one folder."""

import io
import pathlib
import tarfile

from formats.release import ROOT, Release, add_file, gzipped


def make(release: Release, out: pathlib.Path) -> pathlib.Path:
    name = f"stoa-{release.version}-{release.machine}-linux-gnu"
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        add_file(archive, f"{name}/stoa", release.binary.read_bytes(), release.time, 0o755)
        unit = ROOT / "packaging/deb/stoa.service"
        add_file(archive, f"{name}/stoa.service", unit.read_bytes(), release.time)
        for place, path in release.documents():
            mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            add_file(archive, f"{name}/{place}", path.read_bytes(), release.time, mode)
    made = out / f"{name}.tar.gz"
    made.write_bytes(gzipped(buffer.getvalue()))
    return made
