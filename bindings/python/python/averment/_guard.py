"""Rules held while an agent runs."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import Any, Literal

from averment._averment import RawGuard
from averment._rules import Rules


@dataclass(frozen=True)
class Decision:
    """What a guard answers. It is true if what was asked for may be done."""

    decision: Literal["pass", "warn", "deny", "continue", "error"]
    """``continue`` is an answer to :meth:`Guard.stop`: something is still owed. ``error``: the request was not understood."""
    reason: str = ""
    """Why, for the model or the user to read; empty for a pass."""
    held: bool = False
    """Whether an ``error`` holds the call back: it does in the mode ``enforce``."""

    @property
    def allowed(self) -> bool:
        """Whether the call may be made, or the agent may stop."""
        return self.decision in ("pass", "warn") or (self.decision == "error" and not self.held)

    def __bool__(self) -> bool:
        return self.allowed


class Guard:
    """A session of an agent that is held to rules, call by call.

    >>> from averment import Guard, Rules
    >>> guard = Guard(Rules.from_text("shop.assert", "before approve(order: $o) ok -> refund(order: $o)"))
    >>> guard.propose("refund", {"order": 7}, id="c1").decision
    'deny'
    >>> guard.propose("approve", {"order": 7}, id="c2").allowed
    True
    >>> guard.result("approve", True, id="c2").allowed, guard.propose("refund", {"order": 7}, id="c3").allowed
    (True, True)

    The session is kept in memory, and the answers are those of ``aver guard serve``. Threads may share a guard: of two calls that are
    proposed at once, the second is judged with the first in the session.
    """

    __slots__ = ("_raw",)

    def __init__(self, rules: Rules, *, mode: Literal["enforce", "warn", "log"] = "enforce") -> None:
        """``mode`` says what becomes of a call that breaks a rule: it is denied, the user is told, or only the session says so."""
        self._raw = RawGuard(rules._raw, mode)

    def propose(self, tool: str, args: Any = None, *, id: str | None = None, agent: str | None = None) -> Decision:
        """Asks whether a call may be made. It counts as made unless it is denied.

        Each call of a session has an ``id`` of its own, by which its result is known. ``agent`` names a sub-agent.
        """
        return self._ask("propose", {"id": id, "tool": tool, "args": {} if args is None else args, "agent": agent})

    def result(self, tool: str, result: Any = None, *, id: str | None = None, error: Any = None) -> Decision:
        """Tells what a call gave back, or with ``error`` what went wrong."""
        ended = {"result": result} if error is None else {"error": error}
        return self._ask("result", {"id": id, "tool": tool, **ended})

    def message(self, role: Literal["user", "assistant", "system"], text: str) -> Decision:
        """Tells what somebody said. Rules about messages see what is told here: tell all of them."""
        return self._ask("message", {"role": role, "text": text})

    def stop(self, *, held: bool = False) -> Decision:
        """Asks whether the agent may stop: a decision ``continue`` says what is still owed.

        ``held`` says that the agent was held back before. Then it stops.
        """
        return self._ask("stop", {"held": held})

    @property
    def trace(self) -> str:
        """The session so far: a run that goes on, for :meth:`Rules.check` or a file that ``aver check`` reads."""
        return self._raw.trace()

    def _ask(self, event: str, given: dict[str, Any]) -> Decision:
        request = {event: {key: value for key, value in given.items() if value is not None or key in ("args", "result")}}
        return Decision(**json.loads(self._raw.answer(request, time.time_ns() // 1_000_000)))
