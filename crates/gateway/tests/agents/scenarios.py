"""What the clients are put through, and what must still be there in the end."""
import subprocess
import sys
from dataclasses import dataclass, field

MEMORY = "Amounts are integers in cents: rule HOUSE-9 of this project."

# Word for word in the last request: said by the user at the beginning, in the middle, by the model, found by a command, changed by one.
FACTS = ["HERON-77", "48731", "PAY-3391", "customer_reference", "test_rounding", "RETRY_LIMIT = 17"]
ORDERS = ["Never touch vendor/", "answer in German", "3 December"]

FIRST = (
    "Work through the steps: run ./step with one number after the other, as the list says. The codename is HERON-77. "
    "The staging database listens on port 48731. Never touch vendor/."
)
SECOND = (
    "Go on with the next steps. The release notes must name ticket PAY-3391. From now on answer in German. "
    "The deadline moved to 3 December."
)
LATER = "Go on with part {n}."
LAST = "Finish the remaining steps, then say how things stand."

WORDS = {
    3: "The import fails because the supplier renamed customer_ref to customer_reference in feed v7.",
    5: "tests/test_ledger.py::test_rounding fails, 10.05 is not 10.06. I leave it for later.",
}
COMMANDS = {4: "./step check", 6: "sed -i 's/RETRY_LIMIT = 3/RETRY_LIMIT = 17/' limits.py && cat limits.py"}
# About as long as models write them.
SUMMARY = """## Goal
Work through the steps of ./step, one number after the other, as the list says. The codename is HERON-77. The staging database listens on
port 48731. The release notes must name ticket PAY-3391.

## Constraints
- Never touch vendor/.
- From now on answer in German.
- The deadline moved to 3 December.

## State
- The import fails because the supplier renamed customer_ref to customer_reference in feed v7.
- tests/test_ledger.py::test_rounding fails, 10.05 is not 10.06. It is left for later.
- limits.py was changed: RETRY_LIMIT = 17.

## Done
""" + "\n".join(
    f"- Step {n} ran to its end; its output names what was handled, how long each part took and which tests passed, and nothing in it asks for a change."
    for n in range(1, 31)
) + "\n\n## Next\nThe next step of the list.\n"


@dataclass
class Scenario:
    name: str
    window: int
    parts: list  # calls after each prompt
    sizes: tuple  # bytes of an output, from and to
    kills: dict = field(default_factory=dict)  # after so many calls: what is killed
    compacts_after: int = -1  # the part after which the client compacts by itself
    least_share: float = 0.0  # of the input that has to come from the cache
    commands: dict = field(default_factory=dict)  # at these calls: what is run instead, besides `COMMANDS`
    recalls: dict = field(default_factory=dict)  # at these calls: an original is asked back, lines that match
    tools: dict = field(default_factory=dict)  # at these calls: another tool and its arguments

    def prompts(self):
        """What the user says before each part."""
        last = len(self.parts) - 1
        middle = [SECOND if n == 1 else LATER.format(n=n + 1) for n in range(1, last)]
        return [FIRST, *middle, LAST]

    def scaled(self, share):
        """The same with fewer calls. The first ones are never cached, so that the wanted share is for all of them."""
        if share == 1:
            return self
        parts = [max(7 if n == 0 else 1, round(calls * share)) for n, calls in enumerate(self.parts)]
        kills = {max(1, round(call * share)): what for call, what in self.kills.items()}
        return Scenario(**{**vars(self), "parts": parts, "kills": kills, "least_share": 0.0})

    def output(self, number):
        """What `./step` prints."""
        return subprocess.run([sys.executable, "-c", STEP % self.sizes, str(number)], capture_output=True, text=True, check=True).stdout

    def plan(self):
        return {
            "window": self.window,
            "parts": self.parts,
            "command": "./step {n}",
            "commands": {**COMMANDS, **self.commands},
            "recalls": self.recalls,
            "tools": self.tools,
            "words": WORDS,
            "summary": SUMMARY,
        }


SMALL, LARGE = 32_000, 200_000
SCENARIOS = [
    Scenario("small", SMALL, [10, 80, 10], (400, 4_000), least_share=0.92),
    Scenario("large", LARGE, [15, 120, 15], (10_000, 24_000), least_share=0.95),
    Scenario("turns", SMALL, [20] * 5, (400, 4_000)),
    Scenario("kills", SMALL, [20, 40, 20], (400, 4_000), kills={30: "client", 50: "gateway"}),
    Scenario("compact", SMALL, [20, 40, 20], (400, 4_000), compacts_after=1),
]

# A tool of the project: output of a given size, the same for the same number.
STEP = '''#!/usr/bin/env python3
import random, sys
name = sys.argv[1]
if name == "check":
    print("tests/test_ledger.py::test_totals PASSED")
    print("tests/test_ledger.py::test_rounding FAILED")
    print("E   AssertionError: 10.05 != 10.06")
    sys.exit(1)
dice = random.Random(int(name))
words = "order invoice ledger customer parser retry feed import column amount queue batch region token window".split()
size, out = dice.randint(%d, %d), []
while sum(map(len, out)) < size:
    one, two, number = dice.choice(words), dice.choice(words), dice.randint(1, 9999)
    out.append({
        0: f"tests/test_{one}.py::test_{two}_{number} PASSED in 0.{number:04}s\\n",
        1: f"    def {one}_{two}_{number}(self, {two}):\\n        return self.{one}.get({two}, {number})\\n",
        2: f"2026-03-{1 + number %% 28:02} 10:{number %% 60:02}:07 INFO {one}: {two} {number} handled in {number %% 97} ms\\n",
    }[int(name) %% 3])
sys.stdout.write("".join(out))
'''
