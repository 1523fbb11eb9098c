"""The fictional repository: its files as the session finds them, and every edit that the session makes."""
import difflib
import json
import re
from datetime import date
from pathlib import Path
from typing import Dict, Iterable, List, Tuple

from . import trade

_SOURCES = Path(__file__).parent / "repo"


class Project:
    """Files by path. What the session reads, greps and diffs comes from here, so that it cannot contradict itself."""

    def __init__(self, files: Dict[str, str]):
        self.files = dict(files)
        self.original = dict(files)

    def edit(self, path: str, pairs: Iterable[Tuple[str, str]]) -> None:
        text = self.files[path]
        for old, new in pairs:
            if text.count(old) != 1:
                raise ValueError(f"{path}: passage occurs {text.count(old)} times: {old[:60]!r}")
            text = text.replace(old, new)
        self.files[path] = text

    def create(self, path: str, text: str) -> None:
        if path in self.files:
            raise ValueError(f"{path} exists")
        self.files[path] = text

    def grep(self, pattern: str, folders: Iterable[str], without: str = "") -> str:
        found = []
        for path in sorted(self.files):
            if not path.endswith(".py") or not path.startswith(tuple(f"{folder}/" for folder in folders)):
                continue
            if without and path == without:
                continue
            for number, line in enumerate(self.files[path].splitlines(), start=1):
                if re.search(pattern, line):
                    found.append(f"{path}:{number}:{line}")
        return "\n".join(found)

    def changed(self) -> List[str]:
        return sorted(path for path, text in self.files.items() if self.original.get(path) != text)

    def diff(self, path: str) -> str:
        return unified(path, self.original.get(path, ""), self.files[path])

    def git_diff(self) -> str:
        """As `git diff` prints it: files that git does not know yet are left out."""
        parts = []
        for path in self.changed():
            if path in self.original:
                parts.append(f"diff --git a/{path} b/{path}\n" + self.diff(path))
        return "".join(parts).rstrip("\n")

    def diff_stat(self, path: str) -> Tuple[int, int]:
        lines = self.diff(path).splitlines()[2:]
        return sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)


def unified(path: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{path}", f"b/{path}", lineterm="")
    return "\n".join(lines) + "\n"


def orderbridge() -> Project:
    """The repository at the start of the two-hour session."""
    files = {}
    for source in sorted(_SOURCES.rglob("*.txt")):
        files[str(source.relative_to(_SOURCES))[: -len(".txt")]] = source.read_text(encoding="utf-8")
    files["config/suppliers.json"] = suppliers_json()
    week = [line for day in trade.days(date(2025, 9, 8), date(2025, 9, 14)) for line in trade.day_lines("HALV", day)]
    files["data/samples/halvorsen_week37.csv"] = "\ufeff" + trade.csv_text(week)
    return Project(files)


def suppliers_json() -> str:
    entries = [
        {"code": code, "name": name, "contact": contact, "sku_prefix": prefix, "drop": f"/drop/{code.lower()}/out"}
        for code, name, contact, prefix in trade.SUPPLIERS
    ]
    return json.dumps({"version": 7, "suppliers": entries}, indent=2, ensure_ascii=False) + "\n"
