"""Reads a screenplay: a session as plain text, one block per event.

    @@ user | think | say          text
    @@ read PATH                   file_read of a file of the project, result taken from the project
    @@ shell | python              the command or the code; the result follows as `gives` or `error`
    @@ call TOOL                   any tool, its arguments as JSON
    @@ gives [NAME ARGS]           result made by an output function, or the block's own text
    @@ error [NAME ARGS]           the same, marked as failed
    @@ edit PATH, also PATH        python_exec that replaces passages (<<< old === new >>>), applied to the project;
                                   a line `...` in the old passage stands for what is between
    @@ patch PATH                  the same as a shell_exec with `git apply`
    @@ create PATH                 python_exec that writes a file
    @@ next                        a further reply of the model without text

Consecutive calls belong to one reply and so run in parallel. {{name}} is replaced by a fact.
"""
import json
import re
from typing import Callable, Dict, List, Optional, Tuple

from .dice import identifier
from .project import Project, unified
from .session import Assistant, Call, Session, Turn, User

Facts = Callable[[str], str]
Outputs = Callable[[str, List[str]], str]

_START = re.compile(r"^@@ (?=(?:user|think|say|read|shell|python|call|gives|error|edit|also|patch|create|next)\b)", re.M)
"""A diff inside a result has lines that begin with @@, too, but never with one of these words."""
_HUNK = re.compile(r"<<<\n(.*?)\n===\n(.*?)\n>>>", re.S)

_SWAP = "from plover.edit import swap, upto\n\n"
_GAP = "\n...\n"


def blocks(text: str) -> List[Tuple[str, str, str]]:
    found = []
    for chunk in _START.split(text)[1:]:
        head, _, body = chunk.partition("\n")
        kind, _, argument = head.strip().partition(" ")
        found.append((kind, argument.strip(), body.rstrip("\n")))
    return found


class Reader:
    def __init__(self, name: str, project: Project, facts: Facts, outputs: Outputs):
        self.name, self.project, self.facts, self.outputs = name, project, facts, outputs
        self.turns: List[Turn] = []
        self.current: Optional[Assistant] = None
        self.count = 0

    def fill(self, text: str) -> str:
        return re.sub(r"\{\{(\w+)\}\}", lambda match: self.facts(match[1]), text)

    def reply(self) -> Assistant:
        if self.current is None:
            self.current = Assistant()
            self.turns.append(self.current)
        return self.current

    def call(self, tool: str, arguments: Dict[str, str], result: str) -> None:
        self.count += 1
        call = Call(identifier("", f"{self.name}:{self.count}", 22), tool, arguments, result)
        self.reply().calls.append(call)

    def read(self, kind: str, argument: str, body: str) -> None:
        if kind == "user":
            self.current = None
            self.turns.append(User(self.fill(body)))
        elif kind == "next":
            self.current = None
        elif kind in ("think", "say"):
            if self.current is not None and (self.current.calls or kind == "think"):
                self.current = None
            attribute = "thinking" if kind == "think" else "text"
            setattr(self.reply(), attribute, self.fill(body))
        elif kind == "read":
            self.call("file_read", {"path": argument}, self.outputs("file", [argument]))
        elif kind == "shell":
            self.call("shell_exec", {"command": self.fill(body)}, "")
        elif kind == "python":
            self.call("python_exec", {"code": self.fill(body)}, "")
        elif kind == "call":
            self.call(argument, json.loads(self.fill(body)), "")
        elif kind in ("gives", "error"):
            call = self.reply().calls[-1]
            name, _, rest = argument.partition(" ")
            call.result = self.outputs(name, rest.split()) if name else self.fill(body)
            call.failed = kind == "error"
        elif kind in ("edit", "also"):
            self.edit(kind, argument, _HUNK.findall(body))
        elif kind == "patch":
            before = self.project.files[argument]
            self.project.edit(argument, _HUNK.findall(body))
            patch = unified(argument, before, self.project.files[argument])
            self.call("shell_exec", {"command": f"git apply --stat --apply - <<'PATCH'\n{patch}PATCH"},
                      f" {argument} | {patch_size(patch)}\n 1 file changed")
        elif kind == "create":
            text = body + "\n"
            self.project.create(argument, text)
            code = f"from pathlib import Path\n\nprint(Path({argument!r}).write_text({quoted(text)}, encoding=\"utf-8\"))"
            self.call("python_exec", {"code": code}, str(len(text)))
        else:
            raise ValueError(f"{self.name}: unknown block {kind!r}")

    def edit(self, kind: str, path: str, pairs: List[Tuple[str, str]]) -> None:
        if not pairs:
            raise ValueError(f"{self.name}: edit of {path} without passages")
        for old, new in pairs:
            self.project.edit(path, [(self.whole(path, old), new)])
        swaps = ",\n".join(f"    ({passage(old)},\n     {quoted(new)})" for old, new in pairs)
        code = f"swap({path!r},\n{swaps})"
        lines = len(self.project.files[path].splitlines())
        result = f"{path}: {len(pairs)} passages replaced, {lines} lines"
        if kind == "also":
            call = self.reply().calls[-1]
            call.arguments["code"] += "\n" + code
            call.result += "\n" + result
        else:
            self.call("python_exec", {"code": _SWAP + code}, result)


    def whole(self, path: str, old: str) -> str:
        """The passage itself, where the screenplay gives only its first and its last lines."""
        if _GAP not in old:
            return old
        head, tail = old.split(_GAP)
        text = self.project.files[path]
        start = text.index(head)
        return text[start:text.index(tail, start) + len(tail)]


def passage(old: str) -> str:
    return "upto({}, {})".format(*map(quoted, old.split(_GAP))) if _GAP in old else quoted(old)


def quoted(text: str) -> str:
    if "'''" in text or text.endswith(("'", "\\")):
        return repr(text)
    return f"r'''{text}'''" if "\\" in text else f"'''{text}'''"


def patch_size(patch: str) -> str:
    lines = patch.splitlines()[2:]
    plus, minus = sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)
    return f"{plus + minus} {'+' * min(plus, 30)}{'-' * min(minus, 30)}"


def read_session(name: str, text: str, system: List[str], tools: List[dict], project: Project, facts: Facts,
                 outputs: Outputs) -> Session:
    reader = Reader(name, project, facts, outputs)
    for kind, argument, body in blocks(text):
        reader.read(kind, argument, body)
    return Session(name, system, tools, reader.turns)
