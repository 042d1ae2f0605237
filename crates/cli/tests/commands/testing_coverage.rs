//! `aver test --coverage`: the parts of rules that tests do not exercise, and LCOV output.

use crate::folder::{Folder, golden};
use std::collections::BTreeMap;

const RULES: &str = "\
use std.secrets
param strict: boolean = false
let big = 100
def large(x) = x > big or x == 13
rule approval \"Refunds above the limit need an approval\" {
  before approve(id: $id) -> refund(id: $id, amount > 100)
  each refund: large(args.amount) or args.currency in [\"EUR\", \"USD\"]
  all of {
    never drop_table
    require refund when not strict
  }
  after login until logout {
    never delete(id exists)
  }
  never cancel(id: $id) before refund(id: $id)
}
never drop_table, ((search | fetch) where args.q is empty)
output.status == \"done\" or output.ok
no secrets in output

test \"large\" expect fail approval { calls: [{ tool: \"refund\", args: { id: \"o-1\", amount: 250 } }] }
test \"small\" expect pass approval {
  calls: [{ tool: \"login\" }, { tool: \"refund\", args: { id: \"o-1\", amount: 50, currency: \"EUR\" } }, { tool: \"logout\" }, { tool: \"delete\", args: {} }]
}
";

fn folder() -> Folder {
    Folder::new(&[("rules.assert", RULES)])
}

#[test]
fn what_was_never_seen_is_listed_by_place() {
    let ran = folder().aver("test rules.assert --coverage --quiet");
    assert_eq!(ran.code, 0, "{ran:?}");
    golden("coverage-text", &ran.out);
}

#[test]
fn a_test_that_tries_what_was_left_out_closes_the_gap() {
    let folder = folder();
    let before = folder.aver("test rules.assert --coverage --quiet").out;
    assert!(before.contains("`id exists` is never true"), "{before}");
    assert!(before.contains("`delete(id exists)` never matches"), "{before}");
    let more = "test \"deleted inside\" expect fail approval { calls: [{ tool: \"login\" }, { tool: \"delete\", args: { id: 1 } }] }\n";
    folder.write("rules.assert", format!("{RULES}{more}").as_bytes());
    let after = folder.aver("test rules.assert --coverage --quiet").out;
    assert!(!after.contains("`id exists` is never true") && !after.contains("`delete(id exists)` never"), "{after}");
}

#[test]
fn a_pattern_counts_only_where_its_assertion_is_judged() {
    let folder = Folder::new(&[(
        "r.assert",
        "rule a { never x }\nrule b { never x, y }\ntest \"t\" expect fail a { calls: [{ tool: \"x\" }, { tool: \"y\" }] }\n",
    )]);
    let out = folder.aver("test r.assert --coverage --quiet").out;
    assert!(out.contains("b.1 `never x, y` is never judged"), "{out}");
    assert!(out.contains("a.1 `never x` never passes"), "{out}");
    assert!(out.contains("patterns      33.3%  1 of 3 matched"), "{out}");
}

#[test]
fn everything_tried_is_all_of_it() {
    let rules = "rule a { never x(n > 1) }\n\
        test \"1\" expect fail a { calls: [{ tool: \"x\", args: { n: 2 } }] }\n\
        test \"2\" expect pass a { calls: [{ tool: \"x\", args: { n: 1 } }] }\n";
    let folder = Folder::new(&[("r.assert", rules)]);
    let ran = folder.aver("test r.assert --coverage --coverage-min 100%");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.out.matches("100.0%").count(), 3, "{}", ran.out);
    let less = rules.lines().take(2).collect::<Vec<_>>().join("\n");
    folder.write("r.assert", format!("{less}\n").as_bytes());
    let ran = folder.aver("test r.assert --coverage-min 100%");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("coverage is 60.0%, below 100.0%"), "{}", ran.err);
    folder.aver("test r.assert --coverage-min lots").refused(&["`--coverage-min lots` is no share"]);
    folder.aver("test r.assert --coverage-min 120%").refused(&["is no share"]);
    folder.aver("test r.assert --on x.json").refused(&["add `--coverage`"]);
}

