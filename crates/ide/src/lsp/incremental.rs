//! Incremental checking: of a text of which most was checked before.
//!
//! Where no declaration changed, only the statements that were read again are checked, beside all declarations and the names of all rules; what
//! was said of everything else is moved to where it stands now. The rest (lints, the program) follows when nobody types.

#[cfg(test)]
mod tests;

use super::analysis::{Analysis, Given};
use super::documents::Overlay;
use crate::lint;
use averment_base::diagnostic::{Diagnostic, Diagnostics, Slug};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap, Span};
use averment_engine::check::files::{Files, Found};
use averment_engine::check::{CheckOptions, Checked, Symbols, check_tree};
use averment_syntax::ast::{File, Item, ItemKind, Setting};
use averment_syntax::{IncrementalParse, Outline};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How much of a text is checked when it has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckMode {
    /// As little as can be.
    Incremental,
    /// All of it, with lints.
    Full,
}

/// The input of a check.
pub struct CheckInput<'w> {
    pub sources: SourceMap,
    pub root: FileId,
    /// The file that the text stands in.
    pub key: &'w Path,
    pub given: Given<'w>,
}

/// The files in which a project says something of tools, other than the one that is checked, each with its name.
pub(super) fn tools_of<'f>(
    given: Given<'f>,
    key: &'f Path,
    files: &'f dyn Files,
) -> impl Iterator<Item = (String, Found)> + 'f {
    given.tools.iter().filter_map(move |path| {
        let (folder, name) = (path.parent()?, path.file_name()?.to_string_lossy());
        let found = files.read(folder, &name, None).ok().filter(|found| found.key != key)?;
        Some((path.display().to_string(), found))
    })
}

/// The result of a check.
pub struct CheckOutput {
    pub sources: SourceMap,
    pub checked: Checked,
    pub diagnostics: Diagnostics,
    pub asked: BTreeSet<PathBuf>,
    pub partial: bool,
}

impl CheckInput<'_> {
    /// Checks everything.
    pub fn whole(self, tree: File, said: Diagnostics) -> CheckOutput {
        let Self { mut sources, root, key, given } = self;
        let folder = sources.get(root).and_then(|file| file.folder.clone());
        let overlay = Overlay::new(given.documents, folder.as_deref());
        let options = CheckOptions { limits: Limits::default(), files: &overlay };
        let tools = read_tools(&mut sources, given, key, &overlay);
        let checked = check_tree(&mut sources, root, tree, said, &tools, &options);
        let diagnostics = match given.lints {
            Some(options) => lint::report(&sources, root, &checked, options),
            None => checked.diagnostics.clone(),
        };
        CheckOutput { sources, checked, diagnostics, asked: overlay.asked.into_inner(), partial: false }
    }
}

/// Adds the files in which a project says something of tools.
fn read_tools(sources: &mut SourceMap, given: Given<'_>, key: &Path, files: &dyn Files) -> Vec<FileId> {
    let mut add = |name, found: Found| sources.add(SourceFile::new(name, Some(&found.folder), found.text));
    tools_of(given, key, files).map(|(name, found)| add(name, found)).collect()
}

/// An earlier analysis of a document, without its tree.
pub struct Earlier {
    /// Its text.
    pub text: Arc<str>,
    symbols: Symbols,
    diagnostics: Diagnostics,
    /// What was wrong with the text alone.
    syntax: Diagnostics,
    heads: Vec<Head>,
}

