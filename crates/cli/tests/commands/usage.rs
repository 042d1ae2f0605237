//! The command line: output, streams, and exit codes.

use assert_cmd::Command;
use std::path::Path;
use tempfile::TempDir;

const RULES: &str = "\
param limit: number = 100
rule approval \"Refunds above the limit need an approval for the same order\" {
  tags payments
  before approve(id: $id) -> refund(id: $id, amount > limit)
}
output.status == \"refunded\"
never drop_table
";
const GOOD: &str = r#"{"calls":[{"tool":"approve","args":{"id":"o-1"}},{"tool":"refund","args":{"id":"o-1","amount":250}}],"output":{"status":"refunded"}}"#;
const BAD: &str = r#"{"calls":[{"tool":"approve","args":{"id":"o-2"}},{"tool":"refund","args":{"id":"o-1","amount":250}}],"output":{"status":"refunded"}}"#;
const IDLE: &str = r#"{"calls":[],"output":{"status":"refunded"}}"#;

struct Folder(TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(name, text)| folder.write(name, text.as_bytes()));
        folder
    }

    /// Creates rules, a passing run, a failing run, and both as lines.
    fn usual() -> Self {
        let lines = format!("{GOOD}\n{BAD}\n{GOOD}\n");
        Self::new(&[("refunds.assert", RULES), ("good.json", GOOD), ("bad.json", BAD), ("runs/all.jsonl", &lines)])
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn aver(&self, line: &str) -> Ran {
        self.aver_with(line, "")
    }

    fn aver_with(&self, line: &str, input: &str) -> Ran {
        let words = shell_words::split(line).unwrap();
        let output = Command::cargo_bin("aver")
            .unwrap()
            .current_dir(self.path())
            .env_remove("COLUMNS")
            .args(words)
            .write_stdin(input)
            .output()
            .unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The exit code and output of a command.
#[derive(Debug)]
struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    /// Asserts a usage error: exit code 2, empty standard output, and an error message with all of these parts.
    #[track_caller]
    fn refused(&self, said: &[&str]) {
        assert_eq!((self.code, self.out.as_str()), (2, ""), "{self:?}");
        said.iter().for_each(|part| assert!(self.err.contains(part), "{part:?} is not said: {}", self.err));
    }

    #[track_caller]
    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

#[track_caller]
fn golden(name: &str, text: &str) {
    let _scope = averment_fixtures::snapshots_in("tests/golden/cli");
    insta::assert_snapshot!(name, text);
}

#[test]
fn exit_codes_say_what_happened() {
    let folder = Folder::usual();
    folder.write("broken.assert", b"nevr deploy\n");
    folder.write("broken.json", b"{\"calls\": [");
    folder.write("world.assert", b"run \"true\" exits 0\n");
    for (line, code) in [
        ("check refunds.assert good.json", 0),
        ("check refunds.assert bad.json", 1),
        ("check refunds.assert", 2),
        ("check broken.assert good.json", 3),
        ("check refunds.assert broken.json", 4),
        ("check world.assert good.json", 5),
        ("check world.assert -r refunds.assert bad.json", 5),
        ("check refunds.assert bad.json broken.json", 4),
        ("lint refunds.assert", 0),
        ("lint broken.assert", 3),
        ("--version", 0),
        ("--help", 0),
        ("", 2),
        ("chek", 2),
        ("check --help", 0),
    ] {
        let ran = folder.aver(line);
        assert_eq!(ran.code, code, "aver {line}: {ran:?}");
    }
}

#[test]
fn a_failure_shows_the_rule_the_trace_and_the_nearest_miss() {
    let ran = Folder::usual().aver("check refunds.assert bad.json");
    golden("check-human", &ran.out);
    assert_eq!(ran.err, "");
}

#[test]
fn many_runs_from_a_folder_are_named_by_their_lines() {
    let ran = Folder::usual().aver("check refunds.assert runs --format short");
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.out,
        "refunds.assert:4:3: error[approval.1]: fail in runs/all.jsonl:2: refund at call 2 has no earlier approve with id \"o-1\" (approve at call 1 has id \"o-2\")\n"
    );
    let _scope = averment_fixtures::exact_snapshots();
    insta::assert_snapshot!(Folder::usual().aver("check refunds.assert runs good.json --format summary").out, @r#"
    failed in 1 of 4 runs: 1 failed, 11 passed; score 0.91

    rule                         pass  fail
    approval                        3     1
    output.status == "refunded"     4     0
    never drop_table                4     0
    "#);
}

#[test]
fn nothing_checked_is_never_green() {
    let folder = Folder::usual();
    folder.write("none/readme.txt", b"");
    folder.write("only-tests.assert", b"test \"t\" expect fail { calls: [] }\n");
    folder.write("empty.jsonl", b"");
    for (line, said) in [
        ("check refunds.assert", "no trace is given"),
        ("check refunds.assert none", "there is no trace in `none`"),
        ("check refunds.assert good.json none", "there is no trace in `none`"),
        ("check refunds.assert 'none/*.json'", "there is no trace in `none/*.json`"),
        ("check -r refunds.assert -r none good.json", "there is no `.assert` file in `none`"),
        ("check none good.json", "there is no `.assert` file in `none`"),
        ("check refunds.assert good.json --tag payments --rule never", "there is no rule or assertion `never`"),
        ("check only-tests.assert good.json", "the rules hold no assertion"),
    ] {
        folder.aver(line).refused(&[said]);
    }
    assert_eq!(folder.aver("check refunds.assert none --allow empty").code, 0);
    assert_ne!(folder.aver("check refunds.assert empty.jsonl").code, 0);
}

#[test]
fn when_everything_is_vacuous_the_first_line_says_so() {
    let folder = Folder::new(&[("r.assert", "before approve -> refund\n"), ("idle.json", IDLE)]);
    let ran = folder.aver("check r.assert idle.json");
    assert_eq!(ran.code, 0);
    assert!(ran.out.starts_with("nothing was exercised: every verdict is vacuous"), "{}", ran.out);
    assert_eq!(folder.aver("check r.assert idle.json --deny vacuous").code, 1);
}

#[test]
fn undecided_fails_unless_allowed() {
    let folder = Folder::new(&[("r.assert", "cost <= $1\nnever refund\n"), ("idle.json", IDLE)]);
    let ran = folder.aver("check r.assert idle.json");
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("undecided"), "{}", ran.out);
    assert_eq!(folder.aver("check r.assert idle.json --allow undecided").code, 0);
}

#[test]
fn what_cannot_be_followed_is_told_with_what_to_write() {
    let folder = Folder::usual();
    for (line, said) in [
        (
            "check refund.assert good.json",
            vec!["there is no rule file `refund.assert`", "did you mean `refunds.assert`?"],
        ),
        ("check good.json refunds.assert", vec!["the rules come first", "write `aver check refunds.assert good.json`"]),
        ("check refunds.assert good.json --format jsno", vec!["there is no format `jsno`", "did you mean `json`?"]),
        ("check refunds.assert good.json --report json", vec!["write `--report json=FILE`"]),
        (
            "check refunds.assert good.json --rule aproval",
            vec!["there is no rule or assertion `aproval`", "`approval`"],
        ),
        ("check refunds.assert good.json --tag payment", vec!["there is no tag `payment`", "`payments`"]),
        ("check refunds.assert good.json --case find", vec!["there is no case `find`", "the rules have no case"]),
        ("check refunds.assert good.json --param limt=3", vec!["there is no parameter `limt`", "`limit`"]),
        ("check refunds.assert good.json --param limit", vec!["write `--param limit=VALUE`"]),
        ("check refunds.assert good.json --param limit=many", vec!["`many` does not fit", "write a number"]),
        ("check refunds.assert good.json --max-run-size big", vec!["`big` is no size", "`64MiB`"]),
        ("check - -", vec!["cannot both come from standard input"]),
        ("explain unused-lett", vec!["did you mean `unused-let`?"]),
        ("docs medain", vec!["did you mean `median`?"]),
        ("test refunds.assert", vec!["the rules hold no test"]),
    ] {
        folder.aver(line).refused(&said);
    }
}

#[test]
fn parameters_change_what_a_rule_says() {
    let folder = Folder::usual();
    assert_eq!(folder.aver("check refunds.assert bad.json --param limit=250").code, 0);
    folder.write("params.json", b"{\"limit\": 300}");
    assert_eq!(folder.aver("check refunds.assert bad.json --param-file params.json").code, 0);
    assert_eq!(folder.aver("check refunds.assert bad.json --param-file params.json --param limit=10").code, 1);
}

#[test]
fn selections_check_only_what_they_name() {
    let folder = Folder::usual();
    let ids = |line: &str| {
        let json = folder.aver(line).json();
        let results = json["runs"][0]["results"].as_array().unwrap().clone();
        results.iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids("check refunds.assert good.json --format json").len(), 3);
    assert_eq!(ids("check refunds.assert good.json --format json --rule approval"), ["approval.1"]);
    assert_eq!(ids("check refunds.assert good.json --format json --rule approval.1"), ["approval.1"]);
    assert_eq!(ids("check refunds.assert good.json --format json --tag payments"), ["approval.1"]);
}

#[test]
fn an_unreadable_line_is_told_with_its_place_and_the_rest_goes_on() {
    let folder = Folder::usual();
    folder.write("odd.jsonl", format!("{GOOD}\n{{\"calls\": [}}\n{BAD}\n").as_bytes());
    let ran = folder.aver("check refunds.assert odd.jsonl --format short");
    assert_eq!(ran.code, 4);
    assert!(ran.out.starts_with("odd.jsonl:2:12: error[trace]: "), "{}", ran.out);
    assert!(ran.out.contains("fail in odd.jsonl:3"), "{}", ran.out);
    let json = folder.aver("check refunds.assert odd.jsonl --format json").json();
    assert_eq!((json["summary"]["runs"].as_u64(), json["unreadable"][0]["line"].as_u64()), (Some(2), Some(2)));
}

#[test]
fn a_trace_that_is_not_there_is_told_and_the_others_are_judged() {
    let folder = Folder::usual();
    let ran = folder.aver("check refunds.assert god.json bad.json");
    assert_eq!(ran.code, 4, "{ran:?}");
    for part in ["cannot be read: god.json", "there is no such trace", "did you mean `good.json`?"] {
        assert!(format!("{}{}", ran.out, ran.err).contains(part), "{part:?} is not said: {ran:?}");
    }
    assert!(ran.out.contains("refund at call 2 has no earlier approve"), "{}", ran.out);
    let json = folder.aver("check refunds.assert none/god.json good.json --format json").json();
    assert_eq!(
        (json["summary"]["runs"].as_u64(), json["unreadable"][0]["file"].as_str()),
        (Some(1), Some("none/god.json"))
    );
    assert_eq!(json["unreadable"][0]["help"], "there is no folder `none`");
}

#[test]
fn a_rule_file_that_is_no_text_is_told_at_the_byte() {
    let folder = Folder::usual();
    folder.write("latin.assert", b"# caf\xc3\xa9\noutput == \"caf\xe9\"\n");
    let ran = folder.aver("lint latin.assert --format short");
    assert_eq!(ran.code, 3);
    assert!(ran.out.starts_with("latin.assert:2:15: error[not-text]: "), "{ran:?}");
    assert!(ran.out.contains("0xE9"), "{ran:?}");
}

#[test]
fn a_value_that_does_not_fit_is_told_with_its_place_and_the_line_of_the_schema() {
    let rules = "schema Refund = {\n  properties: {\n    id: { type: \"string\" }, # as the shop writes it\n    amount: { maximum: 100 }\n  }\n}\n\
        schema Order from \"schemas/order.json\"\noutput is Refund\noutput.text is json Refund\noutput.order is Order\noutput.order.item is Order\n";
    let order = "{\n  \"required\": [\"sku\"],\n  \"properties\": {\n    \"item\": {\"$ref\": \"item.json\"},\n    \"buyer\": {\"$ref\": \"#/$defs/person\"}\n  },\n  \"$defs\": {\n    \"person\": {\"type\": \"object\"}\n  }\n}\n";
    let item = "{\n  \"properties\": {\n    \"count\": {\"type\": \"integer\"}\n  }\n}\n";
    let run = r#"{"output":{"id":"r-1","amount":250,"text":"{\"id\": 7}","order":{"sku":1,"item":{"count":"two"},"buyer":"ann"}}}"#;
    let folder = Folder::new(&[
        ("r.assert", rules),
        ("schemas/order.json", order),
        ("schemas/item.json", item),
        ("t.json", run),
    ]);
    let json = folder.aver("check r.assert t.json --format json").json();
    let results = json["runs"][0]["results"].as_array().unwrap();
    let reasons: Vec<&str> = results.iter().map(|one| one["reason"].as_str().unwrap()).collect();
    assert_eq!(
        reasons[0],
        "`output` does not fit `Refund`: 250 is greater than the maximum of 100 (at `/amount`, by r.assert:4)"
    );
    assert_eq!(
        reasons[1],
        "`output.text` does not fit `Refund`: 7 is not of type \"string\" (at `/id`, by r.assert:3)"
    );
    assert_eq!(
        reasons[3],
        "`output.order.item` does not fit `Order`: \"sku\" is a required property (by schemas/order.json:2)"
    );
    let either = ["(at `/buyer`, by schemas/order.json:8)", "(at `/item/count`, by schemas/item.json:3)"];
    assert!(either.iter().any(|places| reasons[2].ends_with(places)), "{}", reasons[2]);
    let part = &results[0]["evidence"][1];
    assert_eq!((part["path"].as_str(), &part["value"]), (Some("/output/amount"), &serde_json::json!(250)));
    let human = folder.aver("check r.assert t.json").out;
    assert!(human.contains("4 |     amount: { maximum: 100 }"), "the line of the schema is not shown: {human}");
}

#[test]
fn strict_refuses_duplicate_keys() {
    let folder = Folder::new(&[("r.assert", "never refund\n"), ("t.json", r#"{"calls": [], "calls": []}"#)]);
    let ran = folder.aver("check r.assert t.json");
    assert!(ran.out.contains("`calls` stands more than once"), "{ran:?}");
    assert_eq!(folder.aver("check r.assert t.json --strict").code, 4);
}

#[test]
fn standard_input_is_a_trace_or_the_rules() {
    let folder = Folder::usual();
    let ran = folder.aver_with("check refunds.assert -", &format!("{GOOD}\n{BAD}\n"));
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("<stdin>:2"), "{}", ran.out);
    assert_eq!(folder.aver_with("check - good.json", "require approve").code, 0);
    assert_eq!(folder.aver_with("lint -", "require approve").code, 0);
}

#[test]
fn machine_formats_are_what_their_schemas_say() {
    let schema = |text: &str| jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap();
    let folder = Folder::usual();
    folder.write("odd.jsonl", format!("{GOOD}\nno\n").as_bytes());
    folder.write("broken.assert", b"nevr deploy\n");
    let (whole, line) = (
        include_str!("../../../../docs/schema/check.schema.json"),
        include_str!("../../../../docs/schema/check-jsonl.schema.json"),
    );
    for rules in ["refunds.assert", "broken.assert"] {
        let json = folder.aver(&format!("check {rules} runs odd.jsonl --format json")).json();
        let errors: Vec<String> = schema(whole).iter_errors(&json).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        let ran = folder.aver(&format!("check {rules} runs odd.jsonl --format jsonl"));
        let validator = schema(line);
        for text in ran.out.lines() {
            assert!(validator.is_valid(&serde_json::from_str(text).unwrap()), "{text}");
        }
    }
    let broken = folder.aver("check broken.assert good.json --format json");
    assert_eq!((broken.code, broken.json()["passed"].as_bool()), (3, Some(false)));
    assert_eq!(broken.json()["diagnostics"][0]["slug"], "unknown-statement");
}

#[test]
fn evidence_points_at_bytes_of_the_file_that_was_read() {
    let json = Folder::usual().aver("check refunds.assert runs --format json").json();
    let file = format!("{GOOD}\n{BAD}\n{GOOD}\n");
    let evidence = json["runs"][1]["results"][0]["evidence"].as_array().unwrap();
    let source = evidence.iter().find(|one| one["value"] == "o-1").unwrap();
    let at = |key: &str| usize::try_from(source["source"][key].as_u64().unwrap()).unwrap();
    assert_eq!(&file[at("start")..at("end")], "\"o-1\"");
    assert_eq!((source["source"]["line"].as_u64(), source["step"].as_u64()), (Some(2), Some(2)));
    assert_eq!(source["path"], "/calls/1/args/id");
}

#[test]
fn several_reports_are_written_at_once() {
    let folder = Folder::usual();
    let ran = folder.aver("check refunds.assert runs --format summary --report json=out.json --report short=out.txt");
    assert!(ran.out.starts_with("failed"), "{}", ran.out);
    let json = std::fs::read_to_string(folder.path().join("out.json")).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["summary"]["runs"], 3);
    assert_eq!(std::fs::read_to_string(folder.path().join("out.txt")).unwrap().lines().count(), 1);
    folder
        .aver("check refunds.assert runs --report json=none/out.json")
        .refused(&["`none/out.json` cannot be written"]);
}

#[test]
fn the_output_does_not_depend_on_the_number_of_threads() {
    let folder = Folder::usual();
    let lines: String = (0..3_000).map(|number| format!("{}\n", if number % 7 == 0 { BAD } else { GOOD })).collect();
    folder.write("many.jsonl", lines.as_bytes());
    for format in ["human", "summary", "short", "json", "jsonl"] {
        let run = |threads: u32| {
            folder.aver(&format!("check refunds.assert many.jsonl --format {format} --threads {threads}"))
        };
        let (one, four) = (run(1), run(4));
        assert_eq!(one.code, 1);
        assert!(one.out == four.out, "{format}");
    }
}

#[test]
fn many_failures_are_counted_and_few_are_drawn() {
    let folder = Folder::usual();
    folder.write("many.jsonl", format!("{BAD}\n").repeat(50).as_bytes());
    let drawn = |line: &str| folder.aver(line).out.matches("error[approval.1]").count();
    assert_eq!(drawn("check refunds.assert many.jsonl --max-failures 20"), 20);
    assert_eq!(drawn("check refunds.assert many.jsonl --max-failures 0"), 0);
    assert!(folder.aver("check refunds.assert many.jsonl").out.contains("50 of 50 runs  approval.1: "));
}

#[test]
fn a_compiled_program_checks_like_its_sources() {
    let folder = Folder::usual();
    assert_eq!(folder.aver("compile refunds.assert").code, 0);
    std::fs::rename(folder.path().join("refunds.assert"), folder.path().join("moved")).unwrap();
    let compiled = folder.aver("check refunds.assertc bad.json");
    let source = Folder::usual().aver("check refunds.assert bad.json");
    assert_eq!((compiled.code, compiled.out), (source.code, source.out));
    assert!(folder.aver("disasm refunds.assertc").out.contains("refunds.assert"));
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains(".part")), "{left:?}");
}

