"""Compares eval sets and data sets with the evaluators that they are written for.

    pip install pydantic-evals google-genai rouge-score
    pip install --no-deps google-adk
    pip install deepeval
    python eval_files.py target/debug/aver 400

Prints how many agree, how many are undecided here, and each that differs. What passes here and fails there is an error.
"""

import importlib
import importlib.util
import json
import os
import random
import subprocess
import sys
import tempfile
import types

TOOLS = ["get_order", "refund", "search"]
ARGS = [{}, {"id": "o-1"}, {"id": "o-2"}, {"id": "o-1", "amount": 5}, {"list": [1, {"a": None}]}]
OUTPUTS = ["Your order o-1 was refunded.", "refund", "", "Order O-1", {"status": "ok", "n": 1}, ["ok", 2], 3, None, True]


def call(at):
    status = at.choice(["ok", "ok", "ok", "failed"])
    return {"tool": at.choice(TOOLS), "args": at.choice(ARGS), "result": 1, "status": status}


def calls(at):
    return [call(at) for _ in range(at.randrange(5))]


def verdicts(aver, name, files, runs, *options):
    """Of each run the verdicts of its case."""
    with tempfile.TemporaryDirectory() as folder:
        for file, text in files.items():
            with open(os.path.join(folder, file), "w", encoding="utf-8") as out:
                out.write(text)
        with open(os.path.join(folder, "runs.jsonl"), "w", encoding="utf-8") as out:
            out.writelines(json.dumps(run) + "\n" for run in runs)
        done = subprocess.run(
            [aver, "check", name, "runs.jsonl", "--format", "json", *options], cwd=folder, capture_output=True, text=True
        )
        if not done.stdout.startswith("{"):
            sys.exit(f"{done.stdout[:2000]}{done.stderr[:2000]}")
        report = json.loads(done.stdout)
    judged = [[one["verdict"] for one in run["results"] if one["verdict"] != "skipped"] for run in report["runs"]]
    assert len(judged) == len(runs), (len(judged), len(runs))
    return judged


class Tally:
    """Counts outcomes, and prints those that differ."""

    def __init__(self, system):
        self.system, self.same, self.undecided, self.stricter, self.wrong = system, 0, 0, 0, 0

    def add(self, asked, here, there):
        if here == "undecided":
            self.undecided += 1
        elif (here in ("pass", "vacuous")) == there:
            self.same += 1
        elif there:
            self.stricter += 1
            print("fails here alone:", json.dumps(asked))
        else:
            self.wrong += 1
            print("PASSES HERE ALONE:", json.dumps(asked))

    def show(self):
        print(f"{self.system}: {self.same} agree, {self.undecided} undecided, {self.stricter} fail here alone, "
              f"{self.wrong} pass here alone")
        return self.wrong


def evaluator(at):
    """An evaluator as a data set names it, and its arguments."""
    value = at.choice(["o-1", "O-1", "ok", "status", "refund", 2, 3, {"status": "ok"}, {"n": 2}])
    names = [at.choice(TOOLS) for _ in range(at.randrange(4))]
    return at.choice([
        ("Equals", {"value": at.choice(OUTPUTS)}),
        ("Contains", {"value": value, "case_sensitive": at.choice([True, False]), "as_strings": at.choice([True, False])}),
        ("IsInstance", {"type_name": at.choice(["str", "dict", "list", "bool", "NoneType"])}),
        ("MaxDuration", {"seconds": at.choice([0, 1, 1.5, 0.25])}),
        ("ToolCorrectness", {"expected_tools": names, "allow_extra": at.choice([True, False]),
                             "include_failed": at.choice([True, False])}),
        ("TrajectoryMatch", {"expected_trajectory": names, "order": at.choice(["exact", "in_order", "any_order"]),
                             "include_failed": at.choice([True, False])}),
        ("ArgumentCorrectness", {"tool_name": at.choice(TOOLS), "expected_arguments": at.choice(ARGS),
                                 "match_mode": at.choice(["subset", "exact"]),
                                 "occurrence": at.choice(["first", "last", 0, 1]),
                                 "include_failed": at.choice([True, False])}),
        ("MaxToolCalls", {"max_calls": at.randrange(5), "include_failed": at.choice([True, False])}),
    ])


