"""The two-hour programming session: binds its screenplay to the project, the figures and the outputs."""
from datetime import date
from pathlib import Path
from typing import Callable, Dict, List

from . import figures, listings, logbook, packages, testruns, trade
from .project import Project, orderbridge
from .screenplay import read_session
from .session import Session

_TEXT = Path(__file__).parent / "text"
_FIRST = date(2025, 9, 1)

TOOLS = [
    {
        "name": "file_read",
        "description": "Return the text of a file, or of a range of its lines. Line numbers are not printed. Files above "
                       "2,000 lines are cut; ask for ranges.",
        "parameters": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "Path from the repository root."},
                "first": {"type": "integer", "minimum": 1, "description": "First line to return."},
                "last": {"type": "integer", "minimum": 1, "description": "Last line to return."},
            },
            "required": ["path"],
        },
    },
    {
        "name": "shell_exec",
        "description": "Run one command with bash in the repository root. Standard output and standard error come back "
                       "together; a line [exit N] follows if the exit code is not zero. Stopped after 600 seconds.",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string", "description": "The command, without a terminal."}},
            "required": ["command"],
        },
    },
    {
        "name": "python_exec",
        "description": "Run a Python 3.9 snippet in a fresh interpreter with the repository root as working directory and "
                       "on sys.path. What it prints comes back, or the traceback.",
        "parameters": {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "The snippet."}},
            "required": ["code"],
        },
    },
]

_MONEY_ODD = """12,50                  1250  12.50 EUR
149,40                14940  149.40 EUR
2.476,20             247620  2 476.20 EUR
1.234.567,00      123456700  1 234 567.00 EUR
1,234.50             123450  1 234.50 EUR
1.234.567         123456700  1 234 567.00 EUR
-12,95                -1295  -12.95 EUR
(12.95)               -1295  -12.95 EUR
7,5                     750  7.50 EUR
0,05                      5  0.05 EUR
12.345         refused: ambiguous amount: '12.345'
1,234          refused: ambiguous amount: '1,234'
1.234.50       refused: not an amount: '1.234.50'
1,23,456.00    refused: not an amount: '1,23,456.00'
1e3            refused: not an amount: '1e3'
1_0.00         refused: not an amount: '1_0.00'
12,            refused: not an amount: '12,'
,50            refused: not an amount: ',50'
+5             refused: not an amount: '+5'
12..50         refused: not an amount: '12..50'
١٢,٥٠          refused: not an amount: '١٢,٥٠'
Traceback (most recent call last):
  File "<snippet>", line 12, in <module>
  File "/home/mira/src/orderbridge/orderbridge/money.py", line 25, in parse_amount
    cleaned = text.strip().replace(" ", "")
AttributeError: 'NoneType' object has no attribute 'strip'
[exit 1]"""

_DST_WALK = """2025-03-28 03-27T23:00Z 03-28T23:00Z 24 h joined True True
2025-03-29 03-28T23:00Z 03-29T23:00Z 24 h joined True True
2025-03-30 03-29T23:00Z 03-30T22:00Z 23 h joined True True
2025-03-31 03-30T22:00Z 03-31T22:00Z 24 h joined True True
2025-04-01 03-31T22:00Z 04-01T22:00Z 24 h joined True True
2025-10-24 10-23T22:00Z 10-24T22:00Z 24 h joined True True
2025-10-25 10-24T22:00Z 10-25T22:00Z 24 h joined True True
2025-10-26 10-25T22:00Z 10-26T23:00Z 25 h joined True True
2025-10-27 10-26T23:00Z 10-27T23:00Z 24 h joined True True
2025-10-28 10-27T23:00Z 10-28T23:00Z 24 h joined True True
4383 days, 0 gaps or overlaps"""

_NO_LEDGER_FILE = """Traceback (most recent call last):
  File "<snippet>", line 3, in <module>
FileNotFoundError: [Errno 2] No such file or directory: '/tmp/plover/ledger_w37.txt'
[exit 1]"""


