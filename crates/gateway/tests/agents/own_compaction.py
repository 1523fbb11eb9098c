"""Makes a client compact its latest session that has no command for it without a terminal: through the interface that it has for programs.

usage: own_compaction.py rpc|app-server|serve COMMAND…
"""
import json
import subprocess
import sys
import time
import urllib.request

SECONDS = 100
# So long, and once more, for a server to answer.
PAUSE_SECONDS = 0.2


def main():
    kind, *command = sys.argv[1:]
    client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        {"rpc": pi, "app-server": codex, "serve": opencode}[kind](client)
    finally:
        client.kill()
        client.wait()


def say(client, message):
    print(json.dumps(message), file=client.stdin, flush=True)


def hear(client, is_meant):
    """The first message that is meant."""
    for line in client.stdout:
        message = json.loads(line) if line.startswith("{") else {}
        if is_meant(message):
            return message
    raise RuntimeError("the client ended")


def pi(client):
    say(client, {"type": "compact"})
    answer = hear(client, lambda message: message.get("command") == "compact")
    print(answer)


def codex(client):
    def ask(number, method, parameters):
        say(client, {"id": number, "method": method, "params": parameters})
        return hear(client, lambda message: message.get("id") == number)["result"]

    ask(1, "initialize", {"clientInfo": {"name": "own-compaction", "version": "1"}})
    say(client, {"method": "initialized"})
    # Only those that a person began are listed unless it is told which.
    threads = ask(2, "thread/list", {"sourceKinds": ["exec"], "modelProviders": []})["data"]
    thread = {"threadId": threads[0]["id"]}
    ask(3, "thread/resume", thread)
    ask(4, "thread/compact/start", thread)
    print(hear(client, lambda message: message.get("method") in ("thread/compacted", "turn/completed")))


def opencode(client):
    address = hear_address(client)

    def ask(path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address + path, data, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return json.load(answer)

    sessions = sorted(ask("/session"), key=lambda session: session["time"]["updated"])
    print(ask(f"/session/{sessions[-1]['id']}/summarize", {"providerID": "test", "modelID": "gpt-5.1"}))


def hear_address(client):
    for line in client.stdout:
        if "http://" in line:
            time.sleep(PAUSE_SECONDS)
            return line[line.index("http://"):].split()[0]
    raise RuntimeError("the client ended")


if __name__ == "__main__":
    main()
