"""The container image as an OCI archive, for `docker load` and `podman load`.

The image has the binary, the shared libraries it is linked to, the certificates of the authorities
that the building machine trusts, and a user; no shell and no package manager. It does not read
scanned documents, because it has no Tesseract; the image of the Dockerfile has it.
"""

import datetime
import hashlib
import io
import json
import pathlib
import re
import subprocess
import tarfile

from formats.release import ROOT, SUMMARY, Release, add_file, entry, gzipped

USER = 65532
PASSWD = f"root:x:0:0:root:/:/sbin/nologin\nstoa:x:{USER}:{USER}:stoa:/data:/sbin/nologin\n"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
GROUP = f"root:x:0:\nstoa:x:{USER}:\n"


def make(release: Release, out: pathlib.Path) -> pathlib.Path:
    layer = rootfs(release)
    packed = gzipped(layer)
    created = datetime.datetime.fromtimestamp(release.time, datetime.UTC).isoformat()
    config = {
        "created": created,
        "architecture": release.oci_machine,
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}",
            "Env": ["PATH=/usr/bin", "STOA_DATA=/data", "STOA_LISTEN=0.0.0.0:8080"],
            "Entrypoint": ["/usr/bin/stoa"],
            "Cmd": ["serve"],
            "WorkingDir": "/data",
            "Volumes": {"/data": {}},
            "ExposedPorts": {"8080/tcp": {}},
            "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": "stoa",
                "org.opencontainers.image.description": SUMMARY,
                "org.opencontainers.image.version": release.version,
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest(layer)}"]},
        "history": [{"created": created, "created_by": "packaging/build"}],
    }
    config_text = compact(config)
    manifest = compact({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": descriptor("application/vnd.oci.image.config.v1+json", config_text),
        "layers": [descriptor("application/vnd.oci.image.layer.v1.tar+gzip", packed)],
    })
    index = compact({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{
            **descriptor("application/vnd.oci.image.manifest.v1+json", manifest),
            "platform": {"architecture": release.oci_machine, "os": "linux"},
            "annotations": {
                "io.containerd.image.name": f"docker.io/library/stoa:{release.version}",
                "org.opencontainers.image.ref.name": release.version,
            },
        }],
    })
    # Docker before version 25 reads this file instead of the index.
    docker = compact([{
        "Config": f"blobs/sha256/{digest(config_text)}",
        "RepoTags": [f"stoa:{release.version}"],
        "Layers": [f"blobs/sha256/{digest(packed)}"],
    }])
    made = out / f"stoa-{release.version}-{release.oci_machine}-oci.tar"
    with tarfile.open(made, "w", format=tarfile.USTAR_FORMAT) as archive:
        for blob in [config_text, packed, manifest]:
            add_file(archive, f"blobs/sha256/{digest(blob)}", blob, release.time)
        add_file(archive, "index.json", index, release.time)
        add_file(archive, "manifest.json", docker, release.time)
        add_file(archive, "oci-layout", compact({"imageLayoutVersion": "1.0.0"}), release.time)
    return made


def rootfs(release: Release) -> bytes:
    """The file system of the image as a tar archive."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        folders = {"data": (0o700, USER), "etc": (0o755, 0), "tmp": (0o1777, 0), "usr/bin": (0o755, 0)}
        for name, (mode, owner) in folders.items():
            info = entry(name, release.time, mode)
            info.type, info.uid, info.gid = tarfile.DIRTYPE, owner, owner
            info.uname = info.gname = ""
            archive.addfile(info)
        add_file(archive, "etc/passwd", PASSWD.encode(), release.time)
        add_file(archive, "etc/group", GROUP.encode(), release.time)
        add_file(archive, "usr/bin/stoa", release.binary.read_bytes(), release.time, 0o755)
        for path in [CERTIFICATES, *libraries(release.binary)]:
            add_file(archive, path.lstrip("/"), pathlib.Path(path).read_bytes(), release.time, 0o755)
        for name in ["LICENSE-MIT", "LICENSE-APACHE"]:
            add_file(archive, f"usr/share/doc/stoa/{name}", (ROOT / name).read_bytes(), release.time)
    return buffer.getvalue()


def libraries(binary: pathlib.Path) -> list[str]:
    """The shared libraries of the binary and its loader, by the paths where it looks for them."""
    printed = subprocess.run(["ldd", binary], check=True, capture_output=True, text=True).stdout
    if "not found" in printed:
        raise SystemExit(f"packaging/build: a library of the binary is missing:\n{printed}")
    return sorted(set(re.findall(r"(/\S+) \(0x", printed)))


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def descriptor(kind: str, data: bytes) -> dict:
    return {"mediaType": kind, "digest": f"sha256:{digest(data)}", "size": len(data)}


def compact(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
