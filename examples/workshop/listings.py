"""Command output of the two-hour session that is neither a query nor a test run."""
import re
from collections import Counter
from datetime import date, timedelta
from typing import List

from . import figures, logbook, testruns, trade
from .dice import Dice, hexadecimal
from .project import Project

_HISTORY = """
2025-09-12 Henrik|Merge branch 'promised-tests'
2025-09-12 Henrik|tests: what we promised and do not do yet
2025-08-27 Mira|release 3.14.2
2025-08-26 Mira|server: open the database per request
2025-08-25 Mira|reports: name the business day in the header
2025-08-11 Mira|release 3.14.1
2025-08-08 Henrik|importers: skip rows with an unknown status
2025-07-30 Mira|release 3.14.0
2025-07-29 Mira|backfill: import archived days again
2025-07-24 Henrik|cli: import --dry-run
2025-07-01 Mira|tests: real database files instead of mocks
2025-06-18 Mira|release 3.13.0
2025-06-17 Mira|importers: drop XML with its last supplier
2025-06-16 Henrik|importers: find importers by suffix
2025-06-12 Henrik|importers: count skipped rows in the mail
2025-05-05 Mira|release 3.12.3
2025-05-02 Mira|money: give spare cents to the first parts
2025-04-22 Henrik|reports: count characters, not bytes, in columns
2025-04-02 Mira|release 3.12.0
2025-03-31 Mira|days: business days in Europe/Oslo
2025-03-12 Mira|store: all SQL in one module
2025-02-19 Mira|release 3.11.0
2025-02-17 Mira|server: read-only API for the warehouse screens
2025-02-03 Henrik|cli: one verb per job
"""
_COMMITS = [
    ("money: parse amounts without floats", ["orderbridge/money.py"]),
    ("importers: read byte-order marks and semicolons", ["orderbridge/importers/csv_importer.py"]),
    ("days: let a business day end where the next one starts", ["orderbridge/days.py"]),
    ("store: replace a day in one transaction",
     ["orderbridge/backfill.py", "orderbridge/store.py", "tests/test_backfill_replaces.py"]),
    ("reports: weekly totals by supplier",
     ["docs/CHANGELOG.md", "orderbridge/cli.py", "orderbridge/reports/weekly.py", "orderbridge/server.py",
      "tests/test_weekly_report.py"]),
]
_FIX_SCRIPT = """#!/bin/sh
# Jonas, 2025-09-11: HALV sends semicolons and a BOM. Rewrites the drop in place before the import.
for f in data/inbox/*/HALV.csv; do
  sed -i '1s/^\\xef\\xbb\\xbf//; s/"//g; s/\\([0-9.]*,[0-9][0-9]\\)/"\\1"/g; s/;/,/g' "$f"
done"""
_SECONDS_PER_DAY = 80


def commit_hash(subject: str) -> str:
    return hexadecimal(f"commit:{subject}", 7)


def git_log() -> str:
    lines = []
    for entry in _HISTORY.strip().splitlines():
        head, subject = entry.split("|")
        lines.append(f"{commit_hash(subject)} {head} {subject}")
    return "\n".join(lines + ["## fix/night-import", "?? tools/halv_fix.sh"])


