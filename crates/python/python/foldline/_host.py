"""What adapters share: a session for each conversation, and the tool that reads originals."""

from collections import OrderedDict
from threading import Lock
from typing import Any, Callable, Hashable

from ._native import FoldlineError
from ._session import Session

#: The tool by which an agent reads what was removed.
RECALL_TOOL = "foldline_recall"

#: Conversations that are remembered at once; the one that was used longest ago goes first.
MOST_SESSIONS = 1_000


class Sessions:
    """A session for each conversation of a host, made on first use."""

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._sessions: "OrderedDict[Hashable, Session]" = OrderedDict()
        self._lock = Lock()
        Session(**options)  # Options that cannot be used are refused here, not in the middle of a conversation.

    def of(self, key: Hashable) -> Session:
        with self._lock:
            session = self._sessions.pop(key, None) or Session(**self._options)
            self._sessions[key] = session
            while len(self._sessions) > MOST_SESSIONS:
                self._sessions.popitem(last=False)
            return session


def recall_function(session: Callable[[], Session]) -> Callable[..., str]:
    """A function that a host can offer to its model as a tool."""

    def foldline_recall(handle: str, turn: str = "", lines: str = "", grep: str = "", page: int = 1) -> str:
        """Reads text that was removed from this conversation.

        Args:
            handle: The handle as it stands in the conversation, like fl-3f9a0c51d2e7.
            turn: Only these turns, such as 12 or 12:20.
            lines: Only these lines of the turn, such as 120:180.
            grep: Only lines that match this regular expression.
            page: Which page.
        """
        try:
            return session().recall(handle, turn=turn or None, lines=lines or None, grep=grep or None, page=page)
        except FoldlineError as error:
            return str(error)  # The model asked for what is not there; it can ask again.

    return foldline_recall
