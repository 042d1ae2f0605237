//! What holds for all rules and runs.

use crate::run::{rules, run, verdicts};
use averment::truth::Verdict;
use proptest::prelude::*;

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
];

fn word() -> impl Strategy<Value = String> {
    let call = (0..3_usize, 0..3, prop::option::weighted(0.2, prop::sample::select(vec!["?", "!", "-"])))
        .prop_map(|(tool, id, mark)| format!("{}{{\"id\":{id}}}{}", ["a", "b", "c"][tool], mark.unwrap_or("")));
    prop::collection::vec(call, 0..8).prop_map(|calls| calls.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_rules_does_not_matter(text in word(), shift in 0..LOCAL.len()) {
        let mut turned = LOCAL.to_vec();
        turned.rotate_left(shift);
        let mut expected = verdicts(&rules(&LOCAL.join("\n")), &run(&text));
        expected.rotate_left(shift);
        prop_assert_eq!(verdicts(&rules(&turned.join("\n")), &run(&text)), expected);
    }

    #[test]
    fn a_step_that_nothing_matches_changes_nothing(text in word(), at in any::<prop::sample::Index>()) {
        let rules = rules(&LOCAL.join("\n"));
        let mut words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
        let before = verdicts(&rules, &run(&text));
        words.insert(at.index(words.len() + 1), r#"other{"id":1}"#);
        prop_assert_eq!(verdicts(&rules, &run(&words.join(" "))), before);
    }

    #[test]
    fn never_after_is_the_opposite_of_some_after(text in word()) {
        let never = verdicts(&rules("never b(id: $x) after a(id: $x)"), &run(&text))[0];
        let some = verdicts(&rules("sequence a(id: $x) -> b(id: $x)"), &run(&text))[0];
        let never = if never == Verdict::Vacuous { Verdict::Pass } else { never };
        prop_assert_eq!(never, some.negated());
    }

    #[test]
    fn names_of_bindings_mean_nothing(text in word()) {
        let one = LOCAL.join("\n");
        let other = one.replace("$x", "$some_other");
        prop_assert_eq!(verdicts(&rules(&one), &run(&text)), verdicts(&rules(&other), &run(&text)));
    }

    #[test]
    fn a_block_says_what_a_window_says(text in word()) {
        let rules = rules("after a(id: $x) { never b(id: $x) }\nnever b(id: $x) after a(id: $x)");
        let said = verdicts(&rules, &run(&text));
        prop_assert_eq!(said[0], said[1]);
    }
}
