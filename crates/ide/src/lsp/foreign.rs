//! Rule files of other systems: their diagnostics are shown in the YAML file.

use super::analysis::CheckContext;
use super::documents::FileOverlay;
use super::incremental::tools_of;
use averment_base::diagnostic::Diagnostics;
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_checker::files::Files;
use averment_dialects::{ForeignOptions, LoweringInputs, compile_foreign, may_be_foreign, system_of};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) struct ForeignDiagnostics {
    pub(super) sources: SourceMap,
    /// Its diagnostics; empty for YAML without rules.
    pub(super) diagnostics: Diagnostics,
    /// Files that were read or searched for.
    pub(super) dependencies: BTreeSet<PathBuf>,
}

pub(super) fn foreign_diagnostics(key: &Path, text: &Arc<str>, given: CheckContext<'_>) -> Option<ForeignDiagnostics> {
    let name = key.file_name()?.to_string_lossy().into_owned();
    if !may_be_foreign(&name, text) {
        return None;
    }
    let folder = key.parent();
    let mut sources = SourceMap::default();
    let root = sources.add_file(SourceFile::new(name.as_str(), folder, Arc::clone(text)));
    if system_of(&name, text).is_none() {
        return Some(ForeignDiagnostics {
            sources,
            diagnostics: Diagnostics::default(),
            dependencies: BTreeSet::new(),
        });
    }
    let overlay = FileOverlay::new(given.documents, folder);
    let tools: Vec<(String, String)> = tools_of(given, key, &overlay).map(|(name, found)| (name, found.text)).collect();
    let options = ForeignOptions { partly: true, ..ForeignOptions::default() };
    let how = LoweringInputs { files: &overlay as &dyn Files, options };
    let diagnostics = compile_foreign(&mut sources, root, &tools, Limits::default(), how).diagnostics;
    Some(ForeignDiagnostics { sources, diagnostics, dependencies: overlay.dependencies.into_inner() })
}
