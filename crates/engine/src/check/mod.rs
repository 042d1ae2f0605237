//! From the syntax tree to [`crate::ir`]: names, types, the tool catalogue, patterns, statements, settings and ids.
//!
//! [`check`] loads the root file and its imports, declares what they declare, and lowers the root's rules. An error never stops the
//! work: what could not be made sense of becomes a value of type `any`, of which nothing further is said.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

mod allow;
mod arguments;
mod asserted;
mod bindings;
mod blocks;
mod body;
mod bundle;
mod calls;
mod catalogue;
mod classify;
mod comparisons;
mod declare;
mod definitions;
mod described;
mod expr;
mod facts;
pub mod files;
mod fold;
mod ids;
mod invariant;
mod invariant_cases;
mod invariant_inputs;
mod jsonpath;
mod keywords;
mod kinds;
mod literals;
mod load;
mod meant;
mod names;
mod operators;
mod over_runs;
mod paths;
mod patterns;
mod predicate;
mod reading;
mod regex;
mod regex_error;
mod schema;
mod scope;
mod selections;
mod settings;
mod shell;
mod sliding;
mod suite_settings;
mod suites;
mod symbols;
mod temporal;
mod testing;
mod text;
mod ty;
mod units;
mod value_conditions;
pub mod walk;
mod world;
mod zones;

use crate::ir;
pub use allow::silence;
use averment_base::diagnostic::{Diagnostic, Diagnostics, Severity, suggest};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceMap, Span};
use averment_syntax::ast::{self, ItemKind, StatementKind};
use files::Files;
pub use fold::json_text;
use load::Loaded;
use scope::FileScope;
pub use suite_settings::{AGENTS, SCHEDULES, WORKSPACES};
pub use symbols::{Declaration, DeclarationKind, Symbols};
pub use walk::{any, children, children_mut};

/// How to check.
#[derive(Clone, Copy)]
pub struct CheckOptions<'o> {
    /// Sizes and depths.
    pub limits: Limits,
    /// Where imported files and files named by the rules are read.
    pub files: &'o dyn Files,
}

/// What came of a check.
#[derive(Debug, Default)]
pub struct Checked {
    /// The rules; to be compiled only when [`Checked::diagnostics`] holds no error.
    pub module: ir::Module,
    /// What is declared where, and what refers to it, for editors.
    pub symbols: Symbols,
    /// The syntax tree of the root file.
    pub ast: ast::File,
    /// The files that the `use` items of the root lead to, in their order; `None` where there is none.
    pub imports: Vec<Option<FileId>>,
    /// The rule files that declare tools.
    pub tool_files: Vec<FileId>,
    /// All that is to be said, in file order, without what an `# allow:` silences.
    pub diagnostics: Diagnostics,
}

/// Checks the file `root` of the map with everything that it imports; imported files and named data files are added to the map.
#[must_use]
pub fn check(map: &mut SourceMap, root: FileId, options: &CheckOptions<'_>) -> Checked {
    check_read(map, root, None, &[], options)
}

/// The same where tools are known beside those that the rules declare: `tools` are catalogues, files of the map.
#[must_use]
pub fn check_with_tools(map: &mut SourceMap, root: FileId, tools: &[FileId], options: &CheckOptions<'_>) -> Checked {
    check_read(map, root, None, tools, options)
}

/// The same for a root that was read already: its tree, and what was said of it.
#[must_use]
pub fn check_tree(
    map: &mut SourceMap,
    root: FileId,
    tree: ast::File,
    said: Diagnostics,
    tools: &[FileId],
    options: &CheckOptions<'_>,
) -> Checked {
    check_read(map, root, Some((tree, said)), tools, options)
}

fn check_read(
    map: &mut SourceMap,
    root: FileId,
    read: Option<(ast::File, Diagnostics)>,
    tools: &[FileId],
    options: &CheckOptions<'_>,
) -> Checked {
    suggest::limited(COMPARED, || check_loaded(map, root, read, tools, options))
}

/// Pairs of letters that are compared for all suggestions of one check together: less than a second.
const COMPARED: u64 = 50_000_000;

fn check_loaded(
    map: &mut SourceMap,
    root: FileId,
    read: Option<(ast::File, Diagnostics)>,
    tools: &[FileId],
    options: &CheckOptions<'_>,
) -> Checked {
    let mut diagnostics = Diagnostics::default();
    // Among what is given beside the rules are files of rules: what they say of tools holds for all.
    let is_rules = |id: &FileId| map.get(*id).is_some_and(|file| file.name.ends_with(".assert"));
    let (of_rules, tools) = tools.iter().copied().partition::<Vec<_>, _>(is_rules);
    let loaded = load::load(map, root, &of_rules, read, options.files, &options.limits, &mut diagnostics);
    let mut checker = Checker::new(map, &loaded, options, diagnostics);
    checker.read_given_tools(&tools);
    checker.declare_all();
    checker.define_all();
    checker.root_body();
    let mut checked = checker.finish();
    meant::say(map, &mut checked.diagnostics);
    if let Some(root) = loaded.first() {
        meant::say_of_lengths(map, &root.ast, &mut checked.diagnostics);
    }
    checked.diagnostics.sort();
    let is_catalogue = |item: &ast::Item| {
        matches!(item.kind, ItemKind::ToolsFrom { .. } | ItemKind::Tool { .. } | ItemKind::ToolFacts { .. })
    };
    let tool_files = loaded.iter().filter(|file| file.ast.items.iter().any(is_catalogue)).map(|file| file.id).collect();
    let id = |number: &Option<usize>| loaded.get((*number)?).map(|file| file.id);
    let imports = loaded.first().map(|root| root.imports.iter().map(id).collect()).unwrap_or_default();
    let ast = loaded.into_iter().next().map(|file| file.ast).unwrap_or_default();
    Checked { ast, imports, tool_files, ..checked }
}

