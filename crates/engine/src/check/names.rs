//! What a bare name means: a variable, a field of the step in scope, a name of the file, a root of the run.

use super::Checker;
use super::expr::Typed;
use super::kinds;
use super::scope::{self, LookupSide, Scope, Symbol, VariableValue};
use super::ty::{StepShape, Ty};
use crate::ir::{Binding, ExprKind, Tested, ValueTest};
use averment_base::diagnostic::{Diagnostic, Slug, suggest};
use averment_base::source::Span;
use averment_builtins::table as builtins;
use averment_runs::run::Kind;
use averment_syntax::ast::TestKind;

/// The type of a root name of section 4 of the reference.
pub fn root_type(name: &str) -> Ty {
    let steps = |kind| Ty::steps(StepShape::of(kind));
    match name {
        "prompt" => Ty::String,
        "calls" => steps(Kind::Call),
        "messages" => steps(Kind::Message),
        "commands" => steps(Kind::Command),
        "reads" => steps(Kind::Read),
        "writes" => steps(Kind::Write),
        "skills" => steps(Kind::Skill),
        "http" => steps(Kind::Http),
        "spans" => steps(Kind::Span),
        "handovers" => steps(Kind::Handover),
        "steps" => Ty::steps(StepShape::any()),
        "usage" => Ty::Usage,
        "cost" => Ty::Money,
        "duration" => Ty::Duration,
        "turns" => Ty::Count,
        "tools" => Ty::list(Ty::Any),
        _ => Ty::Any,
    }
}

/// Fields of every step, left out where fields are listed.
const COMMON: [&str; 8] = ["index", "id", "agent", "kind", "turn", "start", "end", "duration"];

impl<'a> Checker<'a> {
    /// A bare name.
    pub(super) fn name(&mut self, scope: &Scope<'a>, name: &str, span: Span) -> Typed {
        if let Some(value) = self.variable(scope, name, span) {
            return value;
        }
        if scope.side == LookupSide::Left {
            return self.left_name(scope, name, span);
        }
        if scope.own
            && name == "it"
            && let Some(shape) = &scope.step
        {
            return Typed::new(ExprKind::Step, span, Ty::Step(shape.clone()));
        }
        if scope.element && name != "run" {
            return self.of_element(scope, name, span);
        }
        if scope.response && matches!(name, "response" | "output") {
            return Typed::new(ExprKind::StepField("result".to_owned()), span, Ty::Any);
        }
        if scope.response && name == "envelope" {
            return envelope(span);
        }
        if let Some(shape) = &scope.step
            && shape.has(name)
        {
            return Typed::new(ExprKind::StepField(name.to_owned()), span, shape.field(name));
        }
        if let Some(value) = self.file_name(scope.file, name, span) {
            return value;
        }
        if let Some(root) = scope::root(name) {
            let own = scope.step.is_some() && scope::OF_STEPS.contains(&root);
            let kind = match own {
                true if scope.own => ExprKind::StepOwn(root),
                true => ExprKind::StepOrRoot(root),
                false => ExprKind::Root(root),
            };
            return Typed::new(kind, span, root_type(root));
        }
        if name == "run" {
            return Typed::new(ExprKind::Run, span, Ty::Any);
        }
        self.report_unknown_name(scope, name, span);
        Typed::broken(span)
    }

    /// In `LIST where COND` and `E of LIST`: a name of the file, else a field of the element.
    fn of_element(&mut self, scope: &Scope<'a>, name: &str, span: Span) -> Typed {
        if let Some(value) = self.file_name(scope.file, name, span) {
            return value;
        }
        match self.variable(scope, "it", span) {
            Some(element) => self.member(element, name, span, span, span),
            None => Typed::broken(span),
        }
    }

