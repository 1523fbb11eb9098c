"""The real Codex with its own provider (named OpenAI) behind the gateway, whose upstream refuses `compaction_trigger`: it compacts,
resumes and goes on.

usage: codex.py FOLDLINE CODEX   (both are programs)
"""
import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FACT = "The secret word is xylophone-7."
PATIENCE = 240
seen = []


class Model(BaseHTTPRequestHandler):
    """Runs commands with long outputs until it has run enough, and refuses what only OpenAI knows."""

    protocol_version = "HTTP/1.1"
    calls = 0
    wanted = 0

    def answer(self, status, kind, data):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.answer(404, "application/json", b"{}")

    def do_POST(self):
        raw = self.rfile.read(int(self.headers["content-length"]))
        body = json.loads(raw)
        seen.append(body)
        if any(item.get("type") in ("compaction_trigger", "compaction") for item in body["input"]):
            return self.answer(400, "application/json", b'{"error":{"message":"Invalid value","type":"invalid_request_error"}}')
        number = len(seen)
        if Model.calls < Model.wanted:
            Model.calls += 1
            command = f"seq 1 400 | sed s/^/row-{number}-/"
            names = [tool.get("name") for tool in body.get("tools", [])]
            forms = {"exec_command": {"cmd": command}, "shell_command": {"command": command}, "shell": {"command": ["bash", "-lc", command]}}
            name = next(name for name in forms if name in names)
            item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": name, "arguments": json.dumps(forms[name])}
        else:
            content = [{"type": "output_text", "text": "All done.", "annotations": []}]
            item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": content}
        tokens = len(raw) // 4
        usage = {"input_tokens": tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": tokens + 10}
        reply = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": [item], "usage": usage}
        events = [{"type": "response.created", "response": {**reply, "status": "in_progress", "output": []}},
                  {"type": "response.output_item.done", "output_index": 0, "item": item},
                  {"type": "response.completed", "response": reply}]
        lines = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self.answer(200, "text/event-stream", lines.encode())

    def log_message(self, *_):
        pass


def main():
    foldline, codex = sys.argv[1:]
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        bare = {"PATH": os.environ["PATH"], "HOME": folder}
        command = [foldline, "serve", "--listen", "127.0.0.1:0", "--log", "off", "--store", f"{folder}/store.db",
                   "--upstream-openai", f"http://127.0.0.1:{model.server_port}/v1"]
        gateway = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=bare)
        try:
            base = next(line for line in gateway.stdout if "ANTHROPIC_BASE_URL=" in line).split("=")[1].strip()
            home, project = f"{folder}/codex", f"{folder}/project"
            os.makedirs(home)
            os.makedirs(project)
            with open(f"{home}/config.toml", "w") as settings:
                settings.write(f'model = "gpt-5.1-codex"\nopenai_base_url = "{base}/v1"\nmodel_auto_compact_token_limit = 12000\n'
                               f'[projects."{project}"]\ntrust_level = "trusted"\n')
            # Not a secret: the scripted model takes any key.
            key = "test-key"
            with open(f"{home}/auth.json", "w") as login:
                json.dump({"OPENAI_API_KEY": key}, login)
            environment = {**bare, "CODEX_HOME": home, "OPENAI_API_KEY": key, "CODEX_API_KEY": key}

            def ask(calls, *arguments):
                Model.calls, Model.wanted = 0, calls
                options = ["--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"]
                done = subprocess.run([codex, "exec", *arguments, *options], cwd=project, env=environment, stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, timeout=PATIENCE)
                assert done.returncode == 0 and "All done." in done.stdout, done.stderr[-3000:]
                return done.stderr + done.stdout

            told = ask(6, f"{FACT} Print the rows.")
            assert "compacted" in told, told[-2000:]
            before = len(seen)
            ask(2, "resume", "--last", "Go on.")
            assert len(seen) > before
        finally:
            gateway.terminate()
            gateway.wait(20)
    for body in seen:
        text = json.dumps(body)
        assert "xylophone-7" in text, "the fact is in every request"
        assert not any(item.get("type") in ("compaction_trigger", "compaction") for item in body["input"]), "none of it goes upstream"
    print(f"codex: compacted by the gateway, resumed, went on; {len(seen)} requests, the fact in each")


main()