def beside_pydantic(aver, count, at):
    from pydantic_evals import evaluators as known

    def span(number, made):
        return types.SimpleNamespace(
            name=f"execute_tool {made['tool']}", start_timestamp=number,
            status="error" if made["status"] == "failed" else "ok",
            attributes={"gen_ai.tool.name": made["tool"], "gen_ai.tool.call.arguments": json.dumps(made["args"])},
        )

    cases, runs, expected, asked = [], [], [], []
    for number in range(count):
        (name, given), made, output = evaluator(at), calls(at), at.choice(OUTPUTS)
        seconds = at.choice([0.25, 1.0, 1.2, 2.0])
        if name == "ToolCorrectness" and given["allow_extra"] and not given["expected_tools"]:
            continue
        context = types.SimpleNamespace(
            output=output, duration=seconds, span_tree=[span(at, one) for at, one in enumerate(made)], expected_output=None
        )
        said = getattr(known, name)(**given).evaluate(context)
        said = getattr(said, "value", said)
        label = f"c{number}"
        cases.append({"name": label, "inputs": label, "evaluators": [{name: given}]})
        runs.append({"prompt": label, "output": output, "duration": seconds * 1000, "calls": made, "meta": {"case": label}})
        # A score is full, or it is not.
        expected.append(said is True or said == 1.0)
        asked.append({"evaluator": {name: given}, "output": output, "seconds": seconds, "calls": made})
    judged = verdicts(aver, "set.yaml", {"set.yaml": json.dumps({"name": "s", "cases": cases})}, runs)
    tally = Tally("pydantic-evals")
    for one, here, there in zip(asked, judged, expected):
        tally.add(one, here[0] if here else "none", there)
    return tally.show()


def adk_module(name):
    """A module of ADK's evaluation, without what the rest of the package imports."""
    folders = [f"{folder}/adk" for folder in importlib.util.find_spec("google").submodule_search_locations]
    for below in ["", "/evaluation", "/dependencies", "/telemetry", "/agents"]:
        package = "google.adk" + below.replace("/", ".")
        if package not in sys.modules:
            module = types.ModuleType(package)
            module.__path__ = [folder + below for folder in folders]
            sys.modules[package] = module
    return importlib.import_module(f"google.adk.evaluation.{name}")


