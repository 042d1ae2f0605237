//! The modules of a suite. Evaluation is bounded.

use super::value::{BoundName, JsValue, LocatedValue, ScopeId, ScopeTree, open_value};
use crate::Lowering;
use crate::typescript;
use crate::typescript::tree::{TsExpr, TsExprKind, TsPattern, TsStatement, TsStatementKind, UNREADABLE};
use averment_base::diagnostic::Slug;
use averment_base::source::{FileId, SourceFile, Span};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

const DEEP: usize = 500;
/// Maximum number of evaluation steps over all modules.
const MOST: usize = 200_000;
const MODULES: usize = 100;

/// File extensions to try for a module path without one, or with that of its build output.
const ENDINGS: [&str; 6] = ["ts", "mts", "cts", "js", "mjs", "cjs"];

struct SuiteModule {
    scope: ScopeId,
    statements: Rc<Vec<TsStatement>>,
    folder: PathBuf,
}

pub(super) struct SuiteProgram<'a, 'l> {
    pub(super) lowering: &'a mut Lowering<'l>,
    pub(super) scopes: ScopeTree,
    modules: Vec<SuiteModule>,
    known: BTreeMap<PathBuf, usize>,
    depth: usize,
    left: usize,
    /// True if the current assertion uses a backtracking regular expression.
    pub(super) backtracks: bool,
    pub(super) names: usize,
    pub(super) unread: Vec<UnreadPart>,
    /// Number of unread parts recorded before the current case.
    pub(super) case_start: usize,
    /// True within the assertions of a case.
    pub(super) in_case: bool,
    /// Locations of calls under `await`.
    pub(super) awaited: BTreeSet<(FileId, u32)>,
}

/// A part of the program that is not followed.
#[derive(Debug, Clone)]
pub(super) struct UnreadPart {
    pub(super) place: Span,
    pub(super) what: String,
    /// True if a case lacks an assertion because of it.
    pub(super) in_case: bool,
}

impl<'a, 'l> SuiteProgram<'a, 'l> {
    pub(super) fn new(lowering: &'a mut Lowering<'l>) -> Self {
        Self {
            lowering,
            scopes: ScopeTree::default(),
            modules: Vec::new(),
            known: BTreeMap::new(),
            depth: 0,
            left: MOST,
            backtracks: false,
            names: 0,
            unread: Vec::new(),
            case_start: 0,
            in_case: false,
            awaited: BTreeSet::new(),
        }
    }

    /// Enters one more level if allowed; the caller must leave it again.
    pub(super) fn enter_level(&mut self) -> bool {
        let goes = self.depth < DEEP && self.spend_budget(1);
        self.depth = self.depth.saturating_add(usize::from(goes));
        goes
    }

