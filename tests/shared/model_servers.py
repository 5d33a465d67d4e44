"""Small servers of models on the loopback address: faithful ones of each protocol, and difficult ones."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pandas as pd

Answer = Callable[[pd.DataFrame], list[Any]]
"""A model: one JSON value for each row of a frame."""


@dataclass
class Reply:
    """What a server sends back; None instead of it drops the connection."""

    content: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class ModelServer:
    """A server that is running, and what it was asked."""

    url: str
    bodies: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    most_at_once: int = 0

    @property
    def rows(self) -> int:
        """The rows of all requests."""
        return sum(len(read_rows(body)) for body in self.bodies)


@contextmanager
def serve(respond: Callable[[str, Any, int], Reply | None]) -> Iterator[ModelServer]:
    """Run a server; `respond` is given the path, the JSON body (None for a GET) and its number."""
    lock, at_once = threading.Lock(), [0]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            self._reply(respond(self.path, None, -1))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                running.bodies.append(body)
                running.headers.append(dict(self.headers))
                number = len(running.bodies) - 1
                at_once[0] += 1
                running.most_at_once = max(running.most_at_once, at_once[0])
            try:
                self._reply(respond(self.path, body, number))
            finally:
                with lock:
                    at_once[0] -= 1

        def _reply(self, reply: Reply | None) -> None:
            if reply is None:
                self.close_connection = True
                return
            text = reply.content if isinstance(reply.content, str) else json.dumps(reply.content)
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(text.encode())), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None: ...

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 64

        def handle_error(self, *_: Any) -> None: ...

    server = Server(("127.0.0.1", 0), Handler)
    running = ModelServer(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def read_rows(body: Any) -> pd.DataFrame:
    """The rows of a request of any of the protocols."""
    if not isinstance(body, dict):
        return pd.DataFrame(body)
    if "dataframe_split" in body:
        return pd.DataFrame(body["dataframe_split"]["data"], columns=body["dataframe_split"]["columns"])
    if "dataframe_records" in body:
        return pd.DataFrame(body["dataframe_records"])
    if "rows" in body:
        return pd.DataFrame(body["rows"])
    if "instances" in body:
        return pd.DataFrame(body["instances"])
    return pd.DataFrame([body])


def serve_mlflow(answer: Answer, seconds_per_row: float = 0.0) -> Any:
    """A server of MLflow's protocol."""

    def respond(path: str, body: Any, number: int) -> Reply:
        if path == "/version":
            return Reply("3.17.2")
        if path != "/invocations" or body is None:
            return Reply({"detail": "Not Found"}, 404)
        rows = read_rows(body)
        time.sleep(seconds_per_row * len(rows))
        return Reply({"predictions": answer(rows)})

    return serve(respond)