def tree(project: Project) -> str:
    dice = Dice("tree")
    rows = [(path, len(text.encode())) for path, text in project.files.items()]
    unread = ["api", "archive", "backfill", "base", "calendar", "cli", "config", "render", "samples", "split", "statuses",
              "store", "trip"]
    rows += [(f"tests/test_{name}.py", dice.between(1400, 6200)) for name in unread]
    rows += [(f"orderbridge/{folder}__init__.py", 0) for folder in ("", "importers/", "reports/")]
    rows += [(f"data/samples/{code.lower()}_sample.csv", dice.between(900, 4800)) for code in trade.NAMES]
    for day in trade.days(date(2025, 9, 11)):
        rows += [(f"data/inbox/{day}/{code}.csv", len(trade.csv_text(list(trade.day_lines(code, day))).encode()))
                 for code in trade.NAMES]
    rows += [("logs/server.log", len(logbook.server_log())), ("logs/server.log.1", 118204), ("orders.db", 74489856),
             ("tools/halv_fix.sh", len(_FIX_SCRIPT)), (".gitignore", 92), ("config/logging.ini", 611)]
    rows += [(f"reports/{day}.txt", dice.between(690, 760)) for day in trade.days()]
    lines = []
    for path, size in sorted(rows):
        day, hour = dice.between(1, 12), dice.between(7, 18)
        stamp = f"2025-09-{day:02d} {hour:02d}:{dice.below(60):02d}"
        lines.append(f"{size} {stamp} ./{path}")
    return "\n".join(lines)


def archive_file(code: str, day: date) -> bytes:
    text = trade.csv_text(list(trade.day_lines(code, day)))
    return (("\ufeff" if code == "HALV" and day >= trade.SWITCH_DAY else "") + text).encode("utf-8")


def archive_days() -> str:
    parts = []
    for day in (date(2025, 9, 7), date(2025, 9, 8), date(2025, 9, 11)):
        stamp = day + timedelta(days=1)
        parts.append(f"data/archive/{day}/:")
        parts += [f"-r--r--r-- 1 orderbridge orderbridge {len(archive_file(code, day)):>5} {stamp} 02:15 {code}.csv"
                  for code in trade.NAMES]
        parts.append("")
    return "\n".join(parts).rstrip("\n")


def archive_list() -> str:
    lines = ["data/archive:"]
    lines += [f"dr-xr-xr-x 2 orderbridge orderbridge 4096 {day + timedelta(days=1):%m-%d}T02:15 {day}" for day in trade.days()]
    for day in trade.days():
        lines.append(f"data/archive/{day}:")
        lines += [f"-r--r--r-- 1 orderbridge orderbridge {len(archive_file(code, day)):>5} "
                  f"{day + timedelta(days=1):%m-%d}T02:15 {code}.csv" for code in trade.NAMES]
    return "\n".join(lines)


def xxd(content: bytes) -> List[str]:
    lines = []
    for offset in range(0, len(content), 16):
        chunk = content[offset:offset + 16]
        pairs = " ".join(chunk[n:n + 2].hex() for n in range(0, len(chunk), 2))
        shown = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in chunk)
        lines.append(f"{offset:08x}: {pairs:<39}  {shown}")
    return lines


def hexdump() -> str:
    lines = []
    for day in (date(2025, 9, 7), date(2025, 9, 8), date(2025, 9, 11)):
        lines += [f"== {day}"] + xxd(archive_file("HALV", day)[:160])
    lines += ["== what the import got on 09-11", ",".join(trade.COLUMNS)]
    for line in figures.halvorsen(date(2025, 9, 11))[:3]:
        lines.append(",".join(f'"{cell}"' if "," in cell else cell for cell in line.cells()))
    return "\n".join(lines + [_FIX_SCRIPT])


def imports(project: Project) -> str:
    names: Counter = Counter()
    for path, text in project.files.items():
        if path.startswith("orderbridge/") and path.endswith(".py"):
            names.update(re.findall(r"^(?:import|from) [a-z_]+", text, re.M))
    ordered = sorted(names.items(), key=lambda item: (-item[1], item[0]))
    return "\n".join(["No broken requirements found.", "Python 3.9.18 (main, Sep  2 2023, 00:00:00)", "[GCC 12.2.0]"]
                     + [f"{count:7d} {name}" for name, count in ordered])


def weekly_run(project: Project) -> str:
    return testruns.quiet(project, ["tests/test_weekly_report.py"], "0.66") + "\n" + figures.weekly_table()


def weekly_json() -> str:
    body = figures.weekly_json()
    return f"{body}\n[status 200, {len(body.encode())} bytes, 0.041207 s]"