    pub(super) fn leave_level(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    pub(super) fn spend_budget(&mut self, much: usize) -> bool {
        match self.left.checked_sub(much) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    pub(super) fn record_unread(&mut self, span: Span, what: &str) {
        // A part is recorded once for each case, since one function may create several cases.
        let own = self.unread.get(self.case_start..).unwrap_or_default();
        if !own.iter().any(|known| known.place == span) {
            self.unread.push(UnreadPart { place: span, what: what.to_owned(), in_case: self.in_case });
        }
    }

    pub(super) fn remark_unread(&mut self, span: Span, message: &str) {
        self.lowering.sink.warning(Slug::Syntax, span, message, "see docs/reference/skillgym.md");
    }

    pub(super) fn load_module(&mut self, file: FileId) -> usize {
        let (text, folder) = match self.lowering.sources.get(file) {
            Some(source) => (source.text.clone(), source.folder.clone().unwrap_or_default()),
            None => Default::default(),
        };
        let statements = Rc::new(typescript::parse_statements(&text, file));
        let scope = self.scopes.open_outermost();
        let number = self.modules.len();
        self.modules.push(SuiteModule { scope, statements: Rc::clone(&statements), folder });
        for statement in statements.iter() {
            self.declare_statement(number, statement, scope);
        }
        for statement in statements.iter() {
            self.done_at_the_top(statement, scope);
        }
        number
    }

    fn declare_statement(&mut self, module: usize, statement: &TsStatement, scope: ScopeId) {
        match &statement.kind {
            TsStatementKind::Export(inner) => self.declare_statement(module, inner, scope),
            TsStatementKind::Function(name, function) => self.declare_function(name, function, statement.span, scope),
            TsStatementKind::Import { module: from, names } => {
                for (there, here) in names {
                    let bound = self.imported_name(module, from, there, statement.span);
                    self.scopes.bind_name(scope, here, bound);
                }
            }
            TsStatementKind::Bind(bound, _) => {
                for (pattern, value) in bound {
                    self.bound_later(pattern, value.as_ref(), statement.span, scope);
                }
            }
            TsStatementKind::Assign(Some(name)) => {
                let changed = LocatedValue::new(open_value("a value that changes"), statement.span);
                self.scopes.bind_name(scope, name, BoundName::Item(changed));
            }
            _ => {}
        }
    }

    /// Handles module-level code that may change declarations, such as `cases.push(…)`, also in a loop.
    fn done_at_the_top(&mut self, statement: &TsStatement, scope: ScopeId) {
        const DECLARED: [&str; 4] = ["a class", "an enumeration", "a generator", "a namespace"];
        match &statement.kind {
            TsStatementKind::Assign(_) => self.record_unread(statement.span, "an assignment"),
            TsStatementKind::ForOf { .. }
            | TsStatementKind::If { .. }
            | TsStatementKind::Block(_)
            | TsStatementKind::Throw(_) => {
                self.record_unread(statement.span, "what a module does when it is read");
            }
            TsStatementKind::Other(UNREADABLE) => {
                let what = "a statement that is no TypeScript, as far as can be seen: is a bracket or a quote open?";
                self.record_unread(statement.span, what);
            }
            TsStatementKind::Other(what) if !DECLARED.contains(what) => self.record_unread(statement.span, what),
            TsStatementKind::Expr(TsExpr { kind: TsExprKind::Call { callee, arguments }, span }) => {
                let of = match &callee.kind {
                    TsExprKind::Member { of, .. } => Some(self.eval_expr(of, scope)),
                    _ => None,
                };
                let given = arguments.iter().map(|argument| self.eval_expr(&argument.value, scope));
                let items: Vec<LocatedValue> = of.into_iter().chain(given).collect();
                if items.iter().any(|item| matches!(item.value, JsValue::List(_) | JsValue::Object(_))) {
                    self.record_unread(*span, "a call that may change what is declared");
                }
            }
            _ => {}
        }
    }

    /// Binds module-level names, which are evaluated on demand.
    fn bound_later(&mut self, pattern: &TsPattern, value: Option<&TsExpr>, span: Span, scope: ScopeId) {
        match (pattern, value) {
            (TsPattern::Name(name, _), Some(value)) => {
                self.scopes.bind_name(scope, name, BoundName::Deferred(Rc::new(value.clone())))
            }
            (pattern, Some(value)) => {
                let item = self.eval_expr(value, scope);
                self.bind_pattern(pattern, item, scope);
            }
            (pattern, None) => {
                let item = LocatedValue::new(open_value("a value that is given later"), span);
                self.bind_pattern(pattern, item, scope);
            }
        }
    }

    /// Binds an imported name: from a sibling module, from SkillGym, or from its runtime.
    fn imported_name(&mut self, module: usize, from: &str, name: &str, span: Span) -> BoundName {
        let is_beside = from.starts_with("./") || from.starts_with("../");
        if is_beside && let Some(found) = self.sibling_module(module, from) {
            return BoundName::Imported(found, name.to_owned());
        }
        let asserts = ["node:assert", "node:assert/strict", "assert", "assert/strict"].contains(&from);
        let is_strict = asserts && from.ends_with("/strict");
        let path = match name {
            "default" | "*" | "strict" if is_strict => "assert".to_owned(),
            "default" | "*" if asserts => "assert.loose".to_owned(),
            "*" => from.to_owned(),
            // Names of the Node.js assert module, of SkillGym, and of a copy of SkillGym.
            _ if is_strict => format!("assert.{name}"),
            _ if asserts => format!("assert.loose.{name}"),
            _ => name.to_owned(),
        };
        BoundName::Item(LocatedValue::new(JsValue::Api(path), span))
    }

    fn sibling_module(&mut self, module: usize, from: &str) -> Option<usize> {
        let folder = self.modules.get(module)?.folder.clone();
        let stem = ENDINGS.iter().find_map(|ending| from.strip_suffix(&format!(".{ending}")));
        let candidates = [from.to_owned()]
            .into_iter()
            .chain(ENDINGS.iter().map(|ending| format!("{}.{ending}", stem.unwrap_or(from))))
            .chain(ENDINGS.iter().map(|ending| format!("{from}/index.{ending}")));
        candidates.filter(|path| ENDINGS.iter().any(|ending| path.ends_with(&format!(".{ending}")))).find_map(|path| {
            let number = self.module_file(&folder, &path)?;
            Some(number)
        })
    }

    pub(super) fn module_file(&mut self, folder: &Path, path: &str) -> Option<usize> {
        let found = self.lowering.files.read(folder, path, None).ok()?;
        if let Some(known) = self.known.get(&found.key) {
            return Some(*known);
        }
        if self.modules.len() >= MODULES {
            return None;
        }
        let root = self.lowering.sources.get(self.lowering.root).map(|file| file.name.clone()).unwrap_or_default();
        let name = averment_checker::files::display_name(&root, path);
        let file = self.lowering.sources.add_file(SourceFile::new(name, Some(&found.folder), found.text.as_str()));
        // Registered before it is read, because modules may import each other.
        self.known.insert(found.key, self.modules.len());
        Some(self.load_module(file))
    }

    pub(super) fn exported_value(&mut self, module: usize, name: &str) -> JsValue {
        if !self.enter_level() {
            return open_value("too much to follow");
        }
        let found = self
            .find_export(module, name)
            .unwrap_or_else(|| JsValue::RuntimeOnly(format!("`{name}`, which its module does not export")));
        self.leave_level();
        found
    }

    /// Returns an exported value; `None` if there is no export with that name.
    pub(super) fn find_export(&mut self, module: usize, name: &str) -> Option<JsValue> {
        let SuiteModule { scope, statements, .. } = self.modules.get(module)?;
        let (scope, statements) = (*scope, Rc::clone(statements));
        if name == "*" {
            return Some(open_value("a module as a whole"));
        }
        for statement in statements.iter() {
            match &statement.kind {
                TsStatementKind::ExportDefault(value) if name == "default" => {
                    return Some(self.eval_expr(value, scope).value);
                }
                TsStatementKind::Export(inner) if declares_name(inner, name) => {
                    return Some(self.resolve_name(name, scope));
                }
                TsStatementKind::ExportNames { module: None, names } => {
                    if let Some((inside, _)) = names.iter().find(|(_, outside)| outside == name) {
                        return Some(self.resolve_name(&inside.clone(), scope));
                    }
                }
                TsStatementKind::ExportNames { module: Some(from), names } => {
                    let inside =
                        names.iter().find(|(_, outside)| outside == name || outside == "*").map(|(inside, _)| inside);
                    let inside = inside.map(|inside| if inside == "*" { name } else { inside });
                    if let Some((inside, other)) = inside.zip(self.sibling_module(module, from))
                        && other != module
                        && self.enter_level()
                    {
                        let found = self.find_export(other, inside);
                        self.leave_level();
                        if found.is_some() {
                            return found;
                        }
                    }
                }
                _ => {}
            }
        }
        None
    }
}

fn declares_name(statement: &TsStatement, name: &str) -> bool {
    match &statement.kind {
        TsStatementKind::Function(own, _) => own == name,
        TsStatementKind::Bind(bound, _) => bound.iter().any(|(pattern, _)| match pattern {
            TsPattern::Name(own, _) => own == name,
            TsPattern::Object(fields) => {
                fields.iter().any(|(_, inner)| matches!(inner, TsPattern::Name(own, _) if own == name))
            }
            _ => false,
        }),
        _ => false,
    }
}
