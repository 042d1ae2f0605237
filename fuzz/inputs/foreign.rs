//! Rule files of other systems that nobody vouches for: read, lowered, compiled and judged, as they are and as what they are imported as.

use super::rules::{RUNS, program, same_from_a_file};
use averment_base::diagnostic::{Diagnostic, Severity, Slug, render};
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_base::truth::Verdict;
use averment_checker::files::Memory;
use averment_dialects::{ForeignOptions, LoweringInputs, compile_foreign};
use averment_engine::bytecode::program::Program;
use averment_engine::vm::evaluate::{EvaluateOptions, evaluate};
use averment_engine::vm::prepare::PreparedProgram;
use averment_traces::read::read_str;
use bumpalo::Bump;

/// Takes an input through all stages.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut sources = SourceMap::default();
    let name = match text.trim_start() {
        text if text.contains("export default") => "rules.ts",
        text if text.starts_with(['{', '[']) => "rules.json",
        _ => "rules.yaml",
    };
    let root = sources.add_file(SourceFile::new(name, None, &*text));
    // What cannot be read of a program is listed, so that the rest is judged.
    let how = LoweringInputs {
        files: &Memory::default(),
        options: ForeignOptions { partly: true, ..ForeignOptions::default() },
    };
    let compiled = compile_foreign(&mut sources, root, &[], Limits::default(), how);
    let said = render::render_short(&compiled.diagnostics, &sources);
    assert!(!said.contains('\u{1b}'), "{said:?}");
    let Some(lowered) = compiled.lowered else {
        assert!(compiled.diagnostics.has_errors(), "nothing came of it, and nothing is said");
        return;
    };
    let text = &lowered.written.text;
    let is_syntax = |one: &Diagnostic| one.slug == Slug::Syntax && one.severity == Severity::Error;
    assert!(!compiled.diagnostics.0.iter().any(is_syntax), "{said}\n{text}");
    let Some(foreign) = compiled.program else {
        assert!(compiled.diagnostics.has_errors(), "no program, and no error\n{text}");
        return;
    };
    same_from_a_file(&foreign);
    let imported = program(text).unwrap_or_else(|| panic!("what is imported does not compile:\n{text}"));
    assert_eq!(verdicts(&foreign), verdicts(&imported), "what is imported is judged differently:\n{text}");
}

/// The verdicts of every run.
fn verdicts(program: &Program) -> Vec<Verdict> {
    let prepared = PreparedProgram::new(program);
    let options = EvaluateOptions { limits: Limits::for_foreign_rules(), ..EvaluateOptions::default() };
    let mut all = Vec::new();
    for text in RUNS {
        let arena = Bump::new();
        let run = read_str(text, &arena, &options.limits).expect("a run");
        let outcome = evaluate(program, &prepared, &run, &arena, &options);
        all.extend(outcome.results.iter().map(|result| result.verdict));
    }
    all
}