def api_errors() -> str:
    def error(text: str) -> str:
        return f'{{  "error": "{text}"}}  [status 400]'
    lines = [error("week is missing, e.g. ?week=2025-W37"), error("week is not an ISO week like 2025-W37: '2025-37'"),
             error("week is not an ISO week like 2025-W37: '2025-W54'"), error("week is missing, e.g. ?week=2025-W37"),
             figures.daily_json(date(2025, 9, 9)), "bash: line 1: kill: (48213) - No such process"]
    quoted = ["/reports/weekly?week=2025-W37 HTTP/1.1\" 200", "/reports/weekly HTTP/1.1\" 400",
              "/reports/weekly?week=2025-37 HTTP/1.1\" 400", "/reports/weekly?week=2025-W54 HTTP/1.1\" 400",
              "/reports/weekly?day=2025-09-08 HTTP/1.1\" 400", "/reports/daily?day=2025-09-09 HTTP/1.1\" 200"]
    return "\n".join(lines + [f"INFO:orderbridge.http:\"GET {text} -" for text in quoted])


def dry_counts() -> str:
    counts = {code: sum(len(trade.day_lines(code, day)) for day in trade.days()) for code in trade.NAMES}
    lines = [f"{code} {count}" for code, count in counts.items()] + [f"total {sum(counts.values())}", "files:"]
    return "\n".join(lines + [f"{code} {count}" for code, count in counts.items()])


def _summary(code: str, day: date, replaced: str = "") -> str:
    count = len(trade.day_lines(code, day))
    return f"INFO:orderbridge.backfill:{day} {code}: read={count} written={count} resent=0 skipped=0{replaced}"


def interrupted() -> str:
    lines = [_summary(code, day) for day in trade.days(last=date(2025, 9, 2)) for code in trade.NAMES]
    lines += [_summary(code, date(2025, 9, 3)) for code in list(trade.NAMES)[:11]]
    return "\n".join(lines + ["[interrupted by the user after 241 s]"])


def lost_lines() -> str:
    lines = []
    for day in trade.days(last=date(2025, 9, 4)):
        pairs = []
        for index, code in enumerate(trade.NAMES):
            count = len(trade.day_lines(code, day))
            touched = day < date(2025, 9, 3) or (day == date(2025, 9, 3) and index < 11)
            pairs.append(f"{code}:{count}->{1 if touched else count}")
        lines.append(f"{day} {' '.join(pairs)}")
    return "\n".join(lines + ["TARN 2025-07-29, production copy: (1, 24990)"])


def lines_on(day: date) -> int:
    return sum(len(trade.day_lines(code, day)) for code in trade.NAMES)


def slow_seconds() -> str:
    return f"{_SECONDS_PER_DAY}.4"


def profile_before() -> str:
    n = lines_on(date(2025, 9, 1))
    rows = [
        ("1", "0.004", "0.004", f"{_SECONDS_PER_DAY}.412", "backfill.py:22(backfill)"),
        (str(n), "0.021", "0.000", "74.903", "store.py:77(write_lines)"),
        (str(n), "0.009", "0.000", "71.518", "store.py:67(has_line)"),
        (str(4 * n + 12), "79.107", "0.090", "79.107", "{method 'execute' of 'sqlite3.Connection' objects}"),
        (str(n), "0.006", "0.000", "5.377", "store.py:91(delete_lines)"),
        (str(2 * n), "3.008", "0.007", "3.008", "{method '__exit__' of 'sqlite3.Connection' objects}"),
        (str(n), "0.003", "0.000", "0.204", "store.py:63(has_key)"),
        (str(4 * n), "0.048", "0.000", "0.171", "days.py:10(bounds)"),
        (str(8 * n), "0.102", "0.000", "0.123", "days.py:15(_midnight)"),
        (str(n), "0.008", "0.000", "0.061", "days.py:20(business_day)"),
        (str(n + 12), "0.011", "0.000", "0.049", "csv_importer.py:22(read_csv)"),
        (str(n), "0.014", "0.000", "0.033", "csv_importer.py:50(read_row)"),
        (str(8 * n), "0.012", "0.000", "0.026", "store.py:42(utc_text)"),
        (str(n), "0.006", "0.000", "0.011", "money.py:17(parse_amount)"),
        (str(n), "0.002", "0.000", "0.006", "dedupe.py:8(source_key)"),
    ]
    lines = [f"         {61 * n} function calls in {_SECONDS_PER_DAY}.412 seconds", "", "   Ordered by: cumulative time",
             "   List reduced from 118 to 15 due to restriction <15>", "",
             "   ncalls  tottime  percall  cumtime  filename:lineno(function)"]
    lines += [f"{calls:>9} {total:>8} {each:>8} {cumulative:>8}  {where}" for calls, total, each, cumulative, where in rows]
    return "\n".join(lines + ["", "(4, 0, 0, 'SEARCH order_line USING INDEX order_line_by_day (placed_at>? AND placed_at<?)')"])


