"""The Python wheel: it carries the binary as a script, for `uvx stoa` and `pip install stoa`."""

import base64
import hashlib
import pathlib
import time
import zipfile

from formats.release import ROOT, SUMMARY, Release

METADATA = """\
Metadata-Version: 2.4
Name: stoa
Version: {version}
Summary: {summary}
License-Expression: MIT OR Apache-2.0
License-File: LICENSE-MIT
License-File: LICENSE-APACHE
Requires-Python: >=3.8
Description-Content-Type: text/markdown

{readme}"""

WHEEL = """\
Wheel-Version: 1.0
Generator: stoa packaging
Root-Is-Purelib: false
Tag: {tag}
"""


def make(release: Release, out: pathlib.Path) -> pathlib.Path:
    tag = f"py3-none-manylinux_{release.glibc[0]}_{release.glibc[1]}_{release.machine}"
    name = f"stoa-{release.version}"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    metadata = METADATA.format(version=release.version, summary=SUMMARY, readme=readme)
    files = [
        (f"{name}.data/scripts/stoa", release.binary.read_bytes(), 0o755),
        (f"{name}.dist-info/METADATA", metadata.encode(), 0o644),
        (f"{name}.dist-info/WHEEL", WHEEL.format(tag=tag).encode(), 0o644),
    ]
    for licence in ["LICENSE-MIT", "LICENSE-APACHE"]:
        path = f"{name}.dist-info/licenses/{licence}"
        files.append((path, (ROOT / licence).read_bytes(), 0o644))
    record = ""
    for path, data, _ in files:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    record += f"{name}.dist-info/RECORD,,\n"
    files.append((f"{name}.dist-info/RECORD", record.encode(), 0o644))
    made = out / f"{name}-{tag}.whl"
    # A zip file knows no time before 1980.
    moment = time.gmtime(max(release.time, 315_532_800))[:6]
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data, mode in files:
            info = zipfile.ZipInfo(path, moment)
            info.external_attr = (0o100000 | mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return made
