"""Messages of Inspect as a run."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any


def run_of_messages(messages: Iterable[Any]) -> list[dict[str, Any]]:
    """Messages in the form of chats with OpenAI, which they nearly have."""
    return [_chat_message(message) for message in messages]


def _chat_message(message: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {"role": message.role, "content": message.text}
    if calls := getattr(message, "tool_calls", None):
        plain["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.function, "arguments": json.dumps(call.arguments)}}
            for call in calls
        ]
    if (call_id := getattr(message, "tool_call_id", None)) is not None:
        plain["tool_call_id"] = call_id
        if (error := getattr(message, "error", None)) is not None:
            plain |= {"status": "error", "content": message.text or error.message}
    return plain
