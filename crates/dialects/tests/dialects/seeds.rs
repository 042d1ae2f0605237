//! The lines of the original documents that the dialects are based on: how each is tested, and the page that lists them.

use crate::judged::Given;
use averment::Verdict;
use averment_fixtures::{compare_generated, project};
use std::fmt::Write as _;
use std::path::Path;

/// The way in which a line is tested.
enum Trial {
    /// A file that passes on the first run and fails on the second; `$` in it is replaced by the line's own part.
    Judged(&'static str, &'static str, &'static str),
    /// The test function that covers it.
    Test(&'static str),
    /// It has another meaning here: the reason, and the test function that checks it.
    Decided(&'static str, &'static str),
}
use Trial::{Decided, Judged, Test};

struct SeedDocument {
    title: &'static str,
    file: &'static str,
    frame: &'static str,
    lines: &'static [(&'static str, Trial)],
}

const STOP: SeedDocument = SeedDocument {
    title: "STOP: assertions",
    file: "skill.yaml",
    frame: "sop: \"0.1\"\nname: a-skill\nversion: 1.0.0\ndescription: d\nassertions:\n  post:\n    - { $, severity: error }\n",
    lines: &[
        ("`pre`, `post`", Test("phases_are_selected")),
        ("`check` and its parameters", Test("checks_are_told_with_what_they_lack")),
        ("`message`", Test("a_manifest_reads_like_rules")),
        ("`severity: error`, `warn`", Test("conditions_before_and_after_a_run_have_their_severities")),
        ("default severities of `pre` and `post`", Test("conditions_before_and_after_a_run_have_their_severities")),
        ("`warn` fails no run", Test("conditions_before_and_after_a_run_have_their_severities")),
        ("`file_exists`", Test("a_file_is_held_against_every_test")),
        ("`file_not_empty`", Test("a_file_is_held_against_every_test")),
        ("`file_matches`", Test("a_file_is_held_against_every_test")),
        ("`${inputs.article_path}` in a path", Test("before_a_run_there_is_no_trace")),
        ("`env_var`", Test("before_a_run_there_is_no_trace")),
        (
            "`tool_available`",
            Judged("check: tool_available, tool: exec", r#"{"tools": ["exec"]}"#, r#"{"tools": ["read"]}"#),
        ),
        (
            "`output.*`: `not_empty`",
            Judged(
                "check: output.article_url, not_empty: true",
                r#"{"output": {"article_url": "u"}}"#,
                r#"{"output": {"article_url": ""}}"#,
            ),
        ),
        (
            "`output.*`: `matches`",
            Judged(
                "check: output.article_url, matches: '^https://juejin\\.cn/post/\\d+$'",
                r#"{"output": {"article_url": "https://juejin.cn/post/12"}}"#,
                r#"{"output": {"article_url": "https://juejin.cn/post/x"}}"#,
            ),
        ),
        (
            "`output.*`: `equals`",
            Judged(
                "check: output.status, equals: published",
                r#"{"output": {"status": "published"}}"#,
                r#"{"output": {"status": "draft"}}"#,
            ),
        ),
        (
            "`output.*`: `greater_than`",
            Judged(
                "check: output.files_moved, greater_than: 0",
                r#"{"output": {"files_moved": 1}}"#,
                r#"{"output": {"files_moved": 0}}"#,
            ),
        ),
        (
            "`not_empty` of `[]` and `{}`",
            Decided("they fail: the document asks for what is not empty", "values_without_anything_in_them_are_empty"),
        ),
        (
            "`http_status`",
            Judged(
                "check: http_status, url_pattern: juejin.cn, equals: 200",
                r#"{"http": [{"method": "GET", "url": "https://juejin.cn/p", "status": 200}]}"#,
                r#"{"http": [{"method": "GET", "url": "https://juejin.cn/p", "status": 500}]}"#,
            ),
        ),
        (
            "`duration`",
            Judged(
                "check: duration, max_ms: 30000",
                r#"{"output": "o", "duration": 29000}"#,
                r#"{"output": "o", "duration": 31000}"#,
            ),
        ),
        (
            "a duration that nobody recorded",
            Decided("undecided, and so no pass", "what_the_run_does_not_record_is_no_pass"),
        ),
        ("`custom` with `exit_code`", Test("a_command_runs_only_with_its_flag_and_never_in_a_shell")),
        ("`${outputs.…}` in a command", Test("a_command_is_not_chosen_by_the_run")),
        (
            "the four `output.*` of the example together",
            Judged(
                "check: output.article_url, not_empty: true, severity: error }\n    - { check: output.article_url, matches: '^https://juejin\\.cn/post/\\d+$', severity: error }\n    - { check: output.status, equals: published, severity: error }\n    - { check: output.files_moved, greater_than: 0",
                r#"{"output": {"article_url": "https://juejin.cn/post/1", "status": "published", "files_moved": 2}}"#,
                r#"{"output": {"article_url": "https://juejin.cn/post/1", "status": "published", "files_moved": 0}}"#,
            ),
        ),
        ("results as a span `assertion.check`", Test("results_of_a_manifest_are_spans_of_stop")),
        ("`assertions.total`, `passed`, `failed`", Test("results_of_a_manifest_are_spans_of_stop")),
        ("the span's `name`, `status` and `kind`", Test("results_of_a_manifest_are_spans_of_stop")),
        ("`assertions.results` with `check`, `status`, `value`", Test("results_of_a_manifest_are_spans_of_stop")),
        (
            "`value` of `env_var` and of `custom`",
            Decided(
                "`***` and none: a variable may be a secret, and a command says how it ended",
                "results_of_a_manifest_are_spans_of_stop",
            ),
        ),
        ("results as lines of its own trace", Test("results_of_a_manifest_are_spans_of_stop")),
        ("trust score over the last runs", Test("the_score_and_its_labels_are_those_of_stop")),
        ("labels Trusted, Unstable, Unreliable", Test("the_score_and_its_labels_are_those_of_stop")),
        ("best practices", Decided("advice, which no check can hold", "conformance_stop")),
    ],
};

const WALLFACER: SeedDocument = SeedDocument {
    title: "wallfacer: the pack error-shape",
    file: "pack.yaml",
    frame: "version: 3\nmetadata: { name: p, parameters: { tool: { type: string, default: divide } } }\ninvariants:\n  - name: i\n    $\n",
    lines: &[
        ("`version: 3`", Test("the_pack_of_the_document_holds_its_fixtures")),
        ("`metadata`: `name`, `description`, `authors`", Test("the_pack_of_the_document_holds_its_fixtures")),
        ("`metadata.tags`", Test("tags_of_a_pack_are_those_of_its_invariants")),
        ("`parameters` with `description`, `type`, `default`", Test("the_pack_of_the_document_holds_its_fixtures")),
        (
            "`tool: \"{{parameter}}\"`",
            Judged(
                "tool: \"{{tool}}\"\n    fixed: {}\n    assert: [{ kind: equals, lhs: { path: $.response.isError }, rhs: { value: true } }]",
                r#"{"calls": [{"tool": "divide", "args": {}, "response": {"isError": true}}]}"#,
                r#"{"calls": [{"tool": "divide", "args": {}, "response": {"isError": false}}]}"#,
            ),
        ),
        ("`fixed`", Test("a_recorded_run_is_judged_by_its_calls")),
        (
            "`matches_schema`",
            Judged(
                "tool: t\n    fixed: {}\n    assert: [{ kind: matches_schema, path: $.response, schema: { type: object, required: [isError] } }]",
                r#"{"calls": [{"tool": "t", "args": {}, "response": {"isError": true}}]}"#,
                r#"{"calls": [{"tool": "t", "args": {}, "response": {}}]}"#,
            ),
        ),
        ("`enum`, `minItems`, `minLength` in a schema", Test("the_pack_of_the_document_holds_its_fixtures")),
        (
            "`equals` of a path and a value",
            Judged(
                "tool: t\n    fixed: {}\n    assert: [{ kind: equals, lhs: { path: $.response.isError }, rhs: { value: true } }]",
                r#"{"calls": [{"tool": "t", "args": {}, "response": {"isError": true}}]}"#,
                r#"{"calls": [{"tool": "t", "args": {}, "response": {"isError": 1}}]}"#,
            ),
        ),
        (
            "`not` of `matches_regex`",
            Judged(
                "tool: t\n    fixed: {}\n    assert: [{ kind: not, assertion: { kind: matches_regex, path: '$.response.content[0].text', pattern: '/home/' } }]",
                r#"{"calls": [{"tool": "t", "args": {}, "response": {"content": [{"text": "no"}]}}]}"#,
                r#"{"calls": [{"tool": "t", "args": {}, "response": {"content": [{"text": "/home/ann"}]}}]}"#,
            ),
        ),
        (
            "a pattern that begins at a line: `^\\s*at\\s+`",
            Judged(
                "tool: t\n    fixed: { a: 1, b: 0 }\n    assert: [{ kind: not, assertion: { kind: matches_regex, path: '$.response.content[0].text', pattern: 'Traceback \\(most recent call last\\)|^\\s*at\\s+[A-Za-z0-9_<>$.]+\\(' } }]",
                r#"{"calls": [{"tool": "t", "args": {"a": 1, "b": 0}, "response": {"content": [{"text": "division by zero"}]}}]}"#,
                r#"{"calls": [{"tool": "t", "args": {"a": 1, "b": 0}, "response": {"content": [{"text": "  at main.run(x)"}]}}]}"#,
            ),
        ),
        (
            "`C:\\\\` in a pattern",
            Judged(
                "tool: t\n    fixed: {}\n    assert: [{ kind: not, assertion: { kind: matches_regex, path: '$.response.content[0].text', pattern: '(?:/Users/|/home/|C:\\\\)' } }]",
                r#"{"calls": [{"tool": "t", "args": {}, "response": {"content": [{"text": "no"}]}}]}"#,
                r#"{"calls": [{"tool": "t", "args": {}, "response": {"content": [{"text": "C:\\x"}]}}]}"#,
            ),
        ),
        ("the pack's four invariants", Test("the_pack_of_the_document_holds_its_fixtures")),
        ("`expect: pass`, `expect: fail`", Test("the_pack_of_the_document_holds_its_fixtures")),
        ("`test_fixtures`: `name`, `response`, `expect`", Test("the_pack_of_the_document_holds_its_fixtures")),
    ],
};

const ASSAY: SeedDocument = SeedDocument {
    title: "Assay: metrics",
    file: "mcp-eval.yaml",
    frame: "version: \"1\"\nsuite: s\ntests:\n  - id: t\n    $\n",
    lines: &[
        (
            "`args_valid` with a policy",
            Test("a_violation_of_an_argument_points_at_the_line_of_its_policy_and_of_the_trace"),
        ),
        ("required arguments, types, `min`, `max`, `pattern`", Test("every_constraint_of_an_argument")),
        (
            "`tools`: only these are checked",
            Test("only_the_tools_that_are_named_are_checked_and_strict_knows_no_others"),
        ),
        (
            "a tool that the policy does not define",
            Test("only_the_tools_that_are_named_are_checked_and_strict_knows_no_others"),
        ),
        ("`strict: true`", Test("only_the_tools_that_are_named_are_checked_and_strict_knows_no_others")),
        (
            "`sequence_valid`: `require`",
            Judged(
                "metric: sequence_valid\n    rules: [{ type: require, tool: a }]",
                r#"{"calls": [{"tool": "a"}]}"#,
                r#"{"calls": [{"tool": "b"}]}"#,
            ),
        ),
        (
            "`before`",
            Judged(
                "metric: sequence_valid\n    rules: [{ type: before, first: a, then: b }]",
                r#"{"calls": [{"tool": "a"}, {"tool": "b"}]}"#,
                r#"{"calls": [{"tool": "b"}]}"#,
            ),
        ),
        ("`before` with a list in `then`", Test("rules_are_joined_and_every_one_is_told")),
        (
            "`immediately_before`",
            Judged(
                "metric: sequence_valid\n    rules: [{ type: immediately_before, first: a, then: b }]",
                r#"{"calls": [{"tool": "a"}, {"tool": "b"}]}"#,
                r#"{"calls": [{"tool": "a"}, {"tool": "c"}, {"tool": "b"}]}"#,
            ),
        ),
        (
            "`blocklist` of a sequence",
            Judged(
                "metric: sequence_valid\n    rules: [{ type: blocklist, tools: [a_*] }]",
                r#"{"calls": [{"tool": "b"}]}"#,
                r#"{"calls": [{"tool": "a_b"}]}"#,
            ),
        ),
        (
            "`allowlist`",
            Judged(
                "metric: sequence_valid\n    rules: [{ type: allowlist, tools: [a] }]",
                r#"{"calls": [{"tool": "a"}]}"#,
                r#"{"calls": [{"tool": "b"}]}"#,
            ),
        ),
        (
            "`count`",
            Judged(
                "metric: sequence_valid\n    rules: [{ type: count, tool: a, max: 1 }]",
                r#"{"calls": [{"tool": "a"}]}"#,
                r#"{"calls": [{"tool": "a"}, {"tool": "a"}]}"#,
            ),
        ),
        (
            "`require` and `before` of the example",
            Judged(
                "metric: sequence_valid\n    rules:\n      - type: require\n        tool: authenticate\n      - type: before\n        first: authenticate\n        then: get_patient_record",
                r#"{"calls": [{"tool": "authenticate"}, {"tool": "get_patient_record"}]}"#,
                r#"{"calls": [{"tool": "get_patient_record"}]}"#,
            ),
        ),
        (
            "the four rules of `secure_workflow`",
            Judged(
                "metric: sequence_valid\n    rules:\n      - { type: require, tool: authenticate }\n      - { type: before, first: authenticate, then: [read_data, write_data, delete_data] }\n      - { type: blocklist, tools: [admin_*, debug_*] }\n      - { type: count, tool: api_call, max: 10 }",
                r#"{"calls": [{"tool": "authenticate"}, {"tool": "read_data"}, {"tool": "api_call"}]}"#,
                r#"{"calls": [{"tool": "authenticate"}, {"tool": "read_data"}, {"tool": "debug_mode"}]}"#,
            ),
        ),
        ("rules joined by AND", Test("rules_are_joined_and_every_one_is_told")),
        (
            "`tool_blocklist`",
            Judged(
                "metric: tool_blocklist\n    blocklist: [drop_table]",
                r#"{"calls": [{"tool": "a"}]}"#,
                r#"{"calls": [{"tool": "drop_table"}]}"#,
            ),
        ),
        (
            "a `blocklist` of several tools",
            Judged(
                "metric: tool_blocklist\n    blocklist:\n      - delete_database\n      - drop_table\n      - admin_override",
                r#"{"calls": [{"tool": "table"}]}"#,
                r#"{"calls": [{"tool": "a"}, {"tool": "admin_override"}]}"#,
            ),
        ),
        (
            "`admin_*`",
            Judged(
                "metric: tool_blocklist\n    blocklist:\n      - admin_*",
                r#"{"calls": [{"tool": "a"}]}"#,
                r#"{"calls": [{"tool": "admin_x"}]}"#,
            ),
        ),
        (
            "`*_dangerous` without quotes",
            Judged(
                "metric: tool_blocklist\n    blocklist:\n      - admin_*\n      - *_dangerous\n      - debug_*",
                r#"{"calls": [{"tool": "a"}]}"#,
                r#"{"calls": [{"tool": "run_dangerous"}]}"#,
            ),
        ),
        ("a suite of all three metrics", Test("workflows_and_suites_of_the_documents_import_cleanly")),
        (
            "the same run gives the same result",
            Test("without_times_the_same_runs_give_the_same_bytes_and_what_is_imported_the_same_results"),
        ),
        ("SARIF and JUnit", Test("what_a_suite_asks_for_is_written_where_the_command_line_names_a_folder")),
        ("`output: format: [sarif, junit]`", Test("reports_that_a_suite_asks_for_are_flags")),
        (
            "results: `metric`, `status`, `violations`, `duration_ms`",
            Test("a_metric_prints_what_its_document_prints_with_every_violation"),
        ),
        (
            "violations: `tool`, `argument`, `value`, `constraint`, `policy_line`",
            Test("a_metric_prints_what_its_document_prints_with_every_violation"),
        ),
        (
            "custom metrics in Rust",
            Decided(
                "a metric is rules under a name: no code is loaded",
                "an_unknown_metric_is_told_what_there_is_and_how_to_add_one",
            ),
        ),
    ],
};

/// A suite of one case that asserts `$`.
const CASE: &str = "import { assert } from \"skillgym\";\nexport default [{ id: \"c\", prompt: \"p\", async assert(report, ctx) {\n  $;\n} }];\n";

const SKILLGYM: SeedDocument = SeedDocument {
    title: "SkillGym: suites and cases",
    file: "v-suite.ts",
    frame: CASE,
    lines: &[
        (
            "a suite as an array of cases",
            Judged(
                "assert.match(ctx.finalOutput(), /skillgym ready/)",
                r#"{"prompt": "p", "output": "skillgym ready"}"#,
                r#"{"prompt": "p", "output": "no"}"#,
            ),
        ),
        ("a suite as an object of cases", Test("a_project_is_followed_through_its_modules")),
        ("`id`, `prompt`, `tags`, `timeoutMs`", Test("a_project_is_followed_through_its_modules")),
        ("each case runs with all runners that are chosen", Test("cases_tags_and_runners_are_chosen_together")),
        ("`expectedFail`", Test("known_failures_and_their_classes_are_those_of_the_vectors")),
        (
            "`expected-failed`, `unexpected-passed`, and how each exits",
            Test("known_failures_and_their_classes_are_those_of_the_vectors"),
        ),
        ("`classifyFailure`", Test("classes_are_those_of_the_vectors")),
        ("`assert.classify`", Test("classes_are_those_of_the_vectors")),
        ("both classes: `classifyFailure` wins", Test("classes_are_those_of_the_vectors")),
        ("default classes of the runner", Test("five_agents_run_the_same_cases_and_their_transcripts_are_judged")),
        ("`--tag`, repeated and with commas", Test("tags_of_the_command_line_are_read_as_in_the_vectors")),
        ("`run.tags`, which `--tag` overrides", Test("a_project_chooses_tags_and_the_command_line_wins")),
        (
            "`assert.ok`",
            Judged(
                "assert.ok(ctx.getCommands().length > 0)",
                r#"{"prompt": "p", "commands": [{"command": "a"}]}"#,
                r#"{"prompt": "p", "commands": []}"#,
            ),
        ),
        (
            "`assert.equal`",
            Judged(
                "assert.equal(report.finalOutput, 'a')",
                r#"{"prompt": "p", "output": "a"}"#,
                r#"{"prompt": "p", "output": "b"}"#,
            ),
        ),
        (
            "`assert.match`",
            Judged(
                "assert.match(report.finalOutput, /upgrading-expo/i)",
                r#"{"prompt": "p", "output": "Upgrading-Expo"}"#,
                r#"{"prompt": "p", "output": "b"}"#,
            ),
        ),
        (
            "`assert.doesNotMatch` with a message",
            Judged(
                "assert.doesNotMatch(ctx.finalOutput(), /\\bcursr\\s+agent\\b/i, 'wrong')",
                r#"{"prompt": "p", "output": "cursor agent"}"#,
                r#"{"prompt": "p", "output": "cursr agent"}"#,
            ),
        ),
        (
            "`assert.skills.has`",
            Judged(
                "assert.skills.has(report, 'find-skills')",
                r#"{"prompt": "p", "skills": [{"name": "find-skills"}]}"#,
                r#"{"prompt": "p", "skills": []}"#,
            ),
        ),
        (
            "`assert.commands.includes`",
            Judged(
                "assert.commands.includes(report, 'npx skills find')",
                r#"{"prompt": "p", "commands": [{"command": "npx skills find x"}]}"#,
                r#"{"prompt": "p", "commands": []}"#,
            ),
        ),
        (
            "the three assertions of `find-skills-expo`",
            Judged(
                "assert.skills.has(report, \"find-skills\");\n  assert.commands.includes(report, \"npx skills find\");\n  assert.match(report.finalOutput, /upgrading-expo/i)",
                r#"{"prompt": "p", "skills": [{"name": "find-skills"}], "commands": [{"command": "npx skills find expo"}], "output": "upgrading-expo"}"#,
                r#"{"prompt": "p", "skills": [{"name": "find-skills"}], "commands": [{"command": "npx skills list"}], "output": "upgrading-expo"}"#,
            ),
        ),
        (
            "`assert.classify` of `cursor-alias-check`",
            Judged(
                "assert.classify({ id: \"wrong-cli-alias\", label: \"Wrong CLI alias\" }, () => {\n    assert.doesNotMatch(ctx.finalOutput(), /\\bcursr\\s+agent\\b/i, \"wrong Cursor CLI alias in final output\");\n  })",
                r#"{"prompt": "p", "output": "cursor agent"}"#,
                r#"{"prompt": "p", "output": "run cursr agent"}"#,
            ),
        ),
        (
            "`ctx.getCommands()`",
            Judged(
                "assert.ok(!ctx.getCommands().includes('rm -rf build'))",
                r#"{"prompt": "p", "commands": [{"command": "ls"}]}"#,
                r#"{"prompt": "p", "commands": [{"command": "rm -rf build"}]}"#,
            ),
        ),
        (
            "`ctx.getToolCalls(tool?)`",
            Judged(
                "assert.equal(ctx.getToolCalls('read').length, 1)",
                r#"{"prompt": "p", "calls": [{"tool": "read"}, {"tool": "ls"}]}"#,
                r#"{"prompt": "p", "calls": [{"tool": "ls"}]}"#,
            ),
        ),
        (
            "`ctx.getFileReads()`",
            Judged(
                "assert.ok(ctx.getFileReads().some((p) => p.endsWith('.md')))",
                r#"{"prompt": "p", "reads": [{"path": "a.md"}]}"#,
                r#"{"prompt": "p", "reads": [{"path": "a.ts"}]}"#,
            ),
        ),
        (
            "`ctx.detectedSkills()`",
            Judged(
                "assert.equal(ctx.detectedSkills()[0].skill, 'x')",
                r#"{"prompt": "p", "skills": [{"name": "x"}]}"#,
                r#"{"prompt": "p", "skills": [{"name": "y"}]}"#,
            ),
        ),
        (
            "`ctx.finalOutput()`",
            Judged(
                "assert.match(ctx.finalOutput(), /ready/)",
                r#"{"prompt": "p", "output": "ready"}"#,
                r#"{"prompt": "p", "output": "no"}"#,
            ),
        ),
        (
            "what a program alone knows",
            Decided(
                "nothing of a suite is run: the file is refused, or its case is undecided (`--allow unread`)",
                "each_case_names_what_it_lacks_and_none_of_them_passes",
            ),
        ),
        (
            "an `assert() {}` that asserts nothing",
            Decided(
                "a warning; a file without an assertion is no check",
                "mistakes_in_suites_and_configurations_are_told_where_they_stand",
            ),
        ),
        ("`workspace` of mode `isolated`", Test("workspaces_are_made_and_kept_where_something_failed")),
        ("`workspace` of mode `shared`, with `cwd`", Test("a_shared_workspace_is_the_folder_that_is_there")),
        (
            "`shared` with `bootstrap` and no `templateDir`",
            Decided(
                "refused: a command would change the folder that is there",
                "a_shared_workspace_is_the_folder_that_is_there",
            ),
        ),
        (
            "`shared` with `templateDir`",
            Decided(
                "a folder of its own, made of the template: nothing is copied over your files",
                "a_shared_workspace_is_the_folder_that_is_there",
            ),
        ),
        ("`templateDir`, with dotfiles and `.git`", Test("workspaces_are_made_and_kept_where_something_failed")),
        (
            "`bootstrap`: `command`, `args`, `timeoutMs`, `env`",
            Test("workspaces_are_made_and_kept_where_something_failed"),
        ),
        (
            "an isolated workspace begins empty without `templateDir`",
            Test("workspaces_are_made_and_kept_where_something_failed"),
        ),
        ("paths relative to the suite", Test("a_project_is_followed_through_its_modules")),
        ("failed workspaces are kept", Test("workspaces_are_made_and_kept_where_something_failed")),
        ("`run.maxSteps`", Test("five_agents_run_the_same_cases_and_their_transcripts_are_judged")),
        (
            "a crash or timeout of the runner fails, also where a failure is expected",
            Test("five_agents_run_the_same_cases_and_their_transcripts_are_judged"),
        ),
    ],
};

const RUNSIGHT: SeedDocument = SeedDocument {
    title: "Runsight: assertions",
    file: "block.yaml",
    frame: "assertions:\n  - { $ }\n",
    lines: &[
        ("`assertions` of a block", Test("a_block_is_judged_by_its_own_record_alone")),
        ("`equals`", Judged("type: equals, value: approved", r#"{"output": "approved"}"#, r#"{"output": "approve"}"#)),
        (
            "`equals` of two texts of JSON",
            Judged("type: equals, value: '{\"a\": 1}'", r#"{"output": "{\"a\":1}"}"#, r#"{"output": "{\"a\":2}"}"#),
        ),
        (
            "`contains`",
            Judged("type: contains, value: analysis", r#"{"output": "an analysis"}"#, r#"{"output": "an Analysis"}"#),
        ),
        (
            "`icontains`",
            Judged("type: icontains, value: conclusion", r#"{"output": "Conclusion"}"#, r#"{"output": "no"}"#),
        ),
        ("`contains-all`", Judged("type: contains-all, value: [a, b]", r#"{"output": "b a"}"#, r#"{"output": "a"}"#)),
        ("`contains-any`", Judged("type: contains-any, value: [a, b]", r#"{"output": "b"}"#, r#"{"output": "c"}"#)),
        ("`starts-with`", Judged("type: starts-with, value: ab", r#"{"output": "abc"}"#, r#"{"output": "cab"}"#)),
        (
            "`regex` searches",
            Judged("type: regex, value: '\\d{4}-\\d{2}'", r#"{"output": "on 2024-05-01"}"#, r#"{"output": "on 24-5"}"#),
        ),
        (
            "`word-count`, a number",
            Judged("type: word-count, value: 2", r#"{"output": "two words"}"#, r#"{"output": "one"}"#),
        ),
        (
            "`word-count`, a range",
            Judged("type: word-count, value: { min: 2, max: 3 }", r#"{"output": "two words"}"#, r#"{"output": "one"}"#),
        ),
        ("`is-json`", Judged("type: is-json", r#"{"output": "[1]"}"#, r#"{"output": "no"}"#)),
        (
            "`is-json` with a schema",
            Judged("type: is-json, value: { type: object }", r#"{"output": "{}"}"#, r#"{"output": "[]"}"#),
        ),
        (
            "`contains-json`",
            Judged("type: contains-json", r#"{"output": "see {\"a\": 1} there"}"#, r#"{"output": "no"}"#),
        ),
        (
            "`contains-json` with a schema",
            Judged(
                "type: contains-json, value: { type: object, required: [name] }",
                r#"{"output": "see {\"name\": 1} there"}"#,
                r#"{"output": "see {\"a\": 1} there"}"#,
            ),
        ),
        (
            "`cost`",
            Judged("type: cost, threshold: 0.1", r#"{"output": "o", "cost": 0.1}"#, r#"{"output": "o", "cost": 0.2}"#),
        ),
        (
            "`latency`",
            Judged(
                "type: latency, threshold: 5000",
                r#"{"output": "o", "duration": 5000}"#,
                r#"{"output": "o", "duration": 5001}"#,
            ),
        ),
        (
            "`levenshtein`, default 5",
            Judged("type: levenshtein, value: abcdefghij", r#"{"output": "abcde"}"#, r#"{"output": "abcd"}"#),
        ),
        (
            "`bleu`, default 0.5",
            Judged(
                "type: bleu, value: the cat sat on the mat",
                r#"{"output": "the cat sat on the mat"}"#,
                r#"{"output": "no"}"#,
            ),
        ),
        (
            "`rouge-n`, default 0.75",
            Judged(
                "type: rouge-n, value: the cat sat on the mat",
                r#"{"output": "the cat sat on the mat"}"#,
                r#"{"output": "no"}"#,
            ),
        ),
        (
            "`levenshtein` with a threshold of 10",
            Judged(
                "type: levenshtein, value: The capital of France is Paris., threshold: 10",
                r#"{"output": "The capital of France was Paris"}"#,
                r#"{"output": "Lyon"}"#,
            ),
        ),
        (
            "`bleu` with a threshold of 0.3",
            Judged(
                "type: bleu, value: Machine learning models process data to find patterns., threshold: 0.3",
                r#"{"output": "Machine learning models process data to see patterns."}"#,
                r#"{"output": "Models learn."}"#,
            ),
        ),
        (
            "`rouge-n` at its bound",
            Judged(
                "type: rouge-n, value: a b c d, threshold: 0.5",
                r#"{"output": "a b x y"}"#,
                r#"{"output": "a x y z"}"#,
            ),
        ),
        ("`not-`", Judged("type: not-contains, value: error", r#"{"output": "fine"}"#, r#"{"output": "an error"}"#)),
        ("`not-contains-json`", Judged("type: not-contains-json", r#"{"output": "fine"}"#, r#"{"output": "{}"}"#)),
        ("`not-` turns the score around", Test("conformance_of_runsight")),
        ("`weight` is 1 where it is not written", Test("conformance_of_runsight")),
        ("`threshold`, `weight`, `metric`", Test("conformance_of_runsight")),
        ("weighted average, `passed()`", Test("conformance_of_runsight")),
        (
            "`transform: json_path:…`",
            Judged(
                "type: equals, value: completed, transform: 'json_path:$.status'",
                r#"{"output": "{\"status\": \"completed\"}"}"#,
                r#"{"output": "{\"status\": \"open\"}"}"#,
            ),
        ),
        (
            "a transform that fails",
            Judged(
                "type: equals, value: x, transform: 'json_path:$.status'",
                r#"{"output": "{\"status\": \"x\"}"}"#,
                r#"{"output": "no JSON"}"#,
            ),
        ),
        (
            "the three assertions of `process_order`",
            Judged(
                "type: equals, value: completed, transform: 'json_path:$.status' }\n  - { type: contains, value: success, transform: 'json_path:$.message' }\n  - { type: cost, threshold: 0.02",
                r#"{"output": "{\"status\": \"completed\", \"message\": \"a success\"}", "cost": 0.02}"#,
                r#"{"output": "{\"status\": \"completed\", \"message\": \"a success\"}", "cost": 0.03}"#,
            ),
        ),
        (
            "`recommendation`, a range of words and a cost, with weights",
            Judged(
                "type: contains, value: recommendation, weight: 2.0 }\n  - { type: word-count, value: { min: 2 }, weight: 1.0 }\n  - { type: cost, threshold: 0.05, weight: 0.5",
                r#"{"output": "my recommendation", "cost": 0.01}"#,
                r#"{"output": "recommendation", "cost": 0.01}"#,
            ),
        ),
        ("assertions are independent of each other", Test("conformance_of_runsight")),
        (
            "`eval_score`, `eval_passed`, `eval_results`",
            Test("a_report_of_earlier_runs_is_what_later_ones_are_compared_with"),
        ),
        ("baseline deltas", Test("deltas_are_those_of_the_vectors")),
    ],
};

const SEEDS: [&SeedDocument; 5] = [&STOP, &WALLFACER, &ASSAY, &SKILLGYM, &RUNSIGHT];

/// True if all assertions passed or were vacuous.
fn holds(document: &SeedDocument, part: &str, run: &str) -> bool {
    let text = document.frame.replacen('$', part, 1);
    let given = Given { name: document.file, text: &text, ..Given::default() };
    let judged = given.judge(run).unwrap_or_else(|said| panic!("{text}:\n{said}"));
    assert!(!judged.results.is_empty(), "{text}");
    judged.results.iter().all(|(_, verdict, _)| matches!(verdict, Verdict::Pass | Verdict::Vacuous | Verdict::Skipped))
}

/// Adds the text of all source files below a folder.
fn add_sources(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            add_sources(&entry, all);
        } else if entry.extension().is_some_and(|kind| kind == "rs") {
            all.push_str(&std::fs::read_to_string(entry).unwrap());
        }
    }
}

#[test]
fn every_line_of_the_seeds_is_tried_and_the_page_says_how() {
    let mut functions = String::new();
    ["crates", "tests"].iter().for_each(|folder| add_sources(&project(folder), &mut functions));
    let exists = |name: &str| functions.contains(&format!("fn {name}() {{"));
    let mut page = "# Lines of the documents\n\nThe dialects began with five documents. This page lists what each of them says, how it is tried, and what is decided otherwise.\n`cargo test -p averment-dialects --test dialects seeds` makes it: a file on two runs is judged as it is and as what it is imported as; a name is that of the test that tries the line.\n".to_owned();
    for document in SEEDS {
        write!(page, "\n## {}\n\n| line | how it is tried | outcome |\n|---|---|---|\n", document.title).unwrap();
        for (line, trial) in document.lines {
            let (how, outcome) = match trial {
                Judged(part, good, bad) => {
                    assert!(holds(document, part, good), "{line} has to hold of {good}");
                    assert!(!holds(document, part, bad), "{line} has to fail of {bad}");
                    ("a run that holds and one that fails".to_owned(), "works".to_owned())
                }
                Test(name) => (format!("`{name}`"), "works".to_owned()),
                Decided(why, name) => (format!("`{name}`"), format!("decided otherwise: {why}")),
            };
            if let Test(name) | Decided(_, name) = trial {
                assert!(exists(name), "{line}: there is no test `{name}`");
            }
            writeln!(page, "| {line} | {how} | {outcome} |").unwrap();
        }
    }
    compare_generated(&project("docs/reference/seeds.md"), &page);
}
