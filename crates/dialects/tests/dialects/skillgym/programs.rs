//! The constructs of programs that are followed, and the reports on those that are not.

use crate::judged::lines;
use averment::Rules;
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::files::Memory;
use averment_dialects::{ForeignOptions, LoweringInputs, compile_foreign};
use serde_json::{Value, json};
use std::path::Path;

/// Returns the imported text of a suite and the diagnostics; `partly` lists unread parts instead of rejecting the file.
fn imported(text: &str, beside: &[(&str, &str)], partly: bool) -> (Option<String>, String) {
    let mut sources = SourceMap::default();
    let root = sources.add_file(SourceFile::new("demo-suite.ts", Some(Path::new("")), text));
    let files = Memory::new(beside.iter().copied());
    let how = LoweringInputs { files: &files, options: ForeignOptions { partly, ..ForeignOptions::default() } };
    let compiled = compile_foreign(&mut sources, root, &[], Limits::default(), how);
    let said = lines(&sources, &compiled.diagnostics);
    (compiled.program.and(compiled.lowered).map(|lowered| lowered.written.text), said)
}

/// Returns the lines of a case with these assertions.
fn sentences(assertions: &str) -> String {
    let text = format!(
        "import {{ assert, commandMatcher }} from \"skillgym\";\nexport default [{{ id: \"c\", prompt: \"p\", async assert(report, ctx) {{\n{assertions}\n}} }}];"
    );
    let (text, said) = imported(&text, &[], true);
    let text = text.unwrap_or_else(|| panic!("{assertions}:\n{said}"));
    let body = text.split_once("prompt \"p\"\n").unwrap().1;
    body.lines()
        .map(str::trim)
        .take_while(|line| *line != "}" || body.contains("when "))
        .collect::<Vec<_>>()
        .join("\n")
        .trim_end_matches("\n}\n}")
        .to_owned()
}

fn verdict(text: &str, run: &Value) -> bool {
    let rules = Rules::builder().text("demo-suite.ts", text).build().unwrap_or_else(|error| panic!("{error}"));
    rules.check_one(run.to_string()).unwrap().passed()
}

