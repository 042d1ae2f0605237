//! The text of a REPL session: the rules that it started with, and everything entered since.
//!
//! Each input is compiled together with all of it as one text. Declarations can refer to each other in any order, and a later one replaces an earlier
//! one of the same name. Diagnostics are mapped back to the original segments, see [`ComposedText::mapped_diagnostics`].

use averment_base::diagnostic::{Diagnostics, Severity, Slug};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceFile, SourceMap, Span};
use averment_checker::files::Disk;
use averment_checker::{CheckOptions, CheckResult, check_rules};
use averment_syntax::ast::{ItemKind, SyntaxItem};
use averment_syntax::parse;
use std::ops::Range;
use std::path::PathBuf;

/// The identity of a declaration. A later declaration with the same key replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeclarationKey {
    /// The namespace.
    space: &'static str,
    /// The name.
    pub name: String,
}

/// An item that was entered.
#[derive(Debug, Clone)]
pub struct EnteredItem {
    /// Its text, with its comments.
    pub text: String,
    /// The key of its declaration; `None` for a statement, which is judged once and then kept only for saving.
    pub key: Option<DeclarationKey>,
    /// True if the session declared it, not the user.
    pub hidden: bool,
}

/// The rule file that a session started with.
#[derive(Debug, Clone)]
pub struct BaseFile {
    /// Its name as the user wrote it.
    pub name: String,
    /// The folder for its relative paths.
    pub folder: PathBuf,
    /// Its text.
    pub text: String,
    items: Vec<(DeclarationKey, Range<usize>)>,
}

/// Everything that a session knows: its rule file and its inputs.
#[derive(Debug, Clone, Default)]
pub struct ReplWorkspace {
    /// The rule file that was loaded.
    pub base: Option<BaseFile>,
    /// The inputs, in order.
    pub entries: Vec<EnteredItem>,
    comments: String,
}

/// The input that is compiled, with generated text around it.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkspaceInput<'a> {
    /// Generated text before the input.
    pub before: &'a str,
    /// The typed text.
    pub text: &'a str,
    /// Generated text after the input.
    pub after: &'a str,
}

/// The file name of the input in diagnostics.
pub const INPUT: &str = "input";

impl BaseFile {
    /// Creates the base file, and finds its declarations.
    #[must_use]
    pub fn new(name: String, folder: PathBuf, text: String, limits: &Limits) -> Self {
        let mut map = SourceMap::default();
        let file = map.add_file(SourceFile::new(name.as_str(), None, text.as_str()));
        let (tree, ..) = parse(&map, file, limits);
        let items = tree.items.iter().filter_map(|item| Some((item_key(item)?, item.span.as_range()))).collect();
        Self { name, folder, text, items }
    }

    /// Replaces the declarations of some keys with blanks, so that other offsets stay the same.
    fn without_keys(&self, keys: &[DeclarationKey]) -> String {
        let mut text = self.text.clone();
        for (_, range) in self.items.iter().filter(|(key, _)| keys.contains(key)) {
            let blank: String = text
                .get(range.clone())
                .unwrap_or("")
                .chars()
                .flat_map(|c| std::iter::repeat_n(if c == '\n' { '\n' } else { ' ' }, c.len_utf8()))
                .collect();
            if blank.len() == range.len() && text.is_char_boundary(range.start) && text.is_char_boundary(range.end) {
                text.replace_range(range.clone(), &blank);
            }
        }
        text
    }
}

impl ReplWorkspace {
    /// Combines everything into one text that starts with the input, and leaves out the declarations of some keys.
    #[must_use]
    pub fn compose_text(&self, input: WorkspaceInput<'_>, replaced: &[DeclarationKey]) -> ComposedText {
        let mut text = String::new();
        let mut segments = Vec::new();
        let mut add = |before: &str, own: &str, after: &str, name: String, is_input: bool| {
            text.push_str(before);
            let start = text.len();
            text.push_str(own);
            segments.push(SourceSegment { range: start..text.len(), name, text: own.to_owned(), is_input });
            text.push_str(after);
            text.push('\n');
        };
        if !input.text.is_empty() {
            add(input.before, input.text, input.after, INPUT.to_owned(), true);
        }
        for (number, entry) in (1..).zip(&self.entries) {
            if entry.key.as_ref().is_some_and(|key| !replaced.contains(key)) {
                add("", &entry.text, "", format!("{INPUT} {number}"), false);
            }
        }
        if let Some(base) = &self.base {
            add("", &base.without_keys(replaced), "", base.name.clone(), false);
            // Diagnostics show the original text of the file.
            if let Some(segment) = segments.last_mut() {
                segment.text.clone_from(&base.text);
            }
        }
        let mut sources = SourceMap::default();
        let folder = self.base.as_ref().map(|base| base.folder.clone()).unwrap_or_default();
        let root = sources.add_file(SourceFile::new(INPUT, Some(&folder), text));
        ComposedText { sources, root, segments }
    }

