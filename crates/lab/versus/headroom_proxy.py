"""Headroom: its proxy with its defaults, in front of a provider that only notes what it is sent. Its limit of requests per minute and its cache of
answers are off: both would answer instead of compressing. It has no target size."""
import ctypes
import http.client
import http.server
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from importlib.metadata import version

from driver import Peer, serve

PATIENCE = 180


class Provider(http.server.BaseHTTPRequestHandler):
    """Answers every request with the same few words."""

    protocol_version = "HTTP/1.1"
    received = None

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        Provider.received = json.loads(body)
        choice = {"index": 0, "message": {"role": "assistant", "content": "Noted."}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        reply = {"id": "c", "object": "chat.completion", "created": 0, "model": "gpt-4o", "choices": [choice], "usage": usage}
        self.answer(json.dumps(reply).encode())

    def do_GET(self):
        self.answer(b'{"object": "list", "data": []}')

    def answer(self, body):
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Headroom(Peer):
    version = version("headroom-ai")

    def __init__(self):
        self.provider = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
        threading.Thread(target=self.provider.serve_forever, daemon=True).start()
        self.port = free_port()
        upstream = f"http://127.0.0.1:{self.provider.server_port}/v1"
        surroundings = os.environ | {"HEADROOM_HOME": tempfile.mkdtemp(), "HF_HUB_OFFLINE": "1", "HEADROOM_TELEMETRY": "off",
                                     "OPENAI_TARGET_API_URL": upstream}
        program = os.path.join(os.path.dirname(sys.executable), "headroom")
        self.proxy = subprocess.Popen(
            [sys.executable, program, "proxy", "--host", "127.0.0.1", "--port", str(self.port), "--openai-api-url", upstream,
             "--no-rate-limit", "--no-cache", "--no-telemetry"], env=surroundings, stdin=subprocess.DEVNULL, preexec_fn=end_with_parent)
        self.wait()

    def wait(self):
        until = time.time() + PATIENCE
        while time.time() < until:
            if self.proxy.poll() is not None:
                raise RuntimeError(f"the proxy ended with {self.proxy.returncode}")
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/livez")
                if connection.getresponse().status == 200:
                    return
            except OSError:
                pass
            time.sleep(0.3)
        self.close()
        raise RuntimeError(f"the proxy was not ready within {PATIENCE} seconds")

    def processes(self):
        return [self.proxy.pid]

    def send(self, messages):
        Provider.received = None
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"content-type": "application/json", "authorization": "Bearer none"}
        connection.request("POST", "/v1/chat/completions", json.dumps({"model": "gpt-4o", "messages": messages}), headers)
        reply = connection.getresponse()
        text = reply.read()
        if Provider.received is None:
            raise RuntimeError(f"nothing was forwarded; the proxy answered {reply.status} {text[:200]!r}")
        return Provider.received["messages"]

    def compress(self, messages, target, window):
        return self.send(messages)

    def begin(self, window):
        self.messages = []

    def turn(self, new, used):
        self.messages += new
        return self.send(self.messages)

    def close(self):
        self.proxy.terminate()
        try:
            self.proxy.wait(10)
        except subprocess.TimeoutExpired:
            self.proxy.kill()


def end_with_parent():
    """A driver that is killed cannot stop the proxy; the kernel does (PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def free_port():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider) as server:
        return server.server_port


serve(Headroom)