#[test]
fn a_program_that_cannot_be_written_leaves_nothing() {
    let folder = Folder::usual();
    folder.write("broken.assert", b"nevr deploy\n");
    assert_eq!(folder.aver("compile broken.assert -o out.assertc").code, 3);
    folder.aver("compile refunds.assert -o none/out.assertc").refused(&["cannot be written"]);
    folder.aver("compile refunds.assert -o refunds.assert").refused(&["would overwrite the rules"]);
    assert!(!folder.path().join("out.assertc").exists());
}

#[test]
fn a_damaged_program_is_refused() {
    let folder = Folder::usual();
    folder.aver("compile refunds.assert");
    let mut bytes = std::fs::read(folder.path().join("refunds.assertc")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    folder.write("damaged.assertc", &bytes);
    folder.aver("check damaged.assertc good.json").refused(&["damaged"]);
}

#[test]
fn lint_prints_every_mistake_in_file_order() {
    let folder = Folder::new(&[("r.assert", "nevr deploy\nlet limit = 3\noutput.lenght == 3 wieght 2\n")]);
    let ran = folder.aver("lint r.assert --format short");
    assert_eq!(ran.code, 3);
    let _scope = averment_fixtures::exact_snapshots();
    insta::assert_snapshot!(ran.out, @"
    r.assert:1:1: error[unknown-statement]: unknown statement `nevr`; help: did you mean `never`?
    r.assert:3:20: error[unknown-modifier]: unknown modifier `wieght`; help: did you mean `weight`?
    ");
    golden("lint-human", &folder.aver("lint r.assert").out);
    let json = folder.aver("lint r.assert --format json").json();
    assert_eq!(json["diagnostics"].as_array().unwrap().len(), ran.out.lines().count());
    let warned = Folder::new(&[("r.assert", "let limit = 3\nnever refund\n")]).aver("lint r.assert");
    assert_eq!(warned.code, 1);
}

#[test]
fn tests_of_rules_show_what_was_expected_and_what_came_out() {
    let tests = format!(
        "{RULES}test \"caught\" expect fail approval {{ calls: [{{ tool: \"refund\", args: {{ id: 1, amount: 200 }} }}] }}\n\
         test \"not caught\" expect fail approval {{ calls: [{{ tool: \"refund\", args: {{ id: 1, amount: 2 }} }}] }}\n"
    );
    let folder = Folder::new(&[("r.assert", &tests)]);
    let ran = folder.aver("test r.assert");
    assert_eq!(ran.code, 1);
    let _scope = averment_fixtures::exact_snapshots();
    insta::assert_snapshot!(ran.out, @r"
    ok      caught
    failed  not caught
            r.assert:9:1: `approval` is vacuous, not fail
              approval.1 vacuous: there is no `refund(id: $id, amount > limit)`

    expected \ found         pass       fail    vacuous
      pass                      0          0          0
      fail                      0          1          1
      vacuous                   0          0          0

    failed: 1 of 2 tests did not come out as stated
    ");
    assert_eq!(folder.aver("test r.assert --filter 'caught'").code, 1);
    assert_eq!(folder.aver("test r.assert --format json").json()["summary"]["failed"], 1);
    assert_eq!(folder.aver("test r.assert --format short").out.lines().count(), 1);
    folder.aver("test r.assert --filter nothing").refused(&["no test has this text in its name"]);
}

#[test]
fn secrets_of_a_trace_stand_in_no_report() {
    // Assembled here, so that no token is in the source.
    let token = format!("gh{}_{}", "p", "q7Kd02LmZx9RbT4vWn81YcPa6HsEuJ3gQf5i");
    let trace =
        format!(r#"{{"calls":[{{"tool":"post","args":{{"body":"use {token} here"}}}}],"output":"done with {token}"}}"#);
    let rules = "use std.secrets\nno secrets in calls[*].args\noutput == \"done\"\neach post: args.body == \"x\"\n";
    let folder = Folder::new(&[("r.assert", rules), ("t.json", &trace)]);
    for format in ["human", "summary", "short", "json", "jsonl"] {
        let ran = folder.aver(&format!("check r.assert t.json --format {format}"));
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(!ran.out.contains(&token[..12]) && !ran.err.contains(&token[..12]), "{format}: {}", ran.out);
    }
}

#[test]
fn a_value_whose_name_makes_it_a_secret_and_the_environment_are_not_shown() {
    let trace =
        r#"{"calls":[{"tool":"login","args":{"password":"Tr0ub4dor&3xyz"}}],"env":{"HOME":"/home/ada-lovelace"}}"#;
    let rules = "each login: args.password == \"x\"\nenv.HOME == \"/root\"\n";
    let folder = Folder::new(&[("r.assert", rules), ("t.json", trace)]);
    for format in ["human", "short", "json", "jsonl"] {
        let ran = folder.aver(&format!("check r.assert t.json --format {format}"));
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(!ran.out.contains("Tr0ub4dor") && !ran.out.contains("ada-lovelace"), "{format}: {}", ran.out);
    }
}

#[test]
fn long_lines_are_shown_in_a_window() {
    let long = format!(
        r#"{{"calls":[{{"tool":"refund","args":{{"note":"{}","amount":5}}}}],"output":"{}"}}"#,
        "a".repeat(3_000_000),
        "b".repeat(100_000)
    );
    let folder = Folder::new(&[
        ("r.assert", "never refund\noutput == \"x\"\neach refund: args.amount > 10\n"),
        ("t.json", &long),
    ]);
    for format in ["human", "short", "json", "jsonl"] {
        let ran = folder.aver(&format!("check r.assert t.json --format {format}"));
        assert!(ran.out.len() < 20_000, "{format}: {} bytes", ran.out.len());
    }
    let human = folder.aver("check r.assert t.json").out;
    assert!(human.lines().all(|line| line.chars().count() <= 180), "{human}");
}

#[test]
fn colour_is_for_terminals_only() {
    let folder = Folder::usual();
    assert!(!folder.aver("check refunds.assert bad.json").out.contains('\u{1b}'));
    assert!(folder.aver("check refunds.assert bad.json --color always").out.contains('\u{1b}'));
}

#[test]
fn a_closed_pipe_takes_neither_the_exit_code_nor_the_files() {
    use std::io::Read as _;
    use std::process::{Command, Stdio};
    let folder = Folder::usual();
    folder.write("many.jsonl", format!("{BAD}\n").repeat(20_000).as_bytes());
    let mut child = Command::new(env!("CARGO_BIN_EXE_aver"))
        .args(["check", "refunds.assert", "many.jsonl", "--format", "json", "--report", "summary=end.txt"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut start = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut start).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap().as_str()), (Some(1), ""));
    assert!(std::fs::read_to_string(folder.path().join("end.txt")).unwrap().contains("20000"));
}

#[cfg(unix)]
#[test]
fn an_interruption_prints_what_is_done() {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::process::{Command, Stdio};
    let folder = Folder::usual();
    let mut child = Command::new(env!("CARGO_BIN_EXE_aver"))
        .args(["check", "refunds.assert", "runs/all.jsonl", "-", "--format", "json"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Standard input stays open: the command has judged the file and waits.
    let mut input = child.stdin.take().unwrap();
    input.write_all(b" ").unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    while !text.contains("all.jsonl:2") {
        assert_ne!(out.read_line(&mut text).unwrap(), 0, "{text}");
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    out.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((json["summary"]["runs"].as_u64(), json["passed"].as_bool()), (Some(3), Some(false)));
}

#[test]
fn odd_numbers_of_threads_and_sizes_are_refused_in_words() {
    let folder = Folder::usual();
    for (option, said) in [
        ("--threads 0", "'0' for '--threads <N>': write how many, from 1 on"),
        ("--threads -1", "'-1' for '--threads <N>': write how many, from 1 on"),
        ("--threads many", "'many' for '--threads <N>': write how many, from 1 on"),
        ("--chunk 0", "`0` is no size"),
        ("--chunk -1", "`-1` is no size"),
        ("--max-run-size lots", "`lots` is no size"),
    ] {
        folder.aver(&format!("check refunds.assert good.json {option}")).refused(&[said]);
    }
    for option in ["--threads 1000", "--chunk 1", "--chunk 1GB --threads 3"] {
        assert_eq!(folder.aver(&format!("check refunds.assert runs {option}")).code, 1, "{option}");
    }
}

#[test]
fn every_command_has_help_with_examples() {
    let folder = Folder::usual();
    for command in [
        "check",
        "test",
        "lint",
        "fmt",
        "export",
        "import",
        "inputs",
        "trace show",
        "trace convert",
        "trace stats",
        "trace map",
        "trace schema",
        "explain",
        "docs",
        "compile",
        "disasm",
        "completions",
        "man",
        "new",
        "init",
    ] {
        let ran = folder.aver(&format!("{command} --help"));
        assert_eq!(ran.code, 0);
        assert!(ran.out.contains("Examples:") && ran.out.contains("aver "), "{command}: {}", ran.out);
        assert!(ran.out.lines().all(|line| line.chars().count() <= 120), "{command}");
    }
    golden("help", &folder.aver("--help").out);
    golden("help-check", &folder.aver("check --help").out);
}

#[test]
fn completions_explain_and_docs_print_something_useful() {
    let folder = Folder::usual();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        assert!(folder.aver(&format!("completions {shell}")).out.contains("max-failures"), "{shell}");
    }
    assert!(folder.aver("explain unknown-tool").out.contains("Prefer"));
    assert!(folder.aver("explain").out.lines().count() > 30);
    assert!(folder.aver("docs").out.contains("functions"));
    assert!(folder.aver("docs functions").out.contains("median(values: list) -> number"));
    assert!(folder.aver("docs language").out.contains("before"));
    assert!(folder.aver("docs std.secrets").out.contains("Whether a value holds a private key."));
    assert!(folder.aver("docs stdlib").out.contains("step force_push"));
    assert!(folder.aver("docs expressions").out.contains("missing"));
    assert!(folder.aver("docs cheatsheet").out.contains("Recipes"));
    let words = [
        ("until", "until (behind a step): where the window ends\n    never write after logout until login\n"),
        ("iff", "iff (behind a step): every step on the left has one on the right"),
        ("failed", "never any failed"),
        ("missing", "is missing (test)"),
        ("ignoring", "ignoring (clause of `like`)"),
        ("at", "at least (statement)"),
        ("each", "each (statement)"),
    ];
    for (word, shown) in words {
        let printed = folder.aver(&format!("docs {word}")).out;
        assert!(printed.contains(shown), "{word}: {printed}");
    }
    assert!(folder.aver("docs").out.starts_with("cheatsheet"));
    let all = folder.aver("docs --all").out;
    let ends = ["Averment on one page", "\nThe language\n", "median(values: list) -> number", "step force_push"];
    assert!(ends.iter().all(|part| all.contains(part)) && all.starts_with("<!-- cheatsheet -->"));
    folder.aver("docs std.secret").refused(&["did you mean `secrets`?"]);
}

#[test]
fn a_mistyped_command_line_is_told_what_to_write() {
    let folder = Folder::usual();
    folder.write("notes.txt", b"hello world\n");
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let told: [(&str, &[&str]); 16] = [
        ("chek", &["there is no command `aver chek`", "did you mean `aver check`?"]),
        ("validate refunds.assert", &["write `aver check`"]),
        ("trace good.json", &["write `aver trace show good.json`"]),
        ("check refunds.assert good.json --fromat json", &["argument `--fromat`", "did you mean `--format`?"]),
        ("check refunds.assert good.json --jobs 2", &["argument `--jobs`", "write `--threads N`"]),
        ("check refunds.assert good.json -v", &["`aver explain RULES TRACE`"]),
        ("fmt --nonsense", &["argument `--nonsense`", "`aver fmt --help` lists the options"]),
        ("compare one", &["`<NEW>` is missing", "write `aver compare <BASE> <NEW>`"]),
        ("completions bsh", &["cannot be `bsh`", "did you mean `bash`?", "zsh"]),
        ("check refunds.assert good.json --format JSON", &["did you mean `json`?"]),
        ("check refunds.assert good.json --report json=none/r.json", &["there is no folder `none`"]),
        ("compare one.json good.json", &["there is no file or folder `one.json`"]),
        ("import none.yaml", &["there is no rule file `none.yaml`", "check the path"]),
        ("check refunds.assert empty", &["there is no trace in `empty`", "name a trace or a folder"]),
        ("check", &["`aver check rules.assert runs/`", "`aver init`"]),
        ("check refunds.assert", &["no trace is given", "name files, folders"]),
    ];
    for (words, parts) in told {
        folder.aver(words).refused(parts);
    }
    for (trace, part) in [
        ("notes.txt", "name JSON: one run, a list of runs, or a run on each line"),
        ("https://shop.example/run.json", "fetch it first"),
        ("later", "make the folder `later` and put recorded runs into it"),
    ] {
        let ran = folder.aver(&format!("check refunds.assert {trace}"));
        assert!(ran.code == 4 && format!("{}{}", ran.out, ran.err).contains(part), "{ran:?}");
    }
}
