#!/usr/bin/env python3
"""Repositories of Terragrunt units: how much of them tflock reads, and how fast.

    units.py share --bin TFLOCK DIR...         units of the checkouts in DIR, by how much of them was read and why not more
    units.py share --bin TFLOCK --synthetic N  the same of a made-up repository of N units
    units.py bench --bin TFLOCK [--units N]    seconds, memory and requests of the common commands in that repository,
                                               next to `terraform providers lock` in some of the assembled directories

`share` copies each checkout, gives every unit a lock file without entries, and reads the findings of `verify -r --offline`.
A module that git or a registry would give counts as *remote*: the unit itself was read. The made-up repository has the mix
of shapes of 1,394 public units: where the source is, what it is computed from, what is generated, how files are included.
It has 50 modules with 20 providers, some in the repository and some in a git repository of the lab.
"""

import argparse
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
import bench  # noqa: E402

LOCK = ".terraform.lock.hcl"
HEADER = '# This file is maintained automatically by "terraform init".\n# Manual edits may be lost in future updates.\n'
MODULES, PROVIDERS, COMPARED = 50, 20, 20
SHAPE = {"providers": PROVIDERS, "platforms": 2, "size": 300_000, "latency": 5, "bandwidth": 0, "roots": 1}
GIT = f"git::https://{bench.HOST}/git/modules.git"

# Where the source of a unit is and what it is computed from: how many of 100 units.
SOURCES = {"git-literal": 42, "git-computed": 14, "local-literal": 13, "local-computed": 15, "unknown": 11, "none": 5}
REMOTE = "remote: its module was not fetched"


def module(number: int) -> str:
    """A module that requires up to three of the providers, one of which every unit configures."""
    needs = "".join(f'    p{n} = {{\n      source  = "{bench.HOST}/bench/p{n}"\n      version = "~> 1.0"\n    }}\n'
                    for n in sorted({0, number % PROVIDERS, (7 * number + 3) % PROVIDERS}))
    return "terraform {\n  required_providers {\n" + needs + "  }\n}\n"


def world() -> dict:
    files = {f"m{n:02}/versions.tf": module(n) for n in range(MODULES)}
    commits = [{"branch": "main", "files": files, "tags": ["v1.0.0"]}]
    return {**bench.world(SHAPE), "git": {"modules": {"head": "main", "commits": commits}}}


ROOT = f'''locals {{
  region  = read_terragrunt_config(find_in_parent_folders("region.hcl")).locals.region
  account = jsondecode(file("accounts.json"))[local.region]
  tag     = "v1.0.0"
  base    = "{GIT}"
}}

remote_state {{
  backend = "s3"
  generate = {{
    path      = "backend.tf"
    if_exists = "overwrite_terragrunt"
  }}
  config = {{
    key = "${{path_relative_to_include()}}/terraform.tfstate"
  }}
}}

generate "provider" {{
  path      = "provider.tf"
  if_exists = "overwrite_terragrunt"
  contents  = <<EOF
provider "p0" {{
  region     = "${{local.region}}"
  account_id = "${{local.account}}"
  role       = "${{run_cmd("--quiet", "whoami")}}"
}}
EOF
}}
'''

INCLUDE = '''include "root" {
  path   = find_in_parent_folders("root.hcl")
  expose = true
}

'''


def unit(kind: str, number: int) -> dict[str, str]:
    """The files of a unit, by their names."""
    name = f"m{number % MODULES:02}"
    source = {
        "git-literal": f'"{GIT}//{name}?ref=v1.0.0"',
        "git-computed": f'"${{include.root.locals.base}}//{name}?ref=${{include.root.locals.tag}}"',
        "local-literal": f'"../../../../modules//{name}"',
        "local-computed": f'"${{dirname(find_in_parent_folders("root.hcl"))}}/modules//{name}"',
        "unknown": f'"{GIT}//{name}?ref=${{get_env("RELEASE")}}"',
    }.get(kind)
    stated = f"terraform {{\n  source = {source}\n}}\n\n" if source else ""
    files = {"terragrunt.hcl": INCLUDE + stated + "inputs = {\n  name = basename(get_terragrunt_dir())\n}\n"}
    return files if source else {**files, "main.tf": module(number % MODULES)}


def repository(top: Path, count: int) -> list[Path]:
    """Writes and commits a repository with so many units, each with a lock file without entries. Gives their directories."""
    chance = random.Random(1)
    kinds = [kind for kind, share in SOURCES.items() for _ in range(share)]
    texts = {"root.hcl": ROOT, "accounts.json": json.dumps({f"r{n}": f"{n:012}" for n in range(4)})}
    texts |= {f"modules/m{n:02}/versions.tf": module(n) for n in range(MODULES)}
    places = []
    for number in range(count):
        region = f"live/e{number % 5}/r{number % 4}"
        place = f"{region}/u{number:04}"
        texts[f"{region}/region.hcl"] = f'locals {{\n  region = "r{number % 4}"\n}}\n'
        texts |= {f"{place}/{name}": text for name, text in unit(chance.choice(kinds), number).items()}
        texts[f"{place}/{LOCK}"] = HEADER
        places.append(top / place)
    for name, text in texts.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    commit(top)
    return places


def commit(top: Path) -> None:
    git = ["git", "-C", str(top), "-c", "user.name=lab", "-c", "user.email=lab@lab.invalid"]
    if not (top / ".git").exists():
        subprocess.run([*git, "init", "--quiet", "--initial-branch=main"], check=True)
    subprocess.run([*git, "add", "--all", "--force"], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "all"], check=True)


