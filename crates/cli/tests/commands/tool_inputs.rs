//! `aver inputs`: the printed inputs, their tools, and the messages if there are none.

use super::folder::Folder;
use averment_fixtures as fixtures;

const RULES: &str = "invariant sum { call add generate { b: integer 0..9, a: string 1..3 } cases 3 seed 7\n  response exists\n}\ninvariant fixed { call add { a: 1 }\n  response exists\n}\n";

const PACK: &str = "version: 3\nmetadata: { name: p, parameters: { tool: { default: divide } } }\ninvariants:\n  - name: division by anything\n    tool: \"{{tool}}\"\n    cases: 2\n    generate:\n      b: { type: array, items: { type: integer, min: 0, max: 9 }, min_items: 1, max_items: 3 }\n    assert: [{ kind: equals, lhs: 1, rhs: 1 }]\nfor_each_tool:\n  - name: each.{{tool_name}}\n    where: { annotations: { readOnlyHint: true } }\n    apply: { generate: { n: { type: integer } }, cases: 1, assert: [{ kind: equals, lhs: 1, rhs: 1 }] }\n";

const TOOLS: &str = r#"{"tools": [{"name": "read", "annotations": {"readOnlyHint": true}}, {"name": "write"}, {"name": "divide", "annotations": {"readOnlyHint": true}}]}"#;

fn lines(out: &str) -> Vec<serde_json::Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_case_is_a_line_and_the_same_for_the_same_seed() {
    let folder = Folder::new(&[("r.assert", RULES)]);
    let ran = folder.aver("inputs r.assert");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let all = lines(&ran.out);
    assert_eq!(all.len(), 3);
    assert!(ran.out.starts_with(r#"{"invariant":"sum","tool":"add","case":0,"seed":"#), "{}", ran.out);
    assert_eq!(all[0]["arguments"], serde_json::json!({"a": "xxx", "b": 9}));
    assert_eq!(folder.aver("inputs r.assert").out, ran.out);
    assert_eq!(folder.aver("inputs r.assert --seed 7 --cases 3 --invariant sum").out, ran.out);
    let more = folder.aver("inputs r.assert --cases 5").out;
    assert!(more.starts_with(&ran.out) && more.lines().count() == 5, "{more}");
    assert_ne!(folder.aver("inputs r.assert --seed 8").out, ran.out);
    assert_eq!(folder.aver_with("inputs -", RULES).out, ran.out);
}

#[test]
fn nothing_to_print_is_no_success() {
    let none = "invariant fixed { call add { a: 1 }\n  response exists\n}\n";
    let folder = Folder::new(&[("r.assert", RULES), ("none.assert", none)]);
    folder.aver("inputs none.assert").refused(&["no invariant in `none.assert` has generated inputs", "generate {"]);
    folder.aver("inputs r.assert --invariant fixed").refused(&["has generated inputs"]);
    folder.aver("inputs r.assert --invariant sumn").refused(&["there is no invariant `sumn`", "did you mean `sum`?"]);
    folder.aver("inputs r.assert --cases 0").refused(&["0 is not in 1.."]);
    folder.aver("inputs missing.assert").refused(&["missing.assert"]);
    assert_eq!(folder.aver("compile r.assert").code, 0);
    folder.aver("inputs r.assertc").refused(&["is a compiled program, which generates no inputs"]);
    let folder = Folder::new(&[("r.txt", "")]);
    folder.aver("inputs .").refused(&["there is no `.assert` file in `.`"]);
}

#[test]
fn a_pack_is_asked_with_its_own_seeds_and_the_tools_of_a_catalogue() {
    let folder = Folder::new(&[("p.yaml", PACK), ("tools.json", TOOLS)]);
    let ran = folder.aver("inputs p.yaml --param tool=write --tools tools.json --seed 42");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let called: Vec<String> = lines(&ran.out).iter().map(|one| format!("{} {}", one["tool"], one["case"])).collect();
    assert_eq!(called, ["\"write\" 0", "\"write\" 1", "\"read\" 0", "\"divide\" 0"]);
    // The imported rules have the same inputs.
    folder.write("i.assert", folder.aver("import p.yaml --param tool=write").out.as_bytes());
    assert_eq!(folder.aver("inputs i.assert --tools tools.json --seed 42").out, ran.out);
    let unknown = folder.aver("inputs p.yaml");
    assert_eq!(unknown.code, 0);
    assert!(unknown.out.contains(r#""tool":"{{tool_name}}""#), "{}", unknown.out);
    assert!(
        unknown.err.contains("which tools there are is not known") && unknown.err.contains("p.yaml:"),
        "{}",
        unknown.err
    );
    let wrong = folder.aver("inputs p.yaml --param tol=x");
    assert!(wrong.code == 3 && wrong.err.contains("the pack declares no parameter `tol`"), "{}", wrong.err);
}

#[test]
fn what_cannot_be_made_is_told_at_its_line_and_nothing_is_printed() {
    let (one_tool, _) = PACK.split_once("for_each_tool").unwrap();
    let pack = one_tool.replace("min_items: 1, max_items: 3", "min_items: 99999999");
    let folder = Folder::new(&[("p.yaml", &pack)]);
    let ran = folder.aver("inputs p.yaml");
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    assert!(ran.err.contains("p.yaml:8:7") && ran.err.contains("larger than 16 MiB"), "{}", ran.err);
    // Recorded calls are still judged.
    folder.write("run.json", br#"{"calls": [{"tool": "divide", "args": {}, "response": {"content": []}}]}"#);
    assert_eq!(folder.aver("check p.yaml run.json").code, 0);
    let by_schema = "invariant s { call add generate from schema cases 2 seed 7\n  response exists\n}\n";
    let folder = Folder::new(&[("r.assert", by_schema)]);
    let ran = folder.aver("inputs r.assert");
    assert_eq!((ran.code, ran.out.as_str()), (3, ""));
    assert!(
        ran.err.contains("the schema of the tool `add`, which is not known") && ran.err.contains("r.assert:1:33"),
        "{}",
        ran.err
    );
    let impossible = "tool add { type: \"object\", required: [\"a\"], properties: { a: false } }\n";
    folder.write("i.assert", format!("{impossible}{by_schema}").as_bytes());
    let ran = folder.aver("inputs i.assert");
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("no arguments were found"), "{}", ran.err);
}

/// The example's recording answers exactly these inputs.
#[test]
fn the_example_is_recorded_with_its_inputs() {
    let example = fixtures::project("examples/tool-inputs");
    let read = |name: &str| std::fs::read_to_string(example.join(name)).unwrap();
    let (rules, tools) = (read("calculator.assert"), read("tools.json"));
    let folder = Folder::new(&[("calculator.assert", rules.as_str()), ("tools.json", tools.as_str())]);
    let asked: Vec<String> = lines(&folder.aver("inputs calculator.assert").out)
        .iter()
        .map(|one| {
            format!(
                "{}-{}-{} {} {}",
                one["invariant"].as_str().unwrap(),
                one["tool"].as_str().unwrap(),
                one["case"],
                one["tool"],
                one["arguments"]
            )
        })
        .collect();
    let recorded: Vec<String> = lines(&read("recorded.jsonl"))
        .iter()
        .map(|run| format!("{} {} {}", run["id"].as_str().unwrap(), run["calls"][0]["tool"], run["calls"][0]["args"]))
        .collect();
    assert_eq!(asked, recorded);
}
