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