def facts() -> Dict[str, Callable[[], object]]:
    halv_days = [(day, figures.halvorsen(day)) for day in trade.days()]
    lost = [(day, lines) for day, lines in halv_days if lines and trade.missing(lines[0])]
    wrong = [(day, trade.stored("HALV", day)) for day, _ in halv_days if day >= trade.BOM_STRIPPED_FROM]
    off = [pair for code in figures.others() for pair in figures.drifted(code)]
    other_lines = sum(line.supplier != "HALV" for line in figures.all_lines())
    cancelled = [figures.true_all(day) - figures.true_live(day) for day in trade.days()]
    missing_count = sum(len(lines) for _, lines in lost)
    replaced = len(figures.replaced_lines())
    return {
        **{f"{name}_seconds": lambda name=name: testruns.SECONDS[name] for name in testruns.SECONDS},
        "row_lines": lambda: f"{logbook.row_lines():,}",
        "drift_wrong": lambda: f"{len(figures.drift()):,}",
        "drift_percent": lambda: f"{len(figures.drift()) / 10_000:.1f}",
        "finance_by_day": lambda: "\n".join(f"    {day}  {figures.finance_day(day):>9}" for day in trade.days()),
        "finance_rows": lambda: "\n".join(f"{day} {figures.finance_day(day)}" for day in trade.days()),
        "halv_missing_table": lambda: markdown(["day", "lines", "worth (cents)"], [
            [day, len(lines), sum(line.cents for line in lines)] for day, lines in lost]),
        "halv_wrong_table": lambda: markdown(["day", "lines", "stored (cents)", "true (cents)"], [
            [day, len(pairs), sum(cents for _, cents in pairs), sum(line.cents for line, _ in pairs)] for day, pairs in wrong]),
        "drift_sentence": lambda: f"{len(off)} of {other_lines:,} lines are off, together {len(off)} cents.",
        "drift_count": lambda: len(off),
        "drift_lines": lambda: f"{other_lines:,}",
        "drift_share": lambda: f"{1000 * len(off) // other_lines / 10:.1f} %",
        "cancelled_min": lambda: min(cancelled),
        "cancelled_max": lambda: max(cancelled),
        "prod_freeze": packages.freeze,
        "freeze_compare_note": packages.note,
        "freeze_table": packages.table,
        "halv_w37_stored": lambda: figures.amount(figures.week_row("HALV")["cents"]),
        "weekly_width": lambda: max(map(len, figures.weekly_table().splitlines())),
        "weekly_json_bytes": lambda: f"{len(figures.weekly_json().encode()):,}",
        "finance_week": lambda: "\n".join("    " + line for line in figures.finance_week().splitlines()),
        "finance_week_rows": figures.finance_week,
        "cells_equal_before": figures.cells_equal_before,
        "rows_outside": lambda: f"{figures.ROWS_IN_DATABASE - len(figures.stored_lines()):,}",
        "halv_missing_count": lambda: missing_count,
        "halv_wrong_count": lambda: replaced - missing_count - len(off),
        "replaced_count": lambda: replaced,
        "status_sentence": lambda: ", ".join(f"{status} {before:,} → {after:,}" for status, (before, after)
                                             in figures.status_counts().items()),
        "brim_0901": lambda: len(trade.day_lines("BRIM", _FIRST)),
        "lines_0901": lambda: listings.lines_on(_FIRST),
        "slow_seconds": listings.slow_seconds,
        "slow_commits": lambda: 2 * listings.lines_on(_FIRST),
    }


def markdown(titles: List[str], rows: List[List[object]]) -> str:
    lines = [titles, ["---"] * len(titles)] + [[str(cell) for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


class Outputs:
    """Results by the name that the screenplay gives them."""

    def __init__(self, project: Project):
        self.project = project
        static = {"money_odd": _MONEY_ODD, "dst_walk": _DST_WALK, "no_ledger_file": _NO_LEDGER_FILE}
        self.by_name: Dict[str, Callable[..., str]] = {
            **{name: lambda text=text: text for name, text in static.items()},
            **{name: getattr(figures, name) for name in (
                "float_drift", "stored_by_day", "halv_by_day", "halv_lines", "drift_by_supplier", "ledger_gap",
                "pairs_by_year", "week_cells", "replaced")},
            **{name: getattr(listings, name) for name in (
                "git_log", "archive_days", "archive_list", "hexdump", "weekly_json", "api_errors", "dry_counts",
                "interrupted", "lost_lines", "profile_before", "sorl_file")},
            **{name: lambda make=getattr(listings, name): make(self.project) for name in (
                "tree", "imports", "backfill_run", "clean_check", "commits")},
            **{f"pytest_{name}": lambda name=name: testruns.full(self.project, name) for name in ("first", "second", "green")},
            "pytest_some": lambda paths, seconds: testruns.some(self.project, paths.split(","), seconds),
            "pytest_quiet": lambda paths, seconds: testruns.quiet(self.project, paths.split(","), seconds),
            "weekly_failure": lambda: (_TEXT / "failures-weekly.txt").read_text(encoding="utf-8") + "[exit 1]",
            "weekly_before": lambda: listings.weekly_run(self.project),
            "packages": packages.listing,
            "grep": lambda pattern, folders, without="": self.project.grep(pattern, folders.split(","), without),
            "git_diff": lambda: self.project.git_diff(),
            "file": self.file,
        }

    def file(self, path: str) -> str:
        return logbook.server_log() if path == "logs/server.log" else self.project.files[path]

    def __call__(self, name: str, arguments: List[str]) -> str:
        return self.by_name[name](*arguments)


def two_hours() -> Session:
    project = orderbridge()
    known = facts()
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(_TEXT.glob("two-hours-*.txt")))
    system = [(_TEXT / name).read_text(encoding="utf-8").rstrip("\n") for name in ("system.md", "memory.md")]
    return read_session("two-hours", text, system, TOOLS, project, lambda name: str(known[name]()), Outputs(project))