    /// Keeps the statements and declarations of an input. Declarations replace earlier ones with the same keys.
    pub fn keep_items(&mut self, text: &str, items: &[SyntaxItem]) {
        let mut start = 0;
        for item in items {
            // Comments above an item are kept with it.
            let written = text.get(start..item.span.end as usize).unwrap_or("").trim_matches(['\n', ' ', ';', '\r']);
            let own = format!("{}{written}", std::mem::take(&mut self.comments));
            start = item.span.end as usize;
            let key = item_key(item);
            if key.is_some() {
                self.entries.retain(|entry| entry.key != key);
            }
            if let (Some(key), Some(base)) = (&key, &mut self.base) {
                let blanked = base.without_keys(std::slice::from_ref(key));
                base.text = blanked;
                base.items.retain(|(known, _)| known != key);
            }
            if key.is_some() || !self.entries.iter().any(|entry| entry.text == own) {
                self.entries.push(EnteredItem { text: own, key, hidden: false });
            }
        }
    }

    /// Keeps comments for the next item.
    pub fn keep_comments(&mut self, comments: &str) {
        self.comments.push_str(comments.trim_end());
        self.comments.push('\n');
    }

    /// True if a key is already declared.
    #[must_use]
    pub fn is_declared(&self, key: &DeclarationKey) -> bool {
        let of_base = self.base.iter().flat_map(|base| &base.items).any(|(known, _)| known == key);
        of_base || self.entries.iter().any(|entry| !entry.hidden && entry.key.as_ref() == Some(key))
    }

    /// Declares a name for the session, or removes it without a text. Names that the user declared are not changed.
    pub fn set_hidden(&mut self, name: &str, text: Option<String>) {
        let key = DeclarationKey { space: "name", name: name.to_owned() };
        self.entries.retain(|entry| !(entry.hidden && entry.key.as_ref() == Some(&key)));
        if let Some(text) = text.filter(|_| !self.is_declared(&key)) {
            self.entries.push(EnteredItem { text, key: Some(key), hidden: true });
        }
    }

    /// Returns the keys that an input declares.
    #[must_use]
    pub fn declared_keys(items: &[SyntaxItem]) -> Vec<DeclarationKey> {
        items.iter().filter_map(item_key).collect()
    }
}

fn item_key(item: &SyntaxItem) -> Option<DeclarationKey> {
    let (space, name) = match &item.kind {
        ItemKind::Param(param) => ("name", &param.name),
        ItemKind::Let { name, .. } | ItemKind::Def { name, .. } | ItemKind::DefStep { name, .. } => ("name", name),
        ItemKind::Schema { name, .. } => ("schema", name),
        ItemKind::Tool { name, .. } => ("tool", name),
        ItemKind::ToolFacts { tools, .. } => ("tool facts", &tools.first()?.name),
        ItemKind::ToolsFrom { path } => ("tools", path),
        ItemKind::Use(import) => ("use", &import.target),
        ItemKind::Rule(rule) | ItemKind::Invariant(rule) => ("rule", &rule.name),
        ItemKind::Case { name, .. } => ("rule", name),
        ItemKind::Suite { name, .. } => ("suite", name),
        ItemKind::Test(test) => ("test", &test.name),
        _ => return None,
    };
    Some(DeclarationKey { space, name: name.text.clone() })
}

#[derive(Debug, Clone)]
struct SourceSegment {
    range: Range<usize>,
    name: String,
    /// The original text, which has the same length as the segment.
    text: String,
    is_input: bool,
}

/// The combined text of a session, with a map back to its segments.
#[derive(Debug)]
pub struct ComposedText {
    /// The combined text, and after the check all files that it imports.
    pub sources: SourceMap,
    /// The id of the combined text.
    pub root: FileId,
    segments: Vec<SourceSegment>,
}