#[test]
fn assertions_are_sentences() {
    let table = [
        (
            "assert.commands.includes(report, 'npm test', { message: 'no ${tests}' })",
            "require (command where command contains \"npm test\")  message \"no \\${tests}\"",
        ),
        ("assert.commands.notIncludes(report, /rm -rf/i);", "never command /rm -rf/i"),
        ("assert.fileReads.includes(report, 'a.md')", "require (read where path contains \"a.md\")"),
        ("assert.toolCalls.has(report, { tool: 'bash' })", "require (any where tool contains \"bash\")"),
        (
            "assert.toolCalls.has(report, { tool: /^read$/, where: (args) => args.path === 'x' && args.n > 2 })",
            r#"require (any where tool matches /^read$/ and args.path == "x" and (if (args.n is number or args.n is missing) then args.n > 2 else undecided("a value is converted")))"#,
        ),
        ("assert.toolCalls.sequence(report, [{ tool: 'a' }, {}])", "sequence (any where tool contains \"a\") -> any"),
        ("assert.skills.has(report, 'find')", "require skill \"find\""),
        ("assert.skills.includes(report, ['a', 'b'])", "all of { require skill \"a\"; require skill \"b\" }"),
        ("assert.soft.output.includes(report, /done/)", "output matches /done/"),
        ("assert.ok(report.usage.totalTokens < 5000, 'too dear')", "usage.total_tokens < 5000  message \"too dear\""),
        ("assert(report.durationMs! <= 30_000)", "duration <= 30s"),
        ("assert.ok(report.durationMs / 1000 < 90)", "duration / 1000 < 90ms"),
        ("assert.equal(ctx.getCommands().length, 2)", "length(commands) == 2"),
        ("assert.strictEqual(report.runner.agent.type, 'codex')", "meta.agent == \"codex\""),
        (
            "assert.ok(!report.finalOutput.includes('sorry') && ctx.finalOutput().trim().length > 3)",
            "output not contains \"sorry\" and utf16_length(js_trim(output)) > 3",
        ),
        (
            "assert.ok(/ok/.test(report.finalOutput) || report.finalOutput.startsWith('y'))",
            "output matches /ok/ or output starts with \"y\"",
        ),
        ("assert.deepEqual(JSON.parse(report.finalOutput), { a: [1, null] })", "json(output) == { a: [1, null] }"),
        ("assert.ok(ctx.getCommands().some((c) => c.includes('x')))", "any x in commands: x.command contains \"x\""),
        (
            "assert.ok(ctx.getToolCalls('read').every(({ args }) => args.path))",
            "all x in (calls where tool == \"read\"): x.args.path exists and x.args.path not in [false, 0, \"\", null]",
        ),
        (
            "assert.equal(ctx.getFileReads().filter((path) => path.endsWith('.md')).length, 1)",
            "(count x in reads: x.path ends with \".md\") == 1",
        ),
        ("assert.doesNotMatch(ctx.finalOutput(), /cursr/)", "output not matches /cursr/"),
        ("assert.notEqual(report.usage.cacheTokens, undefined)", "usage.cache_read_tokens exists"),
        (
            "assert.classify({ id: 'slow', label: 'Too slow' }, () => { assert.ok(report.durationMs < 1500) })",
            "duration < 1500ms  class \"slow\" \"Too slow\"",
        ),
        (
            "assert.classify('outer', () => assert.classify('inner', () => assert.output.notEmpty(report)))",
            "output != \"\"  class \"outer\"",
        ),
        (
            "for (const word of ['a', 'b']) assert.match(report.finalOutput, new RegExp(`${word}!`, 'i'))",
            "output matches /a!/i\noutput matches /b!/i",
        ),
        (
            "if (!report.finalOutput) throw new Error('said nothing')",
            "(output exists and output != \"\")  message \"said nothing\"",
        ),
        (
            "if (report.runner.id === 'fast') { assert.output.notEmpty(report) } else { assert.commands.size(report, 0) }",
            "when meta.runner == \"fast\" {\noutput != \"\"\n}\nwhen meta.runner != \"fast\" {\ncount command == 0\n}",
        ),
        (
            "const { finalOutput: said } = report; const limit = 2 * 3; assert.ok(said.split(' ').length <= limit)",
            "length(split(output, \" \")) <= 6",
        ),
        (
            "assert.commands.includes(report, commandMatcher('pnpm').arg('test').flag('--watch').build())",
            "require (command where command exists and parse_command(command).executable == \"pnpm\" and contains_in_order(parse_command(command).positionals, [\"test\"]) and parse_command(command).options[\"--watch\"] exists and (count value in parse_command(command).options[\"--watch\"]: value == true) >= 1)",
        ),
    ];
    for (assertion, wanted) in table {
        let found = sentences(assertion);
        assert_eq!(found, wanted, "{assertion}");
    }
}

/// A project: constants and functions in separate modules, cases created from a list, and a configuration above the suite.
const SUITE: &str = r#"
import { assert, type Case, type SuiteWorkspaceConfig } from "skillgym";
import { usesSkill, prompts as texts } from "./lib/helpers.js";
import limits, { LIMIT } from "./lib";

export const workspace: SuiteWorkspaceConfig = {
  mode: "isolated",
  templateDir: "../template",
  bootstrap: { command: "sh", args: ["./setup.sh", "demo"], timeoutMs: 60_000, env: { "A-B": "c" } },
};

const base = { tags: ["smoke", "smoke"], timeoutMs: 2500 } satisfies Partial<Case>;

const cases = ["alpha", "beta"].map((name, i): Case => ({
  ...base,
  id: `${name}/${i}`,
  prompt: texts[name as keyof typeof texts],
  assert(report) {
    usesSkill(report, name);
    assert.ok(report.usage.totalTokens! < LIMIT + limits.extra);
  },
}));