def beside_adk(aver, count, at):
    trajectory, response = adk_module("trajectory_evaluator"), adk_module("final_response_match_v1")
    cases, metrics = adk_module("eval_case"), adk_module("eval_metrics")
    answers = ["I refunded order o-1.", "I have refunded the order.", "Refunding orders now", "no", ""]
    wrong = 0
    for order in ["EXACT", "IN_ORDER", "ANY_ORDER"]:
        for ignores in [False, True]:
            criterion = metrics.ToolTrajectoryCriterion(threshold=1.0, match_type=order, ignore_args=ignores)
            judge = trajectory.TrajectoryEvaluator(
                eval_metric=metrics.EvalMetric(metric_name="tool_trajectory_avg_score", criterion=criterion)
            )
            found, runs, expected, asked = [], [], [], []
            for number in range(count // 6):
                made = calls(at)
                wanted = [{"name": one["tool"], "args": one["args"]} for one in made]
                if at.random() < 0.7:
                    at.shuffle(wanted)
                    wanted = wanted[: at.randrange(len(wanted) + 1)]
                if not wanted and order != "EXACT":
                    continue
                answer, said, label = at.choice(answers), at.choice(answers), f"c{number}"

                def turn(uses, text):
                    return {"user_content": {"parts": [{"text": label}]}, "intermediate_data": {"tool_uses": uses},
                            "final_response": {"parts": [{"text": text}]}}

                uses = [{"name": one["tool"], "args": one["args"]} for one in made]
                there = [cases.Invocation.model_validate(turn(uses, said))]
                here = [cases.Invocation.model_validate(turn(wanted, answer))]
                least = metrics.EvalMetric(metric_name="response_match_score", threshold=0.8)
                outcomes = [judge.evaluate_invocations(there, here),
                            response.RougeEvaluator(least).evaluate_invocations(there, here)]
                expected.append([one.overall_eval_status.name == "PASSED" for one in outcomes])
                found.append({"eval_id": label, "conversation": [turn(wanted, answer)]})
                runs.append({"prompt": label, "output": said, "calls": made, "meta": {"case": label}})
                asked.append({"order": order, "ignore_args": ignores, "wanted": wanted, "calls": uses, "answer": answer, "output": said})
            config = {"criteria": {"tool_trajectory_avg_score": {"threshold": 1.0, "match_type": order, "ignore_args": ignores},
                                   "response_match_score": 0.8}}
            files = {"s.evalset.json": json.dumps({"eval_set_id": "s", "eval_cases": found}), "test_config.json": json.dumps(config)}
            tallies = [Tally(f"ADK {order} ignore_args={ignores}"), Tally("ADK response")]
            for one, here, there in zip(asked, verdicts(aver, "s.evalset.json", files, runs), expected):
                for tally, mine, theirs in zip(tallies, here, there):
                    tally.add(one, mine, theirs)
            wrong += sum(tally.show() for tally in tallies)
    return wrong


def beside_deepeval(aver, count, at):
    from deepeval.metrics import ToolCorrectnessMetric
    from deepeval.models import DeepEvalBaseLLM
    from deepeval.test_case import LLMTestCase, ToolCall, ToolCallParams

    class NoModel(DeepEvalBaseLLM):
        """Nothing asks it: the metric only wants to have one."""

        def __init__(self):
            super().__init__("none")

        def load_model(self, *_):
            return self

        def generate(self, *_, **__):
            raise RuntimeError("a model was asked")

        a_generate = generate

        def get_model_name(self):
            return "none"

    tally = Tally("DeepEval")
    for _ in range(count // 8):
        least, compared = at.choice([0.5, 1, 0.3, 0.75]), at.sample(["input_parameters", "output"], at.randrange(3))
        flags = {name: at.random() < 0.35 for name in ["should_exact_match", "should_consider_ordering", "strict_mode"]}
        found, runs, expected, asked = [], [], [], []
        for case in range(12):
            made = [{**call(at), "result": at.choice([1, {"k": "v"}])} for _ in range(at.randrange(6))]
            wanted = [dict(one) for one in made]
            if at.random() < 0.6:
                at.shuffle(wanted)
                wanted = wanted[: at.randrange(len(wanted) + 1)]
            wanted += [{**call(at), "result": 1} for _ in range(at.choice([0, 0, 1, 2]))]
            tools = [{"name": one["tool"], "input_parameters": one["args"], "output": one["result"]} for one in wanted]
            there = [ToolCall(name=one["tool"], input_parameters=one["args"], output=one["result"]) for one in made]
            metric = ToolCorrectnessMetric(threshold=least, model=NoModel(), async_mode=False, include_reason=False,
                                           evaluation_params=[ToolCallParams(one) for one in compared], **flags)
            label = f"c{case}"
            metric.measure(LLMTestCase(input=label, actual_output="x", tools_called=there,
                                       expected_tools=[ToolCall(**one) for one in tools]), _show_indicator=False)
            expected.append(metric.is_successful())
            found.append({"name": label, "input": label, "expected_tools": tools})
            runs.append({"prompt": label, "output": "x", "calls": made, "meta": {"case": label}})
            asked.append({"threshold": least, "compared": compared, **flags, "wanted": wanted, "calls": made})
        given = {"threshold": least, "evaluation_params": ",".join(compared), **{key: str(value).lower() for key, value in flags.items()}}
        options = [part for name, value in given.items() for part in ["--param", f"{name}={value}"]]
        judged = verdicts(aver, "cases.json", {"cases.json": json.dumps(found)}, runs, *options)
        for one, here, there in zip(asked, judged, expected):
            tally.add(one, here[0] if here else "none", there)
    return tally.show()


if __name__ == "__main__":
    program, number = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 400
    choices = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    sys.exit(1 if sum(one(program, number, choices) for one in [beside_pydantic, beside_adk, beside_deepeval]) else 0)
