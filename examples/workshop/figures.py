"""Query results and tables of the two-hour session, all computed from the same trade."""
import json
from datetime import date, timedelta
from functools import lru_cache
from typing import Dict, List, Optional, Tuple

from . import trade
from .dice import Dice
from .trade import Line

ROWS_IN_DATABASE = 412338
WEEK = trade.days(date(2025, 9, 8), date(2025, 9, 14))
WEEK_BEFORE = trade.days(date(2025, 9, 1), date(2025, 9, 7))
Cents = Dict[Tuple[str, date], int]


def halvorsen(day: date) -> Tuple[Line, ...]:
    return trade.day_lines("HALV", day)


def all_lines() -> List[Line]:
    return [line for day in trade.days() for code in trade.NAMES for line in trade.day_lines(code, day)]


def stored_lines() -> List[Tuple[Line, int]]:
    return [pair for day in trade.days() for code in trade.NAMES for pair in trade.stored(code, day)]


@lru_cache(maxsize=None)
def drift() -> Tuple[int, ...]:
    """Amounts below 10,000 EUR that the float path reads one cent too low."""
    return tuple(c for c in range(1_000_000) if int(float(f"{c // 100}.{c % 100:02d}") * 100) != c)


def float_drift() -> str:
    texts = ["12.50", "19.99", "619.05", "12,50", "149,40", "2.476,20", "1,234.50", "12.345", "1e3", "1_0.00"]
    lines = ["text        cents"] + [f"{text:<10} {trade.faulty_cents(text):>9}" for text in texts]
    wrong = drift()
    return "\n".join(lines + [
        "amounts below 10,000 EUR: 1000000", f"read wrongly: {len(wrong)}", "largest error in cents: 1",
        f"first ten: {list(wrong[:10])}",
    ])


def stored_by_day() -> str:
    lines = [f"{'day':<12}{'lines':>7}{'cancelled':>11}{'cents_all':>14}{'cents_live':>14}"]
    for day in trade.days():
        found = [pair for code in trade.NAMES for pair in trade.stored(code, day)]
        gone = sum(not trade.live(line) for line, _ in found)
        every, live = sum(c for _, c in found), sum(c for line, c in found if trade.live(line))
        lines.append(f"{day!s:<12}{len(found):>7}{gone:>11}{every:>14}{live:>14}")
    return "\n".join(lines + [f"lines in table: {ROWS_IN_DATABASE}"])


def halv_by_day() -> str:
    lines = [f"{'day':<12}{'file':>6}{'stored':>8}{'missing':>9}{'missing_cents':>15}{'wrong':>7}{'stored_cents':>14}"
             f"{'true_cents':>12}"]
    for day in trade.days():
        found = trade.stored("HALV", day)
        lost = [line for line in halvorsen(day) if trade.missing(line)]
        wrong = sum(cents != line.cents for line, cents in found)
        lines.append(f"{day!s:<12}{len(halvorsen(day)):>6}{len(found):>8}{len(lost):>9}{sum(l.cents for l in lost):>15}"
                     f"{wrong:>7}{sum(c for _, c in found):>14}{sum(l.cents for l, _ in found):>12}")
    return "\n".join(lines)


