"""Values that JSON has no form for, in terms of what it has."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import os
import uuid
from collections.abc import Mapping, Sequence, Set
from typing import Any


def to_plain(value: Any) -> Any:
    """One step towards JSON: what stands inside is asked for again."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (uuid.UUID, decimal.Decimal)):
        return str(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, type):
        raise TypeError(f"a run holds values, and `{value.__name__}` is a class")
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    model_dump = getattr(value, "model_dump", None)
    if callable(model_dump):
        return model_dump(mode="json", exclude_unset=False, by_alias=True)
    for method in ("to_dict", "_asdict"):
        if callable(convert := getattr(value, method, None)):
            return convert()
    if isinstance(value, (Sequence, Set)):
        return list(value)
    raise TypeError(f"a run cannot hold a value of the type {type(value).__name__}")
