"""What the tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

PROJECT = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("AVERMENT_SHARED", PROJECT.parent / "shared"))


@pytest.fixture
def aver_command() -> str:
    command = os.environ.get("AVERMENT_AVER")
    if not command:
        pytest.skip("the command `aver` is not there to compare with (AVERMENT_AVER)")
    return command
