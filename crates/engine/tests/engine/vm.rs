//! The compiler, the verifier, the file format and the machine, on programs that nobody would write.

mod generate;

use averment_base::limits::Limits;
use averment_base::source::{SourceMap, Span};
use averment_engine::bytecode::codec::{self, DecodeError, DecodedFile};
use averment_engine::bytecode::ops::{Amount, Literal, Op, Target};
use averment_engine::bytecode::program::{CodeChunk, CodeId, Program};
use averment_engine::bytecode::{disasm, verify};
use averment_engine::compile::compile;
use averment_engine::vm::context::ExpressionScope;
use averment_engine::vm::fault::Fault;
use averment_engine::vm::machine::Machine;
use averment_engine::vm::prepare::PreparedProgram;
use averment_traces::read::read_str;
use bumpalo::Bump;
use proptest::prelude::*;

const RUN: &str = r#"{
  "prompt": "refund my order", "output": {"status": "open", "n": 3, "tags": ["a", "b"], "deep": {"tags": ["c"]}, "raw": "{\"a\": 1}"},
  "calls": [{"tool": "search", "args": {"q": "x", "n": 1}, "status": "ok"}, {"tool": "refund", "args": {"amount": 250.5, "id": "o-1"}}],
  "cost": 0.05, "meta": {"list": [1, 2.0, "2", null, true], "empty": []}
}"#;

fn compiled(expr: &averment_checker::ir::TypedExpr) -> Program {
    compile(&generate::module(expr), &SourceMap::default())
}

