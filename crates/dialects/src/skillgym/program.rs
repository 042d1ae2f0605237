//! The modules of a suite, and what is followed of them within bounds.

use super::value::{Bound, Item, Scope, Scopes, Value, open};
use crate::Lowering;
use crate::typescript;
use crate::typescript::tree::{Expr, ExprKind, Pattern, Stmt, StmtKind, UNREADABLE};
use averment_base::diagnostic::Slug;
use averment_base::source::{FileId, SourceFile, Span};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// So deep expressions and calls are followed.
const DEEP: usize = 500;
/// So much is followed of all modules together.
const MOST: usize = 200_000;
/// So many modules are read.
const MODULES: usize = 100;

/// What endings a module may have that is named without, or as it is called when it is built.
const ENDINGS: [&str; 6] = ["ts", "mts", "cts", "js", "mjs", "cjs"];

/// A module that was read.
struct Module {
    scope: Scope,
    statements: Rc<Vec<Stmt>>,
    folder: PathBuf,
}

/// What is followed.
pub(super) struct Program<'a, 'l> {
    pub(super) lowering: &'a mut Lowering<'l>,
    pub(super) scopes: Scopes,
    modules: Vec<Module>,
    /// Modules by where they are.
    known: BTreeMap<PathBuf, usize>,
    depth: usize,
    left: usize,
    /// Whether a regular expression of the assertion that is being made goes back.
    pub(super) backtracks: bool,
    /// How many names were made for elements.
    pub(super) names: usize,
    /// What was not read, in the order in which it was met.
    pub(super) unread: Vec<(Span, String)>,
}

impl<'a, 'l> Program<'a, 'l> {
    pub(super) fn new(lowering: &'a mut Lowering<'l>) -> Self {
        Self {
            lowering,
            scopes: Scopes::default(),
            modules: Vec::new(),
            known: BTreeMap::new(),
            depth: 0,
            left: MOST,
            backtracks: false,
            names: 0,
            unread: Vec::new(),
        }
    }

    /// Whether one more step inwards may be taken; [`Self::comes_back`] takes it back.
    pub(super) fn goes_deeper(&mut self) -> bool {
        let goes = self.depth < DEEP && self.takes(1);
        self.depth = self.depth.saturating_add(usize::from(goes));
        goes
    }

