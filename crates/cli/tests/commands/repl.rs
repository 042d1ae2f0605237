//! `aver repl` with inputs from a pipe; see also `repl_terminal.rs`.

use crate::folder::Folder;
use std::io::Write as _;
use std::process::{Command, Stdio};

const RULES: &str = "\
## What may be paid without asking.
param limit: number = 100
def large(amount) = amount > limit
rule approval \"Large refunds are approved\" {
  before approve(id: $id) -> refund(id: $id, amount > limit)
}
";
const RUNS: &str = "\
{\"id\":\"one\",\"output\":{\"status\":\"refunded\",\"note\":\"ok\"},\"duration\":9100,\"calls\":[{\"tool\":\"approve\",\"args\":{\"id\":\"o-2\"}},{\"tool\":\"refund\",\"args\":{\"id\":\"o-1\",\"amount\":250}}]}
{\"id\":\"two\",\"output\":{\"status\":\"open\"},\"calls\":[]}
";

/// The output and exit code of a session.
struct Said {
    code: i32,
    out: String,
}

impl Said {
    /// Returns the text between an input and the next one.
    #[track_caller]
    fn to(&self, input: &str) -> &str {
        let prompt = format!("> {input}\n");
        let start = self.out.find(&prompt).unwrap_or_else(|| panic!("`{input}` is not repeated in\n{}", self.out));
        let rest = &self.out[start + prompt.len()..];
        rest.find("\n> ").map_or(rest, |end| &rest[..=end])
    }
}

fn folder() -> Folder {
    Folder::new(&[("refunds.assert", RULES), ("runs.jsonl", RUNS)])
}

fn session(folder: &Folder, arguments: &[&str], input: &str) -> Said {
    session_in(folder.path(), arguments, input)
}

fn session_in(folder: &std::path::Path, arguments: &[&str], input: &str) -> Said {
    let mut child = Command::new(env!("CARGO_BIN_EXE_aver"))
        .arg("repl")
        .args(arguments)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    Said { code: output.status.code().unwrap_or(-1), out: String::from_utf8(output.stdout).unwrap() }
}

fn usual(input: &str) -> Said {
    session(&folder(), &["refunds.assert", "--on", "runs.jsonl"], input)
}

#[test]
fn expressions_have_values_in_the_notation_of_the_language() {
    let said = usual(
        "1 + 2 * 3\noutput\ncalls[*].tool\noutput.state\ncost\nduration\nlarge(120)\noutput.status == \"open\"\n",
    );
    assert_eq!(said.to("1 + 2 * 3"), "7\n");
    assert_eq!(said.to("output"), "{status: \"refunded\", note: \"ok\"}\n");
    assert_eq!(said.to("calls[*].tool"), "[\"approve\", \"refund\"]\n");
    assert_eq!(said.to("output.state"), "missing: there is `status`, `note`\n");
    assert_eq!(said.to("cost"), "not recorded\n");
    assert_eq!(said.to("duration"), "9100  (9.1s)\n");
    assert_eq!(said.to("large(120)"), "true\n");
    assert_eq!(said.to("output.status == \"open\""), "false: `output.status` is \"refunded\"\n");
    assert_eq!(said.code, 0);
}

#[test]
fn statements_have_verdicts_with_reasons_and_evidence() {
    let said = usual("require refund\nbefore approve(id: $id) -> refund(id: $id)\nnever cancel\nbefore a -> b\n");
    assert_eq!(said.to("require refund"), "pass\n");
    let fail = said.to("before approve(id: $id) -> refund(id: $id)");
    assert!(fail.starts_with("fail: refund at call 2 has no earlier approve with id \"o-1\"\n"), "{fail}");
    assert!(fail.contains("  step 2  refund(id: \"o-1\", amount: 250)\n"), "{fail}");
    assert!(said.to("before a -> b").starts_with("vacuous: there is no b"));
    assert_eq!(said.code, 1);
}

#[test]
fn the_last_value_is_it_and_a_name_that_is_declared_wins() {
    let said = usual("calls[1].args\nit.amount\nit + 1\nlet it = 5\n7\nit\n");
    assert_eq!(said.to("it.amount"), "250\n");
    assert_eq!(said.to("it + 1"), "251\n");
    assert!(said.out.ends_with("> it\n5\n"), "{}", said.out);
}

#[test]
fn definitions_stay_and_a_later_one_replaces_an_earlier_one_also_of_the_file() {
    let said =
        usual("let a = 1\nlet b = a + limit\nb\nlet a = 10\nb + 0\nparam limit: number = 1000\nb + 1\nlarge(120)\n");
    assert_eq!(said.to("let a = 1"), "defined `a`\n");
    assert_eq!(said.to("b"), "101\n");
    assert_eq!(said.to("let a = 10"), "replaced `a`\n");
    assert_eq!(said.to("b + 0"), "110\n");
    assert_eq!(said.to("param limit: number = 1000"), "replaced `limit`\n");
    assert_eq!(said.to("b + 1"), "1011\n");
    assert!(said.to("large(120)").starts_with("false"));
}

#[test]
fn every_kind_of_declaration_can_be_entered() {
    let said = usual(
        "def step paid(limit, $id) = refund(id: $id, amount > limit)\nrequire paid(100, $x)\nschema Order = { type: \"object\", required: [\"status\"] }\noutput is Order\nuse std.secrets\nno secrets in output\n",
    );
    assert_eq!(said.to("require paid(100, $x)"), "pass\n");
    assert_eq!(said.to("output is Order"), "true\n");
    assert_eq!(said.to("use std.secrets"), "defined `std.secrets`\n");
    assert_eq!(said.to("no secrets in output"), "pass\n");
    assert_eq!(said.code, 0, "{}", said.out);
}

#[test]
fn an_input_goes_on_while_brackets_or_operators_are_open() {
    let said = usual(
        "[1,\n 2]\n1 +\n2\nrule mine \"x\" {\n  require refund\n\n  never cancel\n}\n\"\"\"\none\ntwo\"\"\" | lines()\n(\n\n\n3\n",
    );
    assert!(said.out.contains("> [1,\n|  2]\n[1, 2]\n"), "{}", said.out);
    assert!(said.out.contains("> 1 +\n| 2\n3\n"), "{}", said.out);
    assert!(said.out.contains("| }\npass  mine.1\npass  mine.2\ndefined `mine`\n"), "{}", said.out);
    assert!(said.out.contains("[\"one\", \"two\"]\n"), "{}", said.out);
    // Two empty lines end an unfinished input.
    assert!(said.out.contains("this `(` is not closed"), "{}", said.out);
    assert!(said.out.ends_with("> 3\n3\n"), "{}", said.out);
}

#[test]
fn a_pasted_rule_file_is_taken_whole() {
    let text = "# pasted\nlet most = 2; def few(n) = n <= most\nrule counts {\n  severity warn\n  count refund <= most\n}\ntest \"none\" expect pass counts { calls: [] }\nfew(2)\n";
    let said = usual(text);
    assert!(said.out.contains("pass\ndefined `counts`\n"), "{}", said.out);
    assert_eq!(said.to("test \"none\" expect pass counts { calls: [] }"), "ok  test none\ndefined `none`\n");
    assert_eq!(said.to("few(2)"), "true\n");
}

#[test]
fn mistakes_are_drawn_where_they_were_typed_and_nothing_of_them_stays() {
    let said = usual("let x = 1\nlet y = x +\n  unknown\ny\nbefore -> b\nlet z = output.state..\n1 == 1\n");
    let unknown = said.to("let y = x +\n|   unknown");
    assert!(unknown.contains("input:2:3") && unknown.contains("unknown name `unknown`"), "{unknown}");
    assert!(said.to("y").contains("unknown name `y`"));
    assert!(said.to("before -> b").contains("input:1:"), "{}", said.out);
    assert_eq!(said.to("1 == 1"), "true\n");
    assert_eq!(said.code, 3);
}

#[test]
fn on_next_and_prev_go_through_the_runs_of_a_trace() {
    let said =
        usual(":next\noutput.status\n:next\n:prev\n:prev\n:on runs.jsonl 2\n:on runs.jsonl 9\n:on nothing.json\n:on\n");
    assert_eq!(said.to(":next"), "on `runs.jsonl:2` (id two): 0 steps\n");
    assert_eq!(said.to("output.status"), "\"open\"\n");
    assert!(said.out.contains("error: this is the last run\n") && said.out.contains("error: this is the first run\n"));
    assert!(said.to(":on runs.jsonl 9").contains("there are 2 runs"));
    assert!(said.to(":on nothing.json").contains("nothing.json"));
    assert!(said.to(":on").contains("`:on` takes a trace"));
}

#[test]
fn trace_shows_the_run_and_rules_lists_what_is_there() {
    let said = usual("let a = 1\nrequire refund\n:trace\n:rules\n");
    assert!(said.to(":trace").contains("2  call  refund(id: \"o-1\", amount: 250)"), "{}", said.out);
    let rules = said.to(":rules");
    assert!(rules.contains("fail      approval.1  before approve"), "{rules}");
    assert!(rules.contains("entered\n  let a = 1\n  require refund\n"), "{rules}");
    assert_eq!(said.code, 0, "a list of verdicts is no check");
}

#[test]
fn explain_says_how_the_last_verdict_a_value_or_a_rule_came_about() {
    let said = usual(
        ":explain\nrequire refund and_more\noutput.status == \"open\"\n:explain\n:explain approval\n:explain never refund\n:explain approvl\n",
    );
    assert!(said.to(":explain").contains("there is nothing to explain yet"));
    assert!(said.out.contains("no  output.status == \"open\"\n  -   output.status = \"refunded\"\n"), "{}", said.out);
    let rule = said.to(":explain approval");
    assert!(
        rule.contains("failed  approval.1") && rule.contains("B refund(id: $id, amount > limit)   matches 1 step"),
        "{rule}"
    );
    assert!(said.to(":explain never refund").contains("A refund   matches 1 step"));
    assert!(said.to(":explain approvl").contains("unknown"));
}

#[test]
fn step_walks_the_statements_through_the_run() {
    let said = usual(":step\nbefore approve -> refund\n:step\noutput.status\n:step\n:step\n:step 2\n:step 7\n");
    assert!(said.to(":step").contains("there is no statement to walk through"));
    assert!(said.out.contains("step 1  call  approve(id: \"o-2\")\n  before approve -> refund\n    it matches approve\n    nothing to check yet: approve came\n"), "{}", said.out);
    assert!(said.out.contains("step 2  call  refund(id: \"o-1\", amount: 250)\n  before approve -> refund\n    it matches refund\n    holds so far: approve came\n"), "{}", said.out);
    assert!(said.out.contains("that was the last step\n"));
    assert!(said.to(":step 7").contains("there is no step `7`: the run has 2 steps"));
}

#[test]
fn types_trees_and_instructions_can_be_looked_at() {
    let said = usual(
        ":type duration\n:type output.status\n:type count refund < 3\n:type let a = 5s\n:ast require refund\n:ir duration < 5s\n:ops duration < 5s\n:ops require refund(amount > 3)\n:ast\n",
    );
    assert_eq!(said.to(":type duration"), "duration\n");
    assert_eq!(said.to(":type output.status"), "any: a run decides\n");
    assert!(said.to(":type count refund < 3").starts_with("statement"));
    assert_eq!(said.to(":type let a = 5s"), "a: duration\n");
    assert!(
        said.to(":ast require refund").contains("require")
            && said.to(":ast require refund").contains("tool(\"refund\")")
    );
    assert!(said.to(":ir duration < 5s").contains("constant(\"5000\")"));
    let ops = said.to(":ops duration < 5s");
    assert!(ops.contains("root duration") && ops.contains("constant 5000") && ops.contains("test <"), "{ops}");
    let pattern = said.to(":ops require refund(amount > 3)");
    assert!(pattern.contains("pattern  refund(amount > 3)") && pattern.contains("test >"), "{pattern}");
    assert!(said.to(":ast").contains("there is no input to look at"));
}

#[test]
fn docs_and_errors_show_their_pages_and_fuel_its_limit() {
    let said = usual(
        ":docs median\n:docs before\n:docs mediam\n:docs\n:error unknown-tool\n:error unknown-tol\n1 + 1\n:fuel\n:fuel 1_000\ncount x in [1,2,3]: all y in calls[**]: y != 1\n:fuel 20\ncount x in [1,2,3]: all y in calls[**]: y != x\n:fuel none\n",
    );
    assert!(said.to(":docs median").contains("middle value"));
    assert!(said.to(":docs before").contains("every step on the right has an earlier step on the left"));
    assert!(said.to(":docs mediam").contains("did you mean `median`?"));
    assert!(said.to(":docs").contains("functions"));
    assert!(said.to(":error unknown-tool").contains("Avoid"));
    assert!(said.to(":error unknown-tol").contains("did you mean `unknown-tool`?"));
    assert!(said.to(":fuel").contains("the last value took 3; the limit is 200000000"), "{}", said.to(":fuel"));
    assert!(said.to("count x in [1,2,3]: all y in calls[**]: y != x").contains("more steps than the limit allows"));
    assert!(said.to(":fuel none").contains("takes a number"));
    assert_eq!(said.code, 5);
}

#[test]
fn save_writes_a_rule_file_that_compiles() {
    let folder = folder();
    let input = "let   most = 2\n# at most\ncount refund<=most\n1 + 1\nbefore -> x\nrequire refund when large(1)\n:save tried.assert\n:save tried.assert\n:save! tried.assert\n:save\n";
    let said = session(&folder, &["refunds.assert", "--on", "runs.jsonl"], input);
    assert!(said.out.contains("wrote `tried.assert`: 3 entries\n"), "{}", said.out);
    assert!(
        said.out.contains("error: `tried.assert` exists\n  help: `:save! tried.assert` replaces it\n"),
        "{}",
        said.out
    );
    let saved = folder.read("tried.assert");
    assert_eq!(
        saved,
        "use \"./refunds.assert\"\nlet most = 2\n# at most\ncount refund <= most\nrequire refund  when large(1)\n"
    );
    assert_eq!(folder.aver("check tried.assert runs.jsonl").code, 0);
}

#[test]
fn load_takes_other_rules_and_refuses_what_is_none() {
    let folder = folder();
    folder.write("other.assert", b"let a = 1\n");
    folder.write("broken.assert", b"let a = (\n");
    let said = session(
        &folder,
        &[],
        "a\n:load other.assert\na\n:load broken.assert\na + 1\n:load runs.jsonl\n:load othr.assert\n:load .\n:load\n",
    );
    assert!(said.to("a").contains("unknown name `a`"));
    assert_eq!(said.to(":load other.assert"), "loaded `other.assert`: 0 assertions\n");
    let broken = said.to(":load broken.assert");
    assert!(broken.contains("broken.assert:1:") && broken.contains("`broken.assert` is not loaded"), "{broken}");
    assert_eq!(said.to("a + 1"), "2\n");
    assert!(said.to(":load runs.jsonl").contains("write `:on runs.jsonl`"));
    assert!(said.to(":load othr.assert").contains("did you mean `other.assert`?"));
    assert!(said.to(":load .").contains("is a folder"));
}

#[test]
fn help_lists_the_commands_and_typos_are_met_with_a_suggestion() {
    let said = usual(":help\n:trce\n:zzz\n:\n:r\n:q\n1\n");
    for command in [
        "on", "next", "prev", "trace", "load", "rules", "explain", "step", "type", "ast", "ir", "ops", "docs", "error",
        "save", "fuel", "quit",
    ] {
        assert!(
            said.to(":help").contains(&format!("\n:{command} "))
                || said.to(":help").starts_with(&format!(":{command} ")),
            "{command}"
        );
    }
    assert!(said.to(":trce").contains("did you mean `:trace`?"));
    assert!(said.to(":zzz").contains("`:help` lists the commands"));
    assert!(said.to(":r").contains("approval.1"), "a beginning that is the only one");
    assert!(said.out.ends_with("> :q\n"), "{}", said.out);
}

#[test]
fn without_a_run_there_is_arithmetic_and_a_remark() {
    let said = session(&folder(), &[], "1 + 1\nrequire refund\ncalls\n:trace\n:next\n:explain require x\n");
    assert_eq!(said.to("1 + 1"), "2\n");
    assert!(said.to("require refund").contains("there is no run to judge it on"));
    assert_eq!(said.to("calls"), "not recorded: there is no run\n");
    assert!(said.to(":trace").contains("`:on TRACE` takes one"));
    assert!(said.to(":explain require x").contains("there is no run to explain it on"));
}

#[test]
fn what_the_session_is_started_with_may_be_missing_or_empty() {
    let folder = folder();
    folder.write("empty.assert", b"");
    folder.write("empty.jsonl", b"");
    let said = session(&folder, &["empty.assert", "--on", "empty.jsonl"], "1\n");
    assert!(
        said.out.contains("loaded `empty.assert`: 0 assertions") && said.out.contains("the file is empty"),
        "{}",
        said.out
    );
    assert!(said.code == 4 && said.out.ends_with("> 1\n1\n"), "{}", said.out);
    let said = session(&folder, &["none.assert", "--on", "none.json"], "");
    assert!(said.code == 4 && said.out.contains("there is no rule file `none.assert`"), "{}", said.out);
    let said = session(
        &folder,
        &["refunds.assert", "--on", "runs.jsonl", "--run", "2", "--param", "limit=7"],
        "limit\nrun.id\n",
    );
    assert!(said.to("limit") == "7\n" && said.to("run.id") == "\"two\"\n", "{}", said.out);
}

/// The sessions in `docs/repl.md` are real output. `UPDATE_GENERATED=1` writes them.
#[test]
fn the_walkthrough_in_the_documents_replays_exactly() {
    let root = averment_fixtures::root();
    let path = root.join("docs/repl.md");
    let written = std::fs::read_to_string(&path).unwrap();
    let (mut real, mut block, mut setting, mut sessions) = (String::new(), None::<String>, None::<String>, 0);
    for line in written.lines() {
        if let Some(told) = line.strip_prefix("<!-- session: ").and_then(|rest| rest.strip_suffix(" -->")) {
            setting = Some(told.to_owned());
        }
        match &mut block {
            None => {
                real.push_str(line);
                real.push('\n');
                if line == "```text" && setting.is_some() {
                    block = Some(String::new());
                }
            }
            Some(inputs) if line == "```" => {
                let told = setting.take().unwrap();
                let (folder, arguments) = told.split_once(',').unwrap();
                let words = shell_words::split(arguments).unwrap();
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                real.push_str(&session_in(&root.join(folder), &words, inputs).out);
                real.push_str("```\n");
                block = None;
                sessions += 1;
            }
            Some(inputs) => {
                if let Some(input) = line.strip_prefix("> ").or_else(|| line.strip_prefix("| ")) {
                    inputs.push_str(input);
                    inputs.push('\n');
                }
            }
        }
    }
    assert!(sessions >= 5, "only {sessions} sessions");
    averment_fixtures::compare_generated(&path, &real);
}

#[test]
fn hostile_input_ends_no_session_and_steers_no_terminal() {
    let folder = folder();
    let run = "{\"id\":\"\\u001b]0;x\\u0007\",\"output\":{\"a\":\"\\u001b[2J\\u202e\",\"\\u001b[1m\":1},\"calls\":[{\"tool\":\"t\\u001b[31m\",\"args\":{\"k\\u0007\":\"\\u009b2J\"}}]}";
    folder.write("evil.json", run.as_bytes());
    let deep = format!("{}1{}\n", "(".repeat(20_000), ")".repeat(20_000));
    let long = format!("\"{}\"\n", "x".repeat(10_000_000));
    let many = "[".repeat(1_000) + "\n\n\n";
    let input = format!(
        "output\ncalls\nrequire nothing\nnever any\n:trace\n:explain\n:step 1\n\u{1b}[2J\nlet \u{202e} = 1\n\"\u{1b}[31m\"\n:\u{1b}[2J\n{deep}{long}{many}1 + 1\n"
    );
    let said = session(&folder, &["--on", "evil.json"], &input);
    let steering = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202e}' | '\u{9b}');
    assert!(!said.out.contains(steering), "{:?}", said.out.chars().find(|c| steering(*c)));
    assert!(said.out.ends_with("> 1 + 1\n2\n"), "{}", &said.out[said.out.len() - 300..]);
    assert!(said.out.contains("(10000000 bytes in all)"), "a long text");
    assert!(said.out.len() < 200_000, "{} bytes were printed", said.out.len());
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    let folder = folder();
    let mut child = Command::new(env!("CARGO_BIN_EXE_aver"))
        .arg("repl")
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"\xff\xfe\n1 + 1\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains("no UTF-8 text") && out.ends_with("2\n"), "{out}");
}