/// What every expression of a program gives on the run, as text: values and faults.
fn outcomes(program: &Program) -> Vec<String> {
    let (arena, limits) = (Bump::new(), Limits { fuel: 200_000, computed_bytes: 1 << 20, ..Limits::default() });
    let run = read_str(RUN, &arena, &limits).unwrap();
    let prepared = PreparedProgram::new(program);
    let mut machine = Machine::new(program, &prepared, &run, &arena, limits);
    let mut out = Vec::new();
    for code in 0..u32::try_from(program.chunks.len()).unwrap() {
        machine.refuel();
        let scope = run.steps.first().map(ExpressionScope::of_step).unwrap_or_default();
        match machine.evaluate_code(CodeId(code), &scope) {
            Ok(node) => {
                out.push(format!("{} {}", node.value.type_name(), averment_base::value::json::to_json(&node.value)))
            }
            Err(fault) => out.push(format!("fault: {fault}")),
        }
        let _ = machine.evaluate_truth(CodeId(code), &scope);
        let _ = machine.explain_condition(CodeId(code), &scope);
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_verifier_accepts_what_the_compiler_emits(expr in generate::expr()) {
        let program = compiled(&expr);
        prop_assert_eq!(verify::verify_program(&program), Ok(()));
        prop_assert!(!disasm::list_program(&program).is_empty());
    }

    #[test]
    fn evaluation_gives_the_same_every_time_and_never_calls_a_verified_program_invalid(expr in generate::expr()) {
        let program = compiled(&expr);
        let first = outcomes(&program);
        prop_assert_eq!(&first, &outcomes(&program));
        let invalid = first.iter().any(|text| text.contains("not valid"));
        prop_assert!(!invalid, "{:?}", first);
    }

    #[test]
    fn a_program_comes_back_from_its_file_as_it_was(expr in generate::expr()) {
        let program = compiled(&expr);
        let bytes = codec::encode(&program);
        prop_assert_eq!(codec::decode(&bytes), Ok(DecodedFile::Program(Box::new(program))));
    }

    #[test]
    fn a_damaged_file_is_an_error_and_never_a_panic(expr in generate::expr(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = codec::encode(&compiled(&expr));
        let place = at.index(bytes.len());
        prop_assume!(bytes[place] != byte);
        bytes[place] = byte;
        // Only the version may change without harm: the checksum covers everything behind it.
        let decoded = codec::decode(&bytes);
        let harmless = matches!(decoded, Err(_) | Ok(DecodedFile::Sources { .. }));
        prop_assert!(harmless);
    }

    #[test]
    fn a_forged_file_is_refused_or_runs_within_its_limits(
        expr in generate::expr(),
        forged in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = codec::encode(&compiled(&expr));
        for (at, byte) in forged {
            let place = codec::HEADER + at.index(bytes.len() - codec::HEADER);
            bytes[place] = byte;
        }
        let sum = crc32fast::hash(&bytes[codec::HEADER..]).to_le_bytes();
        bytes[codec::HEADER - 4..codec::HEADER].copy_from_slice(&sum);
        if let Ok(DecodedFile::Program(program)) = codec::decode(&bytes) {
            outcomes(&program);
        }
    }

    #[test]
    fn code_that_nobody_verified_faults_and_never_panics(code in prop::collection::vec(generate::op(), 0..40), locals in 0u32..4) {
        let end = u32::try_from(code.len()).unwrap();
        let mut program = compiled(&generate::leaf());
        program.spans = vec![Span::default(); code.len()];
        program.chunks = vec![CodeChunk { start: 0, end, locals, stack: 8, span: Span::default() }];
        program.lets = vec![CodeId(0), CodeId(7)];
        program.code = code;
        outcomes(&program);
        let _ = verify::verify_program(&program);
        let _ = disasm::list_program(&program);
    }
}

/// A program of one expression.
fn program_of(code: Vec<Op>) -> Program {
    let end = u32::try_from(code.len()).unwrap();
    let chunk = CodeChunk { start: 0, end, locals: 1, stack: 1, span: Span::default() };
    Program {
        constants: vec![averment_checker::ir::Constant::Null],
        spans: vec![Span::default(); code.len()],
        chunks: vec![chunk],
        code,
        ..Program::default()
    }
}

#[test]
fn what_does_not_balance_is_refused() {
    let null = Op::Constant(Literal(0));
    for (code, why) in [
        (vec![], "exactly one value"),
        (vec![null, null], "exactly one value"),
        (vec![Op::Not()], "do not balance"),
        (vec![null, Op::SkipIfFalse(Target(0))], "jumps to 0"),
        (vec![null, Op::SkipIfFalse(Target(9))], "jumps to 9"),
        (vec![null, Op::SkipThen(Target(2))], "do not balance"),
        (vec![null, Op::Repeat(Target(0))], "do not balance"),
        (vec![Op::End()], "do not balance"),
        (vec![Op::Constant(Literal(4))], "no literal 4"),
        (vec![Op::List(Amount(u32::MAX))], "do not balance"),
    ] {
        let error = verify::verify_program(&program_of(code.clone())).unwrap_err().to_string();
        assert!(error.contains(why), "{code:?}: {error}");
    }
}

#[test]
fn a_forged_number_of_bindings_is_refused_and_takes_no_memory() {
    use averment_engine::bytecode::program::CompiledCheck;
    for rules in
        ["each a(x: $x) { never b }", "before a(x: $x) -> b(x: $x)", "between a(x: $x) and b { never c(y: $x) }"]
    {
        let good = averment_fixtures::Rules::from_text("a.assert", rules).unwrap().program().clone();
        assert_eq!(verify::verify_program(&good), Ok(()), "{rules}");
        for forged in [u32::MAX, 1 << 30, 1 << 17] {
            let mut program = good.clone();
            program.temporals.iter_mut().for_each(|entry| entry.bindings = forged);
            for assertion in &mut program.assertions {
                if let CompiledCheck::Scoped { bindings, .. } = &mut assertion.check {
                    *bindings = forged;
                }
            }
            assert!(program != good, "{rules}");
            let error = verify::verify_program(&program).unwrap_err().to_string();
            assert!(error.contains("bindings"), "{rules}: {error}");
        }
    }
}

#[test]
fn a_definition_that_calls_itself_ends_with_a_fault() {
    use averment_engine::bytecode::ops::{DefRef, LetRef};
    use averment_engine::bytecode::program::CompiledDef;
    let mut program = program_of(vec![Op::CallDef(DefRef(0), Amount(0))]);
    program.defs = vec![CompiledDef { name: "again".into(), parameters: 0, code: CodeId(0) }];
    assert_eq!(outcomes(&program), [format!("fault: {}", Fault::Depth)]);
    let mut program = program_of(vec![Op::Let(LetRef(0))]);
    program.lets = vec![CodeId(0)];
    assert_eq!(outcomes(&program), [format!("fault: {}", Fault::Depth)]);
}

#[test]
fn a_file_of_another_version_gives_its_sources() {
    let mut program = program_of(vec![Op::Constant(Literal(0))]);
    program.sources =
        vec![averment_engine::bytecode::program::ProgramSource { name: "a.assert".into(), text: "null".into() }];
    let mut bytes = codec::encode(&program);
    bytes[8] = 99;
    assert_eq!(codec::decode(&bytes), Ok(DecodedFile::Sources { version: 99, sources: program.sources }));
    assert_eq!(codec::decode(b"rule x {}"), Err(DecodeError::NotAProgram));
    assert_eq!(codec::decode(&bytes[..20]), Err(DecodeError::Damaged));
}

#[test]
fn deep_nesting_in_a_file_is_refused() {
    use averment_checker::ir::AssertionSettings;
    use averment_engine::bytecode::program::{CompiledAssertion, CompiledCheck, TemporalId};
    let mut check = CompiledCheck::Temporal(TemporalId(0));
    for _ in 0..3_000 {
        check = CompiledCheck::Not(Box::new(check));
    }
    let settings = AssertionSettings::default();
    let assertion =
        CompiledAssertion { id: "a".into(), rule: None, text: "a".into(), span: Span::default(), settings, check };
    let program = Program { assertions: vec![assertion], ..program_of(vec![Op::Constant(Literal(0))]) };
    assert_eq!(codec::decode(&codec::encode(&program)), Err(DecodeError::Damaged));
}

#[test]
fn the_page_of_instructions_is_what_the_table_says() {
    let page = averment_engine::bytecode::reference::reference_page();
    averment_fixtures::compare_generated(&averment_fixtures::project("docs/reference/bytecode.md"), &page);
}