    pub(super) fn comes_back(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Whether so much more may be followed.
    pub(super) fn takes(&mut self, much: usize) -> bool {
        match self.left.checked_sub(much) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    /// Notes what is not read, and why.
    pub(super) fn not_read(&mut self, span: Span, what: &str) {
        if !self.unread.iter().any(|(known, _)| *known == span) {
            self.unread.push((span, what.to_owned()));
        }
    }

    /// Says what is worth knowing and changes nothing.
    pub(super) fn aside(&mut self, span: Span, message: &str) {
        self.lowering.said.warning(Slug::Syntax, span, message, "see docs/reference/skillgym.md");
    }

    /// Reads a file as a module; its number.
    pub(super) fn module(&mut self, file: FileId) -> usize {
        let (text, folder) = match self.lowering.sources.get(file) {
            Some(source) => (source.text.clone(), source.folder.clone().unwrap_or_default()),
            None => Default::default(),
        };
        let statements = Rc::new(typescript::parse(&text, file));
        let scope = self.scopes.outermost();
        let number = self.modules.len();
        self.modules.push(Module { scope, statements: Rc::clone(&statements), folder });
        for statement in statements.iter() {
            self.declared(number, statement, scope);
        }
        for statement in statements.iter() {
            self.done_at_the_top(statement, scope);
        }
        number
    }

    /// What a statement at the top of a module gives names to.
    fn declared(&mut self, module: usize, statement: &Stmt, scope: Scope) {
        match &statement.kind {
            StmtKind::Export(inner) => self.declared(module, inner, scope),
            StmtKind::Function(name, function) => self.declare(name, function, statement.span, scope),
            StmtKind::Import { module: from, names } => {
                for (there, here) in names {
                    let bound = self.imported(module, from, there, statement.span);
                    self.scopes.bind(scope, here, bound);
                }
            }
            StmtKind::Bind(bound, _) => {
                for (pattern, value) in bound {
                    self.bound_later(pattern, value.as_ref(), statement.span, scope);
                }
            }
            StmtKind::Assign(Some(name)) => {
                let changed = Item::new(open("a value that changes"), statement.span);
                self.scopes.bind(scope, name, Bound::Item(changed));
            }
            _ => {}
        }
    }

    /// What a module does when it is read may change what it declares: `cases.push(…)`, also in a loop.
    fn done_at_the_top(&mut self, statement: &Stmt, scope: Scope) {
        const DECLARED: [&str; 4] = ["a class", "an enumeration", "a generator", "a namespace"];
        match &statement.kind {
            StmtKind::Assign(_) => self.not_read(statement.span, "an assignment"),
            StmtKind::ForOf { .. } | StmtKind::If { .. } | StmtKind::Block(_) | StmtKind::Throw(_) => {
                self.not_read(statement.span, "what a module does when it is read");
            }
            StmtKind::Other(UNREADABLE) => {
                let what = "a statement that is no TypeScript, as far as can be seen: is a bracket or a quote open?";
                self.not_read(statement.span, what);
            }
            StmtKind::Other(what) if !DECLARED.contains(what) => self.not_read(statement.span, what),
            StmtKind::Expr(Expr { kind: ExprKind::Call { callee, arguments }, span }) => {
                let of = match &callee.kind {
                    ExprKind::Member { of, .. } => Some(self.eval(of, scope)),
                    _ => None,
                };
                let given = arguments.iter().map(|argument| self.eval(&argument.value, scope));
                let items: Vec<Item> = of.into_iter().chain(given).collect();
                if items.iter().any(|item| matches!(item.value, Value::List(_) | Value::Object(_))) {
                    self.not_read(*span, "a call that may change what is declared");
                }
            }
            _ => {}
        }
    }

    /// A name at the top of a module: its value is looked at when somebody asks for it.
    fn bound_later(&mut self, pattern: &Pattern, value: Option<&Expr>, span: Span, scope: Scope) {
        match (pattern, value) {
            (Pattern::Name(name, _), Some(value)) => {
                self.scopes.bind(scope, name, Bound::Later(Rc::new(value.clone())))
            }
            (pattern, Some(value)) => {
                let item = self.eval(value, scope);
                self.bind(pattern, item, scope);
            }
            (pattern, None) => {
                let item = Item::new(open("a value that is given later"), span);
                self.bind(pattern, item, scope);
            }
        }
    }

    /// What an imported name stands for: something of a module beside this one, or of SkillGym and its runtime.
    fn imported(&mut self, module: usize, from: &str, name: &str, span: Span) -> Bound {
        let is_beside = from.starts_with("./") || from.starts_with("../");
        if is_beside && let Some(found) = self.beside(module, from) {
            return Bound::Of(found, name.to_owned());
        }
        let asserts = ["node:assert", "node:assert/strict", "assert", "assert/strict"].contains(&from);
        let path = match name {
            "default" | "*" if asserts => "assert".to_owned(),
            "*" => from.to_owned(),
            // What node has at the top of a module, SkillGym's own things, and those of a copy of it.
            _ if asserts => format!("assert.{name}"),
            _ => name.to_owned(),
        };
        Bound::Item(Item::new(Value::Api(path), span))
    }

    /// The module that a path leads to.
    fn beside(&mut self, module: usize, from: &str) -> Option<usize> {
        let folder = self.modules.get(module)?.folder.clone();
        let stem = ENDINGS.iter().find_map(|ending| from.strip_suffix(&format!(".{ending}")));
        let candidates = [from.to_owned()]
            .into_iter()
            .chain(ENDINGS.iter().map(|ending| format!("{}.{ending}", stem.unwrap_or(from))))
            .chain(ENDINGS.iter().map(|ending| format!("{from}/index.{ending}")));
        candidates.filter(|path| ENDINGS.iter().any(|ending| path.ends_with(&format!(".{ending}")))).find_map(|path| {
            let number = self.file(&folder, &path)?;
            Some(number)
        })
    }

    /// The module in a file.
    pub(super) fn file(&mut self, folder: &Path, path: &str) -> Option<usize> {
        let found = self.lowering.files.read(folder, path, None).ok()?;
        if let Some(known) = self.known.get(&found.key) {
            return Some(*known);
        }
        if self.modules.len() >= MODULES {
            return None;
        }
        let root = self.lowering.sources.get(self.lowering.root).map(|file| file.name.clone()).unwrap_or_default();
        let name = averment_engine::check::files::display_name(&root, path);
        let file = self.lowering.sources.add(SourceFile::new(name, Some(&found.folder), found.text.as_str()));
        // Known before it is read: modules may name each other.
        self.known.insert(found.key, self.modules.len());
        Some(self.module(file))
    }

    /// What a module exports under a name.
    pub(super) fn exported(&mut self, module: usize, name: &str) -> Value {
        if !self.goes_deeper() {
            return open("too much to follow");
        }
        let found = self
            .export(module, name)
            .unwrap_or_else(|| Value::Open(format!("`{name}`, which its module does not export")));
        self.comes_back();
        found
    }

    /// The same; `None` where it exports nothing of that name.
    pub(super) fn export(&mut self, module: usize, name: &str) -> Option<Value> {
        let Module { scope, statements, .. } = self.modules.get(module)?;
        let (scope, statements) = (*scope, Rc::clone(statements));
        if name == "*" {
            return Some(open("a module as a whole"));
        }
        for statement in statements.iter() {
            match &statement.kind {
                StmtKind::ExportDefault(value) if name == "default" => return Some(self.eval(value, scope).value),
                StmtKind::Export(inner) if declares(inner, name) => return Some(self.named(name, scope)),
                StmtKind::ExportNames { module: None, names } => {
                    if let Some((inside, _)) = names.iter().find(|(_, outside)| outside == name) {
                        return Some(self.named(&inside.clone(), scope));
                    }
                }
                StmtKind::ExportNames { module: Some(from), names } => {
                    let inside =
                        names.iter().find(|(_, outside)| outside == name || outside == "*").map(|(inside, _)| inside);
                    let inside = inside.map(|inside| if inside == "*" { name } else { inside });
                    if let Some((inside, other)) = inside.zip(self.beside(module, from))
                        && other != module
                        && self.goes_deeper()
                    {
                        let found = self.export(other, inside);
                        self.comes_back();
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

/// Whether a statement declares a name.
fn declares(statement: &Stmt, name: &str) -> bool {
    match &statement.kind {
        StmtKind::Function(own, _) => own == name,
        StmtKind::Bind(bound, _) => bound.iter().any(|(pattern, _)| match pattern {
            Pattern::Name(own, _) => own == name,
            Pattern::Object(fields) => {
                fields.iter().any(|(_, inner)| matches!(inner, Pattern::Name(own, _) if own == name))
            }
            _ => false,
        }),
        _ => false,
    }
}
