//! Rule files of other systems: what is wrong with them is shown in their YAML.

use super::analysis::Given;
use super::documents::Overlay;
use super::incremental::tools_of;
use averment_base::diagnostic::Diagnostics;
use averment_base::limits::Limits;
use averment_base::source::{SourceFile, SourceMap};
use averment_dialects::{How, Options, compile, may_be_foreign, system_of};
use averment_engine::check::files::Files;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is known of such a file.
pub(super) struct Said {
    /// It, and the files that it names.
    pub(super) sources: SourceMap,
    /// What is said of it; nothing of YAML that holds no rules.
    pub(super) diagnostics: Diagnostics,
    /// Files that were read or looked for.
    pub(super) asked: BTreeSet<PathBuf>,
}

/// What is said of a document that is YAML; `None` for any other.
pub(super) fn said(key: &Path, text: &Arc<str>, given: Given<'_>) -> Option<Said> {
    let name = key.file_name()?.to_string_lossy().into_owned();
    if !may_be_foreign(&name, text) {
        return None;
    }
    let folder = key.parent();
    let mut sources = SourceMap::default();
    let root = sources.add(SourceFile::new(name.as_str(), folder, Arc::clone(text)));
    if system_of(&name, text).is_none() {
        return Some(Said { sources, diagnostics: Diagnostics::default(), asked: BTreeSet::new() });
    }
    let overlay = Overlay::new(given.documents, folder);
    let tools: Vec<(String, String)> = tools_of(given, key, &overlay).map(|(name, found)| (name, found.text)).collect();
    let options = Options { partly: true, ..Options::default() };
    let how = How { files: &overlay as &dyn Files, options };
    let diagnostics = compile(&mut sources, root, &tools, Limits::default(), how).diagnostics;
    Some(Said { sources, diagnostics, asked: overlay.asked.into_inner() })
}
