//! Tests that the linter's claims about conditions hold on every generated run.
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_base::truth::Verdict;
use averment_checker::files::Memory;
use averment_checker::{CheckOptions, check_rules};
use averment_fixtures::Rules;
use averment_ide::lint::{LintLevel, LintLevels, LintOptions, lint_file};
use proptest::prelude::*;
use std::cell::Cell;

/// Values of a path; the empty text means a missing value.
const VALUES: &[&str] = &[
    "",
    "null",
    "true",
    "false",
    "0",
    "1",
    "2",
    "2.5",
    "3",
    "-1",
    "5",
    "\"\"",
    "\"a\"",
    "\"ab\"",
    "\"b\"",
    "\"abc\"",
    "\"Ab\"",
    "[]",
    "[\"a\"]",
    "[1, \"ab\"]",
    "{}",
    "{\"a\": 1}",
];

/// Returns runs with every pair of values, and with calls.
fn runs() -> Vec<String> {
    let mut all = Vec::new();
    for (index, a) in VALUES.iter().enumerate() {
        for (other, b) in VALUES.iter().enumerate() {
            let entry =
                |key: &str, value: &str| if value.is_empty() { None } else { Some(format!("\"{key}\": {value}")) };
            let fields: Vec<String> = [entry("a", a), entry("b", b)].into_iter().flatten().collect();
            let number = (index * 7 + other * 3) % 5;
            let tools = ["refund", "approve", "admin_x", "search", "refund"];
            let calls: Vec<String> = (0..number)
                .map(|at| {
                    let tool = tools[(index + other * at) % tools.len()];
                    format!(
                        "{{\"tool\": \"{tool}\", \"args\": {{\"amount\": {}}}, \"status\": \"ok\"}}",
                        (at + other) % 5
                    )
                })
                .collect();
            all.push(format!("{{\"output\": {{{}}}, \"calls\": [{}]}}", fields.join(", "), calls.join(", ")));
        }
    }
    all
}

fn atom() -> impl Strategy<Value = String> {
    let path = prop::sample::select(vec!["output.a", "output.a", "output.b", "length(output.a)"]);
    let number = prop::sample::select(vec!["0", "1", "2", "2.5", "3", "-1"]);
    let text = prop::sample::select(vec!["\"a\"", "\"ab\"", "\"b\"", "\"\"", "\"A\""]);
    let sign = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    let text_test = prop::sample::select(vec![
        "==",
        "!=",
        "contains",
        "not contains",
        "starts with",
        "not starts with",
        "ends with",
        "icontains",
    ]);
    let plain = prop::sample::select(vec![
        "exists",
        "not exists",
        "is missing",
        "is not missing",
        "is empty",
        "is not empty",
        "is number",
        "is not number",
        "is string",
        "is boolean",
        "is list",
        "is null",
        "is not null",
        "is integer",
        "is object",
        "== null",
        "== true",
        "!= false",
        "in 1..3",
        "not in 1..3",
        "in [1, \"a\", null]",
        "not in [2, \"b\"]",
        "in [0..1, 3]",
        "matches /^a/",
        "not matches /^ab$/",
        "matches /b/",
        "in 2..",
        "!= output.b",
        "== output.b",
        "< output.b",
        "> output.b",
    ]);
    prop_oneof![
        3 => (path.clone(), sign, number).prop_map(|(path, sign, number)| format!("{path} {sign} {number}")),
        3 => (path.clone(), text_test, text).prop_map(|(path, test, text)| format!("{path} {test} {text}")),
        3 => (path.clone(), plain).prop_map(|(path, test)| format!("{path} {test}")),
        1 => path.prop_map(str::to_owned),
    ]
}

fn condition() -> impl Strategy<Value = String> {
    atom().prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            3 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) and ({b})")),
            3 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) or ({b})")),
            1 => inner.clone().prop_map(|a| format!("not ({a})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({a}) implies ({b})")),
            1 => (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| format!("if {a} then ({b}) else ({c})")),
        ]
    })
}

