//! `param`, `let`, `def` and `def step`: lowered when they are first looked at, so that types are known and loops are found.

use super::Checker;
use super::asserted_implications::AssertedDefinitions;
use super::expr::CheckedExpr;
use super::kinds::AlternativeDraft;
use super::scope::{FileSymbol, NameScope, ScopeVariable, VariableValue};
use super::ty::Ty;
use crate::ir;
use averment_base::diagnostic::{Diagnostic, Severity, Slug};
use averment_base::source::Span;
use averment_syntax::ast::{self, ItemKind};
use std::collections::HashMap;
use std::rc::Rc;

/// The lowering state of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionState {
    New,
    Open,
    Done,
}

/// A `let`.
#[derive(Debug)]
pub struct LetEntry<'a> {
    file: usize,
    name: &'a ast::Name,
    value: &'a ast::Expr,
    state: DefinitionState,
    lowered: Option<CheckedExpr>,
    used: bool,
}

impl<'a> LetEntry<'a> {
    /// One that nobody has looked at.
    pub fn new(file: usize, name: &'a ast::Name, value: &'a ast::Expr) -> Self {
        Self { file, name, value, state: DefinitionState::New, lowered: None, used: false }
    }
}

/// A `def`.
#[derive(Debug)]
pub struct DefEntry<'a> {
    file: usize,
    name: &'a ast::Name,
    /// Its parameters.
    pub parameters: &'a [ast::Name],
    body: &'a ast::Expr,
    state: DefinitionState,
    lowered: Option<CheckedExpr>,
}

impl<'a> DefEntry<'a> {
    /// One that nobody has looked at.
    pub fn new(file: usize, name: &'a ast::Name, parameters: &'a [ast::Name], body: &'a ast::Expr) -> Self {
        Self { file, name, parameters, body, state: DefinitionState::New, lowered: None }
    }
}

/// A `def step`; expanded where it is used.
#[derive(Debug, Clone, Copy)]
pub struct StepEntry<'a> {
    /// The file whose names its body sees.
    pub file: usize,
    /// Its name.
    pub name: &'a ast::Name,
    /// Its parameters; those of bindings start with `$`.
    pub parameters: &'a [ast::Name],
    /// Its body.
    pub body: &'a ast::StepPattern,
}

/// All definitions, by number.
#[derive(Debug, Default)]
pub struct DefinitionTable<'a> {
    lets: Vec<LetEntry<'a>>,
    defs: Vec<DefEntry<'a>>,
    steps: Vec<StepEntry<'a>>,
    /// The `def step`s that are being expanded.
    pub expanding: Vec<usize>,
    /// What `def step`s without parameters, bindings and conditions come to: it is the same wherever they are used.
    pub plain_steps: HashMap<usize, Rc<[AlternativeDraft]>>,
    /// The definitions that are an implication and are asserted somewhere, as such: numbered behind the others.
    pub asserted: AssertedDefinitions,
}

impl<'a> DefinitionTable<'a> {
    /// Adds a `let`.
    pub fn add_let(&mut self, entry: LetEntry<'a>) -> u32 {
        self.lets.push(entry);
        super::to_number(self.lets.len().saturating_sub(1))
    }

    /// Adds a `def`.
    pub fn add_def(&mut self, entry: DefEntry<'a>) -> u32 {
        self.defs.push(entry);
        super::to_number(self.defs.len().saturating_sub(1))
    }

    /// Adds a `def step`.
    pub fn add_step(&mut self, entry: StepEntry<'a>) -> usize {
        self.steps.push(entry);
        self.steps.len().saturating_sub(1)
    }

    /// A `def step`.
    pub fn step_entry(&self, number: usize) -> Option<StepEntry<'a>> {
        self.steps.get(number).copied()
    }

    /// How many `let`s are written.
    pub fn let_count(&self) -> usize {
        self.lets.len()
    }

    /// How many `def`s are written.
    pub fn def_count(&self) -> usize {
        self.defs.len()
    }

    /// The parameters of a `def`.
    pub fn def_parameters(&self, number: u32) -> &'a [ast::Name] {
        self.defs.get(number as usize).map_or(&[], |def| def.parameters)
    }
}

