//! Windows of blocks.

use crate::temporal::run::{check, rules, run, verdicts};
use averment_base::truth::Verdict::{Fail, Pass, Undecided, Vacuous};

#[test]
fn windows_open_and_close() {
    check(&[
        ("after a { never b }", &[("b a", Pass), ("a b", Fail), ("a a b", Fail), ("b", Vacuous)]),
        ("after a until c { never b }", &[("a c b", Pass), ("a c a b c", Fail), ("a b", Fail), ("a a c b", Pass)]),
        ("before a { never b }", &[("a b", Pass), ("b a", Fail), ("b", Vacuous)]),
        ("between a and c { never b }", &[("a c b", Pass), ("a b c", Fail), ("a b", Undecided), ("a", Vacuous)]),
        ("between a and c { require b }", &[("a b c a b c", Pass), ("a b c a c", Fail), ("a b c a", Undecided)]),
        ("after a { first b }", &[("a b", Pass), ("a c b", Fail), ("a", Fail)]),
        ("after a { only b }", &[("c a b b", Pass), ("a", Vacuous)]),
        ("after a until c { flow (b)+ }", &[("x a b b c y", Pass), ("a c", Fail)]),
        ("each a { require b }", &[("b a", Pass), ("a", Fail), ("b", Vacuous)]),
        ("each a { args.n < 3 }", &[(r#"a{"n":1} a{"n":2}"#, Pass), (r#"a{"n":3}"#, Fail)]),
        ("after a { after b { never c } }", &[("c a b", Pass), ("a c b", Pass), ("a b c", Fail), ("b a", Vacuous)]),
        ("after a { not require b }", &[("a", Pass), ("a b", Fail)]),
        ("after a { any of { require b; require c } }", &[("a c", Pass), ("b a", Fail)]),
        ("not after a { never b }", &[("a b", Pass), ("a", Fail), ("b", Vacuous)]),
    ]);
}

#[test]
fn a_header_binds_for_its_body() {
    check(&[
        (
            "after cancel(id: $x) { never refund(id: $x) }",
            &[
                (r#"cancel{"id":1} refund{"id":2}"#, Pass),
                (r#"cancel{"id":1} cancel{"id":2} refund{"id":1}"#, Fail),
                (r#"refund{"id":1} cancel{"id":1}"#, Pass),
            ],
        ),
        (
            "each refund(id: $x) { require approve(id: $x) }",
            &[(r#"refund{"id":1} approve{"id":1}"#, Pass), (r#"refund{"id":1} refund{"id":2} approve{"id":1}"#, Fail)],
        ),
        (
            "after open(id: $x) until close(id: $x) { count put(id: $x) <= 1 }",
            &[
                (r#"open{"id":1} put{"id":1} close{"id":1} put{"id":1}"#, Pass),
                (r#"open{"id":1} open{"id":2} close{"id":2} put{"id":1} put{"id":1}"#, Fail),
            ],
        ),
        (
            "after limit(n: $x) { never spend(n > $x) }",
            &[(r#"limit{"n":5} spend{"n":4}"#, Pass), (r#"limit{"n":5} spend{"n":6}"#, Fail)],
        ),
    ]);
}

#[test]
fn unknown_headers_are_answered_in_all_ways() {
    check(&[
        ("after a ok { never b }", &[("a? b", Undecided), ("b a?", Undecided), ("a a? b", Fail), ("a b a?", Fail)]),
        ("before a ok { never b }", &[("b a?", Undecided), ("a? b a", Undecided), ("a b a?", Pass)]),
        ("after a { never b ok }", &[("a b?", Undecided), ("a b? b", Fail)]),
    ]);
}

#[test]
fn every_statement_of_a_block_is_an_assertion() {
    let rules = rules("after a until c {\n  never b\n  require d\n}");
    assert_eq!(verdicts(&rules, &run("a b d c")), [Fail, Pass]);
    assert_eq!(verdicts(&rules, &run("b")), [Vacuous, Vacuous]);
}

#[test]
fn what_is_missing_in_every_candidate_makes_a_block_vacuous() {
    check(&[
        // A binding of the header binds here like anywhere; that the value is another one does not make the other test exercised.
        (
            "before c(id: $x) { never a after a until b(id: $x, n: 0) }",
            &[(r#"a b{"id":1} c{"id":2}"#, Vacuous), (r#"a b{"id":2,"n":1} c{"id":2}"#, Pass)],
        ),
        ("after a until c ok { require b }", &[("a c? b", Undecided), ("a b c?", Pass), ("a c c?", Fail)]),
    ]);
}
