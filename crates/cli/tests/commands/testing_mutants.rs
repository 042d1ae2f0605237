//! `aver test --mutants`: small changes of rules that no test notices.

use crate::folder::{Folder, golden};
use std::collections::BTreeSet;

const RULES: &str = "\
rule approval {
  before approve(id: $id) -> refund(id: $id, amount > 100)
}
rule tidy {
  never admin_*, drop_table
  each refund: args.currency in [\"EUR\", \"USD\"]
}
never shout

test \"without approval\" expect fail approval { calls: [{ tool: \"refund\", args: { id: \"o-1\", amount: 250 } }] }
test \"with approval\" expect pass approval {
  calls: [{ tool: \"approve\", args: { id: \"o-1\" } }, { tool: \"refund\", args: { id: \"o-1\", amount: 250 } }]
}
test \"an administrator\" expect fail tidy { calls: [{ tool: \"admin_x\" }] }
";

#[test]
fn survivors_are_shown_with_the_change_and_the_test_that_is_missing() {
    let folder = Folder::new(&[("refunds.assert", RULES)]);
    let ran = folder.aver("test refunds.assert --mutants --quiet");
    assert_eq!(ran.code, 0, "survivors are no failure unless denied: {ran:?}");
    golden("mutants-human", &ran.out);
    assert_eq!(folder.aver("test refunds.assert --mutants --deny survivors").code, 1);
    let _scope = averment_fixtures::exact_snapshots();
    insta::assert_snapshot!(folder.aver("test refunds.assert --mutants --format short").out, @r#"
    refunds.assert:2:17: warning[survivor]: drop-binding: without `(id: $id)`; help: add a test in which only the value of `$id` differs
    refunds.assert:2:37: warning[survivor]: drop-binding: without `id: $id`; help: add a test in which only the value of `$id` differs
    refunds.assert:2:44: warning[survivor]: drop-argument: without `amount > 100`; help: add a test with such a call for which `amount > 100` is false
    refunds.assert:2:53: warning[survivor]: border: `>` as `>=`; help: add a test in which `amount` is exactly `100`
    refunds.assert:5:9: warning[survivor]: widen: `admin_*` as `any`; help: add a test with a call of a tool that `admin_*` does not match
    refunds.assert:5:16: warning[survivor]: drop-pattern: without `drop_table`; help: add a test in which `drop_table` alone decides
    refunds.assert:6:3: warning[survivor]: negate: with `not`; help: add tests that expect `pass` and `fail` because of `each refund: args.currency in ["EUR", "USD"]`
    refunds.assert:6:3: warning[survivor]: swap: `each` as `some`; help: add a test with a step that meets the condition and one that does not
    refunds.assert:6:3: warning[survivor]: drop-assertion: without `each refund: args.currency in ["EUR", "USD"]`; help: add a test that expects `fail` because of `each refund: args.currency in ["EUR", "USD"]`
    refunds.assert:6:30: warning[survivor]: flip: `in` as `not in`; help: add tests in which it decides whether `args.currency in ["EUR", "USD"]`
    refunds.assert:6:34: warning[survivor]: drop-element: without `"EUR"`; help: add a test with the value `"EUR"`
    refunds.assert:6:39: warning[survivor]: drop-element: without `"USD"`; help: add a test with the value `"USD"`
    refunds.assert:8:1: warning[survivor]: negate: with `not`; help: add tests that expect `pass` and `fail` because of `never shout`
    refunds.assert:8:1: warning[survivor]: drop-assertion: without `never shout`; help: add a test that expects `fail` because of `never shout`
    "#);
}

#[test]
fn the_missing_test_kills_the_survivor() {
    let folder = Folder::new(&[("refunds.assert", RULES)]);
    let alive = |folder: &Folder| -> Vec<String> {
        let data = folder.aver("test refunds.assert --mutants --format json").json();
        let mutants = data["mutants"][0]["mutants"].as_array().unwrap().clone();
        let alive = mutants.iter().filter(|mutant| mutant["fate"] == "survived");
        alive
            .map(|mutant| format!("{} {}", mutant["kind"].as_str().unwrap(), mutant["after"].as_str().unwrap().trim()))
            .collect()
    };
    let border = "border before approve(id: $id) -> refund(id: $id, amount >= 100)";
    let binding = "drop-binding before approve(id: $id) -> refund(amount > 100)";
    let before = alive(&folder);
    assert!(before.iter().any(|one| one == border) && before.iter().any(|one| one == binding), "{before:#?}");
    let more = "test \"exactly\" expect vacuous approval { calls: [{ tool: \"refund\", args: { id: \"o-1\", amount: 100 } }] }\n\
        test \"another\" expect fail approval { calls: [{ tool: \"approve\", args: { id: \"o-2\" } }, { tool: \"refund\", args: { id: \"o-1\", amount: 250 } }] }\n";
    folder.write("refunds.assert", format!("{RULES}{more}").as_bytes());
    let after = alive(&folder);
    assert!(!after.iter().any(|one| one == border || one == binding), "{after:#?}");
}

/// A rule, a mutant of it, and two tests: the first alone does not detect the mutant, both together do.
const LATER_FORMS: &[(&str, &str, [&str; 2])] = &[
    (
        "sum(args.n of a) <= 5",
        "max(args.n of a) <= 5",
        [
            "pass x { calls: [{ tool: 'a', args: { n: 5 } }] }",
            "fail x { calls: [{ tool: 'a', args: { n: 3 } }, { tool: 'a', args: { n: 3 } }] }",
        ],
    ),
    (
        "length(output.items where p > 1) <= 1",
        "length(output.items) <= 1",
        ["pass x { output: { items: [{ p: 2 }] } }", "pass x { output: { items: [{ p: 2 }, { p: 0 }] } }"],
    ),
    (
        "each b: count a so far >= 1",
        "each b: count a >= 1",
        ["pass x { calls: [{ tool: 'a' }, { tool: 'b' }] }", "fail x { calls: [{ tool: 'b' }, { tool: 'a' }] }"],
    ),
    (
        "count a <= 1 within 2 calls",
        "count a <= 1",
        [
            "pass x { calls: [{ tool: 'a' }] }",
            "pass x { calls: [{ tool: 'a' }, { tool: 'b' }, { tool: 'b' }, { tool: 'b' }, { tool: 'a' }] }",
        ],
    ),
    (
        "count a <= 1 in a row",
        "count a <= 1",
        ["pass x { calls: [{ tool: 'a' }] }", "pass x { calls: [{ tool: 'a' }, { tool: 'b' }, { tool: 'a' }] }"],
    ),
    (
        "starts before a -> b",
        "before a -> b",
        [
            "pass x { calls: [{ tool: 'a' }, { tool: 'b' }] }",
            "pass x { calls: [{ tool: 'a', start: 0, end: 9 }, { tool: 'b', start: 1, end: 2 }] }",
        ],
    ),
    (
        "never a by bob",
        "never a",
        ["fail x { calls: [{ tool: 'a', agent: 'bob' }] }", "pass x { calls: [{ tool: 'a', agent: 'ann' }] }"],
    ),
    (
        "never handover \"sales\"",
        "never handover",
        [
            "fail x { steps: [{ kind: 'handover', to: 'sales' }] }",
            "pass x { steps: [{ kind: 'handover', to: 'billing' }] }",
        ],
    ),
    (
        "nested a(id: $i) -> b(id: $i)",
        "after a(id: $i) -> b(id: $i)",
        [
            "pass x { calls: [{ tool: 'a', args: { id: 1 } }, { tool: 'b', args: { id: 1 } }] }",
            "fail x { calls: [{ tool: 'a', args: { id: 1 } }, { tool: 'a', args: { id: 2 } }, { tool: 'b', args: { id: 1 } }, { tool: 'b', args: { id: 2 } }] }",
        ],
    ),
];

#[test]
fn every_later_form_has_a_change_that_a_good_test_notices() {
    for (rule, changed, tests) in LATER_FORMS {
        let fate = |tests: &[&str]| {
            let tests: String =
                tests.iter().enumerate().map(|(number, test)| format!("test \"{number}\" expect {test}\n")).collect();
            let folder = Folder::new(&[("rule.assert", &format!("rule x {{\n  {rule}\n}}\n{tests}"))]);
            let ran = folder.aver("test rule.assert --mutants --format json");
            assert_eq!(ran.code, 0, "{rule}: {ran:?}");
            let mutants = ran.json()["mutants"][0]["mutants"].as_array().unwrap().clone();
            let found = mutants.iter().find(|mutant| mutant["after"].as_str().unwrap().trim() == *changed);
            found.unwrap_or_else(|| panic!("`{rule}` is never changed to `{changed}`"))["fate"].clone()
        };
        assert_eq!(fate(&tests[..1]), "survived", "{changed}");
        assert_eq!(fate(tests), "killed", "{changed}");
    }
}

#[test]
fn the_report_is_the_same_for_any_number_of_threads() {
    let folder = Folder::new(&[("refunds.assert", RULES)]);
    let one = folder.aver("test refunds.assert --mutants --threads 1 --format json").out;
    for threads in [2, 7] {
        assert_eq!(folder.aver(&format!("test refunds.assert --mutants --threads {threads} --format json")).out, one);
    }
}

#[test]
fn a_limit_spreads_the_mutants_over_the_file() {
    let folder = Folder::new(&[("refunds.assert", RULES)]);
    let all = folder.aver("test refunds.assert --mutants --format json").json();
    let some = folder.aver("test refunds.assert --mutants --mutants-max 6 --format json").json();
    let lines = |data: &serde_json::Value| -> Vec<u64> {
        let mutants = data["mutants"][0]["mutants"].as_array().unwrap();
        mutants.iter().map(|mutant| mutant["location"]["line"].as_u64().unwrap()).collect()
    };
    assert_eq!(some["mutants"][0]["found"], lines(&all).len());
    assert_eq!(lines(&some).len(), 6);
    assert_eq!((lines(&some)[0], *lines(&some).last().unwrap() > 5), (2, true), "{:?}", lines(&some));
    let human = folder.aver("test refunds.assert --mutants --mutants-max 6").out;
    assert!(human.contains("more were not tried"), "{human}");
}

#[test]
fn tests_that_fail_say_nothing_about_mutants() {
    let folder = Folder::new(&[("r.assert", "rule r { never a }\ntest \"t\" expect fail r { calls: [] }\n")]);
    let ran = folder.aver("test r.assert --mutants");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("no mutant was tried"), "{}", ran.err);
}

#[test]
fn what_nothing_uses_and_what_means_the_same_is_no_mutant() {
    let rules = "let limit = [1, 2]\ndef unused(x) = x > 3\ndef step other = a(n > 1)\nrule r { never a(n > 5) }\n\
        test \"6\" expect fail r { calls: [{ tool: \"a\", args: { n: 6 } }] }\n\
        test \"5\" expect pass r { calls: [{ tool: \"a\", args: { n: 5 } }] }\n";
    let folder = Folder::new(&[("r.assert", rules)]);
    let ran = folder.aver("test r.assert --mutants --quiet --deny survivors");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("mutants of r.assert: 5 of 5 killed, 100.0%"), "{}", ran.out);
}

#[test]
fn mutants_use_the_parameters_and_the_cases_of_the_tests() {
    let folder = Folder::new(&[
        ("r.assert", "param limit: number = 5\nrule r { never a(n > limit) }\n"),
        ("r.cases/six.fail.r.json", "{\"calls\": [{\"tool\": \"a\", \"args\": {\"n\": 6}}]}"),
        ("r.cases/five.pass.r.json", "{\"calls\": [{\"tool\": \"a\", \"args\": {\"n\": 5}}]}"),
    ]);
    assert_eq!(folder.aver("test r.assert --mutants --deny survivors").code, 0);
    folder.write("r.cases/five.pass.r.json", b"{\"calls\": [{\"tool\": \"a\", \"args\": {\"n\": 4}}]}");
    let ran = folder.aver("test r.assert --mutants --deny survivors");
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("`n` is exactly `limit`"), "{}", ran.out);
    assert_eq!(folder.aver("test r.assert --mutants --deny survivors --param limit=4").code, 0);
}