const suite: Record<string, Case> = {
  first: cases[0]!,
  second: cases[1]!,
  third: { id: "third", prompt: ["a", "b"].join(" "), expectedFail: true, assert: async (report, ctx) => {
    assert.output.notEmpty(report);
    assert.match(ctx.finalOutput(), /x/);
  } },
};

export { suite as default };
"#;

const HELPERS: &str = r#"
import { assert, type SessionReport } from "skillgym";
export const prompts = { alpha: "Do alpha", beta: "Do beta" } as const;
export function usesSkill(report: SessionReport, name: string): void {
  assert.skills.has(report, `${name}-skill`);
}
"#;

const CONFIG: &str = r#"
/** @type {import("skillgym").SkillGymConfig} */
export default {
  run: { schedule: "isolated-by-runner", maxParallel: 2, repeat: 3, retryFailed: 1, maxSteps: 40, tags: ["smoke"] },
  defaults: { timeoutMs: 300000 },
  snapshots: { tolerance: { percent: 10 } },
  runners: {
    main: { agent: { type: "codex", model: "gpt-5", command: "./bin/codex", commandArgs: ["--yes", "../x"], env: { K: "v" } } },
  },
};
"#;

#[test]
fn a_project_is_followed_through_its_modules() {
    let beside = [
        ("lib/helpers.ts", HELPERS),
        ("lib/index.ts", "export const LIMIT = 5_000;\nexport default { extra: 0x10 };\n"),
        ("skillgym.config.mjs", CONFIG),
    ];
    let (text, said) = imported(SUITE, &beside, false);
    assert_eq!(said, "");
    let text = text.unwrap();
    for line in [
        "suite \"demo\" {",
        "workspace isolated {",
        "template \"../template\"",
        "bootstrap [\"sh\", \"./setup.sh\", \"demo\"] timeout 1m",
        "env { \"A-B\": \"c\" }",
        "schedule isolated_by_runner",
        "parallel 2",
        "repeat 3",
        "retries 1",
        "max_steps 40",
        "select smoke",
        "timeout 5m",
        "snapshots { metric: \"total_tokens\", percent: 10, path: \"./skillgym.snapshots.json\" }",
        "runner main {",
        "agent codex",
        "command [\"./bin/codex\"]",
        "args [\"--yes\", \"../x\"]",
        "# `alpha/0` there",
        "case alpha-0 {",
        "prompt \"Do alpha\"",
        "tags smoke",
        "timeout 2500ms",
        "require skill \"alpha-skill\"",
        "usage.total_tokens < 5016",
        "case beta-1 {",
        "prompt \"a b\"",
        "}  expect fail \"expected in the suite\"",
    ] {
        assert!(text.lines().any(|found| found.trim() == line), "{line}\n{text}");
    }
}

#[test]
fn what_a_program_decides_is_listed_and_never_left_out_of_a_check() {
    let unread = [
        "const text = await readFile('x'); assert.equal(text, 'a')",
        "try { assert.output.notEmpty(report) } catch {}",
        "while (go()) assert.output.notEmpty(report)",
        "for (let i = 0; i < 2; i++) assert.output.notEmpty(report)",
        "await check(report)",
        "assert.rejects(() => run())",
        "assert.output.includes(report, process.env.WANTED)",
        "assert.ok(report.events.length > 3)",
        "assert.toolCalls.has(report, { tool: 'x', where: (args) => known(args) })",
        "assert.commands.contains(report, 'x')",
        "let n = 0; n += 1; assert.ok(n)",
        "if (process.env.CI) assert.output.notEmpty(report)",
        "expect(report.finalOutput).toContain('x')",
        "assert.match(report.finalOutput, /a(?<!b/)",
        "assert.output.notEmpty(report) && assert.output.includes(report, 'x')",
        "const f = () => f(); f()",
        "switch (report.prompt) { case 'a': assert.output.notEmpty(report) }",
    ];
    for assertion in unread {
        let text = format!(
            "import {{ assert }} from 'skillgym'\nexport default [{{ id: 'c', prompt: 'p', assert(report) {{\nassert.output.includes(report, 'kept');\n{assertion}\n}} }}]"
        );
        let (refused, said) = imported(&text, &[], false);
        assert!(refused.is_none(), "{assertion}");
        assert!(said.contains("demo-suite.ts:4:") && said.contains("not read: "), "{assertion}:\n{said}");
        let (listed, said) = imported(&text, &[], true);
        let listed = listed.unwrap_or_else(|| panic!("{assertion}:\n{said}"));
        assert!(
            listed.contains("output contains \"kept\"") && listed.contains("undecided(\"not read: "),
            "{assertion}:\n{listed}"
        );
    }
}

