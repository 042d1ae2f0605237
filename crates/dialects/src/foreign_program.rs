//! Compiles a foreign file to a program whose source locations point into that file.

use crate::{LoweredFile, LoweringInputs, lower_foreign};
use averment_base::diagnostic::{Diagnostic, Diagnostics};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap, Span};
use averment_checker::ir::{Constant, DeclaredParam, Type};
use averment_checker::{CheckOptions, check_with_tools};
use averment_engine::bytecode::program::{ForeignOrigin, Program, ProgramSource};
use averment_engine::compile;
use std::path::Path;

/// The result of compiling a foreign file.
#[derive(Debug)]
pub struct CompiledForeign {
    /// The program; `None` if the file has errors.
    pub program: Option<Program>,
    /// Diagnostics, with locations in the foreign file.
    pub diagnostics: Diagnostics,
    /// The rules that were written for it; `None` if lowering failed.
    pub lowered: Option<LoweredFile>,
}

/// Compiles a foreign file of `sources`. Files that it reads are added to `sources`. `tools` holds the names and texts of files that declare tools.
#[must_use]
pub fn compile_foreign(
    sources: &mut SourceMap,
    root: FileId,
    tools: &[(String, String)],
    limits: Limits,
    how: LoweringInputs<'_>,
) -> CompiledForeign {
    let lowered = match lower_foreign(sources, root, how) {
        Ok(lowered) => lowered,
        Err(diagnostics) => return CompiledForeign { program: None, diagnostics, lowered: None },
    };
    let (name, folder) = sources.get(root).map(|file| (file.name.clone(), file.folder.clone())).unwrap_or_default();
    let mut own = SourceMap::default();
    let written = own.add_file(SourceFile::new(name.as_str(), folder.as_deref(), lowered.written.text.as_str()));
    let folder_of = |name: &str| Path::new(name).parent().map(Path::to_path_buf).unwrap_or_default();
    let tools: Vec<FileId> = tools
        .iter()
        .map(|(name, text)| own.add_file(SourceFile::new(name.as_str(), Some(&folder_of(name)), text.as_str())))
        .collect();
    let checked = check_with_tools(&mut own, written, &tools, &CheckOptions { limits, files: how.files });
    let moved = SpanMap::new(sources, root, &own, &lowered);
    let mut diagnostics = lowered.diagnostics.clone();
    diagnostics.0.extend(checked.diagnostics.0.iter().map(|one| moved.map_diagnostic(one)));
    let program = (!checked.diagnostics.has_errors()).then(|| {
        let mut program = compile::compile(&checked.module, &own);
        let SpanMap { origin, files } = &moved;
        let of = |file: &SourceFile| ProgramSource { name: file.name.clone(), text: file.text.to_string() };
        let text = ProgramSource { name: format!("{name} (as rules)"), text: lowered.written.text.clone() };
        let all = sources.iter().map(|(_, file)| of(file)).chain([text]).collect();
        program.move_to_origin(all, origin.clone(), &|span| in_files(span, files));
        let at = Span::new(root, 0, 0);
        program.own_verdicts = Some(lowered.dialect.verdicts.clone());
        program.params.extend(lowered.params.iter().map(|(name, value)| constant_param(name, value, at)));
        program
    });
    CompiledForeign { program, diagnostics, lowered: Some(lowered) }
}

/// Declares a parameter whose value is already inlined.
fn constant_param(name: &str, value: &str, span: Span) -> DeclaredParam {
    DeclaredParam { name: name.to_owned(), ty: Type::Any, default: Some(Constant::Text(value.to_owned())), span }
}

fn in_files(span: Span, files: &[FileId]) -> Span {
    Span { file: files.get(span.file.0 as usize).copied().unwrap_or(span.file), ..span }
}

struct SpanMap {
    origin: ForeignOrigin,
    /// Ids of the source files that the written rules refer to; the text of the rules itself comes last.
    files: Vec<FileId>,
}

impl SpanMap {
    fn new(sources: &mut SourceMap, root: FileId, own: &SourceMap, lowered: &LoweredFile) -> Self {
        let others = own.iter().skip(1).map(|(_, file)| sources.add_file(file.clone())).collect::<Vec<_>>();
        let last = FileId(u32::try_from(sources.iter().count()).unwrap_or(u32::MAX));
        let mut pieces = lowered.written.places.clone();
        pieces.push((0..u32::MAX, Span::new(root, 0, 0)));
        Self { origin: ForeignOrigin::new(last, pieces), files: [last].into_iter().chain(others).collect() }
    }

    fn map_span(&self, span: Span) -> Span {
        self.origin.foreign_place(in_files(span, &self.files))
    }

    /// Maps a diagnostic to the foreign file. Its fix is dropped because it would edit generated text.
    fn map_diagnostic(&self, one: &Diagnostic) -> Diagnostic {
        let mut one = one.clone();
        one.span = self.map_span(one.span);
        one.others.iter_mut().for_each(|label| label.span = self.map_span(label.span));
        one.fix = None;
        one
    }
}
