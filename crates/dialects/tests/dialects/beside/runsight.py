"""Asks Runsight: reads a list of inputs, prints a list of outcomes (`pip install runsight`)."""

import json
import sys

from runsight_core.assertions import deterministic  # noqa: F401  (registers its assertions)
from runsight_core.assertions.base import AssertionContext
from runsight_core.assertions.registry import run_assertions_sync


def outcome(asked):
    context = AssertionContext(
        output=asked["output"], prompt="p", prompt_hash="h", soul_id="s", soul_version="v", block_id="b",
        block_type="linear", cost_usd=asked["cost"], total_tokens=1, latency_ms=asked["latency"], variables={},
        run_id="r", workflow_id="w",
    )
    try:
        result = run_assertions_sync([asked["assertion"]], output=asked["output"], context=context)
        return "passed" if result.results[0].passed else "failed"
    except Exception:
        return "error"


json.dump([outcome(asked) for asked in json.load(sys.stdin)], sys.stdout)
