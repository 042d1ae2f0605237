//! Incremental checking of a text that was checked before in a similar form.
//!
//! If no declaration changed, only the statements that were parsed again are checked, together with all declarations and the names of all rules.
//! Diagnostics of all other statements are moved to their new locations. The rest (lints, the program) follows when nobody is typing.

#[cfg(test)]
mod tests;

use super::analysis::{Analysis, CheckContext};
use super::documents::FileOverlay;
use crate::lint;
use averment_base::diagnostic::{Diagnostic, Diagnostics, Slug};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap, Span};
use averment_checker::files::{Files, FoundFile};
use averment_checker::{CheckOptions, CheckResult, SymbolTable, check_tree};
use averment_syntax::ast::{BodySetting, ItemKind, RuleFile, SyntaxItem};
use averment_syntax::{FileOutline, IncrementalParse};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The extent of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckMode {
    /// Only the changed parts.
    Incremental,
    /// Everything, including lints.
    Full,
}

/// The input of a check.
pub struct CheckInput<'w> {
    pub sources: SourceMap,
    pub root: FileId,
    /// The file of the text.
    pub key: &'w Path,
    pub given: CheckContext<'w>,
}

/// Project files that declare tools, except the checked one, with their names.
pub(super) fn tools_of<'f>(
    given: CheckContext<'f>,
    key: &'f Path,
    files: &'f dyn Files,
) -> impl Iterator<Item = (String, FoundFile)> + 'f {
    given.tools.iter().filter_map(move |path| {
        let (folder, name) = (path.parent()?, path.file_name()?.to_string_lossy());
        let found = files.read(folder, &name, None).ok().filter(|found| found.key != key)?;
        Some((path.display().to_string(), found))
    })
}

/// The result of a check.
pub struct CheckOutput {
    pub sources: SourceMap,
    pub checked: CheckResult,
    pub diagnostics: Diagnostics,
    pub dependencies: BTreeSet<PathBuf>,
    pub partial: bool,
}

impl CheckInput<'_> {
    /// Checks everything.
    pub fn check_whole(self, tree: RuleFile, said: Diagnostics) -> CheckOutput {
        let Self { mut sources, root, key, given } = self;
        let folder = sources.get(root).and_then(|file| file.folder.clone());
        let overlay = FileOverlay::new(given.documents, folder.as_deref());
        let options = CheckOptions { limits: Limits::default(), files: &overlay };
        let tools = read_tools(&mut sources, given, key, &overlay);
        let checked = check_tree(&mut sources, root, tree, said, &tools, &options);
        let diagnostics = match given.lints {
            Some(options) => lint::report_file(&sources, root, &checked, options),
            None => checked.diagnostics.clone(),
        };
        CheckOutput { sources, checked, diagnostics, dependencies: overlay.dependencies.into_inner(), partial: false }
    }
}

fn read_tools(sources: &mut SourceMap, given: CheckContext<'_>, key: &Path, files: &dyn Files) -> Vec<FileId> {
    let mut add = |name, found: FoundFile| sources.add_file(SourceFile::new(name, Some(&found.folder), found.text));
    tools_of(given, key, files).map(|(name, found)| add(name, found)).collect()
}

/// An earlier analysis of a document, without its tree.
pub struct EarlierAnalysis {
    /// Its text.
    pub text: Arc<str>,
    symbols: SymbolTable,
    diagnostics: Diagnostics,
    syntax: Diagnostics,
    heads: Vec<DeclarationHead>,
}