/// Cases added by module-level code would not be checked, so such code must be reported.
#[test]
fn what_a_module_does_when_it_is_read_is_listed() {
    let one = "{ id: 'a', prompt: 'p', assert(report) { assert.output.notEmpty(report) } }";
    for added in [
        "suite.push({ id: 'b', prompt: 'q', assert() {} })",
        "for (const name of ['x']) suite.push({ id: name, prompt: name, assert() {} })",
        "if (process.env.CI) suite.pop()",
        "suite[0].prompt = 'other'",
        "Object.assign(suite[0], { prompt: 'other' })",
        "names.forEach((name) => suite.push({ id: name, prompt: name, assert() {} }))",
        "for (let i = 0; i < 2; i++) suite.pop()",
    ] {
        let text = format!(
            "import {{ assert }} from 'skillgym'\nconst names = ['x'];\nconst suite = [{one}];\n{added}\nexport default suite"
        );
        let (refused, said) = imported(&text, &[], false);
        assert!(refused.is_none() && said.contains("demo-suite.ts:4:"), "{added}:\n{said}");
    }
    // Code that only prints or prepares something changes no case.
    let text = format!(
        "import {{ assert }} from 'skillgym'\nconst dir = '/tmp/x';\nconst suite = [{one}];\nconsole.log('a'); mkdirSync(dir);\nclass A {{}}\nexport default suite"
    );
    assert!(imported(&text, &[], false).0.is_some());
}

/// The body of a quantifier extends as far as possible, so a condition after the function must not become part of it.
#[test]
fn a_condition_on_elements_ends_where_its_function_does() {
    let text = "import { assert } from 'skillgym'\nexport default [{ id: 'c', prompt: 'p', assert(report, ctx) { assert.ok(ctx.getCommands().some((c) => c === 'x') || report.finalOutput.includes('y')) } }]";
    let commands = |list: Value| json!({ "prompt": "p", "output": "y", "commands": list });
    assert!(verdict(text, &commands(json!([]))));
    assert!(verdict(text, &commands(json!([{ "command": "z" }]))));
    let blocks = sentences("if (ctx.getCommands().every((c) => c !== 'x')) { assert.output.notEmpty(report) }");
    assert!(blocks.starts_with("when (all x in commands: x.command != \"x\") {"), "{blocks}");
}

