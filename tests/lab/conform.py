#!/usr/bin/env python3
"""Compare a candidate `tflock` with the real terraform or tofu on the same work.

    conform.py list
    conform.py record  [--case GLOB]...              run the peer, store what it did
    conform.py check   --bin TFLOCK [--case GLOB]... compare with what is stored
    conform.py compare --bin TFLOCK [--case GLOB]... run both now and compare

The peer is terraform, or tofu where case.json has "tool": "tofu".  `check`
needs neither.  A case is a text file with these files in it, see README.md:

    case.json          what to do, tags
    world.json         what the registry serves
    config/            the root module (and local child modules)
    before.lock.hcl    lock file before the command (optional)
    expected.json      } written by `record`
    expected.lock.hcl  }
    modules/           } .terraform/modules after `get`, if the case wants it
"""

import argparse
import difflib
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
import casefile
import registry  # noqa: E402  (the server of this lab)

# --------------------------------------------------------------------------
# The command line contract.  Adapt this table when the tool's CLI changes.
# {platforms} {mirror} {providers} {add} expand to zero or more arguments;
# the "args" of a case come last.
# --------------------------------------------------------------------------

TFLOCK_GLOBAL = ["-C", "{dir}"]
TFLOCK_TOOL = {"terraform": [], "tofu": ["--tool", "tofu"]}  # more global arguments, by the case's "tool"
TFLOCK = {
    "lock":    ["lock", "{platforms}", "{mirror}", "{providers}"],     # add what is missing, prune nothing
    "upgrade": ["upgrade", "{platforms}", "{mirror}", "{providers}"],  # newest allowed by constraints
    "verify":  ["verify"],                                             # change nothing, say if all is well
    "add":     ["add", "{platforms}", "{mirror}", "{add}"],            # ADDR[@CONSTRAINT]
}
TFLOCK_INSTALL = ["install", "-r"]
TFLOCK_MIRROR = ["mirror"]             # then platforms and the directory; the benchmark uses it
TFLOCK_RECURSIVE = ["-r", "--create"]  # all root modules below DIR; the benchmark uses it
TFLOCK_PLATFORM = ["--platform", "{value}"]
TFLOCK_NET_MIRROR = ["--net-mirror", "{value}"]
TFLOCK_FS_MIRROR = ["--fs-mirror", "{value}"]

# The same verbs in terraform and tofu.  A list of commands is run until one fails.
PEER = {
    "lock":    [["providers", "lock", "{platforms}", "{mirror}", "{providers}"]],
    "upgrade": [["init", "-upgrade", "-backend=false", "-input=false"],
                ["providers", "lock", "{platforms}", "{mirror}", "{providers}"]],
    "verify":  [["init", "-lockfile=readonly", "-backend=false", "-input=false"]],
    "add":     [["providers", "lock", "{platforms}", "{mirror}"]],     # with the provider added to the config
    # named by the "peer" of a case, in place of its verb
    "init":         [["init", "-backend=false", "-input=false"]],
    "init-upgrade": [["init", "-upgrade", "-backend=false", "-input=false"]],
    "init-lock":    [["init", "-backend=false", "-input=false"],
                     ["providers", "lock", "{platforms}", "{mirror}", "{providers}"]],
    "init-state":   [["init", "-input=false"]],                        # with the backend, thus with the state
    "init-state-lock": [["init", "-input=false"],
                        ["providers", "lock", "{platforms}", "{mirror}", "{providers}"]],
}
PEER_PLATFORM = ["-platform={value}"]
PEER_NET_MIRROR = ["-net-mirror={value}"]
PEER_FS_MIRROR = ["-fs-mirror={value}"]