/// Identifies a declaration or named group, to detect added, removed and renamed ones.
#[derive(Debug, PartialEq, Eq)]
struct DeclarationHead(&'static str, String);

impl EarlierAnalysis {
    /// Takes an analysis apart: the data that is kept for the next check, and the parse result.
    pub fn take_apart(before: Option<Analysis>) -> (Option<Self>, Option<(FileOutline, Vec<SyntaxItem>)>) {
        let Some(before) = before else { return (None, None) };
        let text = before.source_file().map_or_else(|| Arc::from(""), |file| Arc::clone(&file.text));
        let Analysis { checked, diagnostics, outline, syntax, .. } = before;
        let CheckResult { symbols, ast, .. } = checked;
        let heads = declaration_heads(&ast.items);
        (Some(Self { text, symbols, diagnostics, syntax, heads }), Some((outline, ast.items)))
    }

    /// True if nothing changed that other statements depend on.
    pub fn allows_patch(&self, tree: &RuleFile, parse: &IncrementalParse) -> bool {
        let fresh = tree.items.get(parse.fresh.clone()).unwrap_or(&[]);
        !fresh.iter().any(|item| item.kind.is_declaration() || is_classify(&item.kind))
            && declaration_heads(&tree.items) == self.heads
    }

    /// Checks the statements that were parsed again, and keeps the diagnostics of all others.
    pub fn check_patched(self, work: CheckInput<'_>, tree: RuleFile, parse: &IncrementalParse) -> CheckOutput {
        let CheckInput { mut sources, root, key, given } = work;
        let folder = sources.get(root).and_then(|file| file.folder.clone());
        let overlay = FileOverlay::new(given.documents, folder.as_deref());
        let options = CheckOptions { limits: Limits::default(), files: &overlay };
        let tools = read_tools(&mut sources, given, key, &overlay);
        let (read, said) = (reduce_tree(&tree, parse), parse.diagnostics.clone());
        let mut checked = check_tree(&mut sources, root, read, said, &tools, &options);
        checked.ast = tree;
        let change = TextChange::from_parse(root, parse);
        let mut fresh = std::mem::take(&mut checked.diagnostics);
        fresh.0.retain(|one| {
            let own = !change.contains_span(one.span) && one.span.file == root;
            one.slug != Slug::UnusedAllow && (!own || parse.diagnostics.0.contains(one))
        });
        if let Some(options) = given.lints {
            options.levels.apply_to(&mut fresh);
        }
        let kept = self.diagnostics.0.into_iter().filter(|one| !self.syntax.0.contains(one));
        fresh.0.extend(kept.filter_map(|one| change.move_diagnostic(one)));
        fresh.sort_by_place();
        checked.symbols = patch_symbols(checked.symbols, &self.symbols, &change);
        checked.diagnostics = fresh.clone();
        CheckOutput {
            sources,
            checked,
            diagnostics: fresh,
            dependencies: overlay.dependencies.into_inner(),
            partial: true,
        }
    }
}

fn patch_symbols(mut fresh: SymbolTable, old: &SymbolTable, change: &TextChange) -> SymbolTable {
    if fresh.declarations.len() != old.declarations.len() {
        return fresh;
    }
    fresh.references.retain(|(span, _)| span.file != change.root || change.contains_span(*span));
    let kept = old.references.iter().filter(|(span, _)| span.file == change.root);
    fresh.references.extend(kept.filter_map(|(span, number)| Some((change.move_span(*span)?, *number))));
    fresh
}

struct TextChange {
    root: FileId,
    old: std::ops::Range<usize>,
    new: std::ops::Range<usize>,
}

impl TextChange {
    fn from_parse(root: FileId, parse: &IncrementalParse) -> Self {
        let (new, old) = parse.bytes.clone();
        Self { root, old, new }
    }

    fn contains_span(&self, span: Span) -> bool {
        span.file == self.root && self.new.start <= span.start as usize && span.start as usize <= self.new.end
    }

    /// Returns the new location of an earlier span; `None` if it was parsed again.
    fn move_span(&self, span: Span) -> Option<Span> {
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

    /// Returns the shifted diagnostic; `None` in other files, whose diagnostics are produced by every check.
    fn move_diagnostic(&self, mut one: Diagnostic) -> Option<Diagnostic> {
        one.span = self.move_span(one.span)?;
        for label in &mut one.others {
            label.span = if label.span.file == self.root { self.move_span(label.span)? } else { label.span };
        }
        for edit in one.fix.iter_mut().flat_map(|fix| &mut fix.edits) {
            edit.span = self.move_span(edit.span)?;
        }
        Some(one)
    }
}

fn reduce_tree(tree: &RuleFile, parse: &IncrementalParse) -> RuleFile {
    let kept = tree.items.iter().enumerate().filter_map(|(number, item)| {
        if parse.fresh.contains(&number) { Some(item.clone()) } else { keep_declaration(item) }
    });
    RuleFile { items: kept.collect(), allows: tree.allows.clone(), unread: tree.unread.clone() }
}

fn keep_declaration(item: &SyntaxItem) -> Option<SyntaxItem> {
    let bodies = |body: &[SyntaxItem]| body.iter().filter_map(keep_declaration).collect();
    let kind = match &item.kind {
        kind if kind.is_declaration() => kind.clone(),
        ItemKind::Rule(rule) => ItemKind::Rule(bare_rule(rule)),
        ItemKind::Invariant(rule) => ItemKind::Invariant(bare_rule(rule)),
        ItemKind::Case { name, .. } => ItemKind::Case { name: name.clone(), modifiers: Vec::new(), body: Vec::new() },
        ItemKind::Suite { name, body, .. } => {
            ItemKind::Suite { name: name.clone(), modifiers: Vec::new(), body: bodies(body) }
        }
        _ => return None,
    };
    Some(SyntaxItem { kind, span: item.span, doc: item.doc.clone() })
}

fn bare_rule(rule: &averment_syntax::ast::RuleBlock) -> averment_syntax::ast::RuleBlock {
    averment_syntax::ast::RuleBlock { name: rule.name.clone(), sentence: None, modifiers: Vec::new(), body: Vec::new() }
}

/// True for `classify`, whose conditions are compared with each other.
fn is_classify(kind: &ItemKind) -> bool {
    matches!(kind, ItemKind::Setting(BodySetting::Classify { .. }))
}

fn declaration_heads(items: &[SyntaxItem]) -> Vec<DeclarationHead> {
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
                found.push(DeclarationHead("suite", name.text.clone()));
                found.extend(declaration_heads(body));
                continue;
            }
            kind if is_classify(kind) => {
                found.push(DeclarationHead("classify", String::new()));
                continue;
            }
            _ => continue,
        };
        found.push(DeclarationHead(word, name.text.clone()));
    }
    found
}