impl<'a> Checker<'a> {
    pub(super) fn define_all(&mut self) {
        self.read_catalogue();
        self.read_schemas();
        self.define_params();
        for index in 0..self.definitions.lets.len() {
            self.let_type(super::to_number(index), None);
        }
        for index in 0..self.definitions.defs.len() {
            self.def_type(super::to_number(index), None);
        }
        for index in 0..self.definitions.steps.len() {
            self.check_step_definition(index);
        }
        self.read_facts();
        self.module.lets = self
            .definitions
            .lets
            .iter()
            .map(|entry| ir::LetDef {
                name: entry.name.text.clone(),
                value: value_of(entry.lowered.as_ref(), entry.value.span),
                is_written: true,
            })
            .collect();
        self.module.defs = self
            .definitions
            .defs
            .iter()
            .map(|entry| ir::FunctionDef {
                name: entry.name.text.clone(),
                parameters: super::to_number(entry.parameters.len()),
                body: value_of(entry.lowered.as_ref(), entry.body.span),
                is_written: true,
            })
            .collect();
    }

    fn define_params(&mut self) {
        let loaded = self.loaded;
        for (file, entry) in loaded.iter().enumerate() {
            for item in &entry.ast.items {
                let ItemKind::Param(param) = &item.kind else { continue };
                let Some(default) = &param.default else { continue };
                let Some(number) = self.module.params.iter().position(|known| known.span == param.name.span) else {
                    continue;
                };
                let value = self.param_default(file, param, default, number);
                if let Some(known) = self.module.params.get_mut(number) {
                    known.default = value;
                }
            }
        }
    }

    fn param_default(
        &mut self,
        file: usize,
        param: &'a ast::ParamItem,
        default: &'a ast::Expr,
        number: usize,
    ) -> Option<ir::Constant> {
        let value = self.top_expr(&NameScope::of_file(file), default);
        let wanted = self.param_type(super::to_number(number));
        self.check_param_value(param, &wanted, &value);
        let constant = self.constant_value(&value.expr);
        if constant.is_none() && !value.is_broken() {
            let message = format!("the default of `{}` is not a constant", param.name.text);
            self.report_diagnostic(
                Diagnostic::new(Slug::TypeMismatch, default.span, message)
                    .with_help("write a number, text, list or object, without names of the run"),
            );
        }
        constant
    }

    fn check_param_value(&mut self, param: &ast::ParamItem, wanted: &Ty, value: &CheckedExpr) {
        let (Some(class), Some(found)) = (wanted.comparison_class(), value.ty.comparison_class()) else { return };
        let measures = (wanted.number_measure(), value.ty.number_measure());
        if class != found {
            let message = format!(
                "the default of `{}` is {}, not {}",
                param.name.text,
                found.noun(),
                with_article(&param.ty.text)
            );
            self.report_diagnostic(
                Diagnostic::new(Slug::TypeMismatch, value.expr.span, message)
                    .with_help(format!("write a {}, or declare another type", param.ty.text)),
            );
        } else if *wanted == Ty::Integer && value.ty == Ty::Number {
            self.report_diagnostic(
                Diagnostic::new(Slug::TypeMismatch, value.expr.span, "an integer has no fraction")
                    .with_help("declare the type `number`"),
            );
        } else if let (Some(left), Some(right)) = measures {
            self.check_measures(left, right, None, value, "is given");
        }
    }

    pub(super) fn let_type(&mut self, number: u32, place: Option<Span>) -> Ty {
        let Some(entry) = self.definitions.lets.get_mut(number as usize) else { return Ty::Any };
        entry.used |= place.is_some();
        match entry.state {
            DefinitionState::Done => return entry.lowered.as_ref().map_or(Ty::Any, |value| value.ty.clone()),
            DefinitionState::Open => {
                let name = entry.name.text.clone();
                self.report_recursion(&name, place);
                return Ty::Any;
            }
            DefinitionState::New => entry.state = DefinitionState::Open,
        }
        let (file, value) = (entry.file, entry.value);
        let lowered = self.top_expr(&NameScope::of_file(file), value);
        let ty = lowered.ty.clone();
        if let Some(entry) = self.definitions.lets.get_mut(number as usize) {
            entry.state = DefinitionState::Done;
            entry.lowered = Some(lowered);
        }
        ty
    }

    pub(super) fn let_value(&self, number: u32) -> Option<&ir::TypedExpr> {
        self.definitions.lets.get(number as usize)?.lowered.as_ref().map(|value| &value.expr)
    }

    pub(super) fn def_body(&self, number: u32) -> Option<&ir::TypedExpr> {
        self.definitions.defs.get(number as usize)?.lowered.as_ref().map(|body| &body.expr)
    }

