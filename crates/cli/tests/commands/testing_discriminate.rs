//! `aver test --discriminate GOOD BAD`: rules that distinguish two folders of runs.

use crate::folder::{Folder, golden};

const RULES: &str = "\
rule approval \"Refunds above the limit need an approval\" {
  tags payments
  before approve(id: $id) -> refund(id: $id, amount > 100)
  never refund(amount > 10000)
}
rule polite { output contains \"please\" }
rule quiet { never shout }
rule broken { output contains \"no run says this\" }
rule idle { before login -> logout }
rule cheap { cost <= $0.05 }
output contains \"done\"
";

fn folder() -> Folder {
    let good = |id: u32| {
        format!(
            r#"{{"calls":[{{"tool":"approve","args":{{"id":{id}}}}},{{"tool":"refund","args":{{"id":{id},"amount":250}}}}],"output":"done"}}"#
        )
    };
    let bad = |id: u32, words: &str| {
        format!(r#"{{"calls":[{{"tool":"refund","args":{{"id":{id},"amount":250}}}}],"output":"{words}"}}"#)
    };
    let goods: String = (0..4).map(|id| good(id) + "\n").collect();
    let folder = Folder::new(&[
        ("refunds.assert", RULES),
        ("good/all.jsonl", &goods),
        ("good/small.json", r#"{"calls":[{"tool":"refund","args":{"amount":5}}],"output":"done"}"#),
    ]);
    for (id, words) in [(1, "done, please"), (2, "please"), (3, "no")] {
        folder.write(&format!("bad/{id}.json"), bad(id, words).as_bytes());
    }
    folder
}

#[test]
fn rules_are_sorted_by_how_well_they_tell_the_folders_apart() {
    let ran = folder().aver("test refunds.assert --discriminate good bad");
    assert_eq!(ran.code, 0, "{ran:?}");
    golden("discriminate-human", &ran.out);
    let _scope = averment_fixtures::exact_snapshots();
    insta::assert_snapshot!(folder().aver("test --discriminate good bad refunds.assert --format short").out, @"
    refunds.assert:1:6: approval[tells]: informedness +1.00, 3 of 3 bad and 0 of 5 good runs fail
    refunds.assert:11:1: refunds:output-contains-done[tells]: informedness +0.67, 2 of 3 bad and 0 of 5 good runs fail
    refunds.assert:7:6: quiet[always-true]: informedness 0.00, 0 of 3 bad and 0 of 5 good runs fail
    refunds.assert:8:6: broken[always-false]: informedness 0.00, 3 of 3 bad and 5 of 5 good runs fail
    refunds.assert:9:6: idle[never-exercised]: informedness 0.00, 0 of 3 bad and 0 of 5 good runs fail
    refunds.assert:10:6: cheap[never-decided]: informedness 0.00, 0 of 3 bad and 0 of 5 good runs fail
    refunds.assert:6:6: polite[misleads]: informedness -0.67, 1 of 3 bad and 5 of 5 good runs fail
    ");
}

#[test]
fn data_holds_the_counts_and_the_assertions_of_each_rule() {
    let data = folder().aver("test refunds.assert --discriminate good bad --format json").json();
    assert_eq!((&data["runs"]["good"], &data["runs"]["bad"]), (&5.into(), &3.into()));
    let best = &data["rules"][0];
    assert_eq!(
        (&best["id"], &best["informedness"], &best["worth"]),
        (&"approval".into(), &1.0.into(), &"tells".into())
    );
    assert_eq!((&best["good"]["pass"], &best["bad"]["fail"]), (&5.into(), &3.into()), "{best}");
    assert_eq!(best["assertions"][0]["good"]["vacuous"], 1);
    assert_eq!(best["assertions"][0]["id"], "approval.1");
    assert_eq!(best["assertions"][1]["worth"], "always-true");
    let chance = best["chance"].as_f64().unwrap();
    assert!((chance - 1.0 / 56.0).abs() < 1e-5, "3 of 3 and 0 of 5: one of 56 ways: {chance}");
    let worth =
        |id: &str| data["rules"].as_array().unwrap().iter().find(|row| row["id"] == id).unwrap()["worth"].clone();
    assert_eq!(worth("polite"), "misleads");
    assert_eq!(worth("quiet"), "always-true");
    assert_eq!(worth("broken"), "always-false");
    assert_eq!(worth("idle"), "never-exercised");
    assert_eq!(worth("cheap"), "never-decided");
}

#[test]
fn rules_can_be_selected_and_nothing_is_never_a_result() {
    let folder = folder();
    let rows = |line: &str| folder.aver(line).json()["rules"].as_array().unwrap().len();
    assert_eq!(rows("test refunds.assert --discriminate good bad --tag payments --format json"), 1);
    assert_eq!(rows("test refunds.assert --discriminate good bad --rule quiet --format json"), 1);
    folder.write("none/readme.txt", b"");
    folder.aver("test refunds.assert --discriminate good none").refused(&["there is no run in `none`"]);
    let ran = folder.aver("test refunds.assert --discriminate good bda");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (4, "", "error: bda: there is no such file\n"));
    assert_eq!(folder.aver("test refunds.assert --discriminate good").code, 2);
    let ran = folder.aver("test refunds.assert --discriminate good bad --mutants");
    assert!(ran.code == 2 && ran.err.contains("cannot be used with"), "{ran:?}");
    folder.write("empty.assert", b"let a = 1\n");
    folder.aver("test empty.assert --discriminate good bad").refused(&["the rules hold no assertion"]);
    folder.write("bad/cut.json", b"{\"calls\": [");
    let ran = folder.aver("test refunds.assert --discriminate good bad");
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.err.contains("bad/cut.json:1:12"), "{}", ran.err);
}
