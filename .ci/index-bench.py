#!/usr/bin/env python3
"""How much an index that a team shares over https spares its second machine: `.ci/index-bench.py TFLOCK [RUNS]`.

The registry, the world and the peer (`terraform providers lock`) are those of the preset `team` of the lab in
tests/lab, and the port of its registry must be free. The index is a web server on loopback behind the same
certificate authority, which answers as late as the registry does. One machine locks and publishes; then machines with empty caches
lock by the index, in turn with the peer. Ends with 1 if one of them downloads a package, or is not 20 times faster.
"""

import http.server
import os
import shutil
import ssl
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

LAB = Path(__file__).resolve().parents[1] / "tests" / "lab"
WANTED = 20


class Index(http.server.BaseHTTPRequestHandler):
    """Files by path, in memory."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # the head and the body of an answer in one packet
    files: dict[str, bytes] = {}
    counts: dict[str, int] = {"GET": 0, "PUT": 0}
    latency = 0.0

    def answer(self, status: int, body: bytes = b"") -> None:
        time.sleep(self.latency)
        self.counts[self.command] += 1
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def do_GET(self) -> None:
        body = self.files.get(self.path)
        self.answer(404) if body is None else self.answer(200, body)

    def do_PUT(self) -> None:
        self.files[self.path] = self.rfile.read(int(self.headers["content-length"]))
        self.answer(201)

    def log_message(self, *_: object) -> None:
        pass


def serve(certificate: str, key: str) -> str:
    """Starts the index; its URL."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
    server.daemon_threads = True
    # The handshake belongs to the thread of the connection.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"https://localhost:{server.server_port}/team"


def machine(bench, binary: str, shape: dict, server, more: list[str], settings: str = "") -> tuple[dict, bytes]:
    """Locks on a machine with an empty cache; figures, and the lock file."""
    root = Path(tempfile.mkdtemp(prefix="tflock-index-"))
    try:
        (root / "cli.tfrc").touch()
        environment = {"PATH": os.environ["PATH"], "HOME": str(root), "TMPDIR": str(root), "LANG": "C.UTF-8",
                       "SSL_CERT_FILE": str(Path(server.ready["ca"]).resolve()), "TF_CLI_CONFIG_FILE": str(root / "cli.tfrc")}
        folder = root / "root"
        folder.mkdir()
        (folder / "main.tf").write_text(bench.configuration(shape))
        (folder / ".tflock.hcl").write_text(settings)
        server.traffic()
        flags = [flag for name in bench.PLATFORMS[:shape["platforms"]] for flag in ("--platform", name)]
        took = bench.measure([binary, "lock", *flags, *more], folder, environment, 300)
        return {**took, **server.traffic()}, (folder / ".terraform.lock.hcl").read_bytes()
    finally:
        shutil.rmtree(root, ignore_errors=True)


def main() -> int:
    if not LAB.is_dir() or not shutil.which("terraform"):
        print("skipped: this benchmark needs the conformance suite beside the checkout, and terraform", file=sys.stderr)
        return 0
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(LAB))
    import bench

    binary, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3
    shape = {**bench.PRESETS["team"], "peer": "terraform", "kind": None}
    with tempfile.TemporaryDirectory() as folder:
        server = bench.Registry(shape, Path(folder) / "state", Path(folder))
        try:
            tls = Path(server.ready["ca"]).parent
            key = next(tls.glob("server-*.key"))
            Index.latency = shape["latency"] / 1000
            url = serve(str(key.with_suffix(".pem")), str(key))
            first, lock = machine(bench, binary, shape, server, ["--publish", "--index", url])
            print(f"first machine: {first['wall']:.2f} s, {first['zips']} packages, {Index.counts['PUT']} entries published")
            settings = f'index "team" {{\n  url = "{url}"\n}}\n'
            ours, theirs, packages = [], [], 0
            for _ in range(runs):
                peer = bench.one_run("terraform", shutil.which("terraform"), shape, server, None, 300)
                Index.counts["GET"] = 0
                second, same = machine(bench, binary, shape, server, [], settings)
                assert same == lock == peer["lock"], "the lock files differ"
                ours.append(second["wall"])
                theirs.append(peer["wall"])
                packages += second["zips"]
                print(f"peer {peer['wall']:.2f} s, {peer['zips']} packages; second machine {second['wall']:.3f} s, "
                      f"{second['zips']} packages, {second['requests']} requests, {Index.counts['GET']} of the index")
        finally:
            server.stop()
    ratio = statistics.median(theirs) / statistics.median(ours)
    print(f"{ratio:.1f} times faster than the peer, {packages} packages downloaded")
    return 0 if packages == 0 and ratio >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