def environment(home: Path, server: bench.Registry | None = None) -> dict:
    (home / "cli.tfrc").touch()
    ca = {name: str(Path(server.ready["ca"]).resolve()) for name in ("SSL_CERT_FILE", "GIT_SSL_CAINFO")} if server else {}
    return {"PATH": os.environ.get("PATH", ""), "HOME": str(home), "TF_CLI_CONFIG_FILE": str(home / "cli.tfrc"), "NO_COLOR": "1",
            "LANG": "C.UTF-8", "CHECKPOINT_DISABLE": "1", **ca}


def states(binary: str, top: Path, home: Path) -> collections.Counter:
    """Units by how much of them was read, and why not more."""
    argv = [binary, "-C", str(top), "--tool", "terraform", "--offline", "verify", "-r", "--format", "json"]
    done = subprocess.run(argv, env=environment(home), capture_output=True, text=True, check=False)
    document, found = json.loads(done.stdout), collections.Counter()
    for root in document.get("roots", []):
        if root.get("kind") != "unit":
            continue
        unread = [one["message"] for one in root.get("findings") or [] if one["rule"] == "requirements-unread"]
        if unread:
            found[f"not read whole: {unread[0]}"] += 1
        elif root.get("error"):
            found[f"error: {root['error']['message']}"] += 1
        else:
            found[REMOTE if root.get("inconclusive") else "read"] += 1
    return found


def share(args: argparse.Namespace) -> int:
    total: collections.Counter = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="tflock-units-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        tops = []
        if args.synthetic:
            tops.append(Path(folder) / "synthetic")
            repository(tops[0], args.synthetic)
        for number, checkout in enumerate(args.checkouts):
            copy = Path(folder) / f"checkout-{number}"
            shutil.copytree(checkout, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", ".terragrunt-cache", ".terraform"))
            for file in copy.rglob("terragrunt.hcl"):
                if not (file.parent / LOCK).exists():
                    (file.parent / LOCK).write_text(HEADER)
            commit(copy)
            tops.append(copy)
        for top in tops:
            total.update(states(args.bin, top, home))
    units = sum(total.values())
    for state, count in total.most_common():
        print(f"{count:6}  {100 * count / units:5.1f} %  {state}")
    readable = total["read"] + total[REMOTE]
    print(f"{units} units, {100 * readable / max(units, 1):.1f} % readable")
    return 0 if units else 1


def row(name: str, argv: list[str], top: Path, env: dict, server: bench.Registry) -> None:
    server.traffic()
    run = bench.measure(argv, top, env, 600, accepted={0, 1, 3, 4})
    traffic = server.traffic()
    print(f"{name:34} {run['wall']:8.2f} s  cpu {run['cpu']:7.2f} s  {run['rss'] / 1024:7.1f} MiB  "
          f"{traffic['requests']:5} requests  {traffic['zips']:4} packages  exit {run['code']}", flush=True)


def change(top: Path, file: Path) -> None:
    file.write_text(file.read_text() + "# changed\n")
    commit(top)


def measure(args: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="tflock-units-") as folder:
        top, home = Path(folder) / "repository", Path(folder) / "home"
        home.mkdir()
        places = repository(top, args.units)
        server = bench.Registry(SHAPE, Path(tempfile.gettempdir()) / f"tflock-lab-state-{os.getuid()}", Path(folder), world())
        try:
            env = environment(home, server)
            tflock = [str(Path(args.bin).resolve()), "--tool", "terraform"]
            lock = [*tflock, "lock", "-r", "--platform", "linux_amd64", "--platform", "linux_arm64"]
            row("lock -r, cold", lock, top, env, server)
            commit(top)
            row("lock -r, nothing to do", lock, top, env, server)
            for place in places:
                (place / LOCK).write_text(HEADER)
            row("lock -r, warm", lock, top, env, server)
            row("verify -r --offline", [*tflock, "--offline", "verify", "-r"], top, env, server)
            change(top, places[0] / "terragrunt.hcl")
            row("verify -r --base, one unit", [*tflock, "verify", "-r", "--base", "HEAD~1"], top, env, server)
            change(top, top / "root.hcl")
            row("verify -r --base, root.hcl", [*tflock, "verify", "-r", "--base", "HEAD~1"], top, env, server)
            peer(args.units, Path(folder), env)
        finally:
            server.stop()
    return 0


def peer(units: int, folder: Path, env: dict) -> None:
    """`terraform providers lock` in some of the assembled directories, one after the other, as a loop over units does."""
    terraform = shutil.which("terraform")
    if not terraform:
        print("skipped: terraform is not here")
        return
    seconds = 0.0
    for number in range(COMPARED):
        place = folder / "assembled" / f"u{number}"
        place.mkdir(parents=True)
        (place / "versions.tf").write_text(module(number))
        argv = [terraform, "providers", "lock", "-no-color", "-platform=linux_amd64", "-platform=linux_arm64"]
        seconds += bench.measure(argv, place, env, 600)["wall"]
    print(f"{f'terraform providers lock, {COMPARED} units':34} {seconds:8.2f} s; scaled to {units}: {seconds / COMPARED * units:.0f} s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("share", help="how much is read")
    one.add_argument("--bin", required=True)
    one.add_argument("--synthetic", type=int, default=0, metavar="N", help="a made-up repository of N units")
    one.add_argument("checkouts", nargs="*", type=Path)
    two = commands.add_parser("bench", help="how fast")
    two.add_argument("--bin", required=True)
    two.add_argument("--units", type=int, default=1000)
    args = parser.parse_args()
    return share(args) if args.command == "share" else measure(args)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except bench.Failed as problem:
        sys.exit(str(problem))
