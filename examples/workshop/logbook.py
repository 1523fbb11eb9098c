"""The server log of the two-hour session: 2,000 lines over five nights, from the same trade as everything else."""
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import List, Tuple

from . import trade
from .dice import Dice

LENGTH = 2000
_NIGHTS = trade.days(date(2025, 9, 8), date(2025, 9, 12))
_HEADER = ";".join(trade.COLUMNS)
_REFUSAL = (f"HALV.csv: missing columns {trade.COLUMNS}, found ['\\ufeff{_HEADER}']")
_TRACEBACK = f"""Traceback (most recent call last):
  File "/opt/orderbridge/orderbridge/cli.py", line 54, in import_day
    store.write_lines(lines, result, datetime.now(timezone.utc))
  File "/opt/orderbridge/orderbridge/store.py", line 45, in write_lines
    for line in lines:
  File "/opt/orderbridge/orderbridge/importers/csv_importer.py", line 27, in read_csv
    check_header(reader.fieldnames or [], path)
  File "/opt/orderbridge/orderbridge/importers/csv_importer.py", line 40, in check_header
    raise ImportError_(f"{{path.name}}: missing columns {{missing}}, found {{list(names)}}")
orderbridge.importers.base.ImportError_: {_REFUSAL}"""


class Clock:
    def __init__(self, start: datetime):
        self.now = start

    def stamp(self, seconds: int) -> str:
        self.now += timedelta(seconds=seconds)
        return self.now.strftime("%H:%M:%S")


def _night(day: date, dice: Dice) -> List[str]:
    morning = day + timedelta(days=1)
    clock = Clock(datetime(morning.year, morning.month, morning.day, 2, 10, 0))
    lines = [f"{clock.stamp(1)} INFO import day={day} started, 12 files"]
    for code in trade.NAMES:
        refused = code == "HALV" and day < trade.BOM_STRIPPED_FROM
        if refused:
            lines += [f"{clock.stamp(1)} ERROR {_REFUSAL}", *_TRACEBACK.splitlines()]
            continue
        count = len(trade.day_lines(code, day))
        lines += [f"row {number} ok" for number in range(1, count + 1)]
        lines.append(f"{clock.stamp(dice.between(1, 3))} INFO {code}: read={count} written={count} resent=0 skipped=0")
        if dice.chance(18):
            lines.append(f"{clock.stamp(0)} WARNING slow commit {code} {dice.between(900, 2400)} ms")
    failures = 1 if day < trade.BOM_STRIPPED_FROM else 0
    lines.append(f"{clock.stamp(1)} INFO import day={day} ended, failures={failures}")
    clock.now = clock.now.replace(hour=3, minute=30, second=0)
    lines.append(f"{clock.stamp(dice.between(1, 9))} INFO replication snapshot taken")
    clock.now = clock.now.replace(hour=6, minute=30, second=0)
    lines.append(f"{clock.stamp(2)} INFO report day={day} written")
    for code in trade.NAMES:
        gap = trade.stored_live_total(code, day) - trade.true_total(code, day)
        if gap:
            lines.append(f"{clock.stamp(0)} WARNING {code} {day}: total differs from ledger feed by {gap} cents")
    return lines


def _requests(day: date, count: int, dice: Dice) -> List[str]:
    """What the screens in Bergen ask for during the day after."""
    lines, clock = [], Clock(datetime(day.year, day.month, day.day, 6, 45, 0))
    for _ in range(count):
        stamp = clock.stamp(dice.between(170, 420))
        if dice.chance(55):
            lines.append("GET /health 200")
        elif dice.chance(92):
            lines.append(f"{stamp} INFO GET /reports/daily 200")
        else:
            lines.append(f"{stamp} WARNING GET /reports/daily 400 day is missing")
    return lines


@lru_cache(maxsize=None)
def server_log() -> str:
    dice = Dice("server-log")
    nights = [_night(day, dice) for day in _NIGHTS]
    spare = LENGTH - sum(len(night) for night in nights)
    share, left = divmod(spare, len(nights))
    lines: List[str] = []
    for index, (day, night) in enumerate(zip(_NIGHTS, nights)):
        lines += night + _requests(day + timedelta(days=1), share + (left if index == 0 else 0), dice)
    if len(lines) != LENGTH:
        raise ValueError(f"log has {len(lines)} lines")
    return "\n".join(lines) + "\n"


def row_lines() -> int:
    return sum(line.startswith("row ") for line in server_log().splitlines())


def levels() -> Tuple[int, int]:
    text = server_log()
    return text.count(" ERROR "), text.count(" WARNING ")
