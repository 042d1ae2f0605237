"""Messages of agent libraries as runs in memory, for :meth:`averment.Rules.check`.

Each helper needs nothing but the objects that it is given: no library is imported.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any


def from_langchain(messages: Iterable[Any] | Mapping[str, Any]) -> list[dict[str, Any]]:
    """A run of LangChain or LangGraph: the list of messages, or the state that ``agent.invoke`` returns.

    >>> from_langchain([{"role": "user", "content": "hello"}])
    [{'role': 'user', 'content': 'hello'}]
    """
    if isinstance(messages, Mapping):
        messages = messages["messages"]
    return [_langchain_message(message) for message in messages]


_LANGCHAIN_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool", "developer": "developer"}


def _langchain_message(message: Any) -> dict[str, Any]:
    if isinstance(message, Mapping):
        return dict(message)
    kind = str(message.type)
    plain: dict[str, Any] = {"role": _LANGCHAIN_ROLES.get(kind.removesuffix("MessageChunk").lower(), kind), "content": message.content}
    if calls := getattr(message, "tool_calls", None):
        plain["tool_calls"] = [
            {"id": call.get("id"), "type": "function", "function": {"name": call["name"], "arguments": json.dumps(call["args"])}}
            for call in calls
        ]
    if getattr(message, "tool_call_id", None) is not None:
        plain["tool_call_id"] = message.tool_call_id
    if getattr(message, "name", None):
        plain["name"] = message.name
    if getattr(message, "status", None) == "error":
        plain["status"] = "error"
    return plain


def from_openai_agents(result: Any) -> list[Any]:
    """A run of the OpenAI Agents SDK: the result of ``Runner.run``, or its ``to_input_list()``."""
    items = result.to_input_list() if hasattr(result, "to_input_list") else result
    return [_plain_item(item) for item in items]


def from_anthropic(messages: Iterable[Any], *answers: Any) -> list[Any]:
    """A conversation with Anthropic: the messages that were sent, and the answers (``Message``) that are not among them yet."""
    return [_anthropic_message(message) for message in (*messages, *answers)]


def _anthropic_message(message: Any) -> Any:
    plain = _plain_item(message)
    content = plain["content"]
    if not isinstance(content, str):
        content = [_plain_item(block) for block in content]
    return {"role": plain["role"], "content": content}


def _plain_item(item: Any) -> Any:
    if hasattr(item, "model_dump"):
        return item.model_dump(mode="json", exclude_none=True)
    return dict(item) if isinstance(item, Mapping) else item
