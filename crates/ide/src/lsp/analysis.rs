//! One document, and the results of checking it.

use super::documents::DocumentStore;
use super::foreign;
use super::incremental::{CheckInput, CheckMode, EarlierAnalysis};
use super::picked_run::PickedRun;
use super::place::path_to_uri;
use crate::assist::CursorContext;
use crate::lint::LintOptions;
use averment_base::diagnostic::Diagnostics;
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap, Span};
use averment_checker::CheckResult;
use averment_engine::bytecode::program::Program;
use averment_engine::compile::compile;
use averment_engine::vm::outcome::RunOutcome;
use averment_engine::vm::prepare::PreparedProgram;
use averment_syntax::{FileOutline, PreviousParse, parse_incremental};
use lsp_types::Uri;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A compiled document.
pub struct CompiledDocument {
    /// The program.
    pub program: Program,
    /// The prepared program.
    pub prepared: PreparedProgram,
}

/// The inputs of a document's check.
#[derive(Debug, Clone, Copy)]
pub struct CheckContext<'w> {
    /// The open documents.
    pub documents: &'w DocumentStore,
    /// Lint options; `None` disables lints.
    pub lints: Option<&'w LintOptions>,
    /// Files of its project that declare facts about tools.
    pub tools: &'w [PathBuf],
}

/// One document, checked with everything that it imports.
pub struct Analysis {
    /// All files.
    pub sources: SourceMap,
    /// The document.
    pub root: FileId,
    /// Its URI.
    pub uri: Uri,
    /// The tree, the names and the rules.
    pub checked: CheckResult,
    /// The diagnostics, including lints.
    pub diagnostics: Diagnostics,
    /// The data for completion and hover.
    pub context: CursorContext,
    /// Files that were read or searched for.
    pub dependencies: BTreeSet<PathBuf>,
    /// True if only changed parts were checked: the names are current, but the rules cannot be run, and lints of the changed parts are missing.
    pub partial: bool,
    pub(super) outline: FileOutline,
    pub(super) syntax: Diagnostics,
    compiled: OnceCell<Option<CompiledDocument>>,
    outcome: OnceCell<Option<RunOutcome>>,
}

impl Analysis {
    /// Checks the current text of the file `key`. With an analysis of an earlier text, only the changed parts are parsed again.
    pub fn of_document(
        key: &Path,
        uri: &Uri,
        text: Arc<str>,
        given: CheckContext<'_>,
        before: Option<Analysis>,
        mode: CheckMode,
    ) -> Self {
        if let Some(said) = foreign::foreign_diagnostics(key, &text, given) {
            // Nothing in it is in the rule language.
            let nothing = CheckContext { lints: None, tools: &[], ..given };
            let nothing = Self::of_rule_file(key, uri, Arc::from(""), nothing, None, mode);
            return Self {
                sources: said.sources,
                diagnostics: said.diagnostics,
                dependencies: said.dependencies,
                ..nothing
            };
        }
        Self::of_rule_file(key, uri, text, given, before, mode)
    }

    fn of_rule_file(
        key: &Path,
        uri: &Uri,
        text: Arc<str>,
        given: CheckContext<'_>,
        before: Option<Analysis>,
        mode: CheckMode,
    ) -> Self {
        let mut sources = SourceMap::default();
        // Other files are named relative to this one.
        let name = key.file_name().map_or_else(|| key.to_string_lossy(), |name| name.to_string_lossy()).into_owned();
        let folder = uri.as_str().starts_with("file:").then(|| key.parent()).flatten();
        let root = sources.add_file(SourceFile::new(name, folder, text));
        let (earlier, read) = EarlierAnalysis::take_apart(before);
        let old_text = earlier.as_ref().map(|earlier| Arc::clone(&earlier.text));
        let before =
            read.map(|(outline, items)| PreviousParse { text: old_text.as_deref().unwrap_or(""), outline, items });
        let (tree, parse) = parse_incremental(&sources, root, &Limits::default(), before);
        let work = CheckInput { sources, root, key, given };
        let done = match earlier.filter(|earlier| mode == CheckMode::Incremental && earlier.allows_patch(&tree, &parse))
        {
            Some(earlier) => earlier.check_patched(work, tree, &parse),
            None => work.check_whole(tree, parse.diagnostics.clone()),
        };
        let context = CursorContext::from_checked(&done.checked, &done.sources, root);
        Self {
            sources: done.sources,
            root,
            uri: uri.clone(),
            checked: done.checked,
            diagnostics: done.diagnostics,
            context,
            dependencies: done.dependencies,
            partial: done.partial,
            outline: parse.outline,
            syntax: parse.diagnostics,
            compiled: OnceCell::new(),
            outcome: OnceCell::new(),
        }
    }

    /// Returns the document as a file.
    pub fn source_file(&self) -> Option<&SourceFile> {
        self.sources.get(self.root)
    }

    /// Returns its text.
    pub fn source_text(&self) -> &str {
        self.source_file().map_or("", |file| &file.text)
    }

    /// Returns a span over bytes of the document.
    pub fn span(&self, bytes: std::ops::Range<usize>) -> Span {
        Span::new(self.root, bytes.start, bytes.end)
    }

    /// Returns the rules as a program; `None` if they do not compile.
    pub fn compiled(&self) -> Option<&CompiledDocument> {
        let compiled = || {
            let fine = !self.partial && !self.checked.diagnostics.has_errors();
            fine.then(|| {
                let program = compile(&self.checked.module, &self.sources);
                CompiledDocument { prepared: PreparedProgram::new(&program), program }
            })
        };
        self.compiled.get_or_init(compiled).as_ref()
    }

    /// Returns the outcome on the selected run.
    pub fn outcome(&self, run: &PickedRun) -> Option<&RunOutcome> {
        let outcome = || {
            let compiled = self.compiled()?;
            run.judge(&compiled.program, &compiled.prepared)
        };
        self.outcome.get_or_init(outcome).as_ref()
    }

    /// Forgets the outcome, because another run was selected.
    pub fn forget_outcome(&mut self) {
        self.outcome = OnceCell::new();
    }

    /// Returns the path of a file of the analysis; `None` for one without a file, such as a module of the standard set.
    pub fn file_path(&self, file: FileId) -> Option<PathBuf> {
        let file = self.sources.get(file)?;
        let name = Path::new(&file.name).file_name()?;
        Some(file.folder.as_ref()?.join(name))
    }

    /// Returns the URI of a file of the analysis.
    pub fn file_uri(&self, file: FileId) -> Option<Uri> {
        if file == self.root {
            Some(self.uri.clone())
        } else {
            path_to_uri(&super::place::path_key(&self.file_path(file)?))
        }
    }
}
