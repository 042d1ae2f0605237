//! Suites of agentv and gradings of tolokaforge: verdicts on runs, and diagnostics of broken files.

use crate::promptfoo::{Imported, import_file};
use averment::Verdict::{self, Fail, Pass, Skipped, Undecided, Vacuous};
use serde_json::{Value as Json, json};

/// Returns the verdicts of a file on a run.
fn judge(name: &str, text: &str, beside: &[(&str, &str)], run: &Json) -> Vec<Verdict> {
    match import_file(name, text, beside, false) {
        Imported::Refused(said) => panic!("{text}: {said}"),
        Imported::Rules { rules, text } => {
            let outcome = rules.check_one(run.to_string()).unwrap_or_else(|error| panic!("{error}\n{text}"));
            outcome.results().map(|one| one.verdict()).collect()
        }
    }
}

fn refused(name: &str, text: &str) -> String {
    match import_file(name, text, &[("bad.yaml", "- id: [")], false) {
        Imported::Refused(said) => said,
        Imported::Rules { text, .. } => panic!("it was read: {text}"),
    }
}

fn suite(assertion: &str) -> String {
    format!("tests:\n  - id: one\n    input: ask\n    vars: {{name: Bob}}\n    assert:\n      - {assertion}\n")
}

#[test]
fn assertions_of_agentv_are_judged() {
    let run = json!({
        "prompt": "ask", "output": " Hello Bob. ", "cost": 0.02, "duration": 300, "skills": [{"name": "pay"}],
        "usage": {"input_tokens": 50, "output_tokens": 20},
        "calls": [{"tool": "a", "args": {"x": 1}, "result": 1, "status": "ok"}, {"tool": "b", "args": {}, "result": 1, "status": "ok"}],
    });
    for (assertion, verdict) in [
        ("{type: contains, value: 'Hello {{name}}'}", Pass),
        ("{type: contains, value: bob}", Fail),
        ("{type: contains, value: bob, negate: true}", Pass),
        ("{type: icontains-all, value: [BOB, hello]}", Pass),
        ("{type: contains-any, value: [zz, Bob]}", Pass),
        ("{type: equals, value: 'Hello Bob.'}", Pass),
        ("{type: starts-with, value: Hello}", Pass),
        ("{type: ends-with, value: Bob}", Fail),
        ("{type: regex, value: bob, flags: gi}", Pass),
        ("{type: is-json}", Fail),
        ("{type: latency, threshold: 299}", Fail),
        ("{type: cost, budget: 0.02}", Pass),
        ("{type: token-usage, max_total: 69}", Fail),
        ("{type: execution-metrics, max_tool_calls: 2}", Pass),
        ("{type: execution-metrics, max_llm_calls: 2}", Undecided),
        ("{type: 'trajectory:tool-used', value: [a, b]}", Pass),
        ("{type: 'not-trajectory:tool-used', value: [a, z]}", Fail),
        ("{type: 'trajectory:tool-sequence', value: [b, a]}", Fail),
        ("{type: 'trajectory:tool-args-match', value: {name: a, args: {x: 1}}}", Pass),
        ("{type: 'trajectory:step-count', value: {max: 9}}", Undecided),
        ("{type: tool-trajectory, mode: in_order, expected: [{tool: a}]}", Pass),
        ("{type: skill-used, value: pay}", Pass),
        ("{type: not-skill-used, value: [pay, call]}", Fail),
        ("{type: llm-rubric, value: kind}", Undecided),
        ("{type: our-plugin}", Undecided),
        ("It is kind", Undecided),
    ] {
        assert_eq!(judge("s.eval.yaml", &suite(assertion), &[], &run), [verdict], "{assertion}");
    }
    // If not all assertions have to pass, the mean decides. An assertion that is judged elsewhere may count either way.
    let some =
        suite("{type: contains, value: Bob, weight: 3}\n      - {type: contains, value: zz}\n    threshold: 0.75");
    assert_eq!(judge("s.eval.yaml", &some, &[], &run), [Pass, Fail, Pass]);
    let words = suite("{type: contains, value: zz, weight: 3}\n      - It is kind\n    threshold: 0.5");
    assert_eq!(judge("s.eval.yaml", &words, &[], &run), [Fail, Undecided, Fail]);
    let shared = "default_test: {vars: {word: Hello}}\nassert:\n  - include: ./more.yaml\ntests: cases.jsonl\n";
    let beside = [
        ("more.yaml", "assert:\n  - {type: contains, value: '{{word}}'}\n"),
        ("cases.jsonl", "{\"id\": \"one\", \"input\": \"ask\"}\n"),
    ];
    assert_eq!(judge("s.eval.yaml", shared, &beside, &run), [Pass]);
}

