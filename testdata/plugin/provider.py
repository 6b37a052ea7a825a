#!/usr/bin/env python3
"""A provider with an empty schema, for protocol 6 without TLS: enough for `validate` and `plan`.

It answers each request whose message is empty with a schema, and every other one with an empty message. That needs no knowledge of
names in headers. Where WIDGET_GATE names a path, it makes that file when it is asked, and answers once the file is not empty.
"""

import os
import socket
import sys
import time

# provider_schema { version: 0, block {} }
SCHEMA = b"\x0a\x02\x12\x00"
DATA, HEADERS, SETTINGS, PING = 0, 1, 4, 6
ACK = END_STREAM = 1
END_HEADERS = 4
# :status 200, content-type: application/grpc
HEAD = b"\x88\x0f\x10\x10application/grpc"
TRAILER = b"\x00\x0bgrpc-status\x010"


def frame(kind: int, flags: int, stream: int, body: bytes = b"") -> bytes:
    return len(body).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body


def wait_at_gate() -> None:
    gate = os.environ.get("WIDGET_GATE")
    if gate:
        open(gate, "a").close()
    while gate and not os.path.getsize(gate):
        time.sleep(0.01)


def answer(stream: int, request: bytes) -> bytes:
    message = b""
    # Five bytes stand before each message.
    if len(request) <= 5:
        wait_at_gate()
        message = SCHEMA
    message = b"\0" + len(message).to_bytes(4, "big") + message
    return frame(HEADERS, END_HEADERS, stream, HEAD) + frame(DATA, 0, stream, message) + frame(HEADERS, END_HEADERS | END_STREAM, stream, TRAILER)


server = socket.create_server(("127.0.0.1", 0))
print(f"1|6|tcp|127.0.0.1:{server.getsockname()[1]}|grpc", flush=True)
connection = server.accept()[0]
received = connection.makefile("rb")
received.read(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
connection.sendall(frame(SETTINGS, 0, 0))
requests: dict[int, bytes] = {}
while head := received.read(9):
    kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
    body = received.read(int.from_bytes(head[:3], "big"))
    if kind in (SETTINGS, PING) and not flags & ACK:
        connection.sendall(frame(kind, ACK, 0, body if kind == PING else b""))
    if kind == DATA:
        requests[stream] = requests.get(stream, b"") + body
    if kind in (DATA, HEADERS) and flags & END_STREAM:
        connection.sendall(answer(stream, requests.pop(stream, b"")))
sys.exit(0)
