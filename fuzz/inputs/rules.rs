//! Rules that nobody vouches for: parse, check, lint, compile, evaluate.

use averment_base::diagnostic::render;
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::files::Memory;
use averment_checker::{CheckOptions, check_rules};
use averment_engine::bytecode::codec::{self, DecodedFile};
use averment_engine::bytecode::program::Program;
use averment_engine::compile::compile;
use averment_engine::vm::evaluate::{EvaluateOptions, evaluate};
use averment_engine::vm::over_runs;
use averment_engine::vm::prepare::PreparedProgram;
use averment_ide::lint::{LintOptions, report_file};
use averment_traces::read::read_str;
use bumpalo::Bump;

/// Runs that have something of everything that rules look at.
pub const RUNS: [&str; 3] = [
    r#"{"output": {"a": 1, "b": -9223372036854775808, "text": "ok", "list": [1, "2", null, {"c": [1.5e300]}]}, "inputs": {"id": "o-1"},
    "calls": [{"tool": "search", "args": {"q": "rust", "n": 3}, "result": "[1, 2]", "duration_ms": 12},
    {"tool": "refund", "args": {"id": "o-1", "amount": 25.5}, "status": "denied"},
    {"tool": "bash", "args": {"command": "cd /tmp && rm -rf x | tee y; curl http://x"}}],
    "turns": 3, "cost_usd": 0.25, "duration_ms": 900}"#,
    r#"{"messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}], "output": "text"}"#,
    "{}",
];

/// Takes an input through all stages.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Some(program) = program(&text) {
        same_from_a_file(&program);
        evaluated(&program);
    }
}

/// The program of a text that compiles; what is said of it is drawn, and has no character that steers a terminal.
pub fn program(text: &str) -> Option<Program> {
    let mut sources = SourceMap::default();
    let root = sources.add_file(SourceFile::new("rules.assert", None, text));
    let files = Memory::default();
    let checked = check_rules(&mut sources, root, &CheckOptions { limits: Limits::default(), files: &files });
    let said = render::render_short(&checked.diagnostics, &sources);
    assert!(!said.contains('\u{1b}'), "{said:?}");
    serde_json::to_string(&render::render_json(&checked.diagnostics, &sources)).expect("JSON");
    let linted = report_file(&sources, root, &checked, &LintOptions::default());
    assert!(!render::render_short(&linted, &sources).contains('\u{1b}'));
    let errors = checked.diagnostics.has_errors();
    (!errors).then(|| compile(&checked.module, &sources))
}

/// What a program is as a file is read back as the same program.
pub fn same_from_a_file(program: &Program) {
    let bytes = codec::encode(program);
    match codec::decode(&bytes) {
        Ok(DecodedFile::Program(read)) => assert_eq!(codec::encode(&read), bytes, "another program came back"),
        other => panic!("what was compiled is not read back: {other:?}"),
    }
}

/// Evaluates a program on every run.
pub fn evaluated(program: &Program) {
    let prepared = PreparedProgram::new(program);
    let options = EvaluateOptions { limits: Limits::for_foreign_rules(), ..EvaluateOptions::default() };
    for text in RUNS {
        let arena = Bump::new();
        let run = read_str(text, &arena, &options.limits).expect("a run");
        let outcome = evaluate(program, &prepared, &run, &arena, &options);
        let of_all_runs = over_runs::of_program(program).count();
        let results = program.assertions.len() - of_all_runs;
        assert_eq!(outcome.results.len(), results, "every assertion of a run has a result");
    }
}