fn statement() -> impl Strategy<Value = String> {
    let tool = || {
        prop::sample::select(vec![
            "refund",
            "refund(amount > 2)",
            "refund(amount > 2, amount < 4)",
            "admin_*",
            "approve",
            "any",
            "search",
        ])
    };
    let sign = prop::sample::select(vec!["==", "<", "<=", ">", ">=", "!="]);
    prop_oneof![
        tool().prop_map(|tool| format!("require {tool}")),
        tool().prop_map(|tool| format!("never {tool}")),
        (tool(), 0..4_u32, 0..4_u32).prop_map(|(tool, least, most)| format!(
            "require {tool} {}..{} times",
            least.min(most),
            least.max(most)
        )),
        (tool(), sign, 0..4_u32).prop_map(|(tool, sign, number)| format!("count {tool} {sign} {number}")),
        (tool(), tool()).prop_map(|(a, b)| format!("before {a} -> {b}")),
        (tool(), tool()).prop_map(|(a, b)| format!("if {a} then {b}")),
        (tool(), tool()).prop_map(|(a, b)| format!("not both {a}, {b}")),
        (tool(), tool()).prop_map(|(a, b)| format!("either {a} or {b}")),
        (tool(), tool()).prop_map(|(a, b)| format!("only {a}, {b}")),
        (tool(), tool()).prop_map(|(a, b)| format!("sequence {a} -> {b}")),
        tool().prop_map(|tool| format!("first {tool}")),
        tool().prop_map(|tool| format!("last {tool}")),
        tool().prop_map(|tool| format!("some {tool}: args.amount > 1")),
        (0..4_u32).prop_map(|number| format!("length(calls) > {number}")),
    ]
}

/// Returns the linter's findings in a text; `None` if it does not check.
fn found(text: &str) -> Option<(SourceMap, Vec<Diagnostic>)> {
    let mut map = SourceMap::default();
    let root = map.add_file(SourceFile::new("rules.assert", None, text));
    let checked = check_rules(&mut map, root, &CheckOptions { limits: Limits::default(), files: &Memory::default() });
    let options = LintOptions { levels: LintLevels { least: Some(LintLevel::Info), ..LintLevels::default() } };
    (!checked.diagnostics.has_errors()).then(|| lint_file(&map, root, &checked, &options).0).map(|found| (map, found))
}

/// Returns the verdicts of each assertion of a text on every run.
fn verdicts(text: &str) -> Vec<Vec<Verdict>> {
    let rules = Rules::from_text("rules.assert", text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    runs().iter().map(|run| rules.check_json(run).unwrap().results.iter().map(|one| one.verdict).collect()).collect()
}

fn holds(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Pass | Verdict::Vacuous)
}

/// Tests every claim about one condition.
fn try_condition(text: &str, claims: &Cell<usize>) {
    let Some((map, found)) = found(text) else { return };
    for one in found {
        let part = map.span_text(one.span).to_owned();
        let claim = |program: &str| {
            claims.set(claims.get() + 1);
            verdicts(program).into_iter().map(|all| all[0]).collect::<Vec<_>>()
        };
        match one.slug {
            Slug::Impossible => assert!(!claim(text).into_iter().any(holds), "{text}\nis said to be impossible"),
            Slug::AlwaysTrue | Slug::CountAlwaysTrue => {
                assert!(!claim(text).contains(&Verdict::Fail), "{text}\nis said to be always true");
            }
            Slug::ConstantCondition => {
                let all = claim(&part);
                let never = one.message.contains("never");
                let wrong = if never { all.into_iter().any(holds) } else { all.contains(&Verdict::Fail) };
                assert!(!wrong, "{text}\n`{part}`: {}", one.message);
            }
            _ => {}
        }
    }
}

/// Tests every claim about two assertions of one rule.
fn try_pair(a: &str, b: &str, claims: &Cell<usize>) {
    let text = format!("rule both \"both\" {{\n{a}\n{b}\n}}");
    let Some((map, found)) = found(&text) else { return };
    for one in found {
        if !matches!(one.slug, Slug::Contradictory | Slug::Shadowed | Slug::DuplicateAssertion) {
            continue;
        }
        claims.set(claims.get() + 1);
        let weak = map.line_column(one.span).line - 2;
        for (run, verdict) in runs().iter().zip(verdicts(&text)) {
            let (weak, strong) = (verdict[weak], verdict[1 - weak]);
            let wrong = match one.slug {
                Slug::Contradictory => holds(weak) && holds(strong),
                Slug::Shadowed => holds(strong) && weak == Verdict::Fail,
                _ => holds(strong) && weak == Verdict::Fail || holds(weak) && strong == Verdict::Fail,
            };
            assert!(!wrong, "{text}\non {run}: {} {weak:?} {strong:?}", one.slug.as_str());
        }
        if let Some(witness) = &one.witness {
            let rules = Rules::from_text("rules.assert", &text).unwrap();
            let outcome = rules.check_json(&witness.run).unwrap();
            assert_eq!(outcome.results[weak].verdict, Verdict::Fail, "{text}\non {}", witness.run);
            assert!(holds(outcome.results[1 - weak].verdict), "{text}\non {}", witness.run);
        }
    }
}