#[test]
fn secrets_are_not_shown() {
    let folder = folder();
    let token = format!("ghp_{}", "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R");
    let run = format!(
        "{{\"env\":{{\"HOME_TOWN\":\"Entenhausen\"}},\"inputs\":{{\"password\":\"tr0ub4dor&3x\"}},\"output\":{{\"note\":\"{token} of Entenhausen\"}},\"calls\":[{{\"tool\":\"login\",\"args\":{{\"password\":\"tr0ub4dor&3x\"}}}}]}}"
    );
    folder.write("secret.json", run.as_bytes());
    let input = "inputs\ninputs.password\nenv\noutput.note\nenv.HOME_TOWN == \"x\"\n:explain\nnever login(password: $p)\n:explain\n:step 1\n:trace\ncalls[0].args.password == \"a\"\nuse std.secrets\nno secrets in output\n:explain\n";
    let said = session(&folder, &["--on", "secret.json"], input);
    for hidden in [&token, "tr0ub4dor", "Entenhausen"] {
        assert!(!said.out.contains(hidden), "{hidden} is shown in\n{}", said.out);
    }
    assert!(said.out.contains("[redacted]"));
    let explained = folder.aver("explain - secret.json");
    assert_eq!(explained.code, 2);
}

/// Ctrl-C ends the current evaluation, but not the session.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_an_evaluation_and_not_the_session() {
    let folder = folder();
    let mut child = Command::new(env!("CARGO_BIN_EXE_aver"))
        .args(["repl", "--on", "runs.jsonl"])
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let big = format!("[{}]", (0..3_000).map(|n| n.to_string()).collect::<Vec<_>>().join(", "));
    let heavy = format!(
        "let big = {big}\n:fuel 1_000_000_000_000\nall a in big: all b in big: all c in big: a + b + c != -1\n"
    );
    stdin.write_all(heavy.as_bytes()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    stdin.write_all(b"1 + 1\n").unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains("error: the evaluation was ended\n"), "{}", &out[out.len().saturating_sub(400)..]);
    assert!(out.ends_with("> 1 + 1\n2\n"), "{}", &out[out.len().saturating_sub(400)..]);
    assert_eq!(output.status.code(), Some(5));
}

