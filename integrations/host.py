"""A real host with our plugin works for a scripted model that refuses what vendors refuse: long enough to be folded several times, killed
in the middle and resumed, and in the end the agent asks for an original and gets it.

Each host's `test` says how the host is installed with the plugin. usage: test [--provider WORKING_MODEL] [--foldline FOLDLINE] [--keep FOLDER]
"""
import argparse
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "crates" / "gateway" / "tests" / "agents"))
from clients import Place, Unavailable  # noqa: E402
from play import converse, measure, strings  # noqa: E402
from scenarios import Scenario  # noqa: E402
from stage import Stage  # noqa: E402

# Folds that there must have been.
LEAST_FOLDS = 3
# A large output is printed at this call; shortened, it adds no more tokens than this.
LARGE_AT, LARGE = 7, "seq -f 'row %g of a long listing' 1 3000"
MOST_TOKENS = 2_500
# The step that is folded first, and asked back last.
ASKED_BACK = 2


def main(client, window, parts=(24, 30, 10), sizes=(4_000, 7_000), settings=None, shortens=True, also=None):
    """Drives a host. `settings` are variables for Foldline; `shortens` says whether the plugin shortens outputs at birth; `also` is one
    more check, which gets the arguments and the client and yields what is wrong."""
    arguments = read_arguments()
    try:
        client.install(arguments.room)
    except Unavailable as reason:
        print(f"SKIPPED: {client.name}: {reason}")
        return
    os.environ.update(settings or {})
    os.environ["PATH"] = f"{arguments.foldline.parent}{os.pathsep}{os.environ['PATH']}"
    scenario = Scenario("host", window, list(parts), sizes, kills={parts[0] + parts[1] // 2: "client"})
    scenario.commands = {LARGE_AT: LARGE} if shortens else {}
    wanted = middle_line(scenario.output(ASKED_BACK))
    scenario.recalls = {sum(parts): re.escape(wanted)}
    # Whoever runs out of patience with this test must not leave the host running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    began = time.monotonic()
    with staged(arguments, client, scenario) as (stage, place):
        ends = list(converse(stage, client, place, scenario))
        result = measure(stage, scenario, ends)
        last = last_request(stage)
        faults = [*judge(result, ends, last, wanted), *check_summaries(stage, client), *client.faults(stage)]
        faults += check_large(stage) if shortens else []
    faults += also(arguments, client) if also else []
    print(
        f"{client.name} {client.version(arguments.room)}: {result['requests']} requests, {result['refused']} refused, {folds(last)} folds, "
        f"{result['summaries']} summaries by the model, {result['cached']:.1%} cached, {ends.count('killed')} × killed, "
        f"{round(time.monotonic() - began)} s"
    )
    for fault in faults:
        print(f"{client.name}: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


@contextmanager
def staged(arguments, client, scenario):
    """A provider for a scenario, and the place of a client that is set up for it."""
    work = Path(tempfile.mkdtemp(prefix="run-", dir=arguments.room))
    stage = Stage(work, scenario)
    try:
        stage.open(str(arguments.provider), None)
        stage.make_project(client)
        place = Place(arguments.room, stage.home, stage.project, stage.base, scenario.window)
        client.set_up(place)
        yield stage, place
    finally:
        stage.close()
        if arguments.keep:
            shutil.copytree(work, arguments.keep / scenario.name, dirs_exist_ok=True, symlinks=True, ignore=shutil.ignore_patterns("*.sock"))
        shutil.rmtree(work, ignore_errors=True)


def last_request(stage):
    """The latest request of the work."""
    kept = stage.work / "last.json"
    return json.loads(kept.read_text()) if kept.exists() else {}


def read_arguments(choices=()):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    parser.add_argument("--provider", type=Path, default=target / "debug" / "examples" / "working_model")
    parser.add_argument("--foldline", type=Path, default=target / "debug" / "foldline")
    parser.add_argument("--room", type=Path, default=target / "agents", help="where hosts are installed")
    parser.add_argument("--keep", type=Path, help="keep all files of the run here")
    if choices:
        parser.add_argument("--client", action="append", choices=choices)
    arguments = parser.parse_args()
    arguments.provider, arguments.foldline, arguments.room = (
        path.resolve() for path in (arguments.provider, arguments.foldline, arguments.room)
    )
    for binary in (arguments.provider, arguments.foldline):
        if not binary.is_file():
            parser.error(f"{binary} is not there; it is made by `cargo build -p foldline -p foldline-gateway --bins --examples`")
    arguments.room.mkdir(parents=True, exist_ok=True)
    return arguments


def judge(result, ends, last, wanted):
    """What is wrong with a run."""
    if not result["is_finished"]:
        yield f"did not finish: {ends}"
    if result["refused"]:
        yield f"{result['refused']} refused: {result['refusals']}"
    # Hosts write their instructions anew when they are started.
    if lost := [words for words in result["lost"] if not words.startswith("instructions:")]:
        yield f"lost: {lost}"
    if "killed" not in ends:
        yield "was not killed in the middle"
    if folds(last) < LEAST_FOLDS:
        yield f"{folds(last)} folds, at least {LEAST_FOLDS} expected"
    if wanted not in answer(last):
        yield f"asked for an original, the agent got {answer(last)[:300]!r}; expected a line with {wanted!r}"


def folds(request):
    """How many folds the handoff of a request names."""
    handoffs = [text for text in strings(request) if "[FOLDLINE HANDOFF" in text]
    return max((len(set(re.findall(r"fl-[0-9a-f]{12}", text.split("\n## ")[0]))) for text in handoffs), default=0)


def answer(request):
    """What a request says after the call that asked for an original: the answer of the tool."""
    messages = request.get("messages") or request.get("input") or []
    calls = [at for at, message in enumerate(messages) if "foldline_recall" in (call := json.dumps(message)) and "grep" in call and "handle" in call]
    return "\n".join(strings(messages[calls[-1] + 1 :])) if calls else ""


def middle_line(text):
    lines = text.splitlines()
    return lines[len(lines) // 2].strip()


def check_summaries(stage, client):
    """The model is not asked for summaries, or at least not with the conversation."""
    asked = [prompt_tokens(entry) for entry in stage.log() if entry["purpose"] == "summary"]
    most = getattr(client, "most_summary_tokens", None)
    if asked and (most is None or max(asked) > most):
        yield f"the model was asked for {len(asked)} summaries with up to {max(asked)} tokens"


def prompt_tokens(entry):
    return sum(count for kind, count in entry["traffic"].items() if kind != "output")


def check_large(stage):
    """A large output reaches the model as a short one."""
    sizes = {entry["calls"]: prompt_tokens(entry) for entry in stage.log() if entry["purpose"] == "step"}
    grown = sizes.get(LARGE_AT + 1, 0) - sizes.get(LARGE_AT, 0)
    if not 0 < grown < MOST_TOKENS:
        yield f"an output of 80 KB added {grown} tokens to the request, at most {MOST_TOKENS} expected"