    fn variable(&mut self, scope: &Scope<'a>, name: &str, span: Span) -> Option<Typed> {
        match scope.variable(name)?.value.clone() {
            VariableValue::Local(local, ty) => Some(Typed::new(ExprKind::Local(local), span, ty)),
            VariableValue::Bound(number, ty) => Some(Typed::new(ExprKind::Binding(Binding(number)), span, ty)),
            VariableValue::Given(expr, given) => {
                if self.bindings.expand().is_none() {
                    self.report_too_many(span);
                    return Some(Typed::broken(span));
                }
                // Slots are numbered in the code that the expression ends up in.
                let next_local = scope.next_local.max(given.next_local);
                let scope = Scope { next_local, ..(*given).clone() };
                Some(self.expr(&scope, expr))
            }
            VariableValue::Unknown => Some(Typed::broken(span)),
            VariableValue::Fact(expr) => Some(Typed::new(expr.kind, span, Ty::Any)),
            VariableValue::Call(_) => {
                let message = format!("`{name}` is a call");
                self.report(
                    Diagnostic::new(Slug::TypeMismatch, span, message)
                        .help(format!("what it answered is `{name}.response`")),
                );
                Some(Typed::broken(span))
            }
        }
    }

    /// The first name of a left-hand path in a step's parentheses.
    fn left_name(&mut self, scope: &Scope<'a>, name: &str, span: Span) -> Typed {
        let shape = scope.step.clone().unwrap_or_default();
        if shape.kinds == [Kind::Call] && !matches!(name, "args" | "result") {
            let arguments = Typed::new(ExprKind::StepField("args".to_owned()), span, shape.field("args"));
            return self.member(arguments, name, span, span, span);
        }
        if shape.has(name) {
            return Typed::new(ExprKind::StepField(name.to_owned()), span, shape.field(name));
        }
        self.report_unknown_step_field(&shape, name, span);
        Typed::broken(span)
    }

    fn report_unknown_step_field(&mut self, shape: &StepShape, name: &str, span: Span) {
        let word = shape.word.unwrap_or_else(|| shape.kinds.first().map_or("call", |kind| kind.as_str()));
        let fields = shape.fields();
        let message = format!("a `{word}` step has no argument `{name}`");
        let diagnostic = Diagnostic::new(Slug::UnknownArgument, span, message);
        let diagnostic = match suggest::nearest(name, fields.iter().copied()) {
            // `path_name` only begins like `path`: it is rather the argument of a tool.
            Some(near) if strsim::osa_distance(name, near) <= 2 => {
                diagnostic.help(format!("did you mean `{near}`?")).fix(format!("replace with `{near}`"), span, near)
            }
            _ => {
                let example = match word {
                    "read" | "write" => "src/**",
                    "command" => "npm test",
                    "http" => "api.example.com",
                    "skill" => "find-skills",
                    "span" => "db.*",
                    "handover" => "billing",
                    _ => "yes",
                };
                let fields = fields.iter().filter(|field| !COMMON.contains(field)).copied();
                let fields: Vec<&str> = fields.collect();
                diagnostic.help(format!(
                    "write `{word} \"{example}\"`, or quote the tool's name: `\"{word}\"`; the fields of the step are {}",
                    fields.join(", ")
                ))
            }
        };
        self.report(diagnostic);
    }

    /// A name of the file.
    fn file_name(&mut self, file: usize, name: &str, span: Span) -> Option<Typed> {
        let (symbol, declared) = self.symbol(file, name)?;
        self.symbols.refer(span, declared);
        Some(match symbol {
            Symbol::Param(number) => Typed::new(ExprKind::Param(number), span, self.param_type(number)),
            Symbol::Let(number) => {
                let ty = self.let_type(number, Some(span));
                match self.let_value(number).map(|value| &value.kind) {
                    // A regular expression or a range is not computed: it stands where it is used.
                    Some(kind @ (ExprKind::Regex(_) | ExprKind::Range(..))) => Typed::new(kind.clone(), span, ty),
                    _ => Typed::new(ExprKind::Let(number), span, ty),
                }
            }
            Symbol::Def(number) => {
                let names: Vec<&str> =
                    self.definitions.parameters(number).iter().map(|parameter| parameter.text.as_str()).collect();
                let call = format!("{name}({})", names.join(", "));
                self.report(
                    Diagnostic::new(Slug::TypeMismatch, span, format!("`{name}` is a function"))
                        .help(format!("call it: `{call}`")),
                );
                Typed::broken(span)
            }
            Symbol::Step(_) => {
                self.report(
                    Diagnostic::new(Slug::TypeMismatch, span, format!("`{name}` is a step, not a value"))
                        .help(format!("write `require {name}` or count it: `count {name} >= 1`")),
                );
                Typed::broken(span)
            }
            Symbol::Broken => Typed::broken(span),
        })
    }