#[test]
fn coverage_for_machines_stands_alone_on_standard_output() {
    let folder = Folder::new(&[("r.assert", RULES)]);
    let ran = folder.aver("test r.assert --coverage=json");
    assert_eq!(ran.json()["version"], 1);
    assert!(ran.err.contains("large"), "what the tests say goes beside it: {}", ran.err);
    let ran = folder.aver("test r.assert --coverage=lcov --format short");
    assert!(ran.out.starts_with("TN:"), "{}", ran.out);
    assert!(folder.aver("test r.assert --coverage").out.contains("large"), "for people all of it stands together");
}

#[test]
fn recorded_runs_count_too() {
    let folder = Folder::new(&[
        ("r.assert", "rule a { never x(n > 1) }\n"),
        ("runs/1.json", "{\"calls\": [{\"tool\": \"x\", \"args\": {\"n\": 2}}]}"),
        ("runs/2.jsonl", "{\"calls\": [{\"tool\": \"x\", \"args\": {\"n\": 1}}]}\n{\"calls\": []}\n"),
    ]);
    let ran = folder.aver("test r.assert --coverage --on runs");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("over 3 runs") && ran.out.contains("100.0%"), "{}", ran.out);
    let data = folder.aver("test r.assert --coverage=json --format json --on runs").json();
    let points = data["coverage"]["files"][0]["points"].as_array().unwrap();
    let assertion = points.iter().find(|point| point["kind"] == "assertion").unwrap();
    assert_eq!((&assertion["verdicts"]["fail"], &assertion["verdicts"]["pass"]), (&1.into(), &2.into()));
    folder.write("runs/cut.json", b"{\"calls\": [");
    let ran = folder.aver("test r.assert --coverage --on runs");
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.err.contains("runs/cut.json:1:12: "), "{}", ran.err);
}

/// One record of an LCOV file, read by the rules of geninfo(1).
#[derive(Debug, Default)]
struct Record {
    file: String,
    functions: BTreeMap<String, (usize, u64)>,
    branches: Vec<(usize, u64, u64, Option<u64>)>,
    lines: BTreeMap<usize, u64>,
    totals: BTreeMap<String, u64>,
}

/// Parses LCOV strictly: every line must be valid, and every record complete.
fn lcov(text: &str) -> Vec<Record> {
    let (mut records, mut open) = (Vec::new(), None::<Record>);
    let number = |text: &str| text.parse::<u64>().unwrap_or_else(|_| panic!("no number: {text:?}"));
    for line in text.lines() {
        if line == "end_of_record" {
            records.push(open.take().expect("a record"));
            continue;
        }
        let (key, value) = line.split_once(':').unwrap_or_else(|| panic!("no key: {line:?}"));
        let fields: Vec<&str> = value.split(',').collect();
        match (key, open.as_mut()) {
            ("TN", _) => {}
            ("SF", None) => open = Some(Record { file: value.to_owned(), ..Record::default() }),
            ("FN", Some(record)) => {
                record.functions.insert(fields[1].to_owned(), (fields[0].parse().unwrap(), 0));
            }
            ("FNDA", Some(record)) => record.functions.get_mut(fields[1]).expect("a function").1 = number(fields[0]),
            ("BRDA", Some(record)) => {
                assert_eq!(fields.len(), 4, "{line}");
                let taken = (fields[3] != "-").then(|| number(fields[3]));
                record.branches.push((fields[0].parse().unwrap(), number(fields[1]), number(fields[2]), taken));
            }
            ("DA", Some(record)) => {
                assert!(record.lines.insert(fields[0].parse().unwrap(), number(fields[1])).is_none(), "twice: {line}");
            }
            ("FNF" | "FNH" | "BRF" | "BRH" | "LF" | "LH", Some(record)) => {
                record.totals.insert(key.to_owned(), number(value));
            }
            _ => panic!("not LCOV: {line:?}"),
        }
    }
    assert!(open.is_none(), "a record is not ended");
    records
}