# Failure classes: what the peer says, in order of precedence, and words that
# a candidate's message should contain (advice only, unless --strict-class).
CLASSES = [
    ("crash", r"(TERRAFORM|OPENTOFU) CRASH|panic:", r"."),
    ("module_missing", r"Module not installed|Unreadable module directory", r"module"),
    ("checksum_mismatch", r"Checksums did not match|package does not match digest|doesn't match (the )?any of the|doesn't match the expected checksum|incorrect checksum|"
                          r"unexpected SHA-256|has no SHA-256|expected sha256sum|matching sha256sum", r"checksum|hash|sha"),
    ("invalid_lock", r"on \.terraform\.lock\.hcl line", r"lock"),
    ("lock_conflict", r"locked provider .* does not match", r"lock|constraint"),
    ("lock_incomplete", r"Provider dependency changes detected|nconsistent dependency lock file", r"lock"),
    ("signature", r"signature|signing key|openpgp", r"sign|key"),
    ("unauthorized", r"401 Unauthorized|403 Forbidden|status code 40[13]|credentials", r"unauthori|credential|token|forbidden|401|403"),
    ("platform_unsupported", r"is not available for|does not have a package|incorrect target", r"platform|available|target|does not have"),
    ("protocol_unsupported", r"not supported by this version|not compatible with (Terraform|OpenTofu)", r"protocol|support"),
    ("no_matching_version", r"no available releases match|no longer available", r"version|release|constraint"),
    ("provider_not_found", r"does not have a provider named|provider .* was not found", r"not found|provider"),
    ("host_unusable", r"does not offer a (Terraform |OpenTofu )?provider registry|could not connect to|service discovery|does not support the provider registry", r"host|registry|discover"),
    ("module_download", r"Failed to download module|Could not download module|Error accessing remote module registry|"
                        r"Error: Module not found|Unresolvable module version|Invalid registry module|Unreadable module subdirectory|"
                        r"Local module path escapes|Invalid package location from module registry|Failed to remove local module cache",
                        r"module|fetch|download"),
    ("bad_archive", r"(?<![.\w])zip: |not a valid zip|contains '\.\.'|provider binary not found|rror decompressing|entry contain|dirhash|not a directory",
                    r"zip|archive|package|entry|binary|executable"),
    ("bad_response", r"invalid character|end of JSON|cannot unmarshal|invalid response|invalid Content-Type|unexpected EOF|"
                     r"invalid SHA256|invalid version string|registry response (includes|missing|has invalid|indicates)|invalid provider hash|"
                     r"unexpected artifact type|image manifest contains no layers|ambiguous manifest|does not have archive index for|"
                     r"does not support any of the checksum formats",
                     r"response|json|registry|download|eof|content|ended|truncated|incomplete|version"),
    ("network", r"request failed|connection reset|timeout|Client\.Timeout|deadline exceeded|bad response code|unsuccessful request|redirects|error downloading|"
                r"failed to retrieve|unsupported protocol scheme|request canceled", r"."),
    ("invalid_config", r"Invalid |Unsupported |Duplicate |Missing |on \S+\.(tf|tofu)(\.json)? line", r"."),
    ("other", r"", r"."),
]

# Exit codes a candidate should give for a class (advice as well): 3 is refused
# trust, 4 is a source that could not be reached, 1 and 2 the rest.
EXIT_CODES = {"checksum_mismatch": {3}, "signature": {3}, "network": {2, 4}, "host_unusable": {2, 4}, "bad_response": {2, 3, 4},
              "unauthorized": {2, 4}, "bad_archive": {2, 3}, "module_download": {2, 3, 4}}
OTHER_EXIT_CODES = {1, 2}

DEFAULT_CASES = Path(__file__).parent / "cases"
LOCK = ".terraform.lock.hcl"
RED, GREEN, YELLOW, PLAIN = ("\033[31m", "\033[32m", "\033[33m", "\033[0m") if sys.stdout.isatty() else ("",) * 4


@dataclass
class Outcome:
    """What a command did: enough to compare two tools."""
    ok: bool
    lock: bytes | None                 # the lock file afterwards
    before: bytes | None               # and before
    output: str = ""
    error_class: str | None = None
    commands: list = field(default_factory=list)
    breaks: list = field(default_factory=list)  # log rules not kept
    requests: dict = field(default_factory=dict)  # by method and kind of endpoint
    status: int = 0
    remarks: list = field(default_factory=list)


