"""pytest output for the fictional suite: 847 tests, of which those that the session reads exist as source."""
import ast
from pathlib import Path
from typing import Dict, List, Sequence

from . import trade
from .project import Project

TOTAL = 847
_TEXT = Path(__file__).parent / "text"
_WIDTH = 100
_FILLER = "tests/test_trip.py"

_CODES = list(trade.NAMES)
_DAYS = [str(day) for day in trade.days()]
_STATUSES = ["open", "shipped", "cancelled", "refunded"]
_WEEKS = [f"W{number:02d}" for number in range(1, 53)]

_UNREAD: Dict[str, Dict[str, Sequence[object]]] = {
    "test_api.py": {
        "health": [], "unknown_path": [], "daily_missing_day": [], "daily_bad_day": ["x", "2025-13-01", "0"],
        "daily_keys": [], "daily_empty": [], "supplier": _CODES, "status": [200, 400, 404], "content_type": [],
        "length_header": [], "connection_closes": [], "loopback_only": [], "parallel": [1, 2, 4, 8], "query_last_wins": [],
        "log_line": [],
    },
    "test_archive.py": {"day_complete": _DAYS, "no_empty_name": _DAYS, "sizes": _DAYS, "headers": _CODES},
    "test_backfill.py": {"one_day": [], "one_supplier": [], "dry_run": [], "no_folder": [], "order": _DAYS[:6], "summary": []},
    "test_base.py": {"summary": [], "unknown_suffix": [".xml", ".json", ".txt"], "two_importers": [], "suffix_case": ["CSV", "Csv"]},
    "test_calendar.py": {"monday": _WEEKS, "sunday": _WEEKS},
    "test_cli.py": {"verb_required": [], "import": [], "import_supplier": _CODES, "dry_run": [], "exit_code": [0, 1, 2],
                    "report": [], "serve_port": [8075, 8175], "help": ["import", "report", "serve", "backfill"]},
    "test_config.py": {"supplier": _CODES, "contact": _CODES, "drop": _CODES, "version": []},
    "test_render.py": {"empty": [], "one_row": [], "width": list(range(1, 13)), "right": [], "no_trailing_space": [],
                       "ragged_row": [], "non_ascii": ["SORL", "NEDR"]},
    "test_samples.py": {"reads": _CODES, "no_skips": _CODES, "sums": _CODES, "unique": _CODES, "sorted": _CODES},
    "test_split.py": {"adds_up": [f"{cents}-{parts}" for cents in (1, 99, 100, 101, 999, 4350, 24990)
                                  for parts in (1, 2, 3, 5, 7, 12)]},
    "test_statuses.py": {"forward": [f"{old}-{new}" for old in _STATUSES for new in _STATUSES], "known": _STATUSES},
    "test_store.py": {"totals": _CODES, "delete": [], "delete_other_day": [], "name": _CODES, "unknown_name": [],
                      "rollback": [], "foreign_key": [], "utc_text": [], "key": [], "no_key": []},
    "test_trip.py": {"cents": [n * n * 7 for n in range(1, 1000)]},
}


def source_ids(path: str, text: str) -> List[str]:
    """Test ids as pytest makes them, for literal parameters."""
    ids = []
    for node in ast.parse(text).body:
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        cases = [ast.literal_eval(mark.args[1]) for mark in node.decorator_list if isinstance(mark, ast.Call)]
        for case in cases[0] if cases else [None]:
            values = case if isinstance(case, tuple) else (case,)
            names = [value if isinstance(value, str) else f"query{cases[0].index(case)}" if isinstance(value, dict)
                     else str(value) for value in values]
            ids.append(f"{path}::{node.name}" + (f"[{'-'.join(names)}]" if cases else ""))
    return ids


def suite(project: Project) -> List[str]:
    """All test ids, in the order of a run. The original suite is filled up to its known size."""
    ids: Dict[str, List[str]] = {}
    for path, text in project.files.items():
        if path.startswith("tests/test_"):
            ids[path] = source_ids(path, text)
    for name, tests in _UNREAD.items():
        ids[f"tests/{name}"] = [
            f"tests/{name}::test_{test}" + (f"[{case}]" if cases else "")
            for test, cases in tests.items() for case in (cases or [None])
        ]
    added = sum(len(found) for path, found in ids.items() if path in project.files and path not in project.original)
    filler = ids[_FILLER]
    original = sum(len(found) for found in ids.values()) - added - len(filler)
    del filler[TOTAL - original:]
    if len(filler) < 1:
        raise ValueError("the suite is too large without its filler")
    return [test for path in sorted(ids) for test in ids[path]]


