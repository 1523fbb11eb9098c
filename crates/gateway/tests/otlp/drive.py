"""Drives the gateway with a collector beside it, which reads what the gateway exports and passes it on.

usage: drive.py COLLECTOR FOLDLINE
Prints one line per check; ends with 0 when all of them hold.
"""

import gzip
import http.server
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

COLLECTOR, FOLDLINE = sys.argv[1:3]
PATIENCE = 30
TURNS = 40
WORDS = "the importer reads orders and checks each row"


class Server(http.server.BaseHTTPRequestHandler):
    """Answers what is posted."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        kind, reply = self.answer(gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body)
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *_):
        pass


class Backend(Server):
    """What the collector passes on to: a backend that takes everything."""

    received = {"/v1/traces": [], "/v1/metrics": []}

    def answer(self, body):
        self.received.setdefault(self.path, []).append(body)
        return "application/x-protobuf", b""


class Provider(Server):
    """Says the same each time, and what it took."""

    def answer(self, body):
        message = {"role": "assistant", "content": "Go on."}
        usage = {"prompt_tokens": len(body) // 4, "completion_tokens": 3, "total_tokens": len(body) // 4 + 3}
        reply = {"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage}
        return "application/json", json.dumps(reply).encode()


def served(handler):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def until(holds, what):
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"not within {PATIENCE} s: {what}")
        time.sleep(0.05)


def accepts(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def has(path, *words):
    return all(any(word.encode() in body for body in Backend.received[path]) for word in words)


def main(folder, started):
    backend, upstream = served(Backend), served(Provider)
    log = os.path.join(folder, "collector.log")
    http_port, grpc_port = free_port(), free_port()
    started.append(subprocess.Popen(
        [COLLECTOR, "start", "--otlp-http-endpoint", f"127.0.0.1:{http_port}", "--otlp-grpc-endpoint", f"127.0.0.1:{grpc_port}",
         "--exporter", "otlp", "--otlp-exporter-protocol", "http", "--otlp-exporter-endpoint", backend,
         "--debug-log", "traces", "--debug-log", "metrics", "--debug-log-verbosity", "detailed"],
        stdout=open(log, "wb"), stderr=subprocess.STDOUT))
    until(lambda: accepts(http_port), "the collector listens")
    environment = {**os.environ, "OTEL_BSP_SCHEDULE_DELAY": "200", "OTEL_METRIC_EXPORT_INTERVAL": "500"}
    gateway = subprocess.Popen(
        [FOLDLINE, "serve", "--listen", "127.0.0.1:0", "--log", "error", "--log-format", "json", "--window", "16000",
         "--store", os.path.join(folder, "store.db"), "--upstream-openai", upstream,
         "--set", f"gateway.otlp_endpoint=http://127.0.0.1:{http_port}"],
        stdout=subprocess.PIPE, text=True, env=environment)
    started.append(gateway)
    address = json.loads(gateway.stdout.readline())["address"]

    messages = [{"role": "user", "content": "Run every test file."}]
    outcomes = []
    for turn in range(TURNS):
        request = urllib.request.Request(
            f"{address}/v1/chat/completions", json.dumps({"model": "gpt-4.1", "messages": messages}).encode(),
            {"content-type": "application/json", "authorization": "Bearer " + "-".join(["key", "of", "tests"])})
        with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
            reply.read()
            outcomes.append(reply.headers["x-foldline-outcome"])
        call = {"id": f"call_{turn}", "type": "function", "function": {"name": "shell", "arguments": "{}"}}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{turn}", "content": f"{WORDS} {turn}\n" * 40})
    assert {"pruned", "folded"} & set(outcomes), outcomes

    # What the collector understood, and what it passed on.
    until(lambda: has("/v1/traces", "POST /v1/chat/completions", "receive", "rewrite", "foldline.compaction", "gen_ai.usage.input_tokens"),
          f"spans at the backend, {len(Backend.received['/v1/traces'])} batches so far")
    print("spans of requests, rewriting and the provider arrive behind the collector")
    until(lambda: has("/v1/metrics", "foldline_turns", "foldline_upstream_replies", "foldline_added_latency_seconds"), "metrics at the backend")
    print("counters and histograms arrive behind the collector")
    said = open(log, encoding="utf-8", errors="replace").read()
    said = re.sub(r"\x1b\[[0-9;]*m", "", said)
    for word in ("service.name", "foldline", "rewrite", "foldline.outcome"):
        assert word in said, f"the collector did not show {word}: {said[-2000:]}"
    assert "ERROR" not in said and "WARN" not in said, [line for line in said.splitlines() if "ERROR" in line or "WARN" in line][:5]
    print("the collector reads all of it, without an error")
    everything = b"".join(body for bodies in Backend.received.values() for body in bodies)
    assert WORDS.encode() not in everything and WORDS not in said, "content in telemetry"
    with urllib.request.urlopen(f"{address}/foldline/metrics", timeout=PATIENCE) as reply:
        counted = re.findall(r"^foldline_trace_spans_total\{(.*?)\} (\d+)", reply.read().decode(), re.M)
    assert not any("dropped" in labels and int(number) > 0 for labels, number in counted), counted
    print("no content in it, and no span was dropped")


if __name__ == "__main__":
    processes = []
    with tempfile.TemporaryDirectory() as room:
        try:
            main(room, processes)
        finally:
            for process in processes:
                process.kill()
                process.wait()
