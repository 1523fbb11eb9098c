"""Draws docs/handoff.svg and docs/recording.svg from what the binary really prints about the examples.

    python3 docs/recording.py [BINARY]

The recording is an SVG that shows one command after the other; it needs no script and stops moving for readers who ask
for less motion.
"""

import html
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).parent.parent
BINARY = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "foldline"
COLUMNS, LINE, LEFT, TOP = 82, 18, 16, 44  # narrow enough to be read on a phone
CHARACTER = 7.83  # width of a character of the fonts below at 13 px
STYLE = """
.frame { fill: #ffffff; stroke: #cbd5e1 } .text { fill: #1e293b } .head { fill: #1d4ed8; font-weight: 600 } .dim { fill: #64748b }
.command { fill: #047857; font-weight: 600 }
@media (prefers-color-scheme: dark) {
  .frame { fill: #0f172a; stroke: #334155 } .text { fill: #e2e8f0 } .head { fill: #93c5fd } .dim { fill: #94a3b8 } .command { fill: #6ee7b7 }
}
"""


def run(*args, folder, store):
    """What a command prints on both streams."""
    command = [str(BINARY), *args]
    env = {**os.environ, "COLUMNS": str(COLUMNS), "NO_COLOR": "1", "FOLDLINE_STORE_PATH": store}
    done = subprocess.run(command, cwd=folder, env=env, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout.rstrip("\n").splitlines()


def document(height, body, extra=""):
    width = int(2 * LEFT + COLUMNS * CHARACTER)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            f'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13">',
            f"<style>{STYLE}{extra}</style>",
            f'<rect class="frame" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
            *(f'<circle class="dim" cx="{LEFT + 6 + 16 * dot}" cy="20" r="4.5"/>' for dot in range(3)),
            *body,
            "</svg>\n",
        ]
    )


def text(y, kind, line):
    # SVG joins spaces unless they are hard.
    return f'<text class="{kind}" x="{LEFT}" y="{y}">{html.escape(line).replace(" ", chr(0xA0))}</text>'


def handoff():
    """The handoff of the example session, as the agent reads it."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "smaller.jsonl"
        store = str(pathlib.Path(folder) / "store.db")
        run("compress", str(ROOT / "examples/claude-code-session.jsonl"), "--force", "-q", "-o", str(out), folder=folder, store=store)
        for line in out.read_text().splitlines():
            message = json.loads(line).get("message") or {}
            content = message.get("content") or ""
            words = content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
            if "FOLDLINE HANDOFF" in words:
                return words.strip().splitlines()
    raise SystemExit("no handoff in the result")


def kind_of(line):
    if line.startswith("## "):
        return "head"
    return "dim" if line.startswith("[") or line.startswith("Record of") else "text"


def wrapped(line):
    """A long line as several, with the indent of the first."""
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.wrap(line, COLUMNS, subsequent_indent=indent, drop_whitespace=False, replace_whitespace=False) or [""]


def draw_handoff():
    lines = [(kind_of(line), part) for line in handoff() for part in wrapped(line)]
    body = [text(TOP + LINE * at, kind, line) for at, (kind, line) in enumerate(lines)]
    (ROOT / "docs/handoff.svg").write_text(document(TOP + LINE * len(lines) + 4, body))


def scenes(folder):
    """The commands of the recording with their output."""
    store = str(pathlib.Path(folder) / "store.db")
    session = "two-hour-session.anthropic.json"
    pathlib.Path(folder, session).write_bytes((ROOT / "examples" / session).read_bytes())
    yield f"foldline inspect {session} --window 200k", run("inspect", session, "--window", "200k", folder=folder, store=store)[:11]
    shown = run("compress", session, "-o", "smaller.json", folder=folder, store=store)
    yield f"foldline compress {session} -o smaller.json", shown
    found = run("search", "zoneinfo", "--limit", "2", folder=folder, store=store)
    yield "foldline search zoneinfo --limit 2", found[:14]
    yield "foldline validate smaller.json", run("validate", "smaller.json", folder=folder, store=store)[:6]


def draw_recording():
    with tempfile.TemporaryDirectory() as folder:
        shown = [
            (command, [part for line in lines for part in wrapped(line.replace(folder + "/", ""))])
            for command, lines in scenes(folder)
        ]
    seconds, whole = 5, 5 * len(shown)
    share = 100 / len(shown)
    rules = [
        f".scene {{ animation: {whole}s infinite; opacity: 0 }}",
        *(
            f".scene{at} {{ animation-name: scene{at} }} @keyframes scene{at} {{ 0%, {at * share:.2f}% {{ opacity: 0 }} "
            f"{at * share + 0.01:.2f}%, {(at + 1) * share - 0.01:.2f}% {{ opacity: 1 }} {min(100, (at + 1) * share):.2f}%, 100% {{ opacity: 0 }} }}"
            for at in range(len(shown))
        ),
        "@media (prefers-reduced-motion: reduce) { .scene { animation: none } .scene1 { opacity: 1 } }",
    ]
    body = []
    for at, (command, lines) in enumerate(shown):
        body.append(f'<g class="scene scene{at}">')
        body.append(text(TOP, "command", f"$ {command}"))
        body += [text(TOP + LINE * (1 + row), "text", line) for row, line in enumerate(lines)]
        body.append("</g>")
    height = TOP + LINE * (1 + max(len(lines) for _, lines in shown)) + 4
    (ROOT / "docs/recording.svg").write_text(document(height, body, "\n".join(rules)))


draw_handoff()
draw_recording()
