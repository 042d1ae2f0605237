//! What holds for all rules and runs.

use crate::temporal::run::{rules, run, verdicts};
use averment_base::truth::Verdict;
use averment_fixtures::Rules;
use proptest::prelude::*;
use std::sync::LazyLock;

/// Statements that do not look at places or at all calls, with and without bindings.
const LOCAL: &[&str] = &[
    "require a",
    "never a(id: $x) after b(id: $x)",
    "before a(id: $x) -> b(id: $x)",
    "before each a -> b",
    "after a -> b, c",
    "after each a(id: $x) -> b(id: $x)",
    "sequence a(id: $x) -> b -> c(id: $x)",
    "sequence only a -> b",
    "never b before a",
    "never b(id: $x) between a(id: $x) and c(id: $x)",
    "never b after a until c",
    "if a(id: $x) then b(id: $x)",
    "a(id: $x) iff b(id: $x)",
    "not both a(id: $x), b(id: $x)",
    "either a failed or b",
    "count a(id: $x) <= 2",
    "each a: args.id != 1",
    "after a(id: $x) until c(id: $x) { never b(id: $x) }",
    "require a(id: $x) 1..2 times",
    "some a: args.id == 1",
    "no b: args.id > 1",
    "b only after a",
    "never a between b and c",
    "before c { require a ok }",
    "between a and c { count b <= 1 }",
    "each a(id: $x) { before b(id: $x) -> c }",
    "before a(id > $x) -> b(id: $x)",
    "sequence a(id: $x) -> b(id != $x)",
    "any of { require c; never b(id: $x) after a(id: $x) }",
    "not if a then b | c",
    "require proposed a",
];

/// Statements that speak of all calls, of neighbours or of distances in calls.
const OF_ALL_CALLS: &[&str] = &[
    "first a",
    "last a",
    "only a, b, c",
    "immediately before a(id: $x) -> b(id: $x)",
    "immediately after a -> b | c",
    "sequence exactly a -> b -> c",
    "flow (a(id: $x) | b | c)*",
    "never repeat any more than 1 times",
    "before a -> b within 2 calls",
    "after a(id: $x) -> c(id: $x) within 3 calls",
];

/// The rules above, compiled once, and in other orders.
static TURNED: LazyLock<Vec<Rules>> = LazyLock::new(|| {
    let turned = (0..LOCAL.len()).step_by(5).map(|shift| [&LOCAL[shift..], &LOCAL[..shift]].concat().join("\n"));
    turned.map(|text| rules(&text)).collect()
});
static RENAMED: LazyLock<Rules> = LazyLock::new(|| rules(&LOCAL.join("\n").replace("$x", "$some_other")));
/// All statements, and the same with named steps in place of the patterns.
static ALL: LazyLock<Rules> = LazyLock::new(|| rules(&[LOCAL, OF_ALL_CALLS].concat().join("\n")));
static NAMED: LazyLock<Rules> = LazyLock::new(|| {
    let named = [LOCAL, OF_ALL_CALLS].concat().join("\n");
    let named = ["a", "b", "c"]
        .iter()
        .fold(named, |text, tool| text.replace(&format!("{tool}(id: $x)"), &format!("{tool}_of($x)")));
    let steps = ["a", "b", "c"].map(|tool| format!("def step {tool}_of($of) = {tool}(id: $of)")).join("\n");
    rules(&format!("{steps}\n{named}"))
});
/// A window and its opposite: some B later than some A.
static OPPOSITES: LazyLock<Rules> = LazyLock::new(|| {
    rules(
        "never b after a\nnot sequence a -> b\nnever b(id: $x) after a(id: $x)\nnot sequence a(id: $x) -> b(id: $x)\n\
         never b(id > $x) after a(id: $x)\nnot sequence a(id: $x) -> b(id > $x)\nnever b after a(id: 1)\nnot sequence a(id: 1) -> b",
    )
});
static WINDOWS: LazyLock<Rules> = LazyLock::new(|| {
    rules("after a(id: $x) { never b(id: $x) }\nnever b(id: $x) after a(id: $x)\nsequence a(id: $x) -> b(id: $x)")
});

fn word() -> impl Strategy<Value = String> {
    let call = (0..3_usize, 0..3, prop::option::weighted(0.2, prop::sample::select(vec!["?", "!", "-"])))
        .prop_map(|(tool, id, mark)| format!("{}{{\"id\":{id}}}{}", ["a", "b", "c"][tool], mark.unwrap_or("")));
    prop::collection::vec(call, 0..8).prop_map(|calls| calls.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_rules_does_not_matter(text in word()) {
        let expected = verdicts(&TURNED[0], &run(&text));
        for (number, rules) in TURNED.iter().enumerate() {
            let mut found = verdicts(rules, &run(&text));
            found.rotate_right(number * 5);
            prop_assert_eq!(&found, &expected);
        }
    }

    #[test]
    fn a_step_that_nothing_matches_changes_nothing(text in word(), at in any::<prop::sample::Index>()) {
        let mut words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
        let before = verdicts(&TURNED[0], &run(&text));
        words.insert(at.index(words.len() + 1), r#"other{"id":1}"#);
        prop_assert_eq!(verdicts(&TURNED[0], &run(&words.join(" "))), before);
    }

    #[test]
    fn names_of_bindings_mean_nothing(text in word()) {
        prop_assert_eq!(verdicts(&TURNED[0], &run(&text)), verdicts(&RENAMED, &run(&text)));
    }

    #[test]
    fn never_after_is_the_opposite_of_some_later(text in word()) {
        for pair in verdicts(&OPPOSITES, &run(&text)).chunks(2) {
            let never = if pair[0] == Verdict::Vacuous { Verdict::Pass } else { pair[0] };
            prop_assert_eq!(never, pair[1]);
        }
    }

    #[test]
    fn a_named_step_is_the_step_itself(text in word()) {
        prop_assert_eq!(verdicts(&ALL, &run(&text)), verdicts(&NAMED, &run(&text)));
    }

    #[test]
    fn ids_of_calls_and_agents_mean_nothing(text in word(), marks in prop::collection::vec(0..3_usize, 8)) {
        let mut run = run(&text);
        let before = verdicts(&ALL, &run);
        for (call, mark) in run["calls"].as_array_mut().unwrap().iter_mut().zip(marks) {
            call["id"] = serde_json::json!("the same");
            call["agent"] = serde_json::json!(["main", "helper", "other"][mark]);
        }
        prop_assert_eq!(verdicts(&ALL, &run), before);
    }

    #[test]
    fn a_block_says_what_a_window_says_and_the_opposite_of_a_sequence(text in word()) {
        let said = verdicts(&WINDOWS, &run(&text));
        prop_assert_eq!(said[0], said[1]);
        let never = if said[1] == Verdict::Vacuous { Verdict::Pass } else { said[1] };
        prop_assert_eq!(never, said[2].negated());
    }
}
