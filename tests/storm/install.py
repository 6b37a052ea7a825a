#!/usr/bin/env python3
"""Many `tflock install` and `terraform init` at once over root modules that share their packages, with SIGKILLs.

    tests/storm/install.py --bin target/release/tflock [--rounds 200] [--peer terraform] [--seed N]

Every round starts 40 runs of `tflock install` (half of them with -r) and 20 of `init` over 20 root modules, kills some of them at
random moments, and switches lock files between two versions meanwhile. Then one more `tflock install -r` must end with 0, every
root module must pass `tflock verify --offline --installed`, and no directory on its way may be left. Not a part of `.ci/run`: it takes minutes.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent / "lab"
sys.path.insert(0, str(LAB))
import bench  # noqa: E402

ROOTS, INSTALLS, INITS = 20, 40, 20


def installed(folder: Path) -> dict[str, str]:
    """The files of each package directory, hashed."""
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file()}


def packages(root: Path) -> list[Path]:
    return [path for path in (root / ".terraform/providers").glob("*/*/*/*/*") if not path.name.startswith(".tflock-")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--peer", default="terraform")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=0, help="stop after the round in which so many have passed")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    dice = random.Random(args.seed)
    binary, peer = os.path.abspath(args.bin), shutil.which(args.peer)
    top = Path(tempfile.mkdtemp(prefix="tflock-storm-"))
    shape = dict(providers=3, platforms=1, size=400_000, latency=0, bandwidth=0, roots=ROOTS, before="none", kind="install", peer="terraform")
    server = bench.Registry(shape, top / "state", top)
    home = top / "home"
    home.mkdir()
    (home / "cli.tfrc").touch()
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(home), "TMPDIR": str(top),
                   "SSL_CERT_FILE": str(Path(server.ready["ca"]).resolve()), "CHECKPOINT_DISABLE": "1",
                   "TF_CLI_CONFIG_FILE": str(home / "cli.tfrc"), "LANG": "C.UTF-8", "NO_COLOR": "1"}

    def run(argv: list[str], place: Path, **more) -> subprocess.Popen:
        return subprocess.Popen(argv, cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, **more)

    def must(argv: list[str], place: Path, what: str) -> str:
        process = run(argv, place)
        text, _ = process.communicate()
        if process.returncode != 0:
            print(f"round {number}: {what} ended with {process.returncode}\n{text}\nkept: {top}")
            server.stop()
            sys.exit(1)
        return text

    number, repository = 0, top / "repository"
    locks = []
    for minor in (8, 9):
        folder = top / f"lock-{minor}"
        folder.mkdir()
        needs = bench.configuration(shape).replace('"~> 1.0"', f'"1.{minor}.0"')
        (folder / "main.tf").write_text(needs)
        must([binary, "lock", "--platform", bench.PLATFORMS[0]], folder, "lock")
        locks.append((needs, (folder / ".terraform.lock.hcl").read_bytes()))
    roots = [repository / f"root-{at:02}" for at in range(ROOTS)]

    def switch(root: Path) -> None:
        needs, lock = dice.choice(locks)
        (root / "main.tf").write_text(needs)
        staged = root / ".lock.new"
        staged.write_bytes(lock)
        staged.rename(root / ".terraform.lock.hcl")

    for root in roots:
        root.mkdir(parents=True)
        switch(root)
    began, killed, partial = time.monotonic(), 0, 0
    codes: dict[str, int] = {}
    for number in range(1, args.rounds + 1):
        running = []
        for kind in dice.sample(["install"] * INSTALLS + ["init"] * INITS, INSTALLS + INITS):
            root = dice.choice(roots)
            if kind == "init":
                running.append((kind, run([peer, "init", "-no-color", "-input=false", "-lockfile=readonly"], root)))
            elif dice.random() < 0.5:
                running.append((kind, run([binary, "install", "-r", "--link", dice.choice(["auto", "hard"])], repository)))
            else:
                running.append((kind, run([binary, "install"], root)))
            if dice.random() < 0.1:
                switch(dice.choice(roots))
            if dice.random() < 0.3:
                victim = dice.choice(running)[1]
                if victim.poll() is None:
                    victim.send_signal(signal.SIGKILL)
                    killed += 1
        for kind, process in running:
            process.communicate()
            key = f"{kind} {process.returncode}"
            codes[key] = codes.get(key, 0) + 1
        must([binary, "install", "-r", "--prune"], repository, "the repair")
        must([binary, "verify", "-r", "--offline", "--installed"], repository, "verify --installed")
        contents = {}
        for root in roots:
            for package in packages(root):
                found = json.dumps(installed(package))
                key = str(package.relative_to(root))
                if contents.setdefault(key, found) != found:
                    partial += 1
        left = [path for path in repository.rglob(".tflock-*")]
        if partial or (left and number == args.rounds):
            print(f"round {number}: {partial} partial packages, left behind: {left[:5]}; kept: {top}")
            server.stop()
            return 1
        if args.seconds and time.monotonic() - began > args.seconds:
            break
    server.stop()
    print(f"{number} rounds, {killed} runs killed, as user {os.geteuid()}: every root module passes; exit codes {dict(sorted(codes.items()))}; "
          f"{time.monotonic() - began:.0f} s")
    shutil.rmtree(top, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