/// A declaration or a named group, so that it can be seen whether one came, went or changed its name.
#[derive(Debug, PartialEq, Eq)]
struct Head(&'static str, String);

impl Earlier {
    /// Takes an analysis apart: what is kept of it, and what was read.
    pub fn of(before: Option<Analysis>) -> (Option<Self>, Option<(Outline, Vec<Item>)>) {
        let Some(before) = before else { return (None, None) };
        let text = before.file().map_or_else(|| Arc::from(""), |file| Arc::clone(&file.text));
        let Analysis { checked, diagnostics, outline, syntax, .. } = before;
        let Checked { symbols, ast, .. } = checked;
        let heads = heads(&ast.items);
        (Some(Self { text, symbols, diagnostics, syntax, heads }), Some((outline, ast.items)))
    }

    /// Whether nothing changed that other statements depend on.
    pub fn allows(&self, tree: &File, parse: &IncrementalParse) -> bool {
        let fresh = tree.items.get(parse.fresh.clone()).unwrap_or(&[]);
        !fresh.iter().any(|item| item.kind.declares() || classifies(&item.kind)) && heads(&tree.items) == self.heads
    }

    /// Checks what was read again and keeps what was said of everything else.
    pub fn patched(self, work: CheckInput<'_>, tree: File, parse: &IncrementalParse) -> CheckOutput {
        let CheckInput { mut sources, root, key, given } = work;
        let folder = sources.get(root).and_then(|file| file.folder.clone());
        let overlay = Overlay::new(given.documents, folder.as_deref());
        let options = CheckOptions { limits: Limits::default(), files: &overlay };
        let tools = read_tools(&mut sources, given, key, &overlay);
        let (read, said) = (reduced(&tree, parse), parse.diagnostics.clone());
        let mut checked = check_tree(&mut sources, root, read, said, &tools, &options);
        checked.ast = tree;
        let change = Change::of(root, parse);
        let mut fresh = std::mem::take(&mut checked.diagnostics);
        fresh.0.retain(|one| {
            let own = !change.holds(one.span) && one.span.file == root;
            one.slug != Slug::UnusedAllow && (!own || parse.diagnostics.0.contains(one))
        });
        if let Some(options) = given.lints {
            options.levels.apply(&mut fresh);
        }
        let kept = self.diagnostics.0.into_iter().filter(|one| !self.syntax.0.contains(one));
        fresh.0.extend(kept.filter_map(|one| change.moved_diagnostic(one)));
        fresh.sort();
        checked.symbols = patched_symbols(checked.symbols, &self.symbols, &change);
        checked.diagnostics = fresh.clone();
        CheckOutput { sources, checked, diagnostics: fresh, asked: overlay.asked.into_inner(), partial: true }
    }
}

/// The references of what was checked again, and the earlier ones of everything else.
fn patched_symbols(mut fresh: Symbols, old: &Symbols, change: &Change) -> Symbols {
    if fresh.declarations.len() != old.declarations.len() {
        return fresh;
    }
    fresh.references.retain(|(span, _)| span.file != change.root || change.holds(*span));
    let kept = old.references.iter().filter(|(span, _)| span.file == change.root);
    fresh.references.extend(kept.filter_map(|(span, number)| Some((change.moved(*span)?, *number))));
    fresh
}

/// What a text lost and got.
struct Change {
    root: FileId,
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
}

impl Change {
    fn of(root: FileId, parse: &IncrementalParse) -> Self {
        let (new, old) = parse.bytes.clone();
        Self { root, old, new }
    }

    /// Whether a place lies in what was read again.
    fn holds(&self, span: Span) -> bool {
        span.file == self.root && self.new.start <= span.start as usize && span.start as usize <= self.new.end
    }

    /// Where an earlier place stands now; `None` for one that was read again.
    fn moved(&self, span: Span) -> Option<Span> {
        let (start, end) = (span.start as usize, span.end as usize);
        if span.file != self.root || end <= self.old.start && start < self.old.start.max(1) {
            return (span.file == self.root).then_some(span);
        }
        if start < self.old.end {
            return None;
        }
        let shift = |offset: usize| (offset - self.old.end).saturating_add(self.new.end);
        Some(Span::new(self.root, shift(start), shift(end)))
    }

    /// An earlier diagnostic where it stands now. Those in other files come anew with every check.
    fn moved_diagnostic(&self, mut one: Diagnostic) -> Option<Diagnostic> {
        one.span = self.moved(one.span)?;
        for label in &mut one.others {
            label.span = if label.span.file == self.root { self.moved(label.span)? } else { label.span };
        }
        for edit in one.fix.iter_mut().flat_map(|fix| &mut fix.edits) {
            edit.span = self.moved(edit.span)?;
        }
        Some(one)
    }
}

/// The tree with nothing but declarations, names, and what was read again.
fn reduced(tree: &File, parse: &IncrementalParse) -> File {
    let kept = tree.items.iter().enumerate().filter_map(|(number, item)| {
        if parse.fresh.contains(&number) { Some(item.clone()) } else { named_alone(item) }
    });
    File { items: kept.collect(), allows: tree.allows.clone(), unread: tree.unread.clone() }
}

/// What others can refer to in an item; `None` for one without a name.
fn named_alone(item: &Item) -> Option<Item> {
    let bodies = |body: &[Item]| body.iter().filter_map(named_alone).collect();
    let kind = match &item.kind {
        kind if kind.declares() => kind.clone(),
        ItemKind::Rule(rule) => ItemKind::Rule(bare(rule)),
        ItemKind::Invariant(rule) => ItemKind::Invariant(bare(rule)),
        ItemKind::Case { name, .. } => ItemKind::Case { name: name.clone(), modifiers: Vec::new(), body: Vec::new() },
        ItemKind::Suite { name, body, .. } => {
            ItemKind::Suite { name: name.clone(), modifiers: Vec::new(), body: bodies(body) }
        }
        _ => return None,
    };
    Some(Item { kind, span: item.span, doc: item.doc.clone() })
}

fn bare(rule: &averment_syntax::ast::Rule) -> averment_syntax::ast::Rule {
    averment_syntax::ast::Rule { name: rule.name.clone(), sentence: None, modifiers: Vec::new(), body: Vec::new() }
}

/// A line `classify`: what it asks is compared with the others.
fn classifies(kind: &ItemKind) -> bool {
    matches!(kind, ItemKind::Setting(Setting::Classify { .. }))
}

fn heads(items: &[Item]) -> Vec<Head> {
    let mut found = Vec::new();
    for item in items {
        let (word, name) = match &item.kind {
            ItemKind::Use(import) => ("use", &import.target),
            ItemKind::Param(param) => ("param", &param.name),
            ItemKind::Let { name, .. } => ("let", name),
            ItemKind::Def { name, .. } => ("def", name),
            ItemKind::DefStep { name, .. } => ("def step", name),
            ItemKind::Schema { name, .. } => ("schema", name),
            ItemKind::ToolsFrom { path } => ("tools", path),
            ItemKind::Tool { name, .. } => ("tool", name),
            ItemKind::ToolFacts { tools, .. } => match tools.first() {
                Some(tool) => ("tool", &tool.name),
                None => continue,
            },
            ItemKind::Rule(rule) => ("rule", &rule.name),
            ItemKind::Invariant(rule) => ("invariant", &rule.name),
            ItemKind::Case { name, .. } => ("case", name),
            ItemKind::Suite { name, body, .. } => {
                found.push(Head("suite", name.text.clone()));
                found.extend(heads(body));
                continue;
            }
            kind if classifies(kind) => {
                found.push(Head("classify", String::new()));
                continue;
            }
            _ => continue,
        };
        found.push(Head(word, name.text.clone()));
    }
    found
}
