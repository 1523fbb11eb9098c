"""LiteLLM: a callback that compacts the messages of a call before they are sent, in the library and in the proxy.

    import litellm
    from foldline.litellm import FoldlineCallback

    litellm.callbacks = [FoldlineCallback(window=200_000)]
    await litellm.acompletion(model="gpt-5", messages=messages)

In the settings of the proxy: ``litellm_settings: {callbacks: my_module.fold}`` with ``fold = FoldlineCallback()`` in
``my_module.py``. LiteLLM runs such callbacks for calls that are awaited (``acompletion``, the router, the proxy).

Conversations are told apart by ``litellm_session_id``, by ``session_id`` in the metadata, or else by how they begin.
"""

import hashlib
import json
import logging
from typing import Any, Dict, Hashable, Optional

from litellm.integrations.custom_logger import CustomLogger

from ._host import Sessions
from ._native import FoldlineError
from ._session import Session

_log = logging.getLogger("foldline")


class FoldlineCallback(CustomLogger):
    """Compacts messages; options are those of :class:`foldline.Session`. Handles are shown where ``recall_tool`` names a
    tool that the agents behind it have, and that calls ``session(key).recall``."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._sessions = Sessions(**options)

    def session(self, key: Hashable) -> Session:
        """The session of a conversation, by its id."""
        return self._sessions.of(key)

    async def async_pre_call_deployment_hook(self, kwargs: Dict[str, Any], call_type: Any) -> Optional[dict]:
        field = "messages" if kwargs.get("messages") else "input"
        if not isinstance(kwargs.get(field), list) or not all(isinstance(item, dict) for item in kwargs[field]):
            return None
        body = {name: kwargs[name] for name in ("model", "system", "instructions", "tools", field) if kwargs.get(name)}
        try:
            done = await self.session(_conversation(kwargs, field)).acompact(body)
        except (FoldlineError, TypeError) as error:
            # Whatever cannot be compacted is sent as it came.
            _log.warning("sent without compaction: %s", error)
            return None
        return {**kwargs, field: done.body[field]} if done.changed else None


def _conversation(kwargs: Dict[str, Any], field: str) -> Hashable:
    named = kwargs.get("litellm_session_id") or (kwargs.get("metadata") or {}).get("session_id")
    if named:
        return str(named)
    first = next((item for item in kwargs[field] if item.get("role") == "user"), None)
    begins = json.dumps([kwargs.get("user"), kwargs.get("api_key"), first], sort_keys=True, default=str)
    return hashlib.sha256(begins.encode("utf-8", "surrogatepass")).hexdigest()
