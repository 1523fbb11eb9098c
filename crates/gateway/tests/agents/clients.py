"""The clients: where each comes from, how it is set up, and how it is asked without a terminal."""
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

INSTALL_SECONDS = 600
# Not a secret: the scripted provider takes any key.
KEY = "test-key"


class Unavailable(Exception):
    """A client that cannot be had here."""


@dataclass
class Place:
    """Where one run happens."""

    room: Path  # packages, kept between runs
    home: Path  # the client's own files
    project: Path
    base: str  # address of the gateway or of the provider
    window: int

    def program(self, client, name):
        return str(self.room / client / "node_modules" / ".bin" / name)


class Client:
    """One client. `packages` are tried in turn."""

    name: str
    packages: list
    memory = "AGENTS.md"
    # Smallest window that it agrees to work with.
    least_window = 0

    def install(self, room):
        if not self.is_there(room):
            install_node(room)
            folder = room / self.name
            if not any(npm(room, folder, package) for package in self.packages):
                raise Unavailable(f"{' and '.join(self.packages)} cannot be installed")
        if not self.is_there(room):
            raise Unavailable("the package has no program")

    def is_there(self, room):
        return (room / self.name / "node_modules" / ".bin" / self.program).exists()

    def environment(self, place):
        """Variables that it needs; the rest of the environment is bare."""
        return {}

    def set_up(self, place):
        """Writes its settings."""

    def ask(self, place, prompt, is_first):
        """The command that sends a prompt, in the session that is there already unless it is the first."""
        raise NotImplementedError

    def compact(self, place):
        """The command that makes it compact its conversation itself, where it has one."""
        return None


def through_interface(kind, *command):
    """The command for a client that compacts only through its interface for programs."""
    return [sys.executable, str(Path(__file__).resolve().parent / "own_compaction.py"), kind, *command]