impl ComposedText {
    /// Checks the combined text.
    pub fn check_text(&mut self, limits: Limits, read: &[PathBuf]) -> CheckResult {
        let own = self.sources.get(self.root).and_then(|file| file.folder.clone()).unwrap_or_default();
        let folders = averment_ide::project::readable_folders(&own).into_iter().chain([PathBuf::new()]);
        let files = Disk::within(folders.chain(read.iter().cloned()), limits.rule_file_bytes);
        check_rules(&mut self.sources, self.root, &CheckOptions { limits, files: &files })
    }

    /// Returns an original location, as `FILE:LINE:COLUMN`.
    #[must_use]
    pub fn shown_location(&self, span: Span) -> String {
        let (_, map) = self.mapped_diagnostics(&Diagnostics::default());
        let place = self.map_span(span);
        let at = map.line_column(place);
        format!("{}:{}:{}", map.file_name(place), at.line, at.column)
    }

    /// True if a span is in the user's input.
    #[must_use]
    pub fn is_input(&self, span: Span) -> bool {
        span.file == self.root
            && self.segments.iter().any(|segment| segment.is_input && segment.range.contains(&(span.start as usize)))
    }

    /// Maps diagnostics to the original text. Of earlier inputs, only errors are reported again.
    #[must_use]
    pub fn mapped_diagnostics(&self, diagnostics: &Diagnostics) -> (Diagnostics, SourceMap) {
        let mut map = SourceMap::default();
        for segment in &self.segments {
            map.add_file(SourceFile::new(segment.name.as_str(), None, segment.text.as_str()));
        }
        for (_, file) in self.sources.iter().skip(1) {
            map.add_file(file.clone());
        }
        let mut told = Diagnostics::default();
        for diagnostic in &diagnostics.0 {
            // Later inputs may use a name, so it is not reported as unused.
            let of_old = diagnostic.severity != Severity::Error && !self.is_input(diagnostic.span);
            if of_old || diagnostic.slug == Slug::UnusedLet {
                continue;
            }
            let mut one = diagnostic.clone();
            one.span = self.map_span(one.span);
            one.others.iter_mut().for_each(|other| other.span = self.map_span(other.span));
            for edit in one.fix.iter_mut().flat_map(|fix| &mut fix.edits) {
                edit.span = self.map_span(edit.span);
            }
            told.push(one);
        }
        (told, map)
    }

    fn map_span(&self, span: Span) -> Span {
        let number = |at: usize| FileId(u32::try_from(at).unwrap_or(u32::MAX));
        if span.file != self.root {
            let behind = (span.file.0 as usize).saturating_sub(1);
            return Span { file: number(self.segments.len() + behind), ..span };
        }
        let start = span.start as usize;
        // A span between segments belongs to the segment before it.
        let at = self.segments.iter().rposition(|segment| segment.range.start <= start).unwrap_or(0);
        let Some(segment) = self.segments.get(at) else { return span };
        let inside = |offset: u32| (offset as usize).saturating_sub(segment.range.start).min(segment.range.len());
        Span::new(number(at), inside(span.start), inside(span.end.max(span.start)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(text: &str) -> Vec<SyntaxItem> {
        let mut map = SourceMap::default();
        let file = map.add_file(SourceFile::new("input", None, text));
        parse(&map, file, &Limits::default()).0.items
    }

    #[test]
    fn a_later_declaration_replaces_an_earlier_one_and_statements_are_kept_once() {
        let mut workspace = ReplWorkspace::default();
        for text in ["let a = 1\nlet b = a", "# ten\nlet a = 10", "require x", "require x"] {
            workspace.keep_items(text, &items(text));
        }
        let texts: Vec<&str> = workspace.entries.iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(texts, ["let b = a", "# ten\nlet a = 10", "require x"]);
    }

    #[test]
    fn what_is_wrong_is_said_where_people_wrote_it() {
        let limits = Limits::default();
        let base = BaseFile::new("r.assert".into(), PathBuf::new(), "let a = 1\nlet b = a + nothing\n".into(), &limits);
        let workspace = ReplWorkspace { base: Some(base), ..ReplWorkspace::default() };
        let mut composed =
            workspace.compose_text(WorkspaceInput { before: "let _x = (", text: "1 +\n unknown", after: "\n)" }, &[]);
        let checked = composed.check_text(limits, &[]);
        let (told, map) = composed.mapped_diagnostics(&checked.diagnostics);
        let places: Vec<String> = told
            .0
            .iter()
            .map(|one| {
                format!(
                    "{}:{}:{}",
                    map.file_name(one.span),
                    map.line_column(one.span).line,
                    map.line_column(one.span).column
                )
            })
            .collect();
        assert_eq!(places, ["input:2:2", "r.assert:2:13"]);
    }
}