/// Runs a test on generated inputs; asserts a minimum number of claims, because otherwise nothing was tested.
fn with_cases<S: Strategy>(cases: u32, least: usize, strategy: S, test: impl Fn(S::Value, &Cell<usize>)) {
    let mut config = ProptestConfig::with_cases(cases);
    config.failure_persistence = None;
    let mut runner = proptest::test_runner::TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let claims = Cell::new(0);
    runner
        .run(&strategy, |value| {
            test(value, &claims);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(claims.get() >= least, "only {} claims were made", claims.get());
}

#[test]
fn what_is_said_to_be_impossible_or_always_true_is_so_on_every_run() {
    with_cases(1_000, 40, condition(), |text, claims| try_condition(&text, claims));
}

#[test]
fn conditions_that_are_said_to_contradict_or_follow_do_so_on_every_run() {
    with_cases(400, 10, (condition(), condition()), |(a, b), claims| try_pair(&a, &b, claims));
    with_cases(500, 10, (atom(), atom()), |(a, b), claims| try_pair(&a, &b, claims));
}

#[test]
fn statements_that_are_said_to_contradict_or_follow_do_so_on_every_run() {
    with_cases(600, 15, (statement(), statement()), |(a, b), claims| {
        try_condition(&a, claims);
        try_pair(&a, &b, claims);
    });
}

/// Generates conditions as people write them, with redundant parts.
fn wordy() -> impl Strategy<Value = String> {
    let path = prop::sample::select(vec!["output.a", "output.b", "(output.a)", "((output.b))"]);
    let value = prop::sample::select(vec!["1", "2.5", "\"a\"", "\"\"", "true", "null"]);
    let test = prop::sample::select(vec![
        "matches /ab/",
        "matches /^a/",
        "matches /b$/",
        "not matches /^ab$/",
        "matches /ab/i",
        "matches /.*b/",
        "matches /a.*/",
        "not matches /A/i",
        "matches /^1$/i",
        "in [1]",
        "not in [\"a\"]",
        "is not empty",
        "not exists",
        "does not contain \"b\"",
        "does not match /b/",
        "is not string",
        "!= 1",
        "!= (2)",
    ]);
    let sign = prop::sample::select(vec!["==", "!=", "<", "<=", ">", ">="]);
    let atom = prop_oneof![
        (value, sign, path.clone()).prop_map(|(value, sign, path)| format!("{value} {sign} {path}")),
        (path, test).prop_map(|(path, test)| format!("{path} {test}")),
    ];
    atom.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            2 => inner.clone().prop_map(|a| format!("not ({a})")),
            1 => inner.clone().prop_map(|a| format!("not not ({a})")),
            1 => inner.clone().prop_map(|a| format!("not(({a}))")),
            1 => inner.clone().prop_map(|a| format!("({a}) == true")),
            1 => inner.clone().prop_map(|a| format!("({a}) == false")),
            1 => inner.clone().prop_map(|a| format!("(if {a} then true else false)")),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a} or ({b}) and {a}")),
            1 => (inner.clone(), inner).prop_map(|(a, b)| format!("({a})and({b})")),
        ]
    })
}

#[test]
fn fixes_change_no_verdict() {
    with_cases(1_500, 300, wordy(), |text, claims| {
        let mut fixed = text.clone();
        for _ in 0..12 {
            let Some((_, found)) = found(&fixed) else { return };
            let found = averment_base::diagnostic::Diagnostics(found);
            let change = averment_ide::lint::fix::apply_fixes(&fixed, averment_base::source::FileId(0), &found);
            if change.applied == 0 {
                break;
            }
            assert!(self::found(&change.text).is_some(), "{fixed}\nbecomes\n{}", change.text);
            claims.set(claims.get() + change.applied);
            fixed = change.text;
        }
        if fixed != text && claims.get() % 4 == 0 {
            assert!(verdicts(&text) == verdicts(&fixed), "{text}\nbecomes\n{fixed}");
        }
    });
}