class Case:
    def __init__(self, folder: Path):
        self.folder = folder
        self.name = folder.name
        self.spec = json.loads((folder / "case.json").read_text(encoding="utf-8"))
        self.world = registry.World.load(folder / "world.json")

    def __getitem__(self, key):
        return self.spec.get(key)

    @property
    def tool(self) -> str:
        """The peer: "terraform" or "tofu"."""
        return self.spec.get("tool", "terraform")

    @property
    def hosts(self) -> list[str]:
        """Public hostnames the case wants to be served from here."""
        return self.spec.get("hosts", [])

    @property
    def peer_only(self) -> bool:
        return bool(self.spec.get("peer_only"))

    def has_modules(self) -> bool:
        text = "".join(p.read_text(encoding="utf-8", errors="replace")
                       for p in (self.folder / "config").glob("*.t[fo]*"))
        return bool(re.search(r'^\s*module\s+"|"module"\s*:', text, re.M))

    def fill(self, template: list[str], values: dict) -> list[str]:
        out = []
        for part in template:
            out.extend(values[part[1:-1]] if part[1:-1] in values else [part])
        return out

    def arguments(self, platform, net, fs, sandbox: "Sandbox") -> dict:
        def option(template, value):
            return [part.replace("{value}", value) for part in template]

        mirror = []
        if self["mirror"] == "net":
            mirror = option(net, sandbox.mirror_url)
        elif self["mirror"]:
            mirror = option(fs, str(sandbox.mirror))
        return {"platforms": [a for p in self["platforms"] or [] for a in option(platform, p)],
                "mirror": mirror, "providers": self["providers"] or [],
                "add": [self["add"]] if self["add"] else []}


