//! Tests that parsing takes linear time in the length of a text, however its constructs are nested. It counts parser steps instead of measuring time.

use super::{Rule, parse_rule, with_stack};

/// Maximum number of steps for each byte. It is reached by a statement that is tried as each kind of statement in turn.
const MOST: usize = 300;

/// Constructs that can be nested: how each opens and closes. Every nesting form of the grammar has a row.
const OPENINGS: &[(&str, &str)] = &[
    // Values and their containers.
    ("(", ")"),
    ("[", "]"),
    ("[1, ", "]"),
    ("{ a: ", " }"),
    ("{ \"${", "}\": a }"),
    ("\"${", "}\""),
    ("\"\"\"a${", "}\"\"\""),
    ("f(", ")"),
    ("f(a, ", ")"),
    ("x.f(", ")"),
    ("a[", "]"),
    ("f(a).b[", "]"),
    ("$x[", "]"),
    ("(a)(", ")"),
    ("\"a\"[", "]"),
    // Prefix and infix operators.
    ("not ", ""),
    ("not(", ")"),
    ("-", ""),
    ("a + ", ""),
    ("f(a) * (", ")"),
    ("1%(", ")"),
    ("a .. ", ""),
    ("..", ""),
    ("a and ", ""),
    ("a or [", "]"),
    ("a implies ", ""),
    ("a | f(", ")"),
    // Conditions and quantifiers.
    ("if ", " then a else a"),
    ("if(", ")"),
    ("if a then ", " else a"),
    ("if a then a else ", ""),
    ("any x in ", ": a"),
    ("any x in xs: ", ""),
    ("no x in xs: (", ")"),
    ("count x in xs: ", ""),
    ("any(", ")"),
    // Tests.
    ("a == ", ""),
    ("a == b == ", ""),
    ("a in [", "]"),
    ("a not in ", ""),
    ("a contains ", ""),
    ("a contains any ", ""),
    ("a contains any -[", "]"),
    ("a contains any ..[", "]"),
    ("a contains any(", ")"),
    ("a contains all[", "]"),
    ("a contains json(", ")"),
    ("a is json(", ")"),
    ("a is empty(", ")"),
    ("a does not contain ", ""),
    ("a starts with ", ""),
    ("a matches \"${", "}\""),
    // Steps as values.
    ("count ", ""),
    ("count(", ")"),
    ("count (", ")"),
    ("count (a where ", ")"),
    ("count f(", ")"),
    ("count f(a: ", ")"),
    ("count f(a == ", ")"),
    ("count flow (", ")"),
    ("count proposed (", ")"),
    ("count proposed(a: ", ")"),
    ("count command \"a\"(", ")"),
    ("count \"${", "}\""),
    ("count a by \"${", "}\""),
    // Lists in parentheses.
    ("(a where ", ")"),
    ("(a of ", ")"),
    ("(a of [", "])"),
    ("(a of (", ") failed)"),
    ("(a of (calls where ", "))"),
    ("(a of f(", ") so far)"),
    ("f(a of $x where ", ")"),
    ("avg(a of runs by ", ")"),
    ("avg(a of runs by \"${", "}\")"),
    ("f(a of runs(", "))"),
    // Steps and flows.
    ("proposed (", ")"),
    ("proposed f(", ")"),
    ("f(a[", "]: a)"),
    ("f(\"a\": ", ")"),
    ("a | (", ")"),
    ("a where ", ""),
    ("command a(", ")"),
    ("user /a/(", ")"),
    ("/a/(", ")"),
    ("(a -> ", ")*"),
    ("(a | ", ")?"),
    ("a -> ", ""),
    // Statements, declarations and modifiers.
    ("when a {\n", "\n}"),
    ("when ", " { a }"),
    ("not any of {", "}"),
    ("each a {", "}"),
    ("each ", ": a"),
    ("each a: ", ""),
    ("before a {", "}"),
    ("between a and b {", "}"),
    ("rule r {\n", "\n}"),
    ("rule r when ", " { a }"),
    ("for each tool where ", " { a }"),
    ("require ", ""),
    ("no x in ", ""),
    ("if ", " then a"),
    ("in at least 2 of runs: ", ""),
    ("in at least 2 of runs by ", ": a"),
    ("a message \"${", "}\""),
    ("a when ", ""),
];

/// Beginnings of statements: contexts for steps, flows, values and statements.
const HEADS: &[&str] = &[
    "",
    "require ",
    "never a, ",
    "flow ",
    "no x in ",
    "each a: ",
    "when ",
    "if ",
    "not not ",
    "count ",
    "before each ",
    "let x = ",
    "def step x = ",
    "tool a fails when ",
    "rule a when ",
    "a when ",
    "test \"a\" expect pass { a: ",
    "http /a/ status in ",
];