#[test]
fn broken_suites_of_agentv_are_refused_at_their_place() {
    for (assertion, message) in [
        ("{type: contain, value: a}", "6:16: there is no type of assertion `contain` (did you mean `contains`?)"),
        ("{type: contains_any, value: [a]}", "did you mean `contains-any`?"),
        ("{type: word-count, value: 3}", "6:16: agentv has no type of assertion `word-count`"),
        ("{type: not-contains, value: a}", "write `type: contains` with `negate: true`"),
        ("{type: contains}", "6:9: `contains` has no value"),
        ("{type: contains-any, value: a}", "6:37: `contains-any` has a text"),
        ("{type: regex, value: '('}", "6:30: `(` is no regular expression"),
        ("{type: contains, value: '{{ x '}", "6:33: the template cannot be filled"),
        ("{type: latency}", "6:9: `latency` has no `threshold`"),
        ("{type: contains, value: a, weight: heavy}", "6:44: `weight` is a text"),
        ("{type: assert-set, assert: []}", "6:9: the assertion set has no assertions"),
        ("{include: ./gone.yaml}", "6:19: the file `./gone.yaml` does not exist"),
        ("{type: tool-trajectory, mode: odd}", "6:39: there is no mode `odd`"),
        ("7", "6:9: an assertion is a number"),
    ] {
        let said = refused("s.eval.yaml", &suite(assertion));
        assert!(said.contains(message) && said.contains("s.eval.yaml:6:"), "{assertion}: {said}");
    }
    let said = refused("s.eval.yaml", "default_test: {}\ntests:\n  - bad.yaml\n");
    assert!(said.contains("bad.yaml:"), "{said}");
}

fn grading(require: &str, more: &str) -> String {
    format!(
        "combine: {{weights: {{trace_checks: 1}}}}\ntrace_checks:\n  constraints:\n    - id: one\n      description: it is so\n{more}      require:\n        {require}\n"
    )
}

fn call(tool: &str, args: &Json, status: &str) -> Json {
    json!({"kind": "call", "tool": tool, "args": args, "result": "r", "status": status, "turn": 1})
}

