//! Conditions on lists of texts, loops and branches have the same meaning here as in Node.js. A case with a part that is not read reports that part.

use super::suite;
use crate::judged::{Given, lines};
use averment::Verdict;
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::files::Memory;
use averment_dialects::{ForeignOptions, LoweringInputs, compile_foreign};
use serde_json::{Value, json};
use std::path::Path;

/// Returns a run with these commands, which also reads a file with the name of each command.
fn run(commands: &[&str]) -> Value {
    let listed: Vec<Value> = commands.iter().map(|command| json!({ "command": command })).collect();
    let reads: Vec<Value> = commands.iter().map(|command| json!({ "path": command })).collect();
    json!({ "prompt": "p", "commands": listed, "reads": reads, "output": "one\ntwo  three" })
}

/// Returns true if the case passes; a vacuous case passes, an undecided one does not.
fn passes(assertion: &str, run: &Value) -> Result<bool, String> {
    let text = suite(assertion);
    let given = Given { name: "v-suite.ts", text: &text, ..Given::default() };
    let judged = given.judge(&run.to_string())?;
    Ok(judged
        .results
        .iter()
        .all(|(_, verdict, _)| matches!(verdict, Verdict::Pass | Verdict::Vacuous | Verdict::Skipped)))
}

/// Conditions on a list of texts `$`: each holds in Node.js for `git init`, `rm -rf build`. The flag says whether it also holds for an empty list.
const CONDITIONS: [(&str, bool); 36] = [
    ("ctx.finalOutput() !== $[0].trim()", false),
    ("($[0].trim().length > 30) === false", false),
    ("$.includes('rm -rf build')", false),
    ("!$.includes('rm -rf')", true),
    ("$.some((c) => c.includes('rm'))", false),
    ("!$.some((c) => c.includes('sudo'))", true),
    ("$.some((c, i) => c === 'git init')", false),
    ("$.every((c) => c.length > 3)", true),
    ("$.every((c) => /^(git|rm) /.test(c))", true),
    ("$.every((c) => !c.includes('sudo'))", true),
    ("!$.every((c) => c.startsWith('git'))", false),
    ("$.length === 2", false),
    ("$.filter((c) => c.startsWith('git')).length === 1", false),
    ("$.filter((c) => c.includes('sudo')).length === 0", true),
    ("$.filter((c) => c.startsWith('rm')).some((c) => c.endsWith('build'))", false),
    ("$.filter((c) => c.startsWith('rm'))[0] === 'rm -rf build'", false),
    ("$.find((c) => c.startsWith('rm')) === 'rm -rf build'", false),
    ("$.find((c) => c.startsWith('sudo')) === undefined", true),
    ("$.find((c) => c.startsWith('git')) !== undefined", false),
    ("$.findLast((c) => c.length > 1) === 'rm -rf build'", false),
    ("!$.find((c) => c.startsWith('sudo'))", true),
    ("$[0].startsWith('git')", false),
    ("!$[0].startsWith('rm')", false),
    ("$[0]?.startsWith('git')", false),
    ("$.at(-1).endsWith('build')", false),
    ("$.at(-1) === 'rm -rf build'", false),
    ("$[1].trim().length === 12", false),
    ("!$[1].trim().includes('git')", false),
    ("$.join(' && ') === 'git init && rm -rf build'", false),
    ("$.map((c) => c.toUpperCase()).includes('GIT INIT')", false),
    ("$.map((c) => c.length).includes(8)", false),
    ("[...$].includes('git init')", false),
    ("$.toReversed()[0] === 'rm -rf build'", false),
    ("$.slice().includes('git init')", false),
    ("$?.includes('git init')", false),
    ("$.length > 0 && $[0].startsWith('git') && !$[0].includes('rm')", false),
];

#[test]
fn methods_of_lists_of_texts_mean_what_they_mean_in_node() {
    for list in ["ctx.getCommands()", "ctx.getFileReads()", "report.files.observedReads"] {
        for (condition, of_nothing) in CONDITIONS {
            let condition = condition.replace('$', list);
            let assertion = format!("assert.ok({condition})");
            assert_eq!(passes(&assertion, &run(&["git init", "rm -rf build"])), Ok(true), "{condition}");
            assert_eq!(passes(&assertion, &run(&[])), Ok(of_nothing), "{condition}");
            let opposite = passes(&format!("assert.ok(!({condition}))"), &run(&["git init", "rm -rf build"]));
            assert_eq!(opposite, Ok(false), "!({condition})");
        }
    }
}

