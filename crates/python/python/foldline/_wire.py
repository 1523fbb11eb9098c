"""Bodies as text. The engine reads and writes text only; objects are converted here and nowhere else."""

import json
from typing import Any, List, Mapping, Union

Body = Union[str, bytes, Mapping[str, Any], List[Any]]


def text_of(body: Body) -> str:
    """The JSON of a body; a text is taken as it is."""
    if isinstance(body, str):
        return body
    if isinstance(body, (bytes, bytearray)):
        return body.decode("utf-8")
    if not isinstance(body, (Mapping, list, tuple)):
        raise TypeError(f"a body is a dict, a list of messages, or JSON as str or bytes, not {type(body).__name__}")
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    # Half of a surrogate pair has no UTF-8; escaped it passes as it would to a provider.
    return text if _is_unicode(text) else json.dumps(body, separators=(",", ":"))


def like(body: Body, text: str) -> Any:
    """A result in the form of the body that came in."""
    if isinstance(body, str):
        return text
    if isinstance(body, (bytes, bytearray)):
        return text.encode("utf-8")
    return json.loads(text)


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
