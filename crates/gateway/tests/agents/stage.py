"""Provider, gateway and client as processes of one run."""
import json
import os
import signal
import socket
import subprocess
import time

from clients import node_path
from scenarios import MEMORY, STEP

START_SECONDS = 20
# A client that asks nothing for so long hangs; a busy machine makes clients slow, not silent.
SILENT_SECONDS = 120


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def bare_environment(home):
    """What every process gets. Settings of the gateway come through."""
    keep = {key: value for key, value in os.environ.items() if key in ("PATH", "LANG", "LC_ALL") or key.startswith("FOLDLINE_")}
    return {**keep, "HOME": str(home), "TMPDIR": str(home), "TERM": "dumb", "NO_COLOR": "1"}


class Stage:
    """A provider with a plan, and a gateway before it unless the run goes without."""

    def __init__(self, work, scenario):
        self.work, self.scenario = work, scenario
        self.home, self.project = work / "home", work / "project"
        self.processes = []
        self.gateway = None

    def open(self, provider, gateway):
        """Starts the provider, and the gateway if there is one."""
        self.home.mkdir()
        self.project.mkdir()
        (self.work / "plan.json").write_text(json.dumps(self.scenario.plan()))
        self.start([provider, str(self.work / "plan.json"), str(self.work)], "provider")
        self.base = self.upstream = self.line_of("provider", "http://")
        if gateway:
            self.binary, self.port = gateway, free_port()
            self.base = f"http://127.0.0.1:{self.port}"
            self.start_gateway()

    def start(self, command, name):
        with open(self.work / f"{name}.out", "ab") as out, open(self.work / f"{name}.err", "ab") as err:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=bare_environment(self.home), cwd=self.work
            )
        self.processes.append(process)
        return process

    def line_of(self, name, start):
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            for line in (self.work / f"{name}.out").read_text().splitlines():
                if line.startswith(start):
                    return line
            time.sleep(0.05)
        raise RuntimeError(f"{name} did not start: {(self.work / f'{name}.err').read_text()[-500:]}")

    def start_gateway(self):
        command = [self.binary, "serve", "--listen", f"127.0.0.1:{self.port}", "--window", str(self.scenario.window)]
        command += ["--store", str(self.work / "store.db")]
        for vendor in ("openai", "anthropic", "gemini"):
            command += [f"--upstream-{vendor}", self.upstream]
        self.gateway = self.start(command, "gateway")
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise RuntimeError(f"no gateway: {(self.work / 'gateway.err').read_text()[-500:]}")

    def make_project(self, client):
        (self.project / client.memory).write_text(f"# Memory\n\n{MEMORY}\n")
        (self.project / "limits.py").write_text("RETRY_LIMIT = 3\n")
        step = self.project / "step"
        step.write_text(STEP % self.scenario.sizes)
        step.chmod(0o755)
        subprocess.run(["git", "init", "--quiet", str(self.project)], check=False)

    def log(self):
        """What the provider was asked, in order."""
        path = self.work / "log.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def log_bytes(self):
        path = self.work / "log.jsonl"
        return path.stat().st_size if path.exists() else 0

    def calls(self):
        return max((entry["calls"] for entry in self.log()), default=0)

    def run(self, client, place, command, limit, kills):
        """Runs a client to its end. What is due is killed on the way. Says what came of it: ended, killed or hung."""
        environment = {**bare_environment(self.home), "PATH": node_path(place.room), **client.environment(place)}
        with open(self.work / "client.out", "ab") as out, open(self.work / "client.err", "ab") as err:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, cwd=self.project,
                start_new_session=True,
            )
        end = time.monotonic() + limit
        asked, silent_from = self.log_bytes(), time.monotonic()
        try:
            while process.poll() is None:
                now = time.monotonic()
                if self.log_bytes() != asked:
                    asked, silent_from = self.log_bytes(), now
                if now > min(end, silent_from + SILENT_SECONDS):
                    return "hung"
                due = [call for call in kills if self.calls() >= call]
                for call in due:
                    if kills.pop(call) == "client":
                        return "killed"
                    if self.gateway:
                        self.gateway.kill()
                        self.gateway.wait()
                        self.start_gateway()
                time.sleep(0.1)
            return "ended"
        finally:
            end_group(process)

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()


def end_group(process):
    """Ends a client and what it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
