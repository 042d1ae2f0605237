//! From the syntax tree to the checked form ([`ir`]): names, types, the tool catalogue, patterns, statements, settings and ids.
//!
//! [`check_rules`] loads the root file and its imports, declares what they declare, and lowers the rules of the root and of the packs that it
//! uses. An error never stops the work: what could not be made sense of becomes a value of type `any`, of which nothing further is said.
//!
//! Nothing here touches a file but for the feature `files`, which reads the files that rules import from the disk ([`files::Disk`]).

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests write files"))]
// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

mod allow;
mod arguments;
mod asserted_implications;
mod bindings;
mod blocks;
mod body;
mod bundle;
mod call_match;
mod calls;
mod calls_only;
mod catalog;
mod classify;
mod closed_words;
mod closed_words_of_def;
mod comparison_help;
mod comparisons;
mod declare;
mod definitions;
mod described_values;
mod expr;
mod facts;
pub mod files;
mod fold;
mod foreign_syntax;
mod ids;
mod invariant;
mod invariant_cases;
mod invariant_inputs;
pub mod ir;
mod jsonpath;
mod keywords;
mod kinds;
mod literals;
mod load;
mod names;
mod operators;
mod other_functions;
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
mod spoken_name;
mod suite_settings;
mod suites;
mod symbols;
mod temporal;
mod testing;
mod text;
mod tool_text;
mod ty;
mod units;
mod value_conditions;
pub mod walk;
mod word_set;
mod world;
mod zones;

pub use allow::silence_lints;
use averment_base::diagnostic::{Diagnostic, Diagnostics, Severity, suggest};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceMap, Span};
use averment_syntax::ast::{self, ItemKind, StatementKind};
use files::Files;
pub use fold::{constant_of, json_text};
use load::LoadedFile;
use scope::FileScope;
pub use suite_settings::{AGENTS, SCHEDULES, WORKSPACES};
pub use symbols::{Declaration, DeclarationKind, SymbolTable};
pub use walk::{any_kind, children_mut, visit_children};

/// Options of a check.
#[derive(Clone, Copy)]
pub struct CheckOptions<'o> {
    /// Sizes and depths.
    pub limits: Limits,
    /// Where imported files and files named by the rules are read.
    pub files: &'o dyn Files,
}

/// The result of a check.
#[derive(Debug, Default)]
pub struct CheckResult {
    /// The rules; to be compiled only when [`CheckResult::diagnostics`] holds no error.
    pub module: ir::CheckedModule,
    /// Declarations and references, for editors.
    pub symbols: SymbolTable,
    /// The syntax tree of the root file.
    pub ast: ast::RuleFile,
    /// The files that the `use` items of the root lead to, in their order; `None` where there is none.
    pub imports: Vec<Option<FileId>>,
    /// The rule files that declare tools.
    pub tool_files: Vec<FileId>,
    /// All that is to be said, in file order, without what an `# allow:` silences.
    pub diagnostics: Diagnostics,
}

/// Checks the file `root` of the map with everything that it imports; imported files and named data files are added to the map.
#[must_use]
pub fn check_rules(map: &mut SourceMap, root: FileId, options: &CheckOptions<'_>) -> CheckResult {
    check_read(map, root, None, &[], options)
}

/// Checks with additional tool catalogs: `tools` are files of the map.
#[must_use]
pub fn check_with_tools(
    map: &mut SourceMap,
    root: FileId,
    tools: &[FileId],
    options: &CheckOptions<'_>,
) -> CheckResult {
    check_read(map, root, None, tools, options)
}

/// Checks a root that is already parsed: its tree and its diagnostics.
#[must_use]
pub fn check_tree(
    map: &mut SourceMap,
    root: FileId,
    tree: ast::RuleFile,
    said: Diagnostics,
    tools: &[FileId],
    options: &CheckOptions<'_>,
) -> CheckResult {
    check_read(map, root, Some((tree, said)), tools, options)
}

fn check_read(
    map: &mut SourceMap,
    root: FileId,
    read: Option<(ast::RuleFile, Diagnostics)>,
    tools: &[FileId],
    options: &CheckOptions<'_>,
) -> CheckResult {
    suggest::with_pair_limit(COMPARED, || check_loaded(map, root, read, tools, options))
}

/// Letter pairs compared for all suggestions of a check: less than a second of work.
const COMPARED: u64 = 50_000_000;

fn check_loaded(
    map: &mut SourceMap,
    root: FileId,
    read: Option<(ast::RuleFile, Diagnostics)>,
    tools: &[FileId],
    options: &CheckOptions<'_>,
) -> CheckResult {
    let mut diagnostics = Diagnostics::default();
    // Among what is given beside the rules are files of rules: what they say of tools holds for all.
    let is_rules = |id: &FileId| map.get(*id).is_some_and(|file| file.name.ends_with(".assert"));
    let (of_rules, tools) = tools.iter().copied().partition::<Vec<_>, _>(is_rules);
    let loaded = load::load_files(map, root, &of_rules, read, options.files, &options.limits, &mut diagnostics);
    let mut checker = Checker::new(map, &loaded, options, diagnostics);
    checker.read_given_tools(&tools);
    checker.declare_all();
    checker.define_all();
    checker.root_body();
    let mut checked = checker.finish_check();
    foreign_syntax::suggest_spellings(map, &mut checked.diagnostics);
    if let Some(root) = loaded.first() {
        foreign_syntax::warn_length_fields(map, &root.ast, &mut checked.diagnostics);
    }
    checked.diagnostics.sort_by_place();
    let is_catalogue = |item: &ast::SyntaxItem| {
        matches!(item.kind, ItemKind::ToolsFrom { .. } | ItemKind::Tool { .. } | ItemKind::ToolFacts { .. })
    };
    let tool_files = loaded.iter().filter(|file| file.ast.items.iter().any(is_catalogue)).map(|file| file.id).collect();
    let id = |number: &Option<usize>| loaded.get((*number)?).map(|file| file.id);
    let imports = loaded.first().map(|root| root.imports.iter().map(id).collect()).unwrap_or_default();
    let ast = loaded.into_iter().next().map(|file| file.ast).unwrap_or_default();
    CheckResult { ast, imports, tool_files, ..checked }
}

