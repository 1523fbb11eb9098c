"""Draws docs/before-after.svg from what the binary really says about the example session.

    python3 docs/picture.py
"""

import html
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).parent.parent
SESSION = "examples/two-hour-session.anthropic.json"
COLOURS = {
    "tool results": "#d97706",
    "tool call parameters": "#b45309",
    "model thinking": "#7c3aed",
    "model replies": "#2563eb",
    "user messages": "#059669",
    "system prompt": "#475569",
    "tool schemas": "#94a3b8",
    "message framing": "#cbd5e1",
}
WIDTH, LEFT, BAR = 860, 24, 812


def foldline(*args):
    return subprocess.run([str(ROOT / "foldline"), *args], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def inspect(path):
    return json.loads(foldline("inspect", str(path), "--json", "--window", "100000"))


def bar(y, found, scale):
    """One bar, a rectangle per source, and its caption above."""
    out, x = [], float(LEFT)
    for share in found["by_source"]:
        width = share["tokens"] * scale
        colour = COLOURS.get(share["name"], "#64748b")
        label = f'{share["name"]}: {share["tokens"]:,} tokens'
        out.append(f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="34" fill="{colour}"><title>{html.escape(label)}</title></rect>')
        x += width
    return out, x


def main():
    with tempfile.TemporaryDirectory() as folder:
        smaller = pathlib.Path(folder) / "smaller.json"
        foldline("compress", SESSION, "--preset", "sacred-zone", "--window", "100000", "--store", "none", "-q", "-o", str(smaller))
        before, after = inspect(SESSION), inspect(smaller)
    scale = BAR / before["tokens"]
    limit = LEFT + 100_000 * scale
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} 230" font-family="system-ui, sans-serif" font-size="14">',
        f'<rect width="{WIDTH}" height="230" fill="#ffffff"/>',
    ]
    for y, name, found in [(44, "before", before), (122, "after", after)]:
        rects, end = bar(y, found, scale)
        caption = f'{name}: {found["messages"]} messages, {found["tokens"]:,} tokens'
        lines.append(f'<text x="{LEFT}" y="{y - 10}" fill="#0f172a">{html.escape(caption)}</text>')
        lines += rects
    lines.append(f'<line x1="{limit:.1f}" y1="20" x2="{limit:.1f}" y2="168" stroke="#dc2626" stroke-dasharray="5 4"/>')
    lines.append(f'<text x="{limit + 6:.1f}" y="30" fill="#dc2626">window of 100,000</text>')
    x = LEFT
    for name, colour in list(COLOURS.items())[:6]:
        lines.append(f'<rect x="{x}" y="190" width="12" height="12" fill="{colour}"/>')
        lines.append(f'<text x="{x + 18}" y="201" fill="#334155">{name}</text>')
        x += 30 + 7.6 * len(name) + 14
    lines.append("</svg>")
    (ROOT / "docs" / "before-after.svg").write_text("\n".join(lines) + "\n")


main()