class Sandbox:
    """A fresh directory with the configuration, a home, and the registry running."""

    def __init__(self, case: Case, state: Path):
        self.case = case
        self.root = Path(tempfile.mkdtemp(prefix="tflock-lab-"))
        self.work, self.home, self.tmp = self.root / "work", self.root / "home", self.root / "tmp"
        self.mirror = self.root / "mirror"
        shutil.copytree(case.folder / "config", self.work)
        self.home.mkdir()
        self.tmp.mkdir()
        before = case.folder / "before.lock.hcl"
        self.before = before.read_bytes() if before.exists() else None
        if self.before is not None:
            (self.work / LOCK).write_bytes(self.before)
        self.log, self.skip = self.root / "access.jsonl", 0
        if case.hosts and 443 not in case.world.raw.setdefault("extra_ports", []):
            case.world.raw["extra_ports"].append(443)
        self.lab = registry.Lab(case.world, state, self.log)
        port = case.world.raw.get("port", registry.DEFAULT_PORT)
        try:
            self.ready = self.lab.start(port)
        except OSError as problem:
            sys.exit(f"cannot listen on port {port} or {case.world.raw.get('extra_ports', [])}: {problem}")
        self.mirror_url = case["mirror_url"] or self.ready["mirror_url"]
        if str(case["mirror"]).startswith("fs-"):
            self.mirror.mkdir()
            registry.export_mirror(case.world, state, self.mirror, case["mirror"][3:],
                                   self.ready["host"], case["mirror_providers"] or [])
        for name, mirror in (case["mirrors"] or {}).items():
            place = self.root / mirror.get("at", f"mirrors/{name}")
            place.mkdir(parents=True)
            registry.export_mirror(case.world, state, place, mirror.get("layout", "packed"), self.ready["host"],
                                   mirror.get("providers", []), mirror.get("versions"), mirror.get("platforms"))
        self._write_cli_config()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lab.stop()
        shutil.rmtree(self.root, ignore_errors=True)

    def _write_cli_config(self) -> None:
        blocks = [f'credentials "{host}" {{\n  token = "{token}"\n}}\n'
                  for host, token in (self.case["credentials"] or {}).items()]
        text = "".join(blocks) + (self.case["cli_config"] or "")
        (self.home / "cli.tfrc").write_text(self.fill(text))
        ca = Path(self.ready["ca"]).resolve()
        (self.home / ".gitconfig").write_text(f'[http]\n\tsslCAInfo = "{ca}"\n[init]\n\tdefaultBranch = main\n')
        if self.case["docker_config"]:
            (self.home / ".docker").mkdir()
            (self.home / ".docker/config.json").write_text(json.dumps(self.case["docker_config"]))

    def fill(self, text: str) -> str:
        """{root}, {host}, {mirror_url} and {mirrors}, where a case may say them."""
        for name, value in (("root", self.root), ("host", self.ready["host"]), ("mirror_url", self.mirror_url),
                            ("mirrors", self.root / "mirrors")):
            text = text.replace("{" + name + "}", str(value))
        return text

    def environment(self) -> dict:
        return {"PATH": os.environ.get("PATH", ""), "HOME": str(self.home), "TMPDIR": str(self.tmp),
                "LANG": "C.UTF-8", "SSL_CERT_FILE": str(Path(self.ready["ca"]).resolve()),
                "TF_CLI_CONFIG_FILE": str(self.home / "cli.tfrc"), "CHECKPOINT_DISABLE": "1",
                "TF_IN_AUTOMATION": "1", "NO_COLOR": "1", "GIT_SSL_CAINFO": str(Path(self.ready["ca"]).resolve()),
                "GIT_CONFIG_NOSYSTEM": "1", **{k: self.fill(v) for k, v in (self.case["env"] or {}).items()}}

    def run(self, argv: list[str]) -> tuple[int, str]:
        if self.case.hosts:
            argv = with_hosts(self.case.hosts, self.root) + argv
        try:
            done = subprocess.run(argv, cwd=self.work, env=self.environment(), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=self.case["timeout"] or 90)
        except subprocess.TimeoutExpired as late:
            return 124, (late.stdout or b"").decode(errors="replace") + "\n[lab: timed out]"
        return done.returncode, done.stdout.decode(errors="replace")

    def lock(self) -> bytes | None:
        path = self.work / LOCK
        return path.read_bytes() if path.exists() else None

    def reset(self) -> None:
        """The lock file as it was, no trust file, and an empty log."""
        (self.work / LOCK).unlink(missing_ok=True)
        (self.work / ".tflock.trust.hcl").unlink(missing_ok=True)
        if self.before is not None:
            (self.work / LOCK).write_bytes(self.before)
        self.lab.settle()
        self.skip = len(self.log.read_text().splitlines())

    def traffic(self) -> list[dict]:
        self.lab.settle()
        return [json.loads(line) for line in self.log.read_text().splitlines()[self.skip:]]

    def broken_rules(self, status: int, output: str, candidate: bool) -> list[str]:
        """Rules of the case that were not kept: about traffic and files, and for the candidate about what it says."""
        broken = []
        traffic = self.traffic()
        for rule in self.case["rules"] or []:
            kind = rule["rule"]
            if kind == "no_auth_to":
                found = [t for t in traffic if t["auth"] and t["host"] == rule["host"]]
                bad = bool(found)
            elif kind == "no_auth_at":
                bad = any(t["auth"] and fnmatch.fnmatchcase(t["at"], rule["at"]) for t in traffic)
            elif kind in ("max", "min"):
                count = sum(1 for t in traffic if fnmatch.fnmatchcase(t["at"], rule["at"]) and t["method"] == "GET"
                            and t["host"] == rule.get("host", t["host"]))
                bad = count > rule["count"] if kind == "max" else count < rule["count"]
            elif kind == "max_bytes":
                bad = sum(t["bytes"] for t in traffic if fnmatch.fnmatchcase(t["at"], rule["at"])) > rule["bytes"]
            elif kind == "no_file":
                places = [p for p in self.root.rglob(rule["name"])] + list(Path("/tmp").glob(rule["name"]))
                bad = bool(places)
                for place in places:
                    place.unlink(missing_ok=True)
            elif kind in ("says", "exit", "lock_lacks"):
                lock = (self.lock() or b"").decode(errors="replace")
                bad = candidate and (kind == "says" and not re.search(rule["pattern"], output, re.I)
                                     or kind == "exit" and status not in rule["codes"]
                                     or kind == "lock_lacks" and rule["text"] in lock)
            elif kind == "own_verify":
                bad = False  # see run_candidate
            else:
                raise ValueError(f"unknown rule {kind!r}")
            if bad:
                broken.append(json.dumps(rule))
        return broken

    def outcome(self, status: int, output: str, commands: list, candidate: bool = False) -> Outcome:
        counts: dict[str, int] = {}
        for entry in self.traffic():
            key = f"{entry['method']} {entry['at']}"
            counts[key] = counts.get(key, 0) + 1
        return Outcome(ok=status == 0, lock=self.lock(), before=self.before, output=output,
                       error_class=None if status == 0 else classify(output), commands=commands,
                       breaks=self.broken_rules(status, output, candidate), requests=dict(sorted(counts.items())), status=status)