/// Every statement has mutants, and every mutant gives a file that parses or is left out.
#[test]
fn every_statement_has_mutants_of_its_own_kind() {
    let rules = "\
rule all {
  require a 2..3 times
  never b(x: 1..5, y: /^ab$/i) failed after c until d within 3 calls
  never e before f
  never g between h and i
  only j, k_*
  count l <= 3
  first m
  last n
  before each o -> p, q
  immediately after r -> s
  sequence only t -> u -> v
  together w, x
  apart y, z
  if aa then bb
  cc(id: $id) iff dd(id: $id)
  either ee or ff
  not both gg, hh
  never repeat ii more than 2 times
  flow jj -> (kk)* -> (ll | mm)+
  each nn: args.a > 1 and not args.b == true
  some oo: any x in args.list: x in [1, 2]
  no pp: args.c implies args.d
  proposed qq only after rr
  any of { require ss; require tt }
  at least 1 of { require uu; require vv }
  when output.x == 1 { require ww }
  after xx until yy { never zz }
  output.z + 1 == 2 when output.y exists must
  not require aaa
}
test \"t\" expect fail all { calls: [], output: { x: 1, y: 1, z: 1 } }
";
    let folder = Folder::new(&[("r.assert", rules)]);
    let data = folder.aver("test r.assert --mutants --format json").json();
    let mutants = data["mutants"][0]["mutants"].as_array().unwrap();
    let kinds: BTreeSet<&str> = mutants.iter().map(|mutant| mutant["kind"].as_str().unwrap()).collect();
    let known: BTreeSet<&str> = averment_testing::mutants::MutantKind::ALL.iter().map(|(_, word, _)| *word).collect();
    assert_eq!(kinds, known, "every kind of change occurs");
    let lines: BTreeSet<u64> = mutants.iter().map(|mutant| mutant["location"]["line"].as_u64().unwrap()).collect();
    for line in 2..=30 {
        assert!(lines.contains(&line), "line {line} has no mutant");
    }
    let invalid: Vec<&str> = mutants
        .iter()
        .filter(|mutant| mutant["fate"] == "invalid")
        .map(|mutant| mutant["after"].as_str().unwrap().trim())
        .collect();
    assert!(invalid.len() * 20 <= mutants.len(), "{} of {} do not compile: {invalid:#?}", invalid.len(), mutants.len());
}

/// Ctrl-C prints the results so far, and the number of mutants that were not tried.
#[test]
fn an_interruption_ends_the_work_and_prints_what_is_done() {
    let many: String =
        (0..1500).map(|number| format!("rule r{number} {{ never t{number}(n > {number}) }}\n")).collect();
    let folder =
        Folder::new(&[("many.assert", &format!("{many}test \"t\" expect pass {{ calls: [{{ tool: \"x\" }}] }}\n"))]);
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_aver"))
        .args(["test", "many.assert", "--mutants", "--quiet", "--threads", "1"])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(3_000));
    assert!(child.try_wait().unwrap().is_none(), "6,000 mutants of 1,500 rules take longer than that");
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let mut out = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut out).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{out}");
    assert!(out.contains("more were not tried"), "{out}");
}
