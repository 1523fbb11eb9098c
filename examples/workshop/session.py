"""A conversation, free of any provider's wire format."""
from dataclasses import dataclass, field
from typing import Any, Dict, List, Union


@dataclass
class Call:
    id: str
    tool: str
    arguments: Dict[str, Any]
    result: str
    failed: bool = False


@dataclass
class User:
    text: str


@dataclass
class Assistant:
    """One reply of the model. The results of its calls follow it immediately."""
    thinking: str = ""
    text: str = ""
    calls: List[Call] = field(default_factory=list)


Turn = Union[User, Assistant]


@dataclass
class Session:
    name: str
    system: List[str]
    tools: List[Dict[str, Any]]
    turns: List[Turn]

    def calls(self) -> List[Call]:
        return [call for turn in self.turns if isinstance(turn, Assistant) for call in turn.calls]