def rule(text: str) -> str:
    return f" {text} ".center(_WIDTH, "=")


def header(collected: int) -> List[str]:
    return [
        rule("test session starts"),
        "platform linux -- Python 3.9.18, pytest-7.4.4, pluggy-1.5.0 -- /home/mira/src/orderbridge/.venv/bin/python",
        "rootdir: /home/mira/src/orderbridge",
        "configfile: pyproject.toml",
        "plugins: timeout-2.3.1",
        f"timeout: 20.0s, timeout method: signal, collected {collected} items",
        "",
    ]


def verbose(ids: List[str], seconds: str, failures: str = "", failed: Dict[str, str] = {}) -> str:
    lines = header(len(ids))
    lines += [f"{test} {'FAILED' if test in failed else 'PASSED'}" for test in ids]
    lines.append("")
    if failed:
        lines += failures.rstrip("\n").splitlines()
        lines.append(rule("short test summary info"))
        lines += [f"FAILED {test} - {reason}" for test, reason in failed.items()]
        lines.append(rule(f"{len(failed)} failed, {len(ids) - len(failed)} passed in {seconds}s"))
    else:
        lines.append(rule(f"{len(ids)} passed in {seconds}s"))
    return "\n".join(lines)


FIRST = {
    "tests/test_csv_importer.py::test_header_with_bom": "orderbridge.importers.base.ImportError_: BRIM.csv: missi...",
    "tests/test_csv_importer.py::test_semicolon_delimiter": "orderbridge.importers.base.ImportError_: BRIM.csv: m...",
    "tests/test_daily_report.py::test_totals_exclude_cancelled": "assert (3, 2500) == (2, 1750)",
    "tests/test_days.py::test_dst_spring_day_has_23_hours": "assert 24.0 == 23",
    "tests/test_days.py::test_dst_autumn_day_has_25_hours": "assert 24.0 == 25",
    "tests/test_money.py::test_parse_decimal_comma": "AssertionError: assert 125000 == 1250",
    "tests/test_money.py::test_parse_thousands_dot": "AssertionError: assert 123 == 123450",
    "tests/test_money.py::test_parse_no_float_drift": "AssertionError: assert ['2.03', '4.0..., '9.03', ...] == []",
    "tests/test_money.py::test_format_negative_cents": "AssertionError: assert '-13.50 EUR' == '-12.50 EUR'",
}
SECOND = {
    "tests/test_daily_report.py::test_totals_exclude_cancelled": "assert (3, 2500) == (2, 1750)",
    "tests/test_dedupe.py::test_stored_keys_still_match": "AssertionError: assert False",
}
SECONDS = {"first": "41.07", "second": "40.36", "green": "40.12", "final": "42.90"}


def full(project: Project, which: str) -> str:
    failed = {"first": FIRST, "second": SECOND}.get(which, {})
    failures = (_TEXT / f"failures-{which}.txt").read_text(encoding="utf-8") if failed else ""
    ids = suite(project)
    unknown = [test for test in failed if test not in ids]
    if unknown:
        raise ValueError(f"no such tests: {unknown}")
    text = verbose(ids, SECONDS[which], failures, failed)
    return text + "\n[exit 1]" if failed else text


def quiet(project: Project, paths: Sequence[str], seconds: str) -> str:
    """As `pytest -q` prints it: a dot per test, 72 to a line."""
    count = sum(paths == ["*"] or test.split("::")[0] in paths for test in suite(project))
    lines = []
    for first in range(0, count, 72):
        dots = "." * min(72, count - first)
        lines.append(f"{dots:<72} [{100 * (first + len(dots)) // count:3d}%]")
    return "\n".join(lines + [f"{count} passed in {seconds}s"])


def some(project: Project, paths: Sequence[str], seconds: str) -> str:
    ids = [test for test in suite(project) if test.split("::")[0] in paths]
    return verbose(ids, seconds)