def halv_lines() -> str:
    lines = [f"{'order_no':<10}{'line':>5}  {'sku':<9}{'status':<11}{'stored_cents':>13}{'true_cents':>12}{'factor':>9}"
             "  placed_at"]
    for day in trade.days(trade.BOM_STRIPPED_FROM):
        for line, cents in trade.stored("HALV", day):
            factor = f"x{cents // line.cents}" if cents >= line.cents else f"/{line.cents // cents}"
            placed = (line.placed_at - timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
            lines.append(f"{line.order_no:<10}{line.line_no:>5}  {line.sku:<9}{line.status:<11}{cents:>13}"
                         f"{line.cents:>12}{factor:>9}  {placed}")
    return "\n".join(lines)


def drifted(code: str) -> List[Tuple[Line, int]]:
    return [(line, cents) for day in trade.days() for line, cents in trade.stored(code, day) if cents != line.cents]


def others() -> List[str]:
    return [code for code in trade.NAMES if code != "HALV"]


def drift_by_supplier() -> str:
    lines = [f"{'supplier':<10}{'lines':>7}{'off':>6}{'cents':>8}"]
    total = [0, 0, 0]
    for code in others():
        row = [sum(len(trade.day_lines(code, day)) for day in trade.days()), len(drifted(code)),
               sum(cents - line.cents for line, cents in drifted(code))]
        total = [a + b for a, b in zip(total, row)]
        lines.append(f"{code:<10}{row[0]:>7}{row[1]:>6}{row[2]:>8}")
    return "\n".join(lines + [f"{'total':<10}{total[0]:>7}{total[1]:>6}{total[2]:>8}"])


def finance_day(day: date) -> int:
    return sum(trade.finance_total(code, day) for code in trade.NAMES)


def true_all(day: date) -> int:
    return sum(line.cents for code in trade.NAMES for line in trade.day_lines(code, day))


def true_live(day: date) -> int:
    return sum(trade.true_total(code, day) for code in trade.NAMES)


def ledger_gap() -> str:
    lines = [f"{'day':<12}{'ledger':>10}{'true_live':>11}{'gap':>7}{'true_all':>11}{'cancelled':>11}"]
    for day in trade.days():
        lines.append(f"{day!s:<12}{finance_day(day):>10}{true_live(day):>11}{finance_day(day) - true_live(day):>7}"
                     f"{true_all(day):>11}{true_all(day) - true_live(day):>11}")
    return "\n".join(lines)


@lru_cache(maxsize=None)
def yearly_counts() -> Tuple[Tuple[str, int, int], ...]:
    """Lines by supplier and year since each supplier's first delivery; they add up to the size of the table."""
    since = {"BRIM": 2021, "GRAN": 2022, "HALV": 2020, "LUMO": 2023, "NEDR": 2019, "OKRE": 2024, "PIKE": 2020,
             "QUIL": 2022, "SORL": 2019, "TARN": 2021, "VALM": 2023, "ZEPH": 2024}
    dice = Dice("yearly")
    raw = [(code, year, dice.between(5200, 9400)) for code in trade.NAMES for year in range(since[code], 2026)]
    scale = sum(count for _, _, count in raw)
    scaled = [(code, year, count * ROWS_IN_DATABASE // scale) for code, year, count in raw]
    code, year, count = scaled[-1]
    scaled[-1] = (code, year, count + ROWS_IN_DATABASE - sum(row[2] for row in scaled))
    return tuple(scaled)


def pairs_by_year() -> str:
    lines = [f"{'supplier':<10}{'year':<6}{'lines':>8}{'pairs':>8}{'digests':>9}{'twice':>7}"]
    lines += [f"{code:<10}{year:<6}{count:>8}{count:>8}{count:>9}{0:>7}" for code, year, count in yearly_counts()]
    return "\n".join(lines + [f"rows: {ROWS_IN_DATABASE} pairs: {ROWS_IN_DATABASE}"])


def half_even(number: int, divisor: int) -> int:
    quotient, rest = divmod(number, divisor)
    if 2 * rest > divisor or (2 * rest == divisor and quotient % 2 == 1):
        quotient += 1
    return quotient


def week_row(code: str) -> Dict[str, object]:
    """What the weekly report holds for a supplier while the database is still unrepaired."""
    kept = [(line, cents) for day in WEEK for line, cents in trade.stored(code, day) if trade.live(line)]
    cents, before = sum(c for _, c in kept), sum(trade.stored_live_total(code, day) for day in WEEK_BEFORE)
    days = []
    for day in WEEK:
        found = [c for line, c in trade.stored(code, day) if trade.live(line)]
        days.append({"day": str(day), "lines": len(found), "cents": sum(found)})
    row = {"code": code, "name": trade.NAMES[code], "orders": len({line.order_no for line, _ in kept}),
           "lines": len(kept), "cents": cents, "before_cents": before, "days": days}
    return with_ratios(row)


def with_ratios(row: Dict[str, object]) -> Dict[str, object]:
    change = row["cents"] - row["before_cents"]
    return {
        "code": row["code"], "name": row["name"], "orders": row["orders"], "lines": row["lines"], "cents": row["cents"],
        "average_cents": half_even(row["cents"], row["orders"]) if row["orders"] else None,
        "before_cents": row["before_cents"], "change_cents": change,
        "change_per_mille": half_even(1000 * change, abs(row["before_cents"])) if row["before_cents"] else None,
        "days": row["days"],
    }


@lru_cache(maxsize=None)
def weekly_body() -> Dict[str, object]:
    rows = sorted((week_row(code) for code in trade.NAMES), key=lambda row: -row["cents"])
    total = {"code": "", "name": "total"}
    for key in ("orders", "lines", "cents", "before_cents"):
        total[key] = sum(row[key] for row in rows)
    total["days"] = [{"day": same[0]["day"], "lines": sum(d["lines"] for d in same), "cents": sum(d["cents"] for d in same)}
                     for same in zip(*(row["days"] for row in rows))]
    return {"week": "2025-W37", "first_day": "2025-09-08", "last_day": "2025-09-14", "suppliers": rows,
            "total": with_ratios(total)}


def weekly_json() -> str:
    return json.dumps(weekly_body(), indent=2)


def amount(cents: Optional[int]) -> str:
    return "-" if cents is None else trade.euros(cents) + " EUR"


def percent(per_mille: Optional[int]) -> str:
    if per_mille is None:
        return "new"
    whole, tenth = divmod(abs(per_mille), 10)
    return f"{'-' if per_mille < 0 else ''}{whole}.{tenth} %"


def weekly_table() -> str:
    titles = ["supplier", "name", "orders", "lines", "total", "per order", "week before", "change", "percent"]
    rows = [[row["code"], row["name"], str(row["orders"]), str(row["lines"]), amount(row["cents"]),
             amount(row["average_cents"]), amount(row["before_cents"]), amount(row["change_cents"]),
             percent(row["change_per_mille"])] for row in weekly_body()["suppliers"] + [weekly_body()["total"]]]
    sizes = [max(len(cells[n]) for cells in [titles] + rows) for n in range(len(titles))]
    lines = []
    for cells in [titles, ["-" * size for size in sizes]] + rows:
        lines.append("  ".join(c.ljust(s) if n < 2 else c.rjust(s) for n, (c, s) in enumerate(zip(cells, sizes))).rstrip())
    return "Orders placed in 2025-W37\n\n" + "\n".join(lines)


def daily_json(day: date) -> str:
    rows = []
    for code in trade.NAMES:
        found = [c for line, c in trade.stored(code, day) if trade.live(line)]
        if found:
            rows.append({"code": code, "name": trade.NAMES[code], "lines": len(found), "cents": sum(found)})
    body = {"day": str(day), "lines": sum(r["lines"] for r in rows), "cents": sum(r["cents"] for r in rows), "suppliers": rows}
    return json.dumps(body, indent=2)


def week_cells() -> str:
    lines = [f"{'supplier':<10}{'day':<12}{'before':>12}{'after':>10}{'ledger':>10}{'gap':>7}"]
    for code in trade.NAMES:
        for day in WEEK:
            after, ledger = trade.true_total(code, day), trade.finance_total(code, day)
            lines.append(f"{code:<10}{day!s:<12}{trade.stored_live_total(code, day):>12}{after:>10}{ledger:>10}"
                         f"{after - ledger:>7}")
    return "\n".join(lines + [f"cells: {12 * len(WEEK)} equal: {12 * len(WEEK) - 1}"])


def cells_equal_before() -> int:
    return sum(trade.stored_live_total(code, day) == trade.finance_total(code, day) for code in trade.NAMES for day in WEEK)


def replaced_lines() -> List[Tuple[Line, Optional[int]]]:
    """Lines that the backfill puts right, with the cents stored before; None if the line was missing."""
    found = []
    for code in trade.NAMES:
        for day in trade.days():
            for line in trade.day_lines(code, day):
                old = None if trade.missing(line) else trade.faulty_cents(line.amount_text())
                if old != line.cents:
                    found.append((line, old))
    return found


def status_counts() -> Dict[str, Tuple[int, int]]:
    """Lines by status before and after the backfill, in the whole table."""
    outside = ROWS_IN_DATABASE - len(stored_lines())
    share = {"open": 1204, "shipped": outside - 1204 - 38117 - 2950, "cancelled": 38117, "refunded": 2950}
    return {status: (base + sum(line.status == status for line, _ in stored_lines()),
                     base + sum(line.status == status for line in all_lines())) for status, base in share.items()}


def replaced() -> str:
    found = replaced_lines()
    lines = [f"outside the two weeks, in {name} only: 0" for name in ("main", "fresh")]
    lines.append(f"rows outside: {ROWS_IN_DATABASE - len(stored_lines())}")
    lines += [f"{status} {before} {after}" for status, (before, after) in status_counts().items()]
    lines.append(f"replaced.csv: {len(found)} lines; {sum(old is None for _, old in found)} were missing")
    for line, old in found[:165]:
        placed = (line.placed_at - timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
        lines.append(f"{line.supplier},{line.order_no},{line.line_no},{'' if old is None else old},{line.cents},"
                     f"{line.status},{placed}")
    return "\n".join(lines)


def finance_week() -> str:
    lines = ["supplier " + " ".join(f"{day:%m-%d}".rjust(9) for day in WEEK)]
    for code in trade.NAMES:
        lines.append(f"{code:<9}" + " ".join(f"{trade.finance_total(code, day):>9}" for day in WEEK))
    return "\n".join(lines)
