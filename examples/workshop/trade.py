"""The trade behind the story: suppliers, two weeks of order lines, and what each party believes they add up to.

Three views of the same lines exist, and the story is about their difference: the true cents, the cents that the
importer at fault stores, and the totals that finance has.
"""
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Dict, List, Tuple

from .dice import Dice

FIRST_DAY = date(2025, 9, 1)
LAST_DAY = date(2025, 9, 15)
SWITCH_DAY = date(2025, 9, 8)
"""Halvorsen writes its files in another form from this day on."""
BOM_STRIPPED_FROM = date(2025, 9, 11)
"""Operations cut the byte-order mark by hand from this day on, so the file is read, and read wrongly."""
CREDIT_DAY, CREDIT_SUPPLIER, CREDIT_CENTS = date(2025, 9, 12), "SORL", -1250

SUPPLIERS: Tuple[Tuple[str, str, str, str], ...] = (
    ("BRIM", "Brimholt Packs", "orders@brimholt.example", "PCK"),
    ("GRAN", "Granvik Knives", "edi@granvik.example", "KNF"),
    ("HALV", "Halvorsen Tekstil AS", "ordre@halvorsen-tekstil.example", "TEX"),
    ("LUMO", "Lumo Lanterns", "drop@lumo.example", "LMP"),
    ("NEDR", "Nedrebø Stoves", "post@nedrebo.example", "STV"),
    ("OKRE", "Okrea Optics", "supply@okrea.example", "OPT"),
    ("PIKE", "Pikestad Rope", "orders@pikestad.example", "ROP"),
    ("QUIL", "Quillback Paddles", "files@quillback.example", "PDL"),
    ("SORL", "Sørlund Boots", "ordre@sorlund.example", "BTS"),
    ("TARN", "Tarnwick Tents", "edi@tarnwick.example", "TNT"),
    ("VALM", "Valmora Knit", "ordini@valmora.example", "KNT"),
    ("ZEPH", "Zephra Kites", "hello@zephra.example", "KIT"),
)
NAMES: Dict[str, str] = {code: name for code, name, _, _ in SUPPLIERS}


@dataclass(frozen=True)
class Line:
    supplier: str
    day: date
    order_no: str
    line_no: int
    sku: str
    quantity: int
    cents: int
    status: str
    placed_at: datetime

    @property
    def comma_form(self) -> bool:
        return self.supplier == "HALV" and self.day >= SWITCH_DAY

    def amount_text(self) -> str:
        whole, rest = divmod(self.cents, 100)
        if self.comma_form:
            return f"{whole:,}".replace(",", ".") + f",{rest:02d}"
        if self.supplier == "TARN":
            return f"{whole:,}.{rest:02d}"
        return f"{whole}.{rest:02d}"

    def cells(self) -> List[str]:
        return [self.order_no, str(self.line_no), self.sku, str(self.quantity), self.amount_text(), self.status,
                self.placed_at.strftime("%Y-%m-%dT%H:%M:%S+02:00")]


COLUMNS = ["order_no", "line_no", "sku", "quantity", "amount", "status", "placed_at"]


def csv_text(lines: List[Line]) -> str:
    mark = ";" if lines and lines[0].comma_form else ","
    rows = [COLUMNS] + [line.cells() for line in lines]
    return "\n".join(mark.join(f'"{cell}"' if mark in cell else cell for cell in row) for row in rows) + "\n"


def faulty_cents(text: str) -> int:
    """What `parse_amount` makes of a text before it is repaired."""
    return int(float(text.replace(",", "")) * 100)


@lru_cache(maxsize=None)
def day_lines(supplier: str, day: date) -> Tuple[Line, ...]:
    dice = Dice(f"trade:{supplier}:{day}")
    prefix = next(sku for code, _, _, sku in SUPPLIERS if code == supplier)
    number = 40000 + (day - FIRST_DAY).days * 60 + dice.below(9)
    lines: List[Line] = []
    moment = datetime(day.year, day.month, day.day, 6, dice.below(50))
    for _ in range(dice.between(9, 13)):
        number += dice.between(1, 3)
        moment += timedelta(minutes=dice.between(7, 95), seconds=dice.below(60))
        if moment.date() != day:
            break
        status = dice.pick(["open", "open", "open", "shipped", "shipped", "shipped", "shipped", "cancelled"])
        for line_no in range(1, dice.pick([1, 1, 2, 2, 3]) + 1):
            unit = dice.pick([1295, 1999, 2490, 4350, 6999, 11429, 24990, 38950, 61905])
            quantity = dice.pick([1, 1, 1, 2, 2, 3, 4, 6])
            lines.append(Line(supplier, day, str(number), line_no, f"{prefix}-{dice.between(1, 39) * 10}",
                              quantity, unit * quantity, status, moment))
    return tuple(lines)


def days(first: date = FIRST_DAY, last: date = LAST_DAY) -> List[date]:
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]


def missing(line: Line) -> bool:
    """Lines that never reached the database: the file was refused as a whole."""
    return line.comma_form and line.day < BOM_STRIPPED_FROM


def stored(supplier: str, day: date) -> List[Tuple[Line, int]]:
    """The lines in the database before the backfill, with the cents stored for them."""
    return [(line, faulty_cents(line.amount_text())) for line in day_lines(supplier, day) if not missing(line)]


def live(line: Line) -> bool:
    return line.status != "cancelled"


def true_total(supplier: str, day: date) -> int:
    return sum(line.cents for line in day_lines(supplier, day) if live(line))


def stored_total(supplier: str, day: date) -> int:
    """As the daily report shows it: cancelled lines are counted too."""
    return sum(cents for _, cents in stored(supplier, day))


def stored_live_total(supplier: str, day: date) -> int:
    return sum(cents for line, cents in stored(supplier, day) if live(line))


def finance_total(supplier: str, day: date) -> int:
    credit = CREDIT_CENTS if (day, supplier) == (CREDIT_DAY, CREDIT_SUPPLIER) else 0
    return true_total(supplier, day) + credit


def euros(cents: int) -> str:
    sign = "-" if cents < 0 else ""
    whole, rest = divmod(abs(cents), 100)
    return f"{sign}{whole:,}".replace(",", " ") + f".{rest:02d}"