#[test]
fn lists_of_texts_are_compared_as_texts() {
    let table: [(&str, &[&str], bool); 8] = [
        ("assert.deepEqual(ctx.getCommands(), ['a', 'b'])", &["a", "b"], true),
        ("assert.deepEqual(ctx.getCommands(), ['a', 'b'])", &["b", "a"], false),
        ("assert.notDeepEqual(ctx.getCommands(), ['a'])", &["a"], false),
        ("assert.notDeepEqual(ctx.getCommands(), ['a'])", &["b"], true),
        ("assert.deepEqual(ctx.getFileReads(), [])", &[], true),
        ("assert.deepEqual(ctx.getFileReads(), [])", &["a"], false),
        ("assert.doesNotMatch(ctx.getCommands()[0], /rm/)", &["git"], true),
        ("assert.doesNotMatch(ctx.getCommands()[0], /rm/)", &[], false),
    ];
    for (assertion, commands, wanted) in table {
        assert_eq!(passes(assertion, &run(commands)), Ok(wanted), "{assertion} {commands:?}");
    }
}

#[test]
fn loops_and_choices_assert_what_their_parts_do() {
    let good = run(&["git init", "npm test"]);
    let table = [
        ("['git', 'npm'].forEach((word) => assert.commands.includes(report, word))", true),
        ("['git', 'sudo'].forEach((word) => { assert.commands.includes(report, word) })", false),
        ("['git', 'npm'].map((word, i) => i > 0 && assert.commands.first(report, word))", false),
        ("ctx.getCommands().forEach((c) => assert.match(c, /^(git|npm) /))", true),
        ("ctx.getCommands().forEach((c) => assert.match(c, /^git /))", false),
        ("for (const c of ctx.getCommands()) { assert.ok(c.length < 5) }", false),
        ("for (const c of ctx.getCommands()) { if (c.startsWith('git')) assert.equal(c, 'git init') }", true),
        ("for (const c of ctx.getCommands()) { if (c.startsWith('git')) assert.equal(c, 'git add') }", false),
        ("true ? assert.output.notEmpty(report) : assert.fail()", true),
        ("report.finalOutput.includes('one') ? assert.commands.size(report, 3) : assert.fail()", false),
        ("report.finalOutput.includes('none') ? assert.fail() : assert.commands.size(report, 2)", true),
        ("report.finalOutput.includes('one') && assert.commands.includes(report, 'sudo')", false),
        ("report.finalOutput.includes('none') && assert.commands.includes(report, 'sudo')", true),
        ("report.finalOutput.includes('none') || assert.commands.includes(report, 'sudo')", false),
        ("const more = undefined; more?.forEach((c) => assert.fail()); assert.output.notEmpty(report)", true),
        ("const also = { check: (r) => assert.commands.size(r, 3) }; also.check?.(report)", false),
        ("const o = { a: { b: ['sudo'] } }; o?.a?.b?.forEach((w) => assert.commands.includes(report, w))", false),
        ("console.log([1].map(() => assert.fail())); assert.output.notEmpty(report)", false),
        ("await Promise.all(['sudo'].map(async (w) => assert.commands.includes(report, w)))", false),
        ("assert.equal(report.finalOutput.replace(/\\s+/g, ' '), 'one two three')", true),
        ("assert.equal(report.finalOutput.replaceAll('two', '2').replace(/\\s+/g, ''), 'one2three')", true),
    ];
    for (assertion, wanted) in table {
        assert_eq!(passes(assertion, &good), Ok(wanted), "{assertion}");
    }
    // Replacing only the first match, or by a part of the match, is not supported and is reported as not read.
    for part in ["replace('o', '0')", "replace(/o/, '0')", "replace(/(o)/g, '$1$1')"] {
        let said = passes(&format!("assert.ok(report.finalOutput.{part} === 'x')"), &good).unwrap_err();
        assert!(said.contains("not read"), "{part}: {said}");
    }
}

#[test]
fn comments_end_where_ecmascript_ends_lines() {
    for end in ["\n", "\r", "\r\n", "\u{2028}", "\u{2029}"] {
        let assertion = format!("// first{end}assert.fail(){end}/* a{end}b */ // last{end}");
        assert_eq!(passes(&assertion, &run(&[])), Ok(false), "{end:?}");
        let shebang = format!("#!/usr/bin/env node{end}{}", suite("assert.fail()"));
        let given = Given { name: "v-suite.ts", text: &shebang, ..Given::default() };
        assert!(!given.judge(&run(&[]).to_string()).unwrap().passed, "{end:?}");
    }
}

/// Returns the imported text and the diagnostics.
fn imported(text: &str, options: ForeignOptions<'_>) -> (Option<String>, String) {
    let mut sources = SourceMap::default();
    let root = sources.add_file(SourceFile::new("demo-suite.ts", Some(Path::new("")), text));
    let how = LoweringInputs { files: &Memory::new(std::iter::empty::<(&str, &str)>()), options };
    let compiled = compile_foreign(&mut sources, root, &[], Limits::default(), how);
    let said = lines(&sources, &compiled.diagnostics);
    (compiled.program.and(compiled.lowered).map(|lowered| lowered.written.text), said)
}