/// The state of one check.
struct Checker<'a> {
    map: &'a mut SourceMap,
    loaded: &'a [Loaded],
    options: &'a CheckOptions<'a>,
    diagnostics: Diagnostics,
    module: ir::Module,
    symbols: Symbols,
    /// Names of each loaded file.
    scopes: Vec<FileScope>,
    definitions: definitions::Definitions<'a>,
    catalogue: catalogue::Catalogue,
    regexes: regex::Regexes,
    schemas: schema::Schemas,
    ids: ids::Ids,
    /// The bindings of the statement that is being lowered.
    bindings: bindings::Bindings,
    /// Literals of the statement that is being lowered: their white space is kept in its text.
    literals: Vec<Span>,
    /// Where something could not be read.
    unread: Vec<Span>,
    /// How deep the expression that is being lowered is nested.
    depth: usize,
    /// What is known of the step that a `message` speaks of: behind `each` and `no` the first that does not hold.
    message_step: Option<ty::StepShape>,
    /// True in a `message`.
    says: bool,
    /// The values over all runs of the condition that is being lowered, where it may have some.
    folding: Option<over_runs::OverRunsBuild<'a>>,
    /// The assertions that count a rule over all runs, with its name.
    rated_rules: Vec<(usize, &'a ast::Name)>,
}

impl<'a> Checker<'a> {
    fn new(
        map: &'a mut SourceMap,
        loaded: &'a [Loaded],
        options: &'a CheckOptions<'a>,
        diagnostics: Diagnostics,
    ) -> Self {
        let unread = diagnostics.0.iter().filter(|one| one.severity == Severity::Error).map(|one| one.span).collect();
        Self {
            map,
            loaded,
            options,
            diagnostics,
            module: ir::Module::default(),
            symbols: Symbols::default(),
            scopes: loaded.iter().map(|_| FileScope::default()).collect(),
            definitions: definitions::Definitions::default(),
            catalogue: catalogue::Catalogue::default(),
            regexes: regex::Regexes::default(),
            schemas: schema::Schemas::default(),
            ids: ids::Ids::default(),
            bindings: bindings::Bindings::default(),
            message_step: None,
            says: false,
            folding: None,
            rated_rules: Vec::new(),
            literals: Vec::new(),
            unread,
            depth: 0,
        }
    }

    /// Says something, unless it follows from what could not be read.
    fn report(&mut self, diagnostic: Diagnostic) {
        if !self.is_in_unread(diagnostic.span) && !self.continues_unread(diagnostic.span) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Whether a place stands on a line that is indented below one that could not be read: it probably belongs to that one.
    fn continues_unread(&self, place: Span) -> bool {
        let Some(file) = self.map.get(place.file).filter(|_| !self.unread.is_empty()) else { return false };
        let line = file.position(place.start).line;
        let indent = |line: usize| {
            let text = file.line(line);
            text.len().saturating_sub(text.trim_start().len())
        };
        let before = line.saturating_sub(1);
        let is_unread = |span: &Span| span.file == place.file && file.position(span.start).line == before;
        self.unread.iter().any(is_unread) && indent(line) > indent(before)
    }

    /// Whether something before a place could not be read, from `start` on.
    fn is_unread_between(&self, start: Span, place: Span) -> bool {
        let between = |span: &Span| span.file == place.file && start.start <= span.start && span.start <= place.start;
        self.unread.iter().any(between)
    }

    /// Whether a place lies in a statement that could not be read as it stands: one mistake there says enough.
    fn is_in_unread(&self, place: Span) -> bool {
        let within = |span: Span| {
            let Some(file) = self.loaded.iter().find(|file| file.id == span.file) else { return false };
            innermost(&file.ast.items, place).is_some_and(|item| item.file == span.file && covers(item, span))
        };
        !self.unread.is_empty() && self.unread.iter().any(|&span| span.file == place.file && within(span))
    }

    /// The text of the source under a span, on one line.
    fn written(&self, span: Span) -> String {
        text::folded(self.map.text(span), None)
    }

    /// Sorts what was said and takes out what is silenced.
    fn finish(mut self) -> Checked {
        self.report_unused();
        self.add_asserted();
        self.diagnostics.sort();
        allow::apply(self.map, self.loaded, &mut self.diagnostics);
        let Self { module, symbols, diagnostics, .. } = self;
        Checked { module, symbols, diagnostics, ..Checked::default() }
    }
}

/// A number of something as the intermediate form keeps it; lists are limited by the size of files, far below the end.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// The span of the innermost item at a place.
fn innermost(items: &[ast::Item], place: Span) -> Option<Span> {
    let item = items.iter().find(|item| covers(item.span, place))?;
    let body: &[ast::Item] = match &item.kind {
        ItemKind::Rule(rule) | ItemKind::Invariant(rule) => &rule.body,
        ItemKind::Suite { body, .. }
        | ItemKind::Case { body, .. }
        | ItemKind::Pre { body }
        | ItemKind::Post { body }
        | ItemKind::ForEachTool { body, .. } => body,
        ItemKind::Assertion(assertion) => match &assertion.statement.kind {
            StatementKind::Block { body, .. } | StatementKind::Group { body, .. } => body,
            _ => &[],
        },
        _ => &[],
    };
    innermost(body, place).or(Some(item.span))
}

/// Whether a place starts inside a span.
fn covers(span: Span, place: Span) -> bool {
    span.start <= place.start && place.start < span.end.max(span.start.saturating_add(1))
}
