"""Each scorer against its real package, where that is installed; `AVERMENT_SCORERS=required` makes it a must."""

from __future__ import annotations

import asyncio
import datetime
import importlib
import math
import os
import tempfile
import uuid
from typing import Any

import pytest

from averment import Rules
from averment.recording import from_anthropic, from_langchain

# Passes, fails, is undecided (no cost is recorded), is vacuous (nothing is refunded).
RULES = {
    "pass": "never refund(amount > 300)",
    "fail": "never refund(amount > 100)",
    "undecided": "cost <= $0.05\nnever refund(amount > 300)",
    "vacuous": "before approve -> cancel",
    "mixed": "before approve -> cancel\nnever refund(amount > 100)",
}
SCORES = {"pass": 1.0, "fail": 0.0, "undecided": None, "vacuous": None, "mixed": 0.0}
CALL = {"id": "c1", "type": "function", "function": {"name": "refund", "arguments": '{"amount": 250}'}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "refund it"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    {"role": "assistant", "content": "done"},
]
CASES = pytest.mark.parametrize("word", list(RULES))


def package(name: str) -> Any:
    if os.environ.get("AVERMENT_SCORERS") == name.partition(".")[0]:
        return importlib.import_module(name)
    return pytest.importorskip(name)


def rules_of(word: str) -> Rules:
    return Rules.from_text("r.assert", RULES[word])


@CASES
def test_langsmith(word: str) -> None:
    package("langsmith")
    from langsmith.evaluation import run_evaluator
    from langsmith.schemas import Run

    from averment.integrations.langsmith import evaluator


    now = datetime.datetime.now(datetime.timezone.utc)
    run = Run(
        id=uuid.uuid4(), name="agent", run_type="chain", start_time=now, trace_id=uuid.uuid4(), inputs={}, outputs={"messages": MESSAGES}
    )  # fmt: skip
    found = run_evaluator(evaluator(rules_of(word), each=True)).evaluate_run(run, None)
    results = found["results"]
    assert results[0].key == "averment" and results[0].score == SCORES[word]
    if SCORES[word] is None:
        assert results[0].value == word and results[0].comment.startswith(word)
        assert any(one.score is None for one in results[1:])


@CASES
def test_agentevals(word: str) -> None:
    package("agentevals")
    from averment.integrations.agentevals import create_rules_evaluator

    found = create_rules_evaluator(rules_of(word))(outputs=MESSAGES)
    score = SCORES[word]
    assert found["key"] == "averment" and found["score"] is (None if score is None else bool(score))
    core = importlib.import_module("langchain_core.messages")
    messages = core.convert_to_messages(MESSAGES)
    assert create_rules_evaluator(rules_of(word))(outputs=messages)["score"] == found["score"]


@CASES
def test_pydantic_evals(word: str) -> None:
    package("pydantic_evals")
    from pydantic_evals import Case, Dataset

    from averment.integrations.pydantic_evals import RulesEvaluator

    dataset: Any = Dataset(name="refunds", cases=[Case(inputs="refund it")], evaluators=[RulesEvaluator(rules_of(word))])
    report = dataset.evaluate_sync(lambda inputs: MESSAGES, progress=False)
    case = report.cases[0]
    score = SCORES[word]
    if score is None:
        assert not case.assertions and not case.scores and case.labels["averment verdict"].value == word
    else:
        assert case.assertions["averment"].value is bool(score)


@CASES
def test_deepeval(word: str) -> None:
    os.environ.setdefault("DEEPEVAL_TELEMETRY_OPT_OUT", "YES")
    package("deepeval")
    from deepeval.test_case import LLMTestCase, ToolCall

    from averment.integrations.deepeval import RulesMetric

    case = LLMTestCase(input="refund it", actual_output="done", tools_called=[ToolCall(name="refund", input_parameters={"amount": 250})])
    metric = RulesMetric(rules_of(word))
    assert metric.measure(case) == SCORES[word] == metric.score
    assert asyncio.run(RulesMetric(rules_of(word)).a_measure(case)) == SCORES[word]
    assert metric.skipped is (SCORES[word] is None) and metric.success is (None if metric.skipped else SCORES[word] == 1.0)


@CASES
def test_inspect_ai(word: str) -> None:
    package("inspect_ai")
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ChatMessageUser
    from inspect_ai.solver import solver
    from inspect_ai.tool import ToolCall

    from averment.integrations.inspect_ai import rules_scorer

    @solver
    def recorded() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            call = ToolCall(id="c1", function="refund", arguments={"amount": 250})
            state.messages = [
                ChatMessageUser(content="refund it"),
                ChatMessageAssistant(content="", tool_calls=[call]),
                ChatMessageTool(content="ok", tool_call_id="c1", function="refund"),
                ChatMessageAssistant(content="done"),
            ]
            return state

        return solve

    task = Task(dataset=[Sample(input="refund it", target="")], solver=recorded(), scorer=rules_scorer(rules_of(word)))
    with tempfile.TemporaryDirectory() as folder:
        log = eval(task, model="mockllm/model", log_dir=folder, display="none")[0]
        assert log.status == "success", log.error
        score = log.samples[0].scores["averment"]
    if SCORES[word] is None:
        assert math.isnan(score.value) and score.metadata["verdict"] == word
        assert log.results.scores[0].unscored_samples == 1
    else:
        assert score.value == ("C" if SCORES[word] else "I")


@CASES
def test_inspect_scout(word: str) -> None:
    package("inspect_scout")
    from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ChatMessageUser
    from inspect_ai.tool import ToolCall
    from inspect_scout import Transcript

    from averment.integrations.inspect_scout import rules_scanner

    call = ToolCall(id="c1", function="refund", arguments={"amount": 250})
    messages = [
        ChatMessageUser(content="refund it"),
        ChatMessageAssistant(content="", tool_calls=[call]),
        ChatMessageTool(content="ok", tool_call_id="c1", function="refund"),
    ]
    transcript = Transcript(transcript_id="t", source_type="eval_log", source_id="s", source_uri="u", messages=messages)
    found: Any = asyncio.run(rules_scanner(rules_of(word))(transcript))  # type: ignore[arg-type]
    score = SCORES[word]
    assert found.value is (None if score is None else bool(score))
    assert found.answer == ("fail" if word == "mixed" else word)


class Message:
    """As messages of LangChain and Anthropic look, without their packages."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


def test_messages_of_langchain_are_a_run() -> None:
    messages = [
        Message(type="human", content="refund it"),
        Message(type="ai", content="", tool_calls=[{"name": "refund", "args": {"amount": 250}, "id": "c1"}]),
        Message(type="tool", content="no", tool_call_id="c1", status="error", name="refund"),
    ]
    for given in (messages, {"messages": messages}):
        outcome = rules_of("fail").check(from_langchain(given))
        assert outcome.verdict == "fail"
    assert Rules.from_text("r.assert", 'each refund: status == "failed"').check(from_langchain(messages)).verdict == "pass"


def test_messages_of_anthropic_are_a_run() -> None:
    class Block(Message):
        def model_dump(self, **_: Any) -> dict[str, Any]:
            return dict(self.__dict__)

    block = Block(type="tool_use", id="t1", name="refund", input={"amount": 250})
    answer = Block(role="assistant", content=[block])
    outcome = rules_of("fail").check(from_anthropic([{"role": "user", "content": "refund it"}], answer))
    assert outcome.verdict == "fail"
