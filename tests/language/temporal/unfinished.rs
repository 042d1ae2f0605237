//! Runs that are not complete: only what no longer run can change is said.

use crate::temporal::run::{check, rules, run, verdicts};
use averment_base::truth::Verdict::{self, Fail, Pass, Undecided};
use serde_json::Value;

#[test]
fn what_is_for_good() {
    check(&[
        ("require a", &[("a ...", Pass), ("...", Undecided)]),
        ("require a 1..2 times", &[("a ...", Undecided), ("a a a ...", Fail)]),
        ("require a 1.. times", &[("a ...", Pass)]),
        ("require a(id: $x) 1.. times", &[(r#"a{"id":1} ..."#, Undecided)]),
        ("count a <= 1", &[("a ...", Undecided), ("a a ...", Fail)]),
        ("count a == 1", &[("a ...", Undecided), ("a a ...", Fail), ("...", Undecided)]),
        ("count a in [1, 3]", &[("a a ...", Undecided), ("a a a a ...", Fail)]),
        ("count a >= 1", &[("a ...", Pass), ("...", Undecided)]),
        ("never a", &[("b ...", Undecided), ("a ...", Fail)]),
        ("only a", &[("a ...", Undecided), ("b ...", Fail)]),
        ("first a", &[("a ...", Pass), ("b ...", Fail), ("...", Undecided)]),
        ("last a", &[("a ...", Undecided), ("b ...", Undecided)]),
        ("before a -> b", &[("a b ...", Undecided), ("b ...", Fail)]),
        ("after a -> b", &[("a ...", Undecided), ("a b ...", Undecided)]),
        ("after a -> b within 1 call", &[("a ...", Undecided), ("a x ...", Fail), ("a- a x x ...", Fail)]),
        ("after a -> b within 1 turn", &[("a@1 x@2 ...", Undecided), ("a@1 x@3 ...", Fail)]),
        ("after a -> b within 1s", &[("a+0 x+1000 ...", Undecided), ("a+0 x+1001 ...", Fail)]),
        ("after each a -> b", &[("a a ...", Fail), ("a ...", Undecided)]),
        ("immediately before a -> b", &[("b ...", Fail), ("a b ...", Undecided)]),
        ("immediately after a -> b", &[("a ...", Undecided), ("a x ...", Fail)]),
        ("sequence a -> b", &[("a b ...", Pass), ("a ...", Undecided)]),
        ("sequence only a -> b", &[("b ...", Fail), ("a b b ...", Fail), ("a ...", Undecided), ("a b ...", Undecided)]),
        ("sequence exactly a -> b", &[("a x ...", Fail), ("a b c ...", Fail), ("a b ...", Undecided)]),
        ("flow a -> (b)* -> c", &[("a b ...", Undecided), ("a x ...", Fail), ("a c ...", Undecided)]),
        ("never b after a", &[("a b ...", Fail), ("a ...", Undecided)]),
        ("never b before a", &[("b a ...", Fail), ("b ...", Undecided)]),
        ("never b between a and c", &[("a b c ...", Fail), ("a b ...", Undecided)]),
        ("together a, b", &[("a@1 b@1 ...", Pass)]),
        ("apart a, b", &[("a@1 b@1 ...", Fail), ("a@1 b@2 ...", Undecided)]),
        ("if a then b", &[("a ...", Undecided), ("a b ...", Undecided)]),
        ("a iff b", &[("a ...", Undecided)]),
        ("either a or b", &[("b ...", Pass)]),
        ("not both a, b", &[("a b ...", Fail)]),
        ("never repeat a more than 1 times", &[("a a ...", Fail), ("a ...", Undecided)]),
        ("each a: args.n == 1", &[(r#"a{"n":2} ..."#, Fail), (r#"a{"n":1} ..."#, Undecided)]),
        ("some a: args.n == 1", &[(r#"a{"n":1} ..."#, Pass), ("...", Undecided)]),
        ("no a: args.n == 1", &[(r#"a{"n":1} ..."#, Fail)]),
        ("after a { never b }", &[("a b ...", Fail), ("a ...", Undecided), ("...", Undecided)]),
        ("before a { never b }", &[("a ...", Pass), ("b a ...", Fail), ("...", Undecided)]),
        ("after a until c { require b }", &[("a c ...", Fail), ("a b c ...", Undecided)]),
    ]);
}

/// The verdicts of every beginning of a run, and of the whole.
#[test]
fn what_was_said_of_a_beginning_stays() {
    let texts = [
        "require a",
        "count a <= 2",
        "never b after a until c",
        "before a -> b",
        "after a -> b within 2 calls",
        "after each a -> b",
        "sequence a -> b -> c",
        "sequence only a -> b",
        "flow (a | b)* -> c",
        "first a",
        "never b between a and c",
        "never repeat a more than 2 times",
        "immediately after a -> b",
        "before a { never b }",
        "after a until c { require b }",
        "not both a, c",
        "some b: index > 1",
    ];
    let rules = rules(&texts.join("\n"));
    for word in words(6) {
        let whole = verdicts(&rules, &run(&word));
        let tools: Vec<&str> = word.split(' ').collect();
        for length in 0..tools.len() {
            let early: Value = run(&format!("{} ...", tools[..length].join(" ")));
            for (said, (at, finally)) in verdicts(&rules, &early).into_iter().zip(whole.iter().enumerate()) {
                let settled = matches!(said, Verdict::Pass | Verdict::Fail);
                assert!(
                    !settled || said == *finally,
                    "{}: {said:?} after {length} of {word}, then {finally:?}",
                    texts[at]
                );
            }
        }
    }
}

/// All words of some length over three tools, thinned out.
fn words(length: usize) -> Vec<String> {
    let count = 3_usize.pow(u32::try_from(length).unwrap());
    let tool = |word: usize, at: usize| ["a", "b", "c"][word / 3_usize.pow(u32::try_from(at).unwrap()) % 3];
    (0..count).step_by(2).map(|word| (0..length).map(|at| tool(word, at)).collect::<Vec<_>>().join(" ")).collect()
}

/// What a bare expression says of the steps of the whole run, in every comparison, also within other statements.
const HEADS: [&str; 16] = [
    "length(calls)",
    "length(calls[*].args.n)",
    "length(calls where it.tool == \"a\")",
    "(count x in calls: x.tool == \"a\")",
    "(count a) + 0",
    "length(args.n of a)",
    "sum(args.n of a)",
    "max(args.n of a)",
    "first(args.n of a)",
    "last(args.n of a)",
    "calls[0].args.n",
    "calls[-1].args.n",
    "calls[1].args.n",
    "cost",
    "run.cost",
    "turns",
];

/// The same call by call, with what it costs and with turns.
fn beginning(length: usize, complete: bool) -> String {
    let calls = [("a", 1), ("b", 3), ("a", 2), ("a", 4), ("c", 1)];
    let call = |(turn, (tool, n)): (usize, &(&str, i64))| serde_json::json!({"tool": tool, "args": {"n": n}, "turn": turn + 1, "result": n});
    let calls: Vec<Value> = calls.iter().take(length).enumerate().map(call).collect();
    serde_json::json!({"calls": calls, "cost": length as f64, "turns": length, "complete": complete}).to_string()
}

#[test]
fn what_an_expression_says_of_a_run_that_goes_on_stays() {
    let tests = ["<= 2", "< 2", ">= 2", "> 2", "== 2", "!= 2", "in 1..2", "not in 1..2"];
    let mut expressions: Vec<String> =
        HEADS.iter().flat_map(|head| tests.iter().map(move |test| format!("{head} {test}"))).collect();
    expressions.extend(
        [
            "all c in calls: c.args.n <= 2",
            "any c in calls: c.args.n > 2",
            "no c in calls: c.tool == \"c\"",
            "calls[*].tool contains \"c\"",
            "calls[*].tool not contains \"c\"",
            "calls is empty",
            "calls is not empty",
            "commands is empty",
            "count a == count b",
            "count a != count b",
            "length(calls) >= 2 and length(calls) <= 4",
            "length(calls) >= 2 or length(calls) <= 4",
            "length(calls) <= 2 implies calls[*].tool contains \"b\"",
            "2 <= length(calls)",
            "2 >= length(calls)",
        ]
        .map(str::to_owned),
    );
    let around: [(&str, bool); 9] = [
        ("X", false),
        ("not (X)", false),
        ("none of { X }", true),
        ("any of { X; never zz }", false),
        ("each a: X", true),
        ("some a: X", true),
        ("no a: X", true),
        ("require (a where X)", true),
        ("each a { X }", false),
    ];
    let mut decided = 0;
    for expression in &expressions {
        for (around, fails_for_good) in around {
            // A comparison of counts is a statement.
            let statement =
                around.replace("not (X)", if expression.starts_with("count") { "not X" } else { "not (X)" });
            let rule = statement.replace('X', expression);
            let Ok(rules) = averment::Rules::from_text("r.assert", &rule) else { continue };
            let verdict = |length: usize, complete: bool| {
                let outcome = rules.check_one(&*beginning(length, complete)).unwrap();
                outcome.results().next().map(|result| result.verdict()).unwrap()
            };
            for early in 0..5 {
                let said = verdict(early, false);
                if said != Pass && !(said == Fail && fails_for_good) {
                    continue;
                }
                decided += 1;
                for late in early..=5 {
                    for complete in [false, true] {
                        if late > early || complete {
                            assert_eq!(
                                verdict(late, complete),
                                said,
                                "`{rule}` after {early} and {late} calls, {complete}"
                            );
                        }
                    }
                }
            }
        }
    }
    assert!(decided > 300, "only {decided} were decided early");
}

#[test]
fn an_undecided_verdict_tells_its_cause() {
    use averment::UndecidedCause::{Missing, Open, Owed};
    let rows = [
        ("never b", r#"{"calls": [{"tool": "a"}], "complete": false}"#, Some(Open)),
        ("some a: count b == 0", r#"{"calls": [{"tool": "a"}], "complete": false}"#, Some(Open)),
        ("not each a: count b >= 1", r#"{"calls": [{"tool": "a"}], "complete": false}"#, Some(Open)),
        ("some a: (count b so far) == 0", r#"{"calls": [{"tool": "a"}], "complete": false}"#, None),
        ("not count b == count c", r#"{"calls": [{"tool": "c"}], "complete": false}"#, Some(Open)),
        ("none of { count b == count c }", r#"{"calls": [{"tool": "c"}], "complete": false}"#, Some(Open)),
        ("after a -> b", r#"{"calls": [{"tool": "a"}], "complete": false}"#, Some(Owed)),
        ("require b", r#"{"calls": [{"tool": "a"}], "complete": false}"#, Some(Owed)),
        ("length(calls) <= 5", r#"{"calls": [{"tool": "a"}], "complete": false}"#, Some(Open)),
        ("after a { never b }", r#"{"calls": [{"tool": "a"}], "complete": false}"#, Some(Open)),
        ("all of { never b; require b }", r#"{"calls": [{"tool": "a"}], "complete": false}"#, Some(Owed)),
        ("never b between a and c", r#"{"calls": [{"tool": "a"}, {"tool": "b"}]}"#, Some(Open)),
        ("output contains \"x\"", r#"{"calls": []}"#, Some(Missing)),
        ("never a failed", r#"{"calls": [{"tool": "a"}]}"#, Some(Missing)),
        ("never user", r#"{"calls": []}"#, Some(Missing)),
        ("all of { never user; require b }", r#"{"calls": [], "complete": false}"#, Some(Missing)),
        ("never b", r#"{"calls": [{"tool": "a"}]}"#, None),
    ];
    for (rule, run, cause) in rows {
        let outcome = averment::Rules::from_text("r.assert", rule).unwrap().check_one(run).unwrap();
        assert_eq!(outcome.results().next().unwrap().because(), cause, "{rule} on {run}");
    }
}

/// Whatever the statement, a run that died speaks for nobody, and what had to come did not.
#[test]
fn a_run_that_died_passes_nothing() {
    let runs = [
        r#"{"calls": [], "error": "API down"}"#,
        r#"{"steps": [], "error": {"code": 500}}"#,
        r#"{"calls": [], "messages": [{"role": "user", "text": "go"}], "error": true}"#,
    ];
    let rules = [
        "never delete_*",
        "never a, b",
        "never command \"rm\"",
        "count a <= 3",
        "count a == 0",
        "require a ..2 times",
        "only a",
        "flow (a)?",
        "before a -> b",
        "after a -> b",
        "never b after a",
        "never b before a",
        "never b between a and c",
        "apart a, b",
        "if a then b",
        "not both a, b",
        "never repeat a more than 2 times",
        "no a: args.n == 1",
        "each a: args.n == 1",
        "not require a",
        "not first a",
        "not sequence a -> b",
        "not either a or b",
        "none of { require a }",
        "length(calls) <= 5",
        "no c in calls: c.tool == \"a\"",
        "all c in calls: c.ok",
        "calls is empty",
        "calls[*].tool not contains \"a\"",
        "not length(calls) >= 1",
        "sum(args.n of a) <= 5",
        "(count a) + 0 <= 5",
        "after a { never b }",
        "each a { never b }",
        "all of { never a; count b <= 1 }",
    ];
    for run in runs {
        for rule in rules {
            let rules = averment::Rules::from_text("r.assert", rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
            let outcome = rules.check_one(run).unwrap();
            let result = outcome.results().next().unwrap();
            let open = result.verdict() == Undecided && rule.contains("command");
            assert!(open || result.verdict() == Verdict::Vacuous, "{rule} on {run}: {:?}", result.verdict());
        }
    }
    for rule in ["require a", "first a", "count a >= 1", "length(calls) >= 1", "some a: args.n == 1"] {
        let outcome = averment::Rules::from_text("r.assert", rule).unwrap().check_one(runs[0]).unwrap();
        assert_eq!(outcome.results().next().unwrap().verdict(), Fail, "{rule}");
    }
}