/// Cases that a function creates: each lacks the assertion that occurs once in the file.
const FACTORY: &str = "import { assert } from \"skillgym\";\nconst make = (id) => ({ id, prompt: id, assert(report) {\n  assert.output.notEmpty(report);\n  let n = 0; while (n < 3) { assert.fail(); n += 1 }\n} });\nexport default ['a', 'b', 'c'].map((id) => make(id));\n";

#[test]
fn each_case_names_what_it_lacks_and_none_of_them_passes() {
    let (text, said) = imported(FACTORY, ForeignOptions { partly: true, ..ForeignOptions::default() });
    let text = text.unwrap();
    assert_eq!(text.matches("undecided(\"not read: a loop with a condition: while (n < 3)").count(), 3, "{text}");
    assert_eq!(said.matches("not read: a loop with a condition").count(), 1, "{said}");
    let rules = averment::Rules::builder().text("demo.assert", text.as_str()).build().unwrap();
    for case in ["a", "b", "c"] {
        let outcome = rules.check_one(json!({ "prompt": case, "output": "x" }).to_string()).unwrap();
        assert!(!outcome.passed(), "{case}");
    }
    // The file is rejected, unless such a case may be undecided.
    let (text, said) = imported(FACTORY, ForeignOptions::default());
    assert!(text.is_none() && said.contains("not read: a loop with a condition"), "{said}");
    let (text, _) = imported(FACTORY, ForeignOptions { undecided: true, ..ForeignOptions::default() });
    assert_eq!(text.unwrap().matches("undecided(").count(), 3);
    // Code that may change the cases themselves is always rejected.
    let changed = format!("{FACTORY}\nfor (const x of [1]) {{ console.log(x) }}\n");
    assert!(imported(&changed, ForeignOptions { undecided: true, ..ForeignOptions::default() }).0.is_none());
}

#[test]
fn a_confidence_that_nobody_recorded_is_undecided() {
    let verdict = |assertion: &str, run: Value| {
        let text = suite(assertion);
        let given = Given { name: "v-suite.ts", text: &text, ..Given::default() };
        let judged = given.judge(&run.to_string()).unwrap();
        judged.results.first().map(|(_, verdict, _)| *verdict).unwrap()
    };
    let has = "assert.skills.has(report, 'x', { minConfidence: 'explicit' })";
    let skill = |more: Value| {
        let mut run = json!({ "prompt": "p", "output": "o", "calls": [], "skills": [{ "name": "x" }] });
        run.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        run
    };
    assert_eq!(verdict(has, skill(json!({}))), Verdict::Undecided);
    let called = json!({ "calls": [{ "tool": "Skill", "args": { "skill": "x" } }] });
    assert_eq!(verdict(has, skill(called)), Verdict::Pass);
    let sure = |word: &str| skill(json!({ "skills": [{ "name": "x", "confidence": word }] }));
    assert_eq!(verdict(has, sure("explicit")), Verdict::Pass);
    assert_eq!(verdict(has, sure("strong")), Verdict::Fail);
    assert_eq!(verdict("assert.skills.count(report, 'x', 1)", skill(json!({}))), Verdict::Pass);
    assert_eq!(verdict("assert.skills.only(report, ['x'])", skill(json!({}))), Verdict::Pass);
}

#[test]
fn a_shared_workspace_is_the_folder_that_is_there() {
    let suite = |workspace: &str| {
        let text = format!(
            "import {{ assert }} from \"skillgym\";\nexport const workspace = {workspace};\nexport default [{{ id: \"c\", prompt: \"p\", assert(report) {{ assert.output.notEmpty(report) }} }}];\n"
        );
        imported(&text, ForeignOptions { partly: true, ..ForeignOptions::default() })
    };
    let written = |workspace: &str| suite(workspace).0.unwrap_or_else(|| panic!("{}", suite(workspace).1));
    assert!(written("{ mode: 'shared' }").contains("workspace none {}"));
    assert!(written("{ mode: 'shared', cwd: './app' }").contains("workspace none {\n    cwd \"./app\"\n  }"));
    assert!(
        written("{ mode: 'shared', templateDir: './t' }").contains("workspace shared {\n    template \"./t\"\n  }")
    );
    let (text, said) = suite("{ mode: 'shared', bootstrap: { command: 'sh', args: ['x'] } }");
    assert!(text.is_none() && said.contains("would change the folder that is there"), "{said}");
}

/// Returns a run whose calls have arguments of every JSON type.
fn run_of_json() -> Value {
    let args = json!({ "text": "50", "number": 50, "null": null, "list": [1, 2], "object": { "a": 1 } });
    json!({ "prompt": "p", "commands": [{ "command": "rm x" }], "calls": [{ "tool": "t", "args": args }], "output": "{}" })
}