#[test]
fn constraints_of_tolokaforge_are_judged() {
    let run = json!({"prompt": "ask", "steps": [
        {"kind": "message", "role": "user", "text": "ask"},
        call("get", &json!({"id": "o-1", "deep": {"n": 5}, "none": null}), "ok"),
        call("pay", &json!({"id": "o-2"}), "failed"),
        {"kind": "message", "role": "assistant", "text": "Done o-2", "turn": 2},
    ]});
    let of = |kind: &str, more: &str| format!("{{match: {{kind: {kind}{more}}}}}");
    let tool = |name: &str| format!("{{kind: tool_call, tool: {{equals: {name}}}}}");
    let side = |quantifier: &str, name: &str| format!("{{quantifier: {quantifier}, match: {}}}", tool(name));
    let rows = [
        (format!("present: {}", of("tool_call", ", args: {deep.n: {gt: 4, lt: 6}}")), "", Pass),
        (format!("present: {}", of("tool_call", ", args: {none: {is_null: true}}")), "", Pass),
        (format!("present: {}", of("tool_call", ", args: {id: {in_: [o-2]}}, status: {equals: success}")), "", Fail),
        (format!("present: {}", of("tool_call", ", status: {equals: timeout}")), "", Undecided),
        (format!("present: {}", of("tool_call", ", executor: {equals: agent}")), "", Undecided),
        (format!("present: {}", of("assistant_message", ", text: {regex: 'o-\\d$'}")), "", Pass),
        (format!("absent: {}", of("tool_call", ", tool: {equals: drop}")), "", Vacuous),
        ("count: {match: {kind: tool_result, result: {contains: r}}, max: 1}".to_owned(), "", Fail),
        (format!("before: {{left: {}, right: {}}}", side("all", "get"), side("any", "pay")), "", Pass),
        (format!("before: {{left: {}, right: {}}}", side("first", "pay"), side("first", "get")), "", Fail),
        (
            format!("before: {{left: {}, right: {}}}", side("first", "zz"), side("first", "get")),
            "      on_missing: pass\n",
            Vacuous,
        ),
        (
            format!("before: {{left: {}, right: {}}}", side("first", "zz"), side("first", "get")),
            "      on_missing: withhold\n",
            Skipped,
        ),
        (
            format!(
                "immediately_before: {{left: {}, right: {}, among: tool_calls}}",
                side("any", "get"),
                side("any", "pay")
            ),
            "",
            Pass,
        ),
        (format!("absent_before: {{forbidden: {}, anchor: {}}}", tool("get"), side("first", "pay")), "", Fail),
        (
            format!(
                "absent_between: {{forbidden: {}, start: {}, end: {}}}",
                tool("zz"),
                side("first", "get"),
                side("last", "pay")
            ),
            "",
            Vacuous,
        ),
        (
            format!(
                "negate: {{all_of: [{{present: {{match: {}}}}}, {{present: {{match: {}}}}}]}}",
                tool("get"),
                tool("zz")
            ),
            "",
            Vacuous,
        ),
    ];
    for (require, more, verdict) in rows {
        let found = judge("grading.yaml", &grading(&require, more), &[], &run);
        assert_eq!(found.first(), Some(&verdict), "{require}");
    }
    let bind = |tool: &str| {
        format!(
            "      bind: {{match: {{kind: tool_call, tool: {{equals: {tool}}}}}, values: {{o: {{field: args.id}}}}}}\n"
        )
    };
    let told = "present: {match: {kind: assistant_message, text: {contains_binding: o}}}";
    for (tool, verdicts) in [("pay", [Pass, Pass, Pass]), ("get", [Fail, Pass, Fail]), ("zz", [Fail, Pass, Fail])] {
        assert_eq!(judge("grading.yaml", &grading(told, &bind(tool)), &[], &run), verdicts, "{tool}");
    }
}