#[test]
fn a_table_shows_lists_and_objects_and_no_secret() {
    let folder = folder();
    let token = format!("ghp_{}", "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R");
    let call = |name: &str| format!(r#"{{"tool":"{name}","args":{{"password":"tr0ub4dor&3x","note":"{token}"}}}}"#);
    let many: Vec<String> = (0..1100).map(|number| call(&format!("t{number}"))).collect();
    folder.write("run.json", format!(r#"{{"output":{{"a":1}},"calls":[{}]}}"#, many.join(",")).as_bytes());
    let input =
        ":table calls[*].args\n:table output\ncalls[*].tool\n:table\n:table 3\n:table never x\n:table nothing\n";
    let said = session(&folder, &["refunds.assert", "--on", "run.json"], input);
    let table = said.to(":table calls[*].args");
    assert!(table.starts_with("#     password      note\n1     \"[redacted]\"  \"[redacted]\"\n"), "{table}");
    assert!(table.ends_with("not shown: 100 rows\n") && table.lines().count() == 1002, "{table}");
    assert!(!said.out.contains("tr0ub4dor") && !said.out.contains("ghp_"), "{table}");
    assert_eq!(said.to(":table output"), "key  value\na    1\n");
    assert!(said.to(":table").starts_with("#     value\n1     \"t0\"\n"), "{}", said.out);
    assert!(said.to(":table 3").contains("this is 3") && said.to(":table 3").contains("write `:table calls`"));
    assert!(said.to(":table never x").contains("takes an expression"));
    assert!(said.to(":table nothing").contains("unknown name `nothing`"));
}