#[test]
fn values_of_json_fail_where_their_methods_throw_and_convert_to_no_pass() {
    // Each assertion fails in Node.js.
    let table = [
        "assert.ok(!(ctx.getToolCalls()[0].args.text > 9))",
        "assert.ok(!ctx.getToolCalls().some((t) => t.args.text > 9))",
        "assert.ok(!(ctx.getToolCalls()[0].args.null >= 0))",
        "assert.ok(!(ctx.getToolCalls()[0].args.text * 2 > 60))",
        "assert.ok(!ctx.getToolCalls()[0].args.number.startsWith('5'))",
        "assert.ok(!ctx.getToolCalls()[0].args.number?.includes('8'))",
        "assert.ok(ctx.getToolCalls()[0].args.null.trim() !== 'x')",
        "assert.doesNotMatch(ctx.getToolCalls()[0].args.number, /8/)",
        "assert.ok(!/5/.test(ctx.getToolCalls()[0].args.number))",
        "assert.ok(!ctx.getToolCalls()[0].args.null.b)",
        "assert.ok(ctx.getToolCalls()[0].args.object.length > 0)",
        "assert.ok(ctx.getToolCalls()[0].args.missing.every((x) => x > 0))",
        "assert.ok(!('toString' in ctx.getToolCalls()[0].args))",
        "assert.ok(!('length' in ctx.getToolCalls()[0].args.list))",
        "assert.notDeepEqual(ctx.getToolCalls()[0].args.list, [1, 2])",
    ];
    for assertion in table {
        assert_ne!(passes(assertion, &run_of_json()), Ok(true), "{assertion}");
    }
    let good = [
        "assert.ok(ctx.getToolCalls()[0].args.number > 9)",
        "assert.ok(ctx.getToolCalls()[0].args.text.startsWith('5'))",
        "assert.ok(ctx.getToolCalls()[0].args.list.every((x) => x > 0))",
        "assert.ok(ctx.getToolCalls()[0].args.list.length === 2)",
        "assert.ok('text' in ctx.getToolCalls()[0].args)",
        "assert.ok(!('other' in ctx.getToolCalls()[0].args))",
    ];
    for assertion in good {
        assert_eq!(passes(assertion, &run_of_json()), Ok(true), "{assertion}");
    }
}

#[test]
fn what_only_looks_alike_does_not_pass() {
    let empty = run(&[]);
    // Each assertion fails in Node.js.
    let table = [
        "const big = async (c) => c.getCommands().length > 1; assert.ok(!big(ctx))",
        "assert.ok(!ctx.getCommands().concat(['a']).some(async (c) => c === 'x'))",
        "const [first = 'none'] = ctx.getCommands(); assert.notEqual(first, 'none')",
        "const f = (x = 'none') => x; assert.notEqual(f(ctx.getCommands()[0]), 'none')",
        "assert.equal(ctx.getCommands(), [])",
        "assert.ok(ctx.getCommands() === ctx.getCommands())",
        "const re = /e/g; assert.match(report.finalOutput, re); assert.match(report.finalOutput, re); assert.match(report.finalOutput, re); assert.match(report.finalOutput, re)",
        "if ('ab'.startsWith('b', 1)) assert.fail('no')",
        "for (const w of 'one,x'.split(',', 1)) assert.doesNotMatch(report.finalOutput, new RegExp(w))",
    ];
    for assertion in table {
        assert_ne!(passes(assertion, &empty), Ok(true), "{assertion}");
    }
    let good = [
        "if (1 === '1') assert.fail('no'); assert.ok(report.finalOutput)",
        "if (null === undefined) assert.fail('no'); assert.ok(report.finalOutput)",
        "if (0 / 0) assert.fail('no'); assert.ok(report.finalOutput)",
        "const [first = 'none'] = ctx.getCommands(); assert.equal(first, 'none')",
        "assert.match(report.finalOutput, /e/g); assert.match(report.finalOutput, /e/g)",
    ];
    for assertion in good {
        assert_eq!(passes(assertion, &empty), Ok(true), "{assertion}");
    }
}

#[test]
fn lower_bounds_of_tokens_are_undecided_where_a_cache_saved_some() {
    let with = |cached: u32| json!({ "prompt": "p", "usage": { "total_tokens": 300, "cache_read_tokens": cached } });
    let table = [
        ("assert.ok(report.usage.totalTokens > 200)", true, false),
        ("assert.ok(!(report.usage.totalTokens < 200))", true, false),
        ("assert.equal(report.usage.totalTokens, 300)", true, false),
        ("assert.ok(report.usage.totalTokens < 400)", true, true),
    ];
    for (assertion, without, cached) in table {
        assert_eq!(passes(assertion, &with(0)), Ok(without), "{assertion}");
        assert_eq!(passes(assertion, &with(250)), Ok(cached), "{assertion}");
    }
}