def backfill_run(project: Project) -> str:
    tested = [f"tests/test_{name}.py" for name in ("backfill", "store", "dedupe", "weekly_report")]
    lines = [testruns.quiet(project, tested, "3.12")]
    first = trade.days(last=date(2025, 9, 1))
    for days, seconds in ((first, "0m1.118s"), (trade.days(), "0m16.402s")):
        for day in days:
            for code in trade.NAMES:
                gone = 0 if code == "HALV" and trade.SWITCH_DAY <= day < trade.BOM_STRIPPED_FROM else len(trade.day_lines(code, day))
                lines.append(_summary(code, day, f" replaced={gone}"))
        for day in days:
            lines += [_summary(code, day).split(f"{day} ")[1] for code in trade.NAMES] if len(days) == 1 else []
        lines += ["", f"real\t{seconds}", "user\t0m0.911s" if len(days) == 1 else "user\t0m14.730s", "sys\t0m0.158s", ""]
    return "\n".join(lines).rstrip("\n")


def sorl_file() -> str:
    text = trade.csv_text(list(trade.day_lines("SORL", date(2025, 9, 12))))
    hits = [line for day in trade.days() for line in trade.day_lines("SORL", day) if "12.50" in ",".join(line.cells())]
    if hits:
        raise ValueError(f"the story says that no SORL line is 12.50 EUR: {hits}")
    return text + "\n0\n[exit 1]"


def clean_check(project: Project) -> str:
    status = []
    for path in project.changed():
        status.append(f"{' M' if path in project.original else '??'} {path}")
    number = next(n for n, line in enumerate(project.files["orderbridge/importers/csv_importer.py"].splitlines(), start=1)
                  if line.startswith("def check_header"))
    return "\n".join([
        "Python 3.9.18 (main, Sep  2 2023, 00:00:00)", "[GCC 12.2.0]", "compileall ok",
        f"orderbridge/importers/csv_importer.py:{number}: error: Function is missing a type annotation for one or more arguments"
        "  [no-untyped-def]",
        "Found 1 error in 1 file (checked 14 source files)", *sorted(status, key=lambda line: (line[:2] == "??", line)),
        "?? tools/halv_fix.sh",
    ])


def commits(project: Project) -> str:
    lines = []
    for subject, paths in reversed(_COMMITS):
        lines += [f"{commit_hash(subject)} {subject}", ""]
        width = max(len(path) for path in paths)
        plus = minus = 0
        for path in paths:
            more, less = project.diff_stat(path)
            plus, minus = plus + more, minus + less
            lines.append(f" {path:<{width}} | {more + less:>3} {'+' * (more // 4)}{'-' * (less // 4)}")
        lines.append(f" {len(paths)} file{'s' if len(paths) > 1 else ''} changed, {plus} insertions(+), {minus} deletions(-)")
    return "\n".join(lines + ["## fix/night-import", "?? tools/halv_fix.sh"])