#[test]
fn mistakes_in_suites_and_configurations_are_told_where_they_stand() {
    let of = |entries: &str| format!("export default [{{ {entries} }}]");
    let table = [
        (String::new(), "exports no suite"),
        ("export default []".to_owned(), "this suite has no cases"),
        ("export default makeCases()".to_owned(), "the cases of this suite do not show"),
        (of("prompt: 'p', assert() {}"), "a case has no `id`"),
        (of("id: 'a', assert() {}"), "the case `a` has no `prompt`"),
        (of("id: 'a', prompt: 'p'"), "the case `a` asserts nothing"),
        (of("id: 'a', prompt: 'p', tag: ['x'], assert() {}"), "did you mean `tags`?"),
        (of("id: 'a', prompt: 'p', tags: 'x', assert() {}"), "`a case.tags` is not what SkillGym takes"),
        (of("id: 'a', prompt: 'p', timeoutMs: '1s', assert() {}"), "a whole number, at least 1"),
    ];
    for (text, wanted) in table {
        let (made, said) = imported(&text, &[], false);
        assert!(made.is_none() && said.contains(wanted), "{text}:\n{said}");
    }
    let suite = of("id: 'a', prompt: 'p', assert(report) { assert.output.notEmpty(report) }");
    let suite = format!("import {{ assert }} from 'skillgym'\n{suite}");
    let (_, said) = imported(&suite, &[("skillgym.config.ts", "export default { runers: {} }")], false);
    assert!(said.contains("skillgym.config.ts:1:") && said.contains("did you mean `runners`?"), "{said}");
    let both = [("skillgym.config.ts", CONFIG), ("skillgym.config.js", CONFIG)];
    assert!(imported(&suite, &both, false).1.contains("two configurations"));
}

#[test]
fn classes_of_failures_are_read_from_messages() {
    let (text, said) = imported(
        r#"import { assert } from "skillgym";
export default [{ id: "c", prompt: "p",
  classifyFailure(result) {
    const message = result.error?.message ?? "";
    if (result.error?.message.includes("cursr") || /alias/i.test(result.error.message)) return { id: "alias", label: "Wrong alias" };
    return result.error?.message.match(/late/) ? "slow" : undefined;
  },
  assert(report) { assert.output.includes(report, "x") } }];"#,
        &[],
        false,
    );
    let text = text.unwrap_or_else(|| panic!("{said}"));
    for line in [
        "classify \"alias\" \"Wrong alias\" when message contains \"cursr\"",
        "classify \"alias\" \"Wrong alias\" when message matches /alias/i",
        "classify \"slow\" when message matches /late/",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn one_of_several_assertions_may_be_the_one_that_is_expected_to_fail() {
    let text = "import { assert } from 'skillgym'\nexport default [{ id: 'c', prompt: 'p', expectedFail: true, assert(report) { assert.output.notEmpty(report); assert.output.includes(report, 'b') } }]";
    assert!(verdict(text, &json!({ "prompt": "p", "output": "a" })));
    assert!(!verdict(text, &json!({ "prompt": "p", "output": "b" })));
}

#[test]
fn hostile_programs_end() {
    let deep = |open: &str, close: &str| format!("export default {}1{}", open.repeat(20_000), close.repeat(20_000));
    let doubled: String = (1..60).map(|n| format!("const a{n} = [...a{}, ...a{}];\n", n - 1, n - 1)).collect();
    let grown: String = (1..60).map(|n| format!("const t{n} = t{} + t{};\n", n - 1, n - 1)).collect();
    let table = [
        deep("(", ")"),
        deep("[", "]"),
        deep("f(", ")"),
        deep("(a = ", ") => 1"),
        deep("{ a: ", "}"),
        deep("!", ""),
        deep("`${", "}`"),
        "function f() { ".repeat(20_000),
        "export default (".repeat(20_000),
        "a<".repeat(20_000),
        "x ? ".repeat(20_000),
        "/".repeat(20_000),
        "\u{feff}`".to_owned(),
        format!("const a0 = [1];\n{doubled}export default a59"),
        format!("const t0 = 'x';\n{grown}export default [{{ id: t59, prompt: t59, assert() {{}} }}]"),
        "const f = (n) => [f(n), f(n)]; export default f(1)".to_owned(),
        "export { default } from './demo-suite.ts'".to_owned(),
        "export * from './a'; export * from './b'".to_owned(),
    ];
    let beside = [
        ("a.ts", "export * from './b'"),
        ("b.ts", "export * from './a'"),
        ("demo-suite.ts", "export { default } from './demo-suite.ts'"),
    ];
    for text in table {
        assert!(imported(&text, &beside, true).0.is_none());
    }
}
