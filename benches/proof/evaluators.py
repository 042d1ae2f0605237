"""What other packages decide about expected calls: their own functions, taken out of their modules.

Importing the packages would ask for model providers and their keys. So the functions that compare calls are compiled from the installed source,
and nothing else of it runs.
"""
import __future__
import ast
import json
import os
import re
from types import SimpleNamespace


def load(path, names, given=None):
    """The definitions of these names in a module (a method is `Class.method`), with what they need of it given by hand."""
    with open(path, encoding="utf-8") as text:
        tree = ast.parse(text.read())
    wanted = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            wanted += [one for one in node.body if isinstance(one, ast.FunctionDef) and "%s.%s" % (node.name, one.name) in names]
        elif getattr(node, "name", None) in names or isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) in names:
            wanted.append(node)
    for node in wanted:
        node.decorator_list = []
    found = dict(given or {})
    exec(compile(ast.Module(wanted, []), path, "exec", __future__.annotations.compiler_flag), found)
    return found


def messages(groups):
    """Calls as OpenAI tells them: the calls of a group stand in one message of the assistant."""
    told = [{"role": "user", "content": "Do it."}]
    for group in groups:
        told.append({"role": "assistant", "content": "", "tool_calls": [
            {"id": "", "type": "function", "function": {"name": call["tool"], "arguments": json.dumps(call["args"])}} for call in group]})
        told += [{"role": "tool", "content": "ok", "tool_call_id": ""} for _ in group]
    return told + [{"role": "assistant", "content": "Done."}]


class Agentevals:
    def __init__(self, folder):
        of = lambda name: os.path.join(folder, "agentevals", "trajectory", name + ".py")
        shared = load(of("utils"), {
            "_normalize_tool_call", "_extract_tool_calls", "_is_trajectory_superset", "_exact_match", "_subset_match", "_superset_match", "_ignore_match",
            "_get_matcher_for_comparison_mode", "_get_partial_matcher_on_keys", "_get_matcher_for_tool_name"}, {"json": json})
        shared["_normalize_to_openai_messages_list"] = lambda given: given
        self.modes = {mode: load(of(mode), {"_scorer"}, shared)["_scorer"] for mode in ("strict", "unordered", "superset", "subset")}

    def ask(self, mode, case):
        trajectory, arguments = mode
        made = messages(case["made"])
        return self.modes[trajectory](outputs=made, reference_outputs=messages(case["expected"]), tool_args_match_mode=arguments), None


class DeepEval:
    def __init__(self, folder):
        hashing = load(os.path.join(folder, "deepeval", "test_case", "llm_test_case.py"), {"_make_hashable", "ToolCall.__eq__", "ToolCall.__hash__"})
        self.call = type("ToolCall", (SimpleNamespace,), {"__eq__": hashing["__eq__"], "__hash__": hashing["__hash__"]})
        hashing["ToolCall"] = self.call
        methods = ("_calculate_score", "_calculate_exact_match_score", "_calculate_non_exact_match_score", "_compute_weighted_lcs", "_compare_dicts")
        self.params = SimpleNamespace(INPUT_PARAMETERS="input", OUTPUT="output")
        loaded = load(os.path.join(folder, "deepeval", "metrics", "tool_correctness", "tool_correctness.py"),
                      {"ToolCorrectnessMetric." + name for name in methods}, {"ToolCallParams": self.params})
        self.metric = type("Metric", (SimpleNamespace,), {name: loaded[name] for name in methods})

    def ask(self, mode, case):
        order, arguments = mode
        calls = lambda groups: [self.call(name=call["tool"], type="function", input_parameters=call["args"], output=call.get("output")) for group in groups for call in group]
        metric = self.metric(tools_called=calls(case["made"]), expected_tools=calls(case["expected"]), should_exact_match=order == "exact",
                             should_consider_ordering=order == "ordered", strict_mode=False, threshold=0.5,
                             evaluation_params=[self.params.INPUT_PARAMETERS] if arguments == "arguments" else [])
        score = metric._calculate_score()
        return score >= 0.5, score


class Bfcl:
    def __init__(self, folder):
        path = os.path.join(folder, "bfcl_eval", "eval_checker", "ast_eval", "ast_checker.py")
        with open(path, encoding="utf-8") as text:
            names = set(re.findall(r"^def (\w+)|^([A-Z_]+) =", text.read(), re.M))
        language = SimpleNamespace(PYTHON="python", JAVA="java", JAVASCRIPT="javascript")
        self.checker = load(path, {one or other for one, other in names}, {"re": re, "Language": language})["ast_checker"]

    def ask(self, mode, case):
        calls = [{call["tool"]: call["args"]} for group in case["made"] for call in group]
        wanted = [{call["tool"]: call["accepted"]} for group in case["expected"] for call in group]
        return self.checker(case["functions"], calls, wanted, "python", mode[0], "none")["valid"], None


class Tau2:
    def __init__(self, folder):
        loaded = load(os.path.join(folder, "tau2", "tasks.py"), {"_normalize_action_arg_value", "Action.compare_with_tool_call"}, {"json": json})
        self.compare = loaded["compare_with_tool_call"]

    def ask(self, mode, case):
        made = [SimpleNamespace(name=call["tool"], arguments=call["args"]) for group in case["made"] for call in group]
        keys = lambda call: None if mode[0] == "all arguments" else call["compare_args"]
        wanted = [SimpleNamespace(name=call["tool"], arguments=call["args"], compare_args=keys(call)) for group in case["expected"] for call in group]
        return all(any(self.compare(action, call) for call in made) for action in wanted), None


class Adk:
    def __init__(self, folder):
        self.of = {"exact": "_are_tool_calls_exact_match", "in order": "_are_tool_calls_in_order_match", "any order": "_are_tool_calls_any_order_match"}
        self.methods = load(os.path.join(folder, "google", "adk", "evaluation", "trajectory_evaluator.py"), {"TrajectoryEvaluator." + name for name in self.of.values()})

    def ask(self, mode, case):
        calls = lambda groups: [SimpleNamespace(name=call["tool"], args=call["args"]) for group in groups for call in group]
        return self.methods[self.of[mode[0]]](SimpleNamespace(_ignore_args=mode[1] == "ignored"), calls(case["made"]), calls(case["expected"])), None