def with_hosts(hosts: list[str], root: Path) -> list[str]:
    """Run a command in a mount namespace where `hosts` are 127.0.0.1."""
    table = root / "hosts"
    table.write_text("127.0.0.1 localhost " + " ".join(hosts) + "\n")
    flags = ["-m"] if os.geteuid() == 0 else ["-rm"]
    return ["unshare", *flags, "sh", "-c", f'mount --bind "{table}" /etc/hosts && exec "$@"', "sh"]


def can_map_hosts() -> bool:
    """True if a mount namespace and port 443 are to be had."""
    import socket
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", 443))
        with tempfile.TemporaryDirectory() as folder:
            argv = with_hosts(["registry.terraform.io"], Path(folder)) + ["true"]
            return subprocess.run(argv, capture_output=True, timeout=20).returncode == 0
    except (OSError, subprocess.SubprocessError):
        return False


def unwrap(text: str) -> str:
    """Peers wrap messages; put them back on one line per paragraph."""
    text = re.sub(r"[│╷╵]", "", text)
    return re.sub(r"(?<!\n)\n[ \t]*(?=\S)", " ", text)


def classify(output: str) -> str:
    """The class of a peer's failure."""
    text = unwrap(output)
    errors = text[text.find("Error:"):] if "Error:" in text else text
    return next(name for name, pattern, _ in CLASSES if re.search(pattern, errors, re.S))


def first_error(output: str) -> str:
    lines = [line.strip() for line in re.sub(r"[│╷╵]", "", output).splitlines()]
    start = next((i for i, line in enumerate(lines) if line.startswith("Error:")), None)
    if start is None:
        return ""
    paragraphs = "\n".join(lines[start:]).split("\n\n")
    text = " -- ".join(" ".join(p.split()) for p in paragraphs[:3])
    text = re.sub(r"127\.0\.0\.1:\d+->", "CLIENT->", text)
    return re.sub(r"/tmp/[\w./-]+", "TMP", text)[:500]


# --------------------------------------------------------------------------
# Running the two tools
# --------------------------------------------------------------------------

def find_peer(program: str) -> str | None:
    found = shutil.which(program)
    return os.path.abspath(found) if found else None


def peer_version(program: str) -> str:
    done = subprocess.run([program, "version", "-json"], capture_output=True, timeout=60,
                          env={**os.environ, "CHECKPOINT_DISABLE": "1"})
    return json.loads(done.stdout.decode()[done.stdout.decode().find("{"):])["terraform_version"]


def drop_blocks(lock: bytes, addresses: list[str]) -> bytes:
    """Remove provider blocks; this is how one provider is upgraded with a peer."""
    text = lock.decode()
    for address in addresses:
        text = re.sub(r'\n?provider "%s" \{\n.*?\n\}\n' % re.escape(address), "", text, flags=re.S)
    return text.encode()


def run_peer(case: Case, state: Path, program: str, keep_modules: Path | None = None) -> Outcome:
    with Sandbox(case, state) as box:
        commands, output, status = [], "", 0
        fill = case.arguments(PEER_PLATFORM, PEER_NET_MIRROR, PEER_FS_MIRROR, box)
        steps = [case.fill(step, fill) for step in PEER[case["peer"] or case["verb"]]]
        if case["verb"] == "upgrade" and case["providers"] and not case["peer"]:
            # a peer cannot upgrade one provider: forget its entry, then lock
            steps = steps[1:]
            (box.work / LOCK).write_bytes(drop_blocks(box.before or b"", case["providers"]))
        extra = box.work / "zz_lab_add_override.tf"
        if case["verb"] == "add":
            address, _, constraint = case["add"].partition("@")
            version = f'\n      version = "{constraint}"' if constraint else ""
            extra.write_text('terraform {\n  required_providers {\n    lab-added = {\n'
                             f'      source = "{address}"{version}\n    }}\n  }}\n}}\n')
        if case.has_modules() and case.spec.get("get", True):
            steps.insert(0, ["get"])
        for step in steps:
            argv = [step[0], *(["lock"] if step[:2] == ["providers", "lock"] else []), "-no-color",
                    *step[2 if step[0] == "providers" else 1:]]
            commands.append(" ".join([case.tool, *argv]).replace(str(box.root), "SANDBOX"))
            status, text = box.run([program, *argv])
            output += text
            if status:
                break
        extra.unlink(missing_ok=True)
        if keep_modules is not None:
            shutil.rmtree(keep_modules, ignore_errors=True)
            if case["modules"] == "snapshot" and (box.work / ".terraform/modules").exists():
                shutil.copytree(box.work / ".terraform/modules", keep_modules)
        return box.outcome(status, output, commands)


