"""Repeatable choices: the same key gives the same sequence on every machine and every Python."""
import base64
import hashlib
from typing import Sequence, TypeVar

T = TypeVar("T")

_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"


class Dice:
    """A stream of numbers drawn from SHA-256, because `random` promises no stability across versions."""

    def __init__(self, key: str):
        self._key = key
        self._drawn = 0

    def _word(self) -> int:
        self._drawn += 1
        digest = hashlib.sha256(f"{self._key}:{self._drawn}".encode()).digest()
        return int.from_bytes(digest[:8], "big")

    def below(self, limit: int) -> int:
        return self._word() % limit

    def between(self, low: int, high: int) -> int:
        """Both ends included."""
        return low + self.below(high - low + 1)

    def pick(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent


def identifier(prefix: str, seed: str, length: int) -> str:
    """An id of the shape that providers use, as a function of the seed."""
    dice = Dice(f"id:{prefix}:{seed}")
    return prefix + "".join(dice.pick(_ALPHABET) for _ in range(length))


def hexadecimal(seed: str, length: int) -> str:
    return hashlib.sha256(seed.encode()).hexdigest()[:length]


def uuid_like(seed: str) -> str:
    h = hexadecimal(f"uuid:{seed}", 32)
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"


def seal(text: str) -> str:
    """A made-up signature: Base64 that decodes to a plain statement that it is none, and a digest."""
    digest = hashlib.sha256(text.encode()).digest()
    return base64.b64encode(b"foldline example, not a real signature " + digest).decode()
