"""What goes wrong, as exceptions with a place."""

from __future__ import annotations

import json
from typing import Any


class AvermentError(Exception):
    """Any error of this package."""


class RulesError(AvermentError, ValueError):
    """There are no rules: their text does not compile, or something given beside it cannot be used.

    The place is that of the first error; ``file`` is ``None`` where none stands in a rule file.
    """

    def __init__(self, message: str, help: str = "", diagnostics: str = "[]") -> None:
        super().__init__(message, help, diagnostics)
        self.message = message
        """What is wrong: a line per diagnostic."""
        self.help = help
        """What to do about it; may be empty."""
        self.diagnostics: list[dict[str, Any]] = json.loads(diagnostics)
        """Each diagnostic with ``id``, ``severity``, ``message``, ``help``, ``file``, ``line`` and ``column``."""
        errors = [one for one in self.diagnostics if one["severity"] == "error"]
        first = errors[0] if errors else {}
        self.file: str | None = first.get("file")
        self.line: int | None = first.get("line")
        self.column: int | None = first.get("column")

    def __str__(self) -> str:
        return f"{self.message}; help: {self.help}" if self.help else self.message


class ReadError(AvermentError, ValueError):
    """A run, or a whole trace, cannot be read."""

    def __init__(self, message: str, help: str = "", file: str = "", line: int = 1, column: int = 1) -> None:
        super().__init__(message, help, file, line, column)
        self.message = message
        """What is wrong."""
        self.help = help
        """What to do about it; may be empty."""
        self.file = file
        """The name of the trace."""
        self.line = line
        """The line in it, from 1."""
        self.column = column
        """The column in characters, from 1."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}: {self.message}"
        return f"{place}; help: {self.help}" if self.help else place


class InternalError(AvermentError, RuntimeError):
    """The evaluation broke down, a bug of this library. The run has no verdicts."""
