//! The listing of a program: every expression with the source line it comes from, then its instructions.

use super::ops::{InstructionOperand, Op};
use super::program::{CodeChunk, CodeId, Program};
use averment_base::diagnostic::render;
use averment_base::source::{SourceFile, Span};
use std::fmt::Write;

/// Lists a whole program: definitions, patterns and assertions in file order.
#[must_use]
pub fn list_program(program: &Program) -> String {
    let lister = ListingWriter::new(program);
    let mut out = String::new();
    for chunk in 0..program.chunks.len() {
        if let Ok(number) = u32::try_from(chunk) {
            lister.write_chunk(CodeId(number), &mut out);
        }
    }
    out
}

/// Lists one expression.
#[must_use]
pub fn listing_of(program: &Program, code: CodeId) -> String {
    let mut out = String::new();
    ListingWriter::new(program).write_chunk(code, &mut out);
    out
}

struct ListingWriter<'a> {
    program: &'a Program,
    sources: Vec<SourceFile>,
}

impl<'a> ListingWriter<'a> {
    fn new(program: &'a Program) -> Self {
        let sources =
            program.sources.iter().map(|source| SourceFile::new(&*source.name, None, &*source.text)).collect();
        Self { program, sources }
    }

    /// `FILE:LINE:COLUMN` of a place.
    fn format_place(&self, span: Span) -> String {
        match self.sources.get(span.file.0 as usize) {
            Some(file) => {
                let position = file.line_column(span.start);
                format!("{}:{}:{}", render::one_line(&file.name), position.line, position.column)
            }
            None => "-".to_owned(),
        }
    }

    fn span_text(&self, span: Span) -> &str {
        self.sources.get(span.file.0 as usize).and_then(|file| file.text.get(span.as_range())).unwrap_or("")
    }

    fn write_chunk(&self, code: CodeId, out: &mut String) {
        let Some(&chunk) = self.program.chunks.get(code.0 as usize) else { return };
        let CodeChunk { start, end, locals, stack, span } = chunk;
        // Writing to a string never fails.
        let _ = writeln!(out, "expression {}  {}  stack {stack}, locals {locals}", code.0, self.format_place(span));
        for line in self.span_text(span).lines() {
            let _ = writeln!(out, "  | {line}");
        }
        let ops = self.program.code.get(start as usize..end as usize).unwrap_or_default();
        let spans = self.program.spans.get(start as usize..end as usize).unwrap_or_default();
        for (at, (op, place)) in ops.iter().zip(spans).enumerate() {
            let instruction = self.format_instruction(*op);
            let text = one_line(self.span_text(*place));
            let line = format!("  {at:>4}  {instruction:<32}  {text}");
            let _ = writeln!(out, "{}", line.trim_end());
        }
        out.push('\n');
    }

    fn format_instruction(&self, op: Op) -> String {
        let info = op.info();
        let mut text = info.mnemonic.to_owned();
        for (operand, name) in op.operands().into_iter().zip(info.operands) {
            if let Some(shown) = self.format_operand(operand, name) {
                let _ = write!(text, " {shown}");
            }
        }
        text
    }

    fn format_operand(&self, operand: InstructionOperand, name: &str) -> Option<String> {
        let program = self.program;
        let at = |number: u32| number as usize;
        Some(match operand {
            InstructionOperand::Literal(number) => {
                program.constants.get(at(number)).map_or_else(String::new, format_literal)
            }
            InstructionOperand::Name(number) => program.names.get(at(number)).cloned().unwrap_or_default(),
            InstructionOperand::Pattern(number) => {
                program.regexes.get(at(number)).map_or_else(String::new, |regex| regex.text.clone())
            }
            InstructionOperand::SchemaRef(number) => {
                program.schemas.get(at(number)).map_or_else(String::new, |schema| schema.name.clone())
            }
            InstructionOperand::Parameter(number) => {
                program.params.get(at(number)).map_or_else(String::new, |param| param.name.clone())
            }
            InstructionOperand::LetRef(number) => format!("#{number}"),
            InstructionOperand::DefRef(number) => {
                program.defs.get(at(number)).map_or_else(String::new, |def| def.name.clone())
            }
            InstructionOperand::CodeRef(number) => format!("code {number}"),
            InstructionOperand::SelectionRef(number) => {
                let selection = program.selections.get(at(number));
                let pattern = selection.and_then(|selection| program.patterns.get(at(selection.pattern.0)));
                pattern.map_or_else(String::new, |pattern| pattern.text.clone())
            }
            InstructionOperand::Slot(number) => format!("@{number}"),
            InstructionOperand::BindingRef(number) => format!("${number}"),
            InstructionOperand::Amount(number) => format!("{number}"),
            InstructionOperand::Target(number) => format!("-> {number}"),
            InstructionOperand::Test(kind) => kind.written().to_owned(),
            InstructionOperand::Type(ty) => format!("{ty:?}").to_lowercase(),
            InstructionOperand::Quantifier(quantifier) => format!("{quantifier:?}").to_lowercase(),
            InstructionOperand::Flag(set) => return set.then(|| name.to_owned()),
        })
    }
}

fn format_literal(constant: &averment_checker::ir::Constant) -> String {
    use averment_checker::ir::Constant;
    match constant {
        Constant::Null => "null".to_owned(),
        Constant::Boolean(value) => value.to_string(),
        Constant::Number(text) => text.clone(),
        Constant::Text(text) => format!("{text:?}"),
        Constant::List(items) => format!("[{}]", items.iter().map(format_literal).collect::<Vec<_>>().join(", ")),
        Constant::Object(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{key:?}: {}", format_literal(value))).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

fn one_line(text: &str) -> String {
    const WIDTH: usize = 60;
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if folded.chars().count() <= WIDTH {
        return folded;
    }
    // No cut leaves the beginning of a credential, which nobody would know for one.
    let beginning = averment_builtins::detect::redacted_start(&folded, WIDTH - 1);
    beginning.chars().chain(['…']).collect()
}
