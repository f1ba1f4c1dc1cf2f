"""A web server on loopback that counts what it is asked for and what it sends, and misbehaves where a path says so."""

from __future__ import annotations

import gzip
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

#: How long a server that stalls says nothing, in seconds.
STALLED = 3.0

#: A server that trickles waits so many seconds before each byte.
TRICKLE = 0.05


@dataclass
class Site:
    """Files by their paths, behind a first part that says how the server behaves; ``log`` has the method, the path and
    the range of each request, ``sent`` the bytes of bodies."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    log: list[tuple[str, str, str]] = field(default_factory=list)
    sent: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    headers: list[dict[str, str]] = field(default_factory=list)

    def asked(self, method: str = "") -> list[tuple[str, str]]:
        """The paths and the ranges that were asked for."""
        return [(path, part) for each, path, part in self.log if not method or each == method]


#: How a server behaves that trickles.
TRICKLING = ("slow-head", "slow", "slow-whole")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    site: Site

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, with_body: bool) -> None:
        site, path = self.site, self.path.partition("?")[0]
        site.log.append((self.command, self.path, self.headers.get("Range", "")))
        site.headers.append(dict(self.headers.items()))
        how, _, name = unquote(path).removeprefix("/").partition("/")
        if how.isdigit():
            self._send(int(how), b"<html>no</html>" * with_body, len("<html>no</html>"))
            return
        if how == "html":
            page = b"<!doctype html><html><body>Sign in</body></html>" + b" " * 20_000
            self._send(200, page * with_body, len(page), {"Content-Type": "text/html"})
            return
        if how == "to":
            self._send(302, b"", 0, {"Location": name.replace("~", "://", 1) if "~" in name else f"/{name}"})
            return
        if name == "" or path.endswith("/"):
            if how == "nolist":
                self._send(404, b"", 0)
                return
            self._index(path)
            return
        data = site.files.get(name)
        if any(each.startswith(f"{name}/") for each in site.files):
            self._send(301, b"", 0, {"Location": f"{path}/"})
            return
        if data is None:
            self._send(404, b"", 0)
            return
        if how == "nohead" and self.command == "HEAD":
            self._send(405 if name.endswith("a.data") else 403, b"", 0)
            return
        if how in ("flaky", "cut", "stall") and site.failures.setdefault(path, 2) > 0 and with_body:
            site.failures[path] -= 1
            self._fail(how, data)
            return
        if how == "dead":
            self._send(503, b"", 0, {"Retry-After": "0"})
            return
        if how in TRICKLING and with_body:
            self._trickle(how, data)
            return
        self._file(data, how, with_body)

    def _trickle(self, how: str, data: bytes) -> None:
        """Sends a byte at a time: of the headers, of a part, or of the complete file where a part was asked for."""
        start, end = (0, len(data)) if how == "slow-whole" else (0, min(4096, len(data)))
        part = f"Content-Range: bytes {start}-{end - 1}/{len(data)}\r\n" if how != "slow-whole" else ""
        status = "200 OK" if how == "slow-whole" else "206 Partial Content"
        head = f"HTTP/1.1 {status}\r\n{part}Content-Length: {end - start}\r\n\r\n".encode()
        at = 0 if how == "slow-head" else len(head)
        self.close_connection = True
        try:
            self.wfile.write(head[:at])
            for byte in (head + data[start:end])[at:]:
                self.wfile.flush()
                time.sleep(TRICKLE)
                self.wfile.write(bytes([byte]))
        except OSError:
            return

    def _file(self, data: bytes, how: str, with_body: bool) -> None:
        if how == "gzip":
            packed = gzip.compress(data)
            self._send(200, packed * with_body, len(packed), {"Content-Encoding": "gzip"})
            return
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if asked is None or how in ("whole", "unsized"):
            more = {"Transfer-Encoding": "chunked"} if how == "unsized" else {}
            self._send(200, data * with_body, len(data), more)
            return
        start, end = int(asked[1]), min(int(asked[2]) + 1, len(data))
        if start >= len(data):
            self._send(416, b"", 0, {"Content-Range": f"bytes */{len(data)}"})
            return
        part = data[start:end]
        shift = 5 if how == "shifted" else 0
        text = {"Content-Range": f"bytes {start + shift}-{end - 1 + shift}/{len(data)}", "ETag": '"one"'}
        self._send(206, part * with_body, len(part), text)

    def _fail(self, how: str, data: bytes) -> None:
        if how == "flaky":
            self._send(503, b"", 0)
            return
        self.send_response(206)
        self.send_header("Content-Length", "4096")
        self.send_header("Content-Range", f"bytes 0-4095/{len(data)}")
        self.end_headers()
        self.wfile.write(data[:100])
        self.wfile.flush()
        if how == "stall":
            time.sleep(STALLED)
        self.close_connection = True

    def _index(self, path: str) -> None:
        folder = path.removeprefix("/").partition("/")[2]
        names = sorted(
            {name.removeprefix(folder).partition("/")[0] for name in self.site.files if name.startswith(folder)}
        )
        names = [name if f"{folder}{name}" in self.site.files else f"{name}/" for name in names]
        page = "".join(f'<a href="{name}">{name}</a>\n' for name in names).encode()
        if path.startswith("/slow-list/"):
            self._trickle("slow-whole", page)
            return
        self._send(200, page, len(page), {"Content-Type": "text/html"})

    def _send(self, status: int, data: bytes, length: int, more: dict[str, str] | None = None) -> None:
        self.send_response(status)
        chunked = "Transfer-Encoding" in (more or {})
        for name, value in ({} if chunked else {"Content-Length": str(length)}).items():
            self.send_header(name, value)
        for name, value in (more or {}).items():
            self.send_header(name, value)
        self.end_headers()
        try:
            if chunked and data:
                self.wfile.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data))
            else:
                self.wfile.write(data)
            self.site.sent += len(data)
        except OSError:
            self.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: Any) -> None:
        pass


@contextmanager
def served(files: dict[str, bytes]) -> Iterator[Site]:
    """A server that has these files."""
    site = Site(files=files)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"site": site}))
    site.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