    fn report_unknown_name(&mut self, scope: &Scope<'a>, name: &str, span: Span) {
        if matches!(name, "response" | "envelope") {
            self.report(
                Diagnostic::new(Slug::UnknownName, span, format!("`{name}` is known only in an invariant"))
                    .help("the run's final output is `output`; the result of a call is `result` in `each refund: …`"),
            );
            return;
        }
        if self.scopes.get(scope.file).is_some_and(|scope| scope.incomplete) {
            return;
        }
        if self.says && scope.step.is_none() && StepShape::of(Kind::Call).fields().contains(&name) {
            let message = format!("`{name}` belongs to a step, and this message speaks of the whole run");
            self.report(
                Diagnostic::new(Slug::UnknownName, span, message)
                    .help("a message sees the step right behind `each A: cond` and `no A: cond`"),
            );
            return;
        }
        let candidates = if suggest::is_open() { self.visible_names(scope) } else { Vec::new() };
        let near = suggest::nearest(name, candidates.iter().map(String::as_str)).map(str::to_owned);
        let mut diagnostic = Diagnostic::new(Slug::UnknownName, span, format!("unknown name `{name}`"));
        if let Some(near) = near {
            diagnostic =
                diagnostic.help(format!("did you mean `{near}`?")).fix(format!("replace with `{near}`"), span, near);
        } else if scope.step.as_ref().is_some_and(|shape| shape.kinds.contains(&Kind::Call)) {
            diagnostic = diagnostic.help(format!(
                "an argument of the call is `args.{name}`; text is quoted: `\"{name}\"`; otherwise declare it with `let` or `param`"
            ));
        } else if builtins::lookup(name).is_some() {
            diagnostic = diagnostic.help(format!("`{name}` is a function: write `{name}(…)`"));
        } else {
            diagnostic = diagnostic.help(format!(
                "declare it with `let {name} = …` or `param {name}: any`; a field of the output is `output.{name}`, text is quoted: `\"{name}\"`"
            ));
        }
        self.report(diagnostic);
    }

    /// Every name that could be meant at a place: the nearest things first.
    fn visible_names(&self, scope: &Scope<'a>) -> Vec<String> {
        let variables = scope.variables.iter().rev().map(|variable| variable.name.to_owned());
        let fields = scope.step.iter().flat_map(StepShape::fields).map(str::to_owned);
        let names = self.scopes.get(scope.file).into_iter().flat_map(|file| file.names.keys().cloned());
        let roots = scope::root_names().map(str::to_owned);
        variables.chain(fields).chain(names).chain(roots).collect()
    }
}

/// What the protocol put around the result of the call in scope: its `response` where the run keeps it, else the result.
fn envelope(span: Span) -> Typed {
    let field = |name: &str| Box::new(kinds::field(name, span));
    let kind = ValueTest::Plain(TestKind::Exists);
    let kept = ExprKind::Test(Tested { kind, negated: false, subject: field("response"), operand: None });
    let kept = Box::new(Typed::new(kept, span, Ty::Boolean).expr);
    Typed::new(ExprKind::If(kept, field("response"), field("result")), span, Ty::Any)
}
