//! One document with everything that is known of it.

use super::documents::{Documents, Overlay};
use super::picked::PickedRun;
use super::place::uri_of;
use crate::assist::Facts;
use crate::bytecode::program::Program;
use crate::check::{CheckOptions, Checked, check};
use crate::compile::compile;
use crate::diagnostic::Diagnostics;
use crate::limits::Limits;
use crate::lint::{self, LintOptions};
use crate::source::{FileId, SourceFile, SourceMap, Span};
use crate::vm::outcome::Outcome;
use crate::vm::prepare::Prepared;
use lsp_types::Uri;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A compiled document.
pub struct Compiled {
    /// The program.
    pub program: Program,
    /// What it needs to judge.
    pub prepared: Prepared,
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
    pub facts: Facts,
    /// Files that were read or looked for.
    pub asked: BTreeSet<PathBuf>,
    compiled: OnceCell<Option<Compiled>>,
    outcome: OnceCell<Option<Outcome>>,
}

impl Analysis {
    /// Checks a text as it stands in the file `key`.
    pub fn of(key: &Path, uri: &Uri, text: &str, documents: &Documents, lints: Option<&LintOptions>) -> Self {
        let overlay = Overlay::new(documents);
        let mut sources = SourceMap::default();
        // Other files are named as seen from this one.
        let name = key.file_name().map_or_else(|| key.to_string_lossy(), |name| name.to_string_lossy()).into_owned();
        let folder = uri.as_str().starts_with("file:").then(|| key.parent()).flatten();
        let root = sources.add(SourceFile::new(name, folder, text));
        let options = CheckOptions { limits: Limits::default(), files: &overlay };
        let checked = check(&mut sources, root, &options);
        let diagnostics = match lints {
            Some(options) => lint::report(&sources, root, &checked, options),
            None => checked.diagnostics.clone(),
        };
        let facts = Facts::of(&checked, &sources, root);
        let asked = overlay.asked.into_inner();
        Self {
            sources,
            root,
            uri: uri.clone(),
            checked,
            diagnostics,
            facts,
            asked,
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
            let fine = !self.checked.diagnostics.has_errors();
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
