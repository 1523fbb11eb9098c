"""Draws docs/before-after.svg from what the binary really says about the example session.

    python3 docs/picture.py [BINARY]
"""

import html
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent
BINARY = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "foldline"
SESSION = "examples/two-hour-session.anthropic.json"
WINDOW = 200_000
# A class for each source: its colours on light and on dark.
COLOURS = {
    "tool results": ("a", "#d97706", "#f59e0b"),
    "tool call parameters": ("b", "#92400e", "#b45309"),
    "model thinking": ("c", "#7c3aed", "#a78bfa"),
    "model replies": ("d", "#2563eb", "#60a5fa"),
    "user messages": ("e", "#059669", "#34d399"),
    "system prompt": ("f", "#475569", "#94a3b8"),
    "tool schemas": ("g", "#94a3b8", "#cbd5e1"),
    "message framing": ("h", "#cbd5e1", "#475569"),
}
SHOWN, COLUMNS = 6, 3
# Narrow enough to be read on a phone.
WIDTH, HEIGHT, LEFT, BAR = 560, 232, 20, 520


def foldline(*args):
    return subprocess.run([str(BINARY), *args], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def inspect(path):
    return json.loads(foldline("inspect", str(path), "--json"))


def style():
    def rules(shade):
        return " ".join(f".{names[0]} {{ fill: {names[shade]} }}" for names in COLOURS.values())

    return (
        "<style>.frame { fill: #ffffff; stroke: #cbd5e1 } .text { fill: #1e293b } .limit { fill: #dc2626; stroke: #dc2626 } "
        f"{rules(1)}\n@media (prefers-color-scheme: dark) {{ .frame {{ fill: #0f172a; stroke: #334155 }} .text {{ fill: #e2e8f0 }} "
        f".limit {{ fill: #f87171; stroke: #f87171 }} {rules(2)} }}</style>"
    )


def bar(y, found, scale):
    """A rectangle per source."""
    out, x = [], float(LEFT)
    for share in found["by_source"]:
        width = share["tokens"] * scale
        label = f'{share["name"]}: {share["tokens"]:,} tokens'
        kind = COLOURS[share["name"]][0]
        out.append(f'<rect class="{kind}" x="{x:.1f}" y="{y}" width="{width:.1f}" height="30"><title>{html.escape(label)}</title></rect>')
        x += width
    return out


def main():
    with tempfile.TemporaryDirectory() as folder:
        smaller = pathlib.Path(folder) / "smaller.json"
        foldline("compress", SESSION, "--store", str(pathlib.Path(folder) / "store.db"), "-q", "-o", str(smaller))
        before, after = inspect(SESSION), inspect(smaller)
    scale = BAR / WINDOW
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="system-ui, sans-serif" font-size="14">',
        style(),
        f'<rect class="frame" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="8"/>',
    ]
    for y, name, found in [(42, "before", before), (112, "after", after)]:
        caption = f'{name}: {found["messages"]} messages, {found["tokens"]:,} tokens'
        lines.append(f'<text class="text" x="{LEFT}" y="{y - 10}">{html.escape(caption)}</text>')
        lines += bar(y, found, scale)
    end = LEFT + BAR
    lines.append(f'<line class="limit" x1="{end}" y1="40" x2="{end}" y2="144" stroke-dasharray="5 4"/>')
    lines.append(f'<text class="limit" style="stroke: none" x="{end}" y="32" text-anchor="end">window of {WINDOW:,}</text>')
    for at, (name, (kind, _, _)) in enumerate(list(COLOURS.items())[:SHOWN]):
        x, y = LEFT + at % COLUMNS * (BAR // COLUMNS), 168 + at // COLUMNS * 26
        lines.append(f'<rect class="{kind}" x="{x}" y="{y}" width="12" height="12"/>')
        lines.append(f'<text class="text" x="{x + 19}" y="{y + 11}">{name}</text>')
    lines.append("</svg>")
    (ROOT / "docs" / "before-after.svg").write_text("\n".join(lines) + "\n")


main()
