"""The real LiteLLM proxy with its `headroom` guardrail pointed at the gateway: compressed, retrieved, open when we are down.

usage: litellm.py GATEWAY-ADDRESS STOP-COMMAND…   (the command stops the gateway)
"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PATIENCE = 120
seen = []


def log(name):
    lines = [f"cc -O2 -c src/{name}_{part}.c -o build/{name}_{part}.o" for part in range(300)]
    return "\n".join([f"$ make {name}", *lines, f"src/{name}.c:17:5: error: unknown type name 'size'", ""])


class Model(BaseHTTPRequestHandler):
    """Asks for the original the first time that it is offered, and says what it got."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        seen.append(body)
        message = {"role": "assistant", "content": "Done."}
        names = [tool["function"]["name"] for tool in body.get("tools") or []]
        marked = [m for m in body["messages"] if m["role"] == "tool" and "hash=" in str(m["content"])]
        asked = any("headroom_retrieve" in str(m.get("tool_calls")) for m in body["messages"])
        if "headroom_retrieve" in names and marked and not asked:
            found = str(marked[0]["content"]).split("hash=")[1][:24]
            call = {"name": "headroom_retrieve", "arguments": json.dumps({"hash": found})}
            message = {"role": "assistant", "content": None, "tool_calls": [{"id": "r1", "type": "function", "function": call}]}
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        reply = {"id": "x", "object": "chat.completion", "created": 0, "model": "m",
                 "choices": [{"index": 0, "message": message, "finish_reason": finish}],
                 "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def messages():
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command":"make first"}'}}
    return [{"role": "user", "content": "Build it."}, {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": log("first")},
            {"role": "assistant", "content": "It failed."}, {"role": "user", "content": "Why?"}]


def ask(port):
    tools = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object", "properties": {}}}}]
    body = json.dumps({"model": "m", "messages": messages(), "tools": tools}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions", body,
                                     {"content-type": "application/json", "authorization": "Bearer sk-test"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def main():
    gateway, stop = sys.argv[1], sys.argv[2:]
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        guardrail = {"guardrail": "headroom", "mode": "pre_call", "api_base": gateway, "api_key": "team-key",
                     "default_on": True, "unreachable_fallback": "fail_open"}
        settings = {
            "model_list": [{"model_name": "m", "litellm_params": {
                "model": "openai/m", "api_base": f"http://127.0.0.1:{model.server_port}/v1", "api_key": "none"}}],
            "guardrails": [{"guardrail_name": "foldline", "litellm_params": guardrail}],
            "general_settings": {"master_key": "sk-test"},
        }
        file = Path(folder) / "config.yaml"
        file.write_text(json.dumps(settings))  # JSON is YAML
        program = Path(sys.executable).parent / "litellm"
        environment = {"PATH": os.environ["PATH"], "HOME": folder, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "NO_PROXY": "*"}
        proxy = subprocess.Popen([str(program), "--config", str(file), "--host", "127.0.0.1", "--port", str(port)],
                                 env=environment, stdout=open(Path(folder) / "log", "w"), stderr=subprocess.STDOUT)
        try:
            end = time.time() + PATIENCE
            while True:
                try:
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/health/liveliness", timeout=2).close()
                    break
                except OSError:
                    if proxy.poll() is not None or time.time() > end:
                        sys.exit("LiteLLM does not start:\n" + (Path(folder) / "log").read_text()[-3000:])
                    time.sleep(0.5)
            ask(port)
            first = next(m for m in seen[0]["messages"] if m["role"] == "tool")["content"]
            assert "hash=" in str(first) and len(str(first)) < len(log("first")) // 3, first
            retrieved = [m for m in seen[-1]["messages"] if m["role"] == "tool" and m.get("tool_call_id") == "r1"]
            assert retrieved and retrieved[0]["content"] == log("first"), seen[-1]
            count = len(seen)
            ask(port)
            again = next(m for m in seen[count]["messages"] if m["role"] == "tool")["content"]
            assert again == first, "the same bytes in the next request"
            subprocess.run(stop, check=True)
            time.sleep(0.5)
            count = len(seen)
            ask(port)
            whole = next(m for m in seen[count]["messages"] if m["role"] == "tool")["content"]
            assert whole == log("first"), "as it came when we are down"
        finally:
            proxy.terminate()
            try:
                proxy.wait(20)
            except subprocess.TimeoutExpired:
                proxy.kill()
    print("litellm proxy: compressed, retrieved, the same bytes, open when we are down")


main()