struct Checker<'a> {
    map: &'a mut SourceMap,
    loaded: &'a [LoadedFile],
    options: &'a CheckOptions<'a>,
    diagnostics: Diagnostics,
    module: ir::CheckedModule,
    symbols: SymbolTable,
    scopes: Vec<FileScope>,
    definitions: definitions::DefinitionTable<'a>,
    catalogue: catalog::ToolCatalog,
    regexes: regex::RegexTable,
    schemas: schema::SchemaImports,
    ids: ids::UsedIds,
    bindings: bindings::StatementBindings,
    /// Literals of the statement in work, whose whitespace is kept in its text.
    literals: Vec<Span>,
    unread: Vec<Span>,
    depth: usize,
    /// Shape of the step a `message` refers to: for `each` and `no`, the first step that violates it.
    message_step: Option<ty::StepShape>,
    says: bool,
    folding: Option<over_runs::OverRunsBuild<'a>>,
    rated_rules: Vec<(usize, &'a ast::Name)>,
}

impl<'a> Checker<'a> {
    fn new(
        map: &'a mut SourceMap,
        loaded: &'a [LoadedFile],
        options: &'a CheckOptions<'a>,
        diagnostics: Diagnostics,
    ) -> Self {
        let unread = diagnostics.0.iter().filter(|one| one.severity == Severity::Error).map(|one| one.span).collect();
        Self {
            map,
            loaded,
            options,
            diagnostics,
            module: ir::CheckedModule::default(),
            symbols: SymbolTable::default(),
            scopes: loaded.iter().map(|_| FileScope::default()).collect(),
            definitions: definitions::DefinitionTable::default(),
            catalogue: catalog::ToolCatalog::default(),
            regexes: regex::RegexTable::default(),
            schemas: schema::SchemaImports::default(),
            ids: ids::UsedIds::default(),
            bindings: bindings::StatementBindings::default(),
            message_step: None,
            says: false,
            folding: None,
            rated_rules: Vec::new(),
            literals: Vec::new(),
            unread,
            depth: 0,
        }
    }

    fn report_diagnostic(&mut self, diagnostic: Diagnostic) {
        if !self.is_in_unread(diagnostic.span) && !self.continues_unread(diagnostic.span) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// True for a line indented below an unreadable one, which it probably belongs to.
    fn continues_unread(&self, place: Span) -> bool {
        let Some(file) = self.map.get(place.file).filter(|_| !self.unread.is_empty()) else { return false };
        let line = file.line_column(place.start).line;
        let indent = |line: usize| {
            let text = file.line_text(line);
            text.len().saturating_sub(text.trim_start().len())
        };
        let before = line.saturating_sub(1);
        let is_unread = |span: &Span| span.file == place.file && file.line_column(span.start).line == before;
        self.unread.iter().any(is_unread) && indent(line) > indent(before)
    }

    fn is_unread_between(&self, start: Span, place: Span) -> bool {
        let between = |span: &Span| span.file == place.file && start.start <= span.start && span.start <= place.start;
        self.unread.iter().any(between)
    }

    fn is_in_unread(&self, place: Span) -> bool {
        if self.unread.is_empty() {
            return false;
        }
        let file = self.loaded.iter().find(|file| file.id == place.file);
        let Some(item) = file.and_then(|file| innermost_item(&file.ast.items, place)) else { return false };
        item.file == place.file && self.unread.iter().any(|&span| span.file == place.file && covers_start(item, span))
    }

    fn source_line(&self, span: Span) -> String {
        text::fold_whitespace(self.map.span_text(span), None)
    }

    fn finish_check(mut self) -> CheckResult {
        self.report_unused();
        self.add_asserted();
        self.name_unnamed();
        self.diagnostics.sort_by_place();
        allow::apply_allows(self.map, self.loaded, &mut self.diagnostics);
        let Self { module, symbols, diagnostics, .. } = self;
        CheckResult { module, symbols, diagnostics, ..CheckResult::default() }
    }
}

/// Never overflows: file sizes bound all lists far below the limit.
fn to_number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn innermost_item(items: &[ast::SyntaxItem], place: Span) -> Option<Span> {
    let behind = items.partition_point(|item| item.span.start <= place.start);
    let item = items.get(..behind)?.last().filter(|item| covers_start(item.span, place))?;
    let body: &[ast::SyntaxItem] = match &item.kind {
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
    innermost_item(body, place).or(Some(item.span))
}

fn covers_start(span: Span, place: Span) -> bool {
    span.start <= place.start && place.start < span.end.max(span.start.saturating_add(1))
}
