"""payment-api: a small HTTP service that leaks the connections of its pool. Usage: service.py SRE_HOME

The process that starts supervises: it listens, and forks a worker that serves. A line in the pipe `control` makes it end the
worker and fork another one, and write that to `ledger.ndjson`. SIGTERM ends both. All files are in SRE_HOME:

  port                 where it listens, written last: then it is ready
  control              a pipe; each line is a JSON object that asks for a restart
  ledger.ndjson        one line for each restart that took place, with the key that asked for it
  service.log          one JSON line for each thing that happened
  metrics.ndjson       one sample after each request, and one when a worker starts
  deployments.ndjson   what was deployed, and when
"""

import json
import os
import queue
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from urllib.parse import parse_qs, urlsplit

POOL = 8
WAIT_S = 0.02
DAY_S = 24 * 60 * 60
DEPLOYED = [
    (21 * DAY_S, "v2.13.0", "Pool of 8 connections to db-primary"),
    (6 * DAY_S, "v2.14.0", "Decline charges without an amount before the database is asked"),
]


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def append(name, line):
    """One write for a line: the lines of several writers do not mix."""
    data = (json.dumps(line, ensure_ascii=False) + "\n").encode()
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(file, data)
    finally:
        os.close(file)


class Exhausted(Exception):
    pass


class Pool:
    def __init__(self):
        self.free = queue.Queue()
        for number in range(POOL):
            self.free.put(number)

    def take(self):
        try:
            return self.free.get(timeout=WAIT_S)
        except queue.Empty:
            raise Exhausted from None

    def give_back(self, connection):
        self.free.put(connection)

    def in_use(self):
        return POOL - self.free.qsize()


class Service:
    def __init__(self):
        self.pool = Pool()
        self.lock = Lock()
        self.counts = {"requests": 0, "errors": 0}

    def log(self, level, message):
        append("service.log", {"timestamp": stamp(time.time()), "level": level, "message": message})

    def gauges(self):
        return {**self.counts, "db_pool_in_use": self.pool.in_use(), "db_pool_max": POOL}

    def sample(self):
        append("metrics.ndjson", {"at": time.time(), **self.gauges()})

    def charge(self, amount, note):
        with self.lock:
            self.counts["requests"] += 1
        try:
            status = self.charged(amount, note)
        except Exhausted:
            with self.lock:
                self.counts["errors"] += 1
            self.log("error", f"500 on /charge: no connection to db-primary, {POOL} of {POOL} in use")
            status = 500
        self.sample()
        return status

    def charged(self, amount, note):
        connection = self.pool.take()
        if amount <= 0:
            # The leak: this way out does not give the connection back.
            self.log("warn", f"charge declined: no amount; note: {note}")
            return 402
        self.log("info", f"charge of {amount} accepted")
        self.pool.give_back(connection)
        return 200


def handler(service):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # An answer in one write: else each waits 40 ms for an acknowledgement.

        def answer(self, status, text):
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            self.wfile.flush()

        def do_GET(self):
            if self.path == "/metrics":
                lines = (f"{name} {value}\n" for name, value in service.gauges().items())
                return self.answer(200, "".join(lines))
            return self.answer(404, "not found\n")

        def do_POST(self):
            url = urlsplit(self.path)
            given = parse_qs(url.query)
            amount, note = given.get("amount", ["0"])[0], given.get("note", ["-"])[0]
            if url.path != "/charge" or not amount.isdecimal():
                return self.answer(404, "not found\n")
            status = service.charge(int(amount), note)
            return self.answer(status, json.dumps({"status": status}) + "\n")

        def log_message(self, *_):
            pass

    return Handler


def work(listener):
    """A worker: a pool of its own, and the socket that the supervisor listens on."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    service = Service()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(service), bind_and_activate=False)
    server.daemon_threads = True
    server.socket.close()
    server.socket = listener
    service.log("info", f"worker started with {POOL} connections to db-primary")
    service.sample()
    server.serve_forever()


def fork(listener):
    worker = os.fork()
    if worker == 0:
        try:
            work(listener)
        finally:
            os._exit(1)
    return worker


def end(worker):
    os.kill(worker, signal.SIGTERM)
    os.waitpid(worker, 0)


def main(home):
    os.makedirs(home, exist_ok=True)
    os.chdir(home)
    if not os.path.exists("deployments.ndjson"):
        for age, version, change in DEPLOYED:
            append("deployments.ndjson", {"at": stamp(time.time() - age), "version": version, "change": change})
    if os.path.exists("control"):
        os.remove("control")
    os.mkfifo("control", 0o600)
    # Open for both: then it has no end when a writer closes it.
    control = os.fdopen(os.open("control", os.O_RDWR), "rb", buffering=0)
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    worker = fork(server.socket)

    def stop(*_):
        end(worker)
        os.remove("port")
        os._exit(0)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    with open("port.part", "w") as file:
        file.write(f"{server.server_address[1]}\n")
    os.rename("port.part", "port")
    restarts = 0
    while line := control.readline():
        asked = json.loads(line)
        end(worker)
        worker = fork(server.socket)
        restarts += 1
        append("ledger.ndjson", {"at": stamp(time.time()), "restarts": restarts, **asked})


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.environ["SRE_HOME"])
