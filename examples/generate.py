"""Writes the example transcripts beside this file, or checks them.

    python3 examples/generate.py            write
    python3 examples/generate.py --check    verify counts, pairs, and that the files are up to date
"""
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the folder holds examples only

from workshop.catalog import files  # noqa: E402
from workshop.check import problems  # noqa: E402

HERE = Path(__file__).resolve().parent


def write() -> int:
    for name, text in files().items():
        (HERE / name).write_bytes(text.encode("utf-8"))
        print(f"{len(text.encode('utf-8')):>8}  {name}")
    return 0


def check() -> int:
    found = problems(HERE)
    for problem in found:
        print(problem, file=sys.stderr)
    print("examples: " + (f"{len(found)} problems" if found else "ok"))
    return 1 if found else 0


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    sys.exit(check() if sys.argv[1:] else write())