#[test]
fn lcov_is_read_by_its_own_rules_and_points_at_lines_of_the_rules() {
    let folder = folder();
    folder.write("lib.assert", b"def odd(x) = x % 2 == 1\n");
    folder.write("other.assert", b"use \"./lib.assert\"\nrule o { each a: odd(args.n) }\ntest \"o\" expect pass o { calls: [{ tool: \"a\", args: { n: 1 } }] }\n");
    let ran = folder.aver("test . --coverage-out cov.info");
    assert_eq!(ran.code, 0, "{ran:?}");
    let records = lcov(&folder.read("cov.info"));
    let names: Vec<&str> = records.iter().map(|record| record.file.as_str()).collect();
    assert_eq!(names, ["other.assert", "lib.assert", "rules.assert"]);
    for record in &records {
        let text = folder.read(&record.file);
        let lines: Vec<&str> = text.lines().collect();
        let hit = |counts: Vec<u64>| counts.iter().filter(|count| **count > 0).count() as u64;
        let total = |key: &str| record.totals[key];
        assert_eq!(
            (total("LF"), total("LH")),
            (record.lines.len() as u64, hit(record.lines.values().copied().collect()))
        );
        let taken: Vec<u64> = record.branches.iter().map(|(.., taken)| taken.unwrap_or(0)).collect();
        assert_eq!((total("BRF"), total("BRH")), (taken.len() as u64, hit(taken)));
        let called: Vec<u64> = record.functions.values().map(|(_, count)| *count).collect();
        assert_eq!((total("FNF"), total("FNH")), (called.len() as u64, hit(called)));
        for line in record.lines.keys().chain(record.branches.iter().map(|(line, ..)| line)) {
            assert!(!lines[line - 1].trim().is_empty(), "{}:{line} is an empty line", record.file);
        }
    }
    let rules = records.iter().find(|record| record.file == "rules.assert").unwrap();
    assert_eq!(rules.functions["approval"], (5, 2));
    assert_eq!(rules.lines[&6], 2, "the first assertion was judged twice");
    assert_eq!(rules.lines[&17], 0, "`never drop_table` outside of the rule was not");
    assert!(rules.branches.iter().any(|(line, .., taken)| *line == 18 && taken.is_none()), "not judged: `-`");
}

#[test]
fn a_share_below_all_is_never_rounded_up_to_it() {
    let many: String = (0..2000).map(|number| format!("never t{number}\n")).collect();
    let calls: String = (0..1999).map(|number| format!("{{ tool: \"t{number}\" }},\n")).collect();
    let rules = format!(
        "rule r {{\n{many}}}\ntest \"all\" expect fail r {{ calls: [{calls}] }}\ntest \"none\" expect pass r {{ calls: [] }}\n"
    );
    let out = Folder::new(&[("r.assert", &rules)]).aver("test r.assert --coverage --quiet").out;
    assert!(out.contains("patterns      99.9%  1999 of 2000 matched"), "{out}");
}

/// Measuring coverage must not change the results.
#[test]
fn tests_come_out_alike_with_and_without_coverage() {
    let good = averment_fixtures::root().join("tests/conformance/language/good");
    let folder = Folder::new(&[]);
    let mut tested = 0;
    for entry in std::fs::read_dir(good).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "assert") {
            continue;
        }
        let line = format!("test '{}' --no-project --allow empty --format json", path.display());
        let (plain, covered) = (folder.aver(&line).json(), folder.aver(&format!("{line} --coverage")).json());
        assert_eq!(plain["tests"], covered["tests"], "{}", path.display());
        let total = &covered["coverage"]["total"];
        assert!(total["seen"].as_u64() <= total["all"].as_u64(), "{}: {total}", path.display());
        tested += plain["tests"].as_array().unwrap().len();
    }
    assert!(tested > 50, "only {tested} tests in the corpus");
}
