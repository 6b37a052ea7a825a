#!/usr/bin/env python3
"""Writes the licence texts of all crates that a released program holds.

Taken from the crates as cargo has unpacked them. A crate without a text of its own is named with its SPDX expression; ends
with 1 if that expression holds no licence whose text another crate brings along.
"""

import json
import pathlib
import subprocess
import sys

NAMES = ("license", "licence", "copying", "copyright", "notice", "unlicense")
TARGETS = (
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
    "aarch64-pc-windows-msvc",
)


def shipped(metadata: dict) -> set[str]:
    """The crates that are linked into the program: everything but build and dev dependencies."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found, todo = set(), [metadata["resolve"]["root"]]
    while todo:
        package = todo.pop()
        if package in found:
            continue
        found.add(package)
        for dependency in nodes[package]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                todo.append(dependency["pkg"])
    return found - {metadata["resolve"]["root"]}


def texts(package: dict) -> list[pathlib.Path]:
    folder = pathlib.Path(package["manifest_path"]).parent
    named = [path for path in folder.iterdir() if path.is_file() and path.name.lower().startswith(NAMES)]
    if package.get("license_file"):
        named.append(folder / package["license_file"])
    return sorted(set(named))


def main() -> int:
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    for target in TARGETS:
        command += ["--filter-platform", target]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    wanted = sorted(shipped(metadata), key=lambda it: (packages[it]["name"], packages[it]["version"]))
    known, bare = set(), []
    print("Licence texts of the crates in tflock. What they ask of whoever passes the program on: licences.md.")
    for package in (packages[name] for name in wanted):
        expression = package.get("license") or "see below"
        found = texts(package)
        print(f"\n{'=' * 78}\n{package['name']} {package['version']}\n{expression}\n{package.get('repository') or ''}")
        if found:
            known.update(expression.replace("(", " ").replace(")", " ").replace("/", " ").split())
        else:
            bare.append((package["name"], expression))
        for path in found:
            print(f"{'-' * 78}\n{path.read_text(encoding='utf-8', errors='replace').strip()}")
    orphans = [name for name, expression in bare if not known & set(expression.replace("(", " ").replace(")", " ").split())]
    print(f"{len(wanted)} crates, {len(bare)} without a text of their own: {', '.join(sorted(n for n, _ in bare))}", file=sys.stderr)
    if orphans:
        print(f"no text of any of their licences: {', '.join(orphans)}", file=sys.stderr)
    return 1 if orphans else 0


if __name__ == "__main__":
    sys.exit(main())