/// Repeats the openings of a cycle up to a depth, followed by the inner text and, optionally, the closings.
fn nested(head: &str, cycle: &[(&str, &str)], depth: usize, inside: &str, closed: bool) -> String {
    let turns = || (0..depth).map(|at| cycle[at % cycle.len()]);
    let opened: String = turns().map(|(open, _)| open).collect();
    let ends: String = if closed { turns().rev().map(|(_, close)| close).collect() } else { String::new() };
    format!("{head}{opened}{inside}{ends}")
}

fn takes_too_long(text: &str) -> bool {
    // Compensates for the bonus of short texts.
    let steps = (MOST * (text.len() + 16)).div_ceil(text.len() + super::SHORT_TEXT);
    with_stack(256, || parse_rule(Rule::file, text, steps).is_err_and(|failure| failure.too_many_steps))
}

#[track_caller]
fn assert_none(slow: &[String]) {
    let shown: Vec<&str> = slow.iter().take(40).map(|text| text.get(..80).unwrap_or(text)).collect();
    assert!(slow.is_empty(), "{} texts take more than {MOST} steps a byte:\n{}", slow.len(), shown.join("\n"));
}

#[test]
fn every_opening_nests_in_itself_in_linear_time() {
    let mut slow = Vec::new();
    for opening in OPENINGS {
        for head in HEADS {
            for (inside, closed) in [("", false), ("a", true), ("a b", false)] {
                slow.push(nested(head, &[*opening], 24, inside, closed));
            }
        }
        for depth in [64, 200] {
            slow.push(nested("", &[*opening], depth, "a", true));
            slow.push(nested("require ", &[*opening], depth, "?", false));
        }
    }
    slow.retain(|text| takes_too_long(text));
    assert_none(&slow);
}

#[test]
fn every_pair_of_openings_nests_in_linear_time() {
    let mut slow = Vec::new();
    for (at, first) in OPENINGS.iter().enumerate() {
        for second in &OPENINGS[at + 1..] {
            slow.push(nested("", &[*first, *second], 16, "a", false));
            slow.push(nested("require ", &[*second, *first], 16, "a", true));
        }
    }
    slow.retain(|text| takes_too_long(text));
    assert_none(&slow);
}

/// Tests one of several hundred triples, because all of them (a million) take an hour. `AVERMENT_ALL_TRIPLES` tests all.
#[test]
fn triples_of_openings_nest_in_linear_time() {
    let stride = if std::env::var_os("AVERMENT_ALL_TRIPLES").is_some() { 1 } else { 311 };
    let count = OPENINGS.len();
    let opening = |at: usize| OPENINGS[at % count];
    let heads = ["", "require ", "flow "];
    let mut slow = Vec::new();
    for at in (0..count * count * count).step_by(stride) {
        let cycle = [opening(at), opening(at / count), opening(at / count / count)];
        let text = nested(heads[at % heads.len()], &cycle, 24, "a", at % 2 == 0);
        if takes_too_long(&text) {
            slow.push(text);
        }
    }
    assert_none(&slow);
}

/// The remaining cost is bounded: the step limit applies, and a text that exceeds it is reported with that reason.
#[test]
fn what_takes_more_steps_is_refused_in_words() {
    use averment_base::limits::Limits;
    use averment_base::source::{SourceFile, SourceMap};
    let said = |text: &str, limits: &Limits| {
        let mut map = SourceMap::default();
        let file = map.add_file(SourceFile::new("rules.assert", None, text));
        let (tree, _, diagnostics) = crate::parse(&map, file, limits);
        let messages = diagnostics.0.iter().map(|one| (one.slug.as_str(), one.message.clone())).collect::<Vec<_>>();
        (tree.items.len(), messages)
    };
    let few = Limits { rule_steps: 1, ..Limits::default() };
    let long = format!("never a\nx == {}1{}\nnever b", "f(".repeat(200), ")".repeat(200));
    let message = "reading this takes more than 1 steps for each of its bytes".to_owned();
    assert_eq!(said(&long, &few), (2, vec![("too-deep", message)]));
    assert_eq!(said(&long, &Limits::default()), (3, Vec::new()));
    let (_, messages) = said(&format!("x == {}a{}", "sum(count ".repeat(300), ")".repeat(300)), &few);
    assert!(matches!(&messages[..], [(_, message)] if message.contains("levels deep")), "{messages:?}");
}