def npm(room, folder, package):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"private":true}')
    # A registry that does not answer is given up soon.
    patience = ["--fetch-retries=1", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000", "--fetch-timeout=60000"]
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", *patience, package]
    environment = {**os.environ, "PATH": node_path(room), "npm_config_cache": str(room / "npm-cache")}
    return succeeds(command, cwd=folder, env=environment)


def succeeds(command, **options):
    try:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
        return subprocess.run(command, timeout=INSTALL_SECONDS, **quiet, **options).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def install_node(room):
    """Some clients want a newer Node than systems have; npm has it as a package."""
    if not shutil.which("npm"):
        raise Unavailable("there is no npm")
    if not (room / "node" / "node_modules" / ".bin" / "node").exists():
        npm(room, room / "node", "node@24")


def node_path(room):
    return f"{room / 'node' / 'node_modules' / '.bin'}{os.pathsep}{os.environ['PATH']}"


class ClaudeCode(Client):
    name, program, packages, memory = "claude-code", "claude", ["@anthropic-ai/claude-code"], "CLAUDE.md"

    def environment(self, place):
        return {
            "ANTHROPIC_BASE_URL": place.base,
            "ANTHROPIC_API_KEY": KEY,
            # It takes smaller ones for a mistake, and learns of them from refusals.
            "CLAUDE_CODE_AUTO_COMPACT_WINDOW": str(max(place.window, 100_000)),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",
        }

    def ask(self, place, prompt, is_first):
        command = [place.program(self.name, self.program), "-p", prompt, "--dangerously-skip-permissions"]
        return command if is_first else [*command, "--continue"]

    def compact(self, place):
        return self.ask(place, "/compact", False)


class Codex(Client):
    name, program, packages = "codex", "codex", ["@openai/codex"]

    def environment(self, place):
        return {"CODEX_HOME": str(place.home / ".codex"), "OPENAI_API_KEY": KEY}

    def set_up(self, place):
        folder = place.home / ".codex"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(f"""
model = "gpt-5.1-codex"
model_provider = "test"
model_context_window = {place.window}
model_auto_compact_token_limit = {place.window * 9 // 10}
[model_providers.test]
name = "test"
base_url = "{place.base}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
[projects."{place.project}"]
trust_level = "trusted"
""")

    def ask(self, place, prompt, is_first):
        resume = [] if is_first else ["resume", "--last"]
        options = ["--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"]
        return [place.program(self.name, self.program), "exec", *resume, *options, prompt]

    def compact(self, place):
        return through_interface("app-server", place.program(self.name, self.program), "app-server")


class OpenCode(Client):
    name, program, packages = "opencode", "opencode", ["opencode-ai"]

    def set_up(self, place):
        model = {"name": "gpt-5.1", "tool_call": True, "limit": {"context": place.window, "output": 4000}}
        settings = {
            "provider": {
                "test": {
                    "npm": "@ai-sdk/openai-compatible",
                    "options": {"baseURL": f"{place.base}/v1", "apiKey": KEY},
                    "models": {"gpt-5.1": model},
                }
            },
            "autoupdate": False,
            "share": "disabled",
            "permission": {"*": "allow"},
        }
        (place.project / "opencode.json").write_text(json.dumps(settings))

    def ask(self, place, prompt, is_first):
        command = [place.program(self.name, self.program), "run", "-m", "test/gpt-5.1"]
        return [*command, *([] if is_first else ["--continue"]), prompt]

    def compact(self, place):
        return through_interface("serve", place.program(self.name, self.program), "serve", "--hostname", "127.0.0.1", "--port", "0")


class Pi(Client):
    name, program = "pi", "pi"
    # Newer ones ask for a package that was not published, in November 2026.
    packages = ["@earendil-works/pi-coding-agent", "@earendil-works/pi-coding-agent@0.87.1", "@mariozechner/pi-coding-agent"]

    def environment(self, place):
        return {"PI_CODING_AGENT_DIR": str(place.home / ".pi"), "PI_OFFLINE": "1"}

    def set_up(self, place):
        folder = place.home / ".pi"
        folder.mkdir(parents=True, exist_ok=True)
        free = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
        model = {
            "id": "gpt-5.1",
            "name": "gpt-5.1",
            "reasoning": True,
            "input": ["text"],
            "contextWindow": place.window,
            "maxTokens": 4000,
            "cost": free,
        }
        provider = {"baseUrl": f"{place.base}/v1", "api": "openai-responses", "apiKey": KEY, "models": [model]}
        (folder / "models.json").write_text(json.dumps({"providers": {"test": provider}}))
        # Its defaults (16,384 and 20,000) leave nothing of a small window.
        compaction = {
            "enabled": True,
            "reserveTokens": min(16384, place.window // 8),
            "keepRecentTokens": min(20000, place.window // 4),
        }
        (folder / "settings.json").write_text(json.dumps({"compaction": compaction}))

    def ask(self, place, prompt, is_first):
        return [*self.command(place), "-p", *([] if is_first else ["--continue"]), prompt]

    def compact(self, place):
        return through_interface("rpc", *self.command(place), "--mode", "rpc", "--continue")

    def command(self, place):
        return [place.program(self.name, self.program), "--provider", "test", "--model", "gpt-5.1"]


class Hermes(Client):
    name, packages = "hermes", ["hermes-agent"]
    # It refuses smaller ones; it is told this one, and the provider has the smaller.
    least_window = 64_000

    def is_there(self, room):
        return (room / self.name / "venv" / "bin" / "hermes").exists()

    def install(self, room):
        if self.is_there(room):
            return
        folder = room / self.name / "venv"
        pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *self.packages]
        if not (succeeds(["python3", "-m", "venv", str(folder)]) and succeeds(pip) and self.is_there(room)):
            raise Unavailable(f"{self.packages[0]} cannot be installed")

    def environment(self, place):
        return {"HERMES_HOME": str(place.home / ".hermes"), "OPENAI_API_KEY": KEY}

    def set_up(self, place):
        folder = place.home / ".hermes"
        folder.mkdir(parents=True, exist_ok=True)
        window = max(place.window, self.least_window)
        (folder / "config.yaml").write_text(f"""
model:
  default: gpt-5.1
  provider: custom:test
  context_length: {window}
custom_providers:
  - name: test
    base_url: {place.base}/v1
    api_key: {KEY}
    api_mode: chat_completions
    model: gpt-5.1
    context_length: {window}
agent:
  max_turns: 400
""")

    def ask(self, place, prompt, is_first):
        command = [str(place.room / self.name / "venv" / "bin" / "hermes"), "chat", "--yolo", "--quiet"]
        return [*command, *([] if is_first else ["--continue"]), "--query", prompt]


class GeminiCli(Client):
    name, program, packages, memory = "gemini-cli", "gemini", ["@google/gemini-cli"], "GEMINI.md"
    # What it takes the window of its models for.
    believed_window = 1_048_576

    def environment(self, place):
        return {"GOOGLE_GEMINI_BASE_URL": place.base, "GEMINI_API_KEY": KEY, "GEMINI_CLI_TRUST_WORKSPACE": "true"}

    def set_up(self, place):
        folder = place.home / ".gemini"
        folder.mkdir(parents=True, exist_ok=True)
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True},
            # Half of a window that is not there would be too late. Earlier than this it tries again in every turn: what it could
            # summarise is less than its summary.
            "model": {"compressionThreshold": round(place.window * 0.95 / self.believed_window, 5), "maxSessionTurns": -1},
        }
        (folder / "settings.json").write_text(json.dumps(settings))

    def ask(self, place, prompt, is_first):
        command = [place.program(self.name, self.program), "-m", "gemini-3-pro-preview", "--yolo"]
        return [*command, *([] if is_first else ["--resume", "latest"]), "-p", prompt]

    def compact(self, place):
        return self.ask(place, "/compress", False)


CLIENTS = [ClaudeCode(), Codex(), OpenCode(), Pi(), Hermes(), GeminiCli()]