def run_candidate(case: Case, state: Path, binary: str, init_with: str | None = None, fetch: bool = False) -> Outcome:
    with Sandbox(case, state) as box:
        modules = case.folder / "modules"
        if modules.exists() and not fetch:
            shutil.copytree(modules, box.work / ".terraform/modules")
        for arguments in case["first"] or []:  # what the candidate may know from before; then the lock file is put back
            box.run([binary, *candidate_head(case, box), *[box.fill(a) for a in arguments]])
            box.reset()
        argv = candidate_argv(case, box, binary)
        status, output = box.run(argv)
        shown = " ".join(argv).replace(str(box.root), "SANDBOX")
        got = box.outcome(status, output, [shown], candidate=True)
        for rule in case["rules"] or []:
            if rule["rule"] == "own_verify" and got.ok:  # its own gate has to accept what it wrote
                status, output = box.run([binary, *candidate_head(case, box), *TFLOCK["verify"]])
                if status:
                    got.breaks.append(json.dumps(rule))
                    got.output += f"\n[lab: then `verify`, exit code {status}]\n{output}"
        if init_with and got.ok and not case["mirror"] and got.lock is not None:
            init = [init_with, "init", "-lockfile=readonly", "-backend=false", "-input=false", "-no-color"]
            status, output = box.run(init)
            if status or box.lock() != got.lock:
                got.remarks.append(f"afterwards `{case.tool} init -lockfile=readonly`: {first_error(output) or 'changed the file'}")
        return got


def candidate_head(case: Case, box: Sandbox) -> list[str]:
    return [part.replace("{dir}", str(box.work)) for part in TFLOCK_GLOBAL + TFLOCK_TOOL[case.tool]]


def candidate_argv(case: Case, box: Sandbox, binary: str) -> list[str]:
    fill = case.arguments(TFLOCK_PLATFORM, TFLOCK_NET_MIRROR, TFLOCK_FS_MIRROR, box)
    return [binary, *candidate_head(case, box), *case.fill(TFLOCK[case["verb"]], fill), *[box.fill(a) for a in case["args"] or []]]


# --------------------------------------------------------------------------
# Expected results on disk, and the verdict
# --------------------------------------------------------------------------