    pub(super) fn def_type(&mut self, number: u32, place: Option<Span>) -> Ty {
        let Some(entry) = self.definitions.defs.get_mut(number as usize) else { return Ty::Any };
        match entry.state {
            DefinitionState::Done => return entry.lowered.as_ref().map_or(Ty::Any, |value| value.ty.clone()),
            DefinitionState::Open => {
                let name = entry.name.text.clone();
                self.report_recursion(&name, place);
                return Ty::Any;
            }
            DefinitionState::New => entry.state = DefinitionState::Open,
        }
        let (file, body, parameters) = (entry.file, entry.body, entry.parameters);
        self.check_parameters(parameters);
        let mut scope = NameScope::of_file(file);
        for parameter in parameters {
            scope = scope.with_local(&parameter.text, Ty::Any).0;
        }
        let lowered = self.top_expr(&scope, body);
        let ty = lowered.ty.clone();
        if let Some(entry) = self.definitions.defs.get_mut(number as usize) {
            entry.state = DefinitionState::Done;
            entry.lowered = Some(lowered);
        }
        ty
    }

    /// Reports duplicate parameters.
    fn check_parameters(&mut self, parameters: &[ast::Name]) {
        for (index, parameter) in parameters.iter().enumerate() {
            if parameters.iter().take(index).any(|earlier| earlier.text == parameter.text) {
                let message = format!("a second parameter `{}`", parameter.text);
                self.report_diagnostic(
                    Diagnostic::new(Slug::Duplicate, parameter.span, message).with_help("choose another name"),
                );
            }
        }
    }

    pub(super) fn report_recursion(&mut self, name: &str, place: Option<Span>) {
        let Some(place) = place else { return };
        self.report_diagnostic(
            Diagnostic::new(Slug::Recursion, place, format!("`{name}` uses itself"))
                .with_label("here it is used in its own definition")
                .with_help("definitions cannot be recursive; use `any`, `all` or `count` to go through a list"),
        );
    }

    fn check_step_definition(&mut self, number: usize) {
        let Some(entry) = self.definitions.step_entry(number) else { return };
        self.check_parameters(entry.parameters);
        let mut scope = NameScope::of_file(entry.file);
        for parameter in entry.parameters.iter().filter(|parameter| !parameter.text.starts_with('$')) {
            scope.variables.push(ScopeVariable { name: &parameter.text, value: VariableValue::Unknown });
        }
        let saved = std::mem::take(&mut self.bindings);
        for parameter in entry.parameters {
            if let Some(name) = parameter.text.strip_prefix('$') {
                self.bindings.bind_outer(name);
            }
        }
        self.definitions.expanding.push(number);
        self.pattern_parts(&scope, entry.body);
        self.definitions.expanding.pop();
        self.report_unbound();
        self.bindings = saved;
    }

    /// Warns about unused `let`s, except in files that only declare: these are meant to be imported.
    pub(super) fn report_unused(&mut self) {
        let is_library =
            !self.loaded.first().is_some_and(|root| root.ast.items.iter().any(|item| item.kind.has_assertions()));
        if self.diagnostics.0.iter().any(|one| one.severity == Severity::Error) || is_library {
            return;
        }
        let unused: Vec<&ast::Name> = self
            .definitions
            .lets
            .iter()
            .filter(|entry| entry.file == 0 && !entry.used)
            .map(|entry| entry.name)
            .collect();
        for name in unused {
            self.report_diagnostic(
                Diagnostic::new(Slug::UnusedLet, name.span, format!("`{}` is never used", name.text))
                    .with_help("remove it, or silence this with `# allow: unused-let`"),
            );
        }
    }

    pub(super) fn resolve_symbol(&self, file: usize, name: &str) -> Option<(FileSymbol, Span)> {
        let declared = self.scopes.get(file)?.names.get(name)?;
        Some((declared.symbol, declared.origin))
    }
}

fn value_of(lowered: Option<&CheckedExpr>, span: Span) -> ir::TypedExpr {
    lowered.map_or_else(|| CheckedExpr::broken_at(span).expr, |value| value.expr.clone())
}

/// `a number`, `an integer`.
fn with_article(word: &str) -> String {
    let vowel = word.starts_with(['a', 'e', 'i', 'o', 'u']);
    if word == "money" || word == "any" {
        word.to_owned()
    } else {
        format!("{} {word}", if vowel { "an" } else { "a" })
    }
}
