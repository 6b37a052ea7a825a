#!/usr/bin/env python3
"""Packs each released program as a wheel, so `pip`, `pipx`, `uvx` and pre-commit install it without Rust.

A wheel holds the program of an archive, its licences and three files of metadata, and nothing else. It belongs to no version of
Python. The same archives give the same wheels.

usage: wheels.py FILES, where FILES holds the archives of a release
"""

import base64
import hashlib
import pathlib
import re
import sys
import tarfile
import zipfile

# The systems that a program runs on, as pip names them: static programs of Linux need no C library, and the others what Rust needs.
PLATFORMS = {
    "x86_64-unknown-linux-musl": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "aarch64-unknown-linux-musl": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "x86_64-apple-darwin": "macosx_10_12_x86_64",
    "aarch64-apple-darwin": "macosx_11_0_arm64",
    "x86_64-pc-windows-msvc": "win_amd64",
    "aarch64-pc-windows-msvc": "win_arm64",
}
LICENCES = ("LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-LICENCES.txt", "licences.md")


def python_version(version: str) -> str:
    """The version as Python writes it: `1.2.0-rc.1` is `1.2.0rc1`."""
    found = re.fullmatch(r"(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.(\d+))?", version)
    if not found:
        sys.exit(f"Python has no version {version}: write X.Y.Z, or X.Y.Z-alpha.N, -beta.N or -rc.N")
    number, stage, count = found.groups()
    return number if stage is None else number + {"alpha": "a", "beta": "b", "rc": "rc"}[stage] + count


def metadata(package: dict, version: str) -> str:
    lines = ["Metadata-Version: 2.4", f"Name: {package['name']}", f"Version: {version}", f"Summary: {package['description']}"]
    lines += [f"Project-URL: Source, {package['repository']}", f"License-Expression: {package['license']}"]
    lines += [f"License-File: {name}" for name in LICENCES]
    return "\n".join(lines) + "\n"


def write(path: pathlib.Path, files: dict[str, bytes], program: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            # The date of a new ZipInfo is always the same.
            entry = zipfile.ZipInfo(name)
            entry.create_system, entry.compress_type = 3, zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name == program else 0o100644) << 16
            archive.writestr(entry, content, compresslevel=9)


def wheel(archive: pathlib.Path, package: dict) -> pathlib.Path | None:
    folder = archive.name.removesuffix(".tar.gz")
    target = next((target for target in PLATFORMS if folder.endswith(f"-{target}")), None)
    if target is None:
        return None
    version = python_version(folder.removeprefix("tflock-").removesuffix(f"-{target}"))
    program = "tflock.exe" if "windows" in target else "tflock"
    with tarfile.open(archive) as packed:
        content = {name: packed.extractfile(f"{folder}/{name}").read() for name in (program, *LICENCES)}
    info, tag = f"tflock-{version}.dist-info", f"py3-none-{PLATFORMS[target]}"
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in PLATFORMS[target].split("."))
    script = f"tflock-{version}.data/scripts/{program}"
    files = {script: content[program], f"{info}/METADATA": metadata(package, version).encode()}
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: tflock\nRoot-Is-Purelib: false\n{tags}".encode()
    files |= {f"{info}/licenses/{name}": content[name] for name in LICENCES}
    record = f"{info}/RECORD"
    digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    sums = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items())
    files[record] = f"{sums}{record},,\n".encode()
    path = archive.with_name(f"tflock-{version}-{tag}.whl")
    write(path, files, script)
    return path


def main() -> None:
    top = pathlib.Path(__file__).parents[2]
    table = (top / "Cargo.toml").read_text().split("[package]")[1].split("\n[")[0]
    package = dict(re.findall(r'^(\w+) = "(.*?)"', table, re.MULTILINE))
    written = [wheel(archive, package) for archive in sorted(pathlib.Path(sys.argv[1]).glob("tflock-*.tar.gz"))]
    if not any(written):
        sys.exit(f"no archive of a known system in {sys.argv[1]}")


if __name__ == "__main__":
    main()