def save(case: Case, got: Outcome, version: str) -> None:
    lock_path = case.folder / "expected.lock.hcl"
    lock_path.unlink(missing_ok=True)
    if got.lock is not None:
        lock_path.write_bytes(got.lock)
    note = {case.tool: version, "commands": got.commands, "ok": got.ok, "lock_changed": got.lock != got.before}
    if not got.ok:
        note["error_class"] = got.error_class
        note["first_error"] = first_error(got.output)
    note["peer_requests"] = got.requests
    if got.breaks:
        note["peer_breaks_rules"] = got.breaks
    (case.folder / "expected.json").write_text(json.dumps(note, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def load(case: Case) -> Outcome:
    note = json.loads((case.folder / "expected.json").read_text(encoding="utf-8"))
    lock = case.folder / "expected.lock.hcl"
    before = case.folder / "before.lock.hcl"
    return Outcome(ok=note["ok"], lock=lock.read_bytes() if lock.exists() else None,
                   before=before.read_bytes() if before.exists() else None,
                   error_class=note.get("error_class"), requests=note["peer_requests"])


def preferred(case: Case, got: Outcome) -> bool:
    """True if the candidate does what the case calls better than the peer."""
    wishes = case["prefer"] or []
    for better in wishes if isinstance(wishes, list) else [wishes]:
        if better["ok"] != got.ok:
            continue
        if got.ok:
            wanted = case.folder / "preferred.lock.hcl"
            if not wanted.exists() or wanted.read_bytes() == got.lock:
                return True
            continue
        words = next(w for name, _, w in CLASSES if name == better["error_class"])
        if got.lock == got.before and re.search(words, got.output, re.I):
            return True
    return False


def judge(want: Outcome, got: Outcome, strict_class: bool, any_exit: bool) -> tuple[list[str], list[str]]:
    """(faults, remarks) of a candidate's outcome."""
    faults, remarks = [], list(got.remarks)
    if got.ok != want.ok:
        expected = "success" if want.ok else f"failure ({want.error_class})"
        faults.append(f"expected {expected}, got {'success' if got.ok else 'failure'}")
    if not got.ok and got.lock != got.before:
        faults.append("failed, but changed the lock file")
    if want.ok and got.ok and want.lock != got.lock:
        diff = difflib.unified_diff((want.lock or b"").decode(errors="replace").splitlines(keepends=True),
                                    (got.lock or b"").decode(errors="replace").splitlines(keepends=True),
                                    "expected", "candidate")
        faults.append("lock files differ:\n" + "".join(diff))
    if not want.ok and not got.ok:
        words = next(w for name, _, w in CLASSES if name == want.error_class)
        if not re.search(words, got.output, re.I):
            (faults if strict_class else remarks).append(f"message does not speak of {want.error_class} (/{words}/i)")
        codes = EXIT_CODES.get(want.error_class, OTHER_EXIT_CODES)
        if got.status not in codes and not any_exit:
            (faults if strict_class else remarks).append(f"exit code {got.status}, expected one of {sorted(codes)}")
        if not got.output.strip():
            faults.append("failed without a message")
    if "[lab: timed out]" in got.output:
        faults.append("timed out")
    faults += [f"rule broken: {rule}" for rule in got.breaks]
    return faults, remarks


def report(case: Case, want: Outcome, got: Outcome, args) -> str:
    ruled = any(rule["rule"] == "exit" for rule in case["rules"] or [])
    faults, remarks = judge(want, got, args.strict_class, ruled)
    if preferred(case, got):
        faults, remarks = [f"rule broken: {rule}" for rule in got.breaks], [f"as preferred, unlike {case.tool}"]
    elif case["prefer"] and args.strict_class:
        faults.append(f"not the preferred outcome: {case['prefer']}")
    tolerated = case.peer_only and not (case["prefer"] and args.strict_class)
    state = "PASS" if not faults else "DIFF" if tolerated else "FAIL"
    if case.name in args.later_names:
        if state == "FAIL":
            state = "LATER"
        elif args.later and state == "PASS":
            state, faults = "FAIL", [f"passes, and is still listed in {args.later}"]
    colour = {"PASS": GREEN, "FAIL": RED, "DIFF": YELLOW, "LATER": YELLOW}[state]
    print(f"{colour}{state}{PLAIN}  {case.name}  {case.spec.get('title', '')}  "
          f"[{sum(got.requests.values())} requests, {case.tool} {sum(want.requests.values())}]")
    for line in faults + ([f"(remark) {r}" for r in remarks] if args.verbose else []):
        print("      " + line.rstrip().replace("\n", "\n      "))
    if faults and args.verbose:
        print("      ran: " + got.commands[0])
        print("      said: " + got.output.strip()[-1500:].replace("\n", "\n            "))
    return state


# --------------------------------------------------------------------------
# Commands
# --------------------------------------------------------------------------

def find_cases(args, unpacked: Path) -> list[Case]:
    """The wanted cases, each unpacked into a folder of its own."""
    files = sorted(args.cases.glob("*.txt"))
    wanted = [f for f in files if not args.case or any(fnmatch.fnmatchcase(f.stem, g) for g in args.case)]
    for file in wanted:
        casefile.unpack(file, unpacked / file.stem)
    cases = [Case(unpacked / f.stem) for f in wanted]
    cases = [c for c in cases if not args.verb or c["verb"] in args.verb]
    return [c for c in cases if not args.tag or set(args.tag) & set(c.spec.get("tags", []))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("command", choices=["list", "record", "check", "compare"])
    parser.add_argument("--bin", help="the candidate")
    parser.add_argument("--tofu", metavar="PATH", default=os.environ.get("TOFU", "tofu"),
                        help="the peer of cases with \"tool\": \"tofu\" (default: $TOFU, or tofu on PATH)")
    parser.add_argument("--cases", type=Path, default=DEFAULT_CASES, help="directory of case files")
    parser.add_argument("--case", action="append", default=[], help="only these (glob, repeatable)")
    parser.add_argument("--tag", action="append", default=[], help="only cases with one of these tags")
    parser.add_argument("--verb", action="append", default=[], help="only cases with one of these verbs")
    parser.add_argument("--state", type=Path, help="keep keys and packages here (default: a shared temporary place)")
    parser.add_argument("--strict-class", action="store_true", help="faults too: a message or exit code of the wrong kind, an outcome other than `prefer`")
    parser.add_argument("--init", action="store_true",
                        help="after a success, see if the peer's `init -lockfile=readonly` is content (a remark; needs the peer)")
    parser.add_argument("--fetch-modules", action="store_true",
                        help="keep the recorded .terraform/modules from the candidate in cases that have them: it has to fetch")
    parser.add_argument("--later", metavar="FILE",
                        help="cases that may fail for now, a name a line: LATER instead of FAIL, and FAIL where one passes after all")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    lines = Path(args.later).read_text().splitlines() if args.later else []
    args.later_names = {line.split("#")[0].strip() for line in lines} - {""}
    with tempfile.TemporaryDirectory(prefix="tflock-lab-cases-") as unpacked:
        return run(parser, args, find_cases(args, Path(unpacked)))


def run(parser, args, cases: list[Case]) -> int:
    if args.command == "list":
        for case in cases:
            mark = ("tofu " if case.tool == "tofu" else "") + ("peer-only " if case.peer_only else "")
            print(f"{case.name:34} {mark}{case.spec.get('title', '')}  [{', '.join(case.spec.get('tags', []))}]")
        print(f"{len(cases)} cases")
        return 0
    if args.command in ("check", "compare") and not args.bin:
        parser.error("--bin is needed")
    binary = shutil.which(args.bin) or args.bin if args.bin else None
    if binary:
        binary = str(Path(binary).resolve())
    state = args.state or Path(tempfile.gettempdir()) / f"tflock-lab-state-{os.getuid()}"
    state = state.resolve()
    state.mkdir(parents=True, exist_ok=True)
    peers = {"terraform": find_peer("terraform"), "tofu": find_peer(args.tofu)}
    versions = {t: peer_version(p) for t, p in peers.items() if p and args.command == "record"}
    mapping = can_map_hosts() if any(c.hosts for c in cases) else False

    totals: dict[str, int] = {}
    for case in cases:
        peer = peers[case.tool]
        lacks = ("a mount namespace and port 443" if case.hosts and not mapping else
                 case.tool if args.command != "check" and not peer else None)
        if lacks:
            print(f"{YELLOW}SKIP{PLAIN}  {case.name}  (needs {lacks})")
            totals["SKIP"] = totals.get("SKIP", 0) + 1
            continue
        if args.command == "record":
            got = run_peer(case, state, peer, keep_modules=case.folder / "modules")
            save(case, got, versions[case.tool])
            casefile.pack(case.folder, args.cases / f"{case.name}.txt")
            what = "ok" if got.ok else f"{got.error_class}: {first_error(got.output)[:150]}"
            print(f"recorded  {case.name}  {what}" + (f"  BREAKS {got.breaks}" if got.breaks else ""))
            result = "recorded"
        else:
            if args.command == "check" and not (case.folder / "expected.json").exists():
                print(f"{YELLOW}SKIP{PLAIN}  {case.name}  (not recorded)")
                result = "SKIP"
            else:
                want = load(case) if args.command == "check" else run_peer(case, state, peer)
                result = report(case, want, run_candidate(case, state, binary, peer if args.init else None, args.fetch_modules), args)
        totals[result] = totals.get(result, 0) + 1
        sys.stdout.flush()
    print(", ".join(f"{count} {name}" for name, count in sorted(totals.items())))
    return 1 if totals.get("FAIL") else 0


if __name__ == "__main__":
    sys.exit(main())