#[test]
fn gates_routes_and_other_components_make_the_verdict_of_a_grading() {
    let run = json!({"prompt": "ask", "turns": 1, "steps": [
        call("get", &json!({}), "ok"), {"kind": "message", "role": "assistant", "text": "Your order is paid.", "turn": 1},
    ]});
    let last = |text: &str| *judge("grading.yaml", text, &[], &run).last().unwrap();
    let one = |id: &str, tool: &str, more: &str| {
        format!(
            "{{id: {id}, description: d, {more}require: {{present: {{match: {{kind: tool_call, tool: {{equals: {tool}}}}}}}}}}}"
        )
    };
    let gate = format!(
        "combine: {{weights: {{trace_checks: 1}}}}\ntrace_checks: {{constraints: [{}, {}]}}\n",
        one("a", "get", ""),
        one("b", "zz", "severity: gate, ")
    );
    // The score suffices, but the gate still fails the trial.
    assert_eq!(judge("grading.yaml", &gate, &[], &run), [Pass, Fail, Pass, Pass]);
    let routes = format!(
        "combine: {{weights: {{trace_checks: 1}}}}\ntrace_checks: {{alternatives: [{{id: r, description: d, constraints: [{}]}}, {{id: s, description: d, constraints: [{}]}}]}}\n",
        one("a", "zz", ""),
        one("b", "get", "")
    );
    assert_eq!(last(&routes), Pass);
    let others = |weight: &str, tool: &str| {
        format!(
            "combine: {{weights: {{trace_checks: 1, llm_judge: {weight}}}}}\nllm_judge: {{rubric: r}}\ntrace_checks: {{constraints: [{}]}}\n",
            one("a", tool, "")
        )
    };
    assert_eq!(
        (last(&others("1", "get")), last(&others("1", "zz")), last(&others("0.1", "get"))),
        (Undecided, Fail, Pass)
    );
    let transcript =
        |rules: &str| format!("combine: {{weights: {{transcript_rules: 1}}}}\ntranscript_rules: {{{rules}}}\n");
    for (rules, verdict) in [
        ("must_contain: [PAID], tool_expectations: {required_tools: [get], disallowed_tools: [drop]}", Pass),
        ("must_contain: [paid], disallow_regex: [your\\sorder]", Fail),
        ("min_assistant_turns: 2, must_contain: [paid]", Fail),
        ("required_actions: [{action_id: a, requestor: assistant, name: get}]", Pass),
        ("required_actions: [{action_id: a, requestor: user, name: get}]", Undecided),
    ] {
        assert_eq!(last(&transcript(rules)), verdict, "{rules}");
    }
}

#[test]
fn broken_gradings_are_refused_at_their_place() {
    for (require, message) in [
        ("presnt: {match: {kind: tool_call}}", "7:9: a constraint has no key `presnt` (did you mean `present`?)"),
        ("present: {match: {tool: {equals: a}}}", "7:26: a matcher has no `kind`"),
        (
            "present: {match: {kind: tool_cal}}",
            "7:33: there is no kind of events `tool_cal` (did you mean `tool_call`?)",
        ),
        ("present: {match: {kind: user_message, tool: {equals: a}}}", "7:47: events of this kind have no `tool`"),
        (
            "present: {match: {kind: tool_call, tool: {equal: a}}}",
            "a predicate has no key `equal` (did you mean `equals`?)",
        ),
        ("present: {match: {kind: tool_call, tool: {regex: '(?=a)'}}}", "7:58: `(?=a)` is no regular expression"),
        ("present: {match: {kind: tool_call, status: {equals: succes}}}", "did you mean `success`?"),
        ("present: {match: {kind: tool_call, args: {a: {equals_binding: x}}}}", "`x` is bound by nothing"),
        ("present: {match: {kind: tool_call, args: {a: {date_gt: soon}}}}", "`soon` is neither a date nor a time"),
        ("count: {match: {kind: tool_call}}", "`count` has neither `min` nor `max`"),
        ("before: {left: {quantifier: first, match: {kind: tool_call}}}", "the constraint has no `right`"),
        (
            "absent_before: {forbidden: {kind: tool_call}, anchor: {quantifier: any, match: {kind: tool_call}}}",
            "there is no quantifier of this side `any`",
        ),
        ("all_of: []", "`all_of` is a list"),
    ] {
        let said = refused("grading.yaml", &grading(require, ""));
        assert!(said.contains(message) && said.contains("grading.yaml:7:"), "{require}: {said}");
    }
    for (text, message) in [
        ("combine: {}\ntrace_checks: {constraints: []}\n", "grading.yaml:2:15: `trace_checks` has neither"),
        ("combine: {weight: {}}\ntrace_checks: {}\n", "1:11: `combine` has no key `weight` (did you mean `weights`?)"),
        ("trace_checks: {}\n", "grading.yaml:1:1: the file has no `combine`"),
    ] {
        let said = refused("grading.yaml", text);
        assert!(said.contains(message), "{text}: {said}");
    }
}
