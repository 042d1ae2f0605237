//! One document with everything that is known of it.

use super::documents::Documents;
use super::foreign;
use super::incremental::{CheckInput, CheckMode, Earlier};
use super::picked::PickedRun;
use super::place::uri_of;
use crate::assist::CursorContext;
use crate::lint::LintOptions;
use averment_base::diagnostic::Diagnostics;
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap, Span};
use averment_engine::bytecode::program::Program;
use averment_engine::check::Checked;
use averment_engine::compile::compile;
use averment_engine::vm::outcome::Outcome;
use averment_engine::vm::prepare::Prepared;
use averment_syntax::{Outline, PreviousParse, parse_incremental};
use lsp_types::Uri;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A compiled document.
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// What it needs to judge.
    pub prepared: Prepared,
}

/// What a document is checked with.
#[derive(Debug, Clone, Copy)]
pub struct Given<'w> {
    /// What is open.
    pub documents: &'w Documents,
    /// How it is linted; not at all where there is nothing.
    pub lints: Option<&'w LintOptions>,
    /// The files of its project that say something of tools.
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
    pub checked: Checked,
    /// What is said, lints included.
    pub diagnostics: Diagnostics,
    /// What completion and hover know.
    pub context: CursorContext,
    /// Files that were read or looked for.
    pub asked: BTreeSet<PathBuf>,
    /// Only what changed was checked: the names are those of the text, the rules are none to be run, and lints of what changed are missing.
    pub partial: bool,
    /// Where the statements stand.
    pub(super) outline: Outline,
    /// What is wrong with the text alone.
    pub(super) syntax: Diagnostics,
    compiled: OnceCell<Option<Compiled>>,
    outcome: OnceCell<Option<Outcome>>,
}

impl Analysis {
    /// Checks a text as it stands in the file `key`. With an analysis of an earlier text only what changed is read again.
    pub fn of(
        key: &Path,
        uri: &Uri,
        text: Arc<str>,
        given: Given<'_>,
        before: Option<Analysis>,
        mode: CheckMode,
    ) -> Self {
        if let Some(said) = foreign::said(key, &text, given) {
            // Nothing in it is written in the language.
            let nothing = Given { lints: None, tools: &[], ..given };
            let nothing = Self::of_rules(key, uri, Arc::from(""), nothing, None, mode);
            return Self { sources: said.sources, diagnostics: said.diagnostics, asked: said.asked, ..nothing };
        }
        Self::of_rules(key, uri, text, given, before, mode)
    }

    fn of_rules(
        key: &Path,
        uri: &Uri,
        text: Arc<str>,
        given: Given<'_>,
        before: Option<Analysis>,
        mode: CheckMode,
    ) -> Self {
        let mut sources = SourceMap::default();
        // Other files are named as seen from this one.
        let name = key.file_name().map_or_else(|| key.to_string_lossy(), |name| name.to_string_lossy()).into_owned();
        let folder = uri.as_str().starts_with("file:").then(|| key.parent()).flatten();
        let root = sources.add(SourceFile::new(name, folder, text));
        let (earlier, read) = Earlier::of(before);
        let old_text = earlier.as_ref().map(|earlier| Arc::clone(&earlier.text));
        let before =
            read.map(|(outline, items)| PreviousParse { text: old_text.as_deref().unwrap_or(""), outline, items });
        let (tree, parse) = parse_incremental(&sources, root, &Limits::default(), before);
        let work = CheckInput { sources, root, key, given };
        let done = match earlier.filter(|earlier| mode == CheckMode::Incremental && earlier.allows(&tree, &parse)) {
            Some(earlier) => earlier.patched(work, tree, &parse),
            None => work.whole(tree, parse.diagnostics.clone()),
        };
        let context = CursorContext::of(&done.checked, &done.sources, root);
        Self {
            sources: done.sources,
            root,
            uri: uri.clone(),
            checked: done.checked,
            diagnostics: done.diagnostics,
            context,
            asked: done.asked,
            partial: done.partial,
            outline: parse.outline,
            syntax: parse.diagnostics,
            compiled: OnceCell::new(),
            outcome: OnceCell::new(),
        }
    }

    /// The document as a file.
    pub fn file(&self) -> Option<&SourceFile> {
        self.sources.get(self.root)
    }

    /// Its text.
    pub fn text(&self) -> &str {
        self.file().map_or("", |file| &file.text)
    }

    /// A span over bytes of the document.
    pub fn span(&self, bytes: std::ops::Range<usize>) -> Span {
        Span::new(self.root, bytes.start, bytes.end)
    }

    /// The rules as a program; `None` where they do not compile.
    pub fn compiled(&self) -> Option<&Compiled> {
        let compiled = || {
            let fine = !self.partial && !self.checked.diagnostics.has_errors();
            fine.then(|| {
                let program = compile(&self.checked.module, &self.sources);
                Compiled { prepared: Prepared::new(&program), program }
            })
        };
        self.compiled.get_or_init(compiled).as_ref()
    }

    /// What the picked run comes to.
    pub fn outcome(&self, run: &PickedRun) -> Option<&Outcome> {
        let outcome = || {
            let compiled = self.compiled()?;
            run.judge(&compiled.program, &compiled.prepared)
        };
        self.outcome.get_or_init(outcome).as_ref()
    }

    /// Forgets what the picked run came to: another one was picked.
    pub fn forget_outcome(&mut self) {
        self.outcome = OnceCell::new();
    }

    /// The path of a file of the analysis; `None` for one that is in no file, such as a module of the standard set.
    pub fn path(&self, file: FileId) -> Option<PathBuf> {
        let file = self.sources.get(file)?;
        let name = Path::new(&file.name).file_name()?;
        Some(file.folder.as_ref()?.join(name))
    }

    /// The URI of a file of the analysis.
    pub fn uri_of(&self, file: FileId) -> Option<Uri> {
        if file == self.root { Some(self.uri.clone()) } else { uri_of(&super::place::key_of(&self.path(file)?)) }
    }
}
