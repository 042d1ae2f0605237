//! What a bare name means: a variable, a field of the step in scope, a name of the file, a root of the run.

use super::Checker;
use super::expr::CheckedExpr;
use super::kinds;
use super::scope::{self, FileSymbol, LookupSide, NameScope, VariableValue};
use super::ty::{StepShape, Ty};
use crate::ir::{BindingId, ExprKind, TypedTest, ValueTest};
use averment_base::diagnostic::{Diagnostic, Slug, suggest};
use averment_base::source::Span;
use averment_builtins::table as builtins;
use averment_runs::run::StepKind;
use averment_syntax::ast::TestKind;

/// The type of a root name of section 4 of the reference.
pub fn root_type(name: &str) -> Ty {
    let steps = |kind| Ty::steps_of(StepShape::of_kind(kind));
    match name {
        "prompt" => Ty::String,
        "calls" => steps(StepKind::Call),
        "messages" => steps(StepKind::Message),
        "commands" => steps(StepKind::Command),
        "reads" => steps(StepKind::Read),
        "writes" => steps(StepKind::Write),
        "skills" => steps(StepKind::Skill),
        "http" => steps(StepKind::Http),
        "spans" => steps(StepKind::Span),
        "handovers" => steps(StepKind::Handover),
        "steps" => Ty::steps_of(StepShape::any_step()),
        "usage" => Ty::Usage,
        // `inputs` may be any JSON, a text too.
        "meta" => Ty::KeyedPlace,
        "cost" => Ty::Money,
        "duration" => Ty::Duration,
        "turns" => Ty::Count,
        "tools" => Ty::list_of(Ty::Any),
        _ => Ty::Any,
    }
}

/// What other systems call the arguments of a call.
const FOR_ARGUMENTS: [&str; 9] =
    ["arguments", "argument", "arg", "input", "params", "parameters", "kwargs", "tool_input", "tool_args"];

/// Fields that every step has; omitted from lists of fields.
const COMMON: [&str; 8] = ["index", "id", "agent", "kind", "turn", "start", "end", "duration"];

impl<'a> Checker<'a> {
    pub(super) fn check_name(&mut self, scope: &NameScope<'a>, name: &str, span: Span) -> CheckedExpr {
        if let Some(value) = self.check_variable(scope, name, span) {
            return value;
        }
        if scope.side == LookupSide::Left {
            return self.left_name(scope, name, span);
        }
        if scope.own
            && name == "it"
            && let Some(shape) = &scope.step
        {
            return CheckedExpr::new(ExprKind::Step, span, Ty::Step(shape.clone()));
        }
        if scope.element && name != "run" {
            return self.element_name(scope, name, span);
        }
        if scope.response && matches!(name, "response" | "output") {
            return CheckedExpr::new(ExprKind::StepField("result".to_owned()), span, Ty::Any);
        }
        if scope.response && name == "envelope" {
            return call_envelope(span);
        }
        if let Some(shape) = &scope.step
            && shape.has_field(name)
        {
            return CheckedExpr::new(ExprKind::StepField(name.to_owned()), span, shape.field_type(name));
        }
        if let Some(value) = self.file_name(scope.file, name, span) {
            return value;
        }
        if let Some(root) = scope::find_root(name) {
            let own = scope.step.is_some() && scope::OF_STEPS.contains(&root);
            let kind = match own {
                true if scope.own => ExprKind::StepOwn(root),
                true => ExprKind::StepOrRoot(root),
                false => ExprKind::Root(root),
            };
            return CheckedExpr::new(kind, span, root_type(root));
        }
        if name == "run" {
            return CheckedExpr::new(ExprKind::Run, span, Ty::Any);
        }
        self.report_unknown_name(scope, name, span);
        CheckedExpr::broken_at(span)
    }

    /// In `LIST where COND` and `E of LIST`: a name of the file, otherwise a field of the element.
    fn element_name(&mut self, scope: &NameScope<'a>, name: &str, span: Span) -> CheckedExpr {
        if let Some(value) = self.file_name(scope.file, name, span) {
            return value;
        }
        match self.check_variable(scope, "it", span) {
            Some(element) => self.member_of(element, name, span, span, span),
            None => CheckedExpr::broken_at(span),
        }
    }

    fn check_variable(&mut self, scope: &NameScope<'a>, name: &str, span: Span) -> Option<CheckedExpr> {
        match scope.find_variable(name)?.value.clone() {
            VariableValue::Local(local, ty) => Some(CheckedExpr::new(ExprKind::Local(local), span, ty)),
            VariableValue::Bound(number, ty) => Some(CheckedExpr::new(ExprKind::Binding(BindingId(number)), span, ty)),
            VariableValue::Given(expr, given) => {
                if self.bindings.begin_expansion().is_none() {
                    self.report_too_many(span);
                    return Some(CheckedExpr::broken_at(span));
                }
                // Slots are numbered in the code that the expression ends up in.
                let next_local = scope.next_local.max(given.next_local);
                let scope = NameScope { next_local, ..(*given).clone() };
                Some(self.check_expr(&scope, expr))
            }
            VariableValue::Unknown => Some(CheckedExpr::broken_at(span)),
            VariableValue::Fact(expr) => Some(CheckedExpr::new(expr.kind, span, Ty::Any)),
            VariableValue::Call(_) => {
                let message = format!("`{name}` is a call");
                self.report_diagnostic(
                    Diagnostic::new(Slug::TypeMismatch, span, message)
                        .with_help(format!("what it answered is `{name}.response`")),
                );
                Some(CheckedExpr::broken_at(span))
            }
        }
    }

    fn left_name(&mut self, scope: &NameScope<'a>, name: &str, span: Span) -> CheckedExpr {
        let shape = scope.step.clone().unwrap_or_default();
        if shape.kinds == [StepKind::Call] && !matches!(name, "args" | "result") {
            let arguments = CheckedExpr::new(ExprKind::StepField("args".to_owned()), span, shape.field_type("args"));
            return self.member_of(arguments, name, span, span, span);
        }
        if shape.has_field(name) {
            return CheckedExpr::new(ExprKind::StepField(name.to_owned()), span, shape.field_type(name));
        }
        self.report_unknown_step_field(&shape, name, span);
        CheckedExpr::broken_at(span)
    }

    fn report_unknown_step_field(&mut self, shape: &StepShape, name: &str, span: Span) {
        let word = shape.word.unwrap_or_else(|| shape.kinds.first().map_or("call", |kind| kind.as_str()));
        let fields = shape.all_fields();
        let message = format!("a `{word}` step has no argument `{name}`");
        let diagnostic = Diagnostic::new(Slug::UnknownArgument, span, message);
        let diagnostic = match suggest::suggest_name(name, fields.iter().copied()) {
            // `path_name` only begins like `path`: it is rather the argument of a tool.
            Some(near) if strsim::osa_distance(name, near) <= 2 => diagnostic
                .with_help(format!("did you mean `{near}`?"))
                .with_fix(format!("replace with `{near}`"), span, near),
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
                diagnostic.with_help(format!(
                    "write `{word} \"{example}\"`, or quote the tool's name: `\"{word}\"`; the fields of the step are {}",
                    fields.join(", ")
                ))
            }
        };
        self.report_diagnostic(diagnostic);
    }

    fn file_name(&mut self, file: usize, name: &str, span: Span) -> Option<CheckedExpr> {
        let (symbol, declared) = self.resolve_symbol(file, name)?;
        self.symbols.add_reference(span, declared);
        Some(match symbol {
            FileSymbol::Param(number) => CheckedExpr::new(ExprKind::Param(number), span, self.param_type(number)),
            FileSymbol::Let(number) => {
                let ty = self.let_type(number, Some(span));
                match self.let_value(number).map(|value| &value.kind) {
                    // A regular expression or a range is not computed: it stands where it is used.
                    Some(kind @ (ExprKind::Regex(_) | ExprKind::Range(..))) => CheckedExpr::new(kind.clone(), span, ty),
                    _ => CheckedExpr::new(ExprKind::Let(number), span, ty),
                }
            }
            FileSymbol::Def(number) => {
                let names: Vec<&str> =
                    self.definitions.def_parameters(number).iter().map(|parameter| parameter.text.as_str()).collect();
                let call = format!("{name}({})", names.join(", "));
                self.report_diagnostic(
                    Diagnostic::new(Slug::TypeMismatch, span, format!("`{name}` is a function"))
                        .with_help(format!("call it: `{call}`")),
                );
                CheckedExpr::broken_at(span)
            }
            FileSymbol::Step(_) => {
                self.report_diagnostic(
                    Diagnostic::new(Slug::TypeMismatch, span, format!("`{name}` is a step, not a value"))
                        .with_help(format!("write `require {name}` or count it: `count {name} >= 1`")),
                );
                CheckedExpr::broken_at(span)
            }
            FileSymbol::Broken => CheckedExpr::broken_at(span),
        })
    }

    fn report_unknown_name(&mut self, scope: &NameScope<'a>, name: &str, span: Span) {
        if matches!(name, "response" | "envelope") {
            self.report_diagnostic(
                Diagnostic::new(Slug::UnknownName, span, format!("`{name}` is known only in an invariant")).with_help(
                    "the run's final output is `output`; the result of a call is `result` in `each refund: …`",
                ),
            );
            return;
        }
        if self.scopes.get(scope.file).is_some_and(|scope| scope.incomplete) {
            return;
        }
        if self.says && scope.step.is_none() && StepShape::of_kind(StepKind::Call).all_fields().contains(&name) {
            let message = format!("`{name}` belongs to a step, and this message is about the whole run");
            self.report_diagnostic(
                Diagnostic::new(Slug::UnknownName, span, message)
                    .with_help("a message can use fields of a step directly after `each A: cond` and `no A: cond`"),
            );
            return;
        }
        let is_of_call = scope.step.as_ref().is_some_and(|shape| shape.kinds.contains(&StepKind::Call));
        if is_of_call && FOR_ARGUMENTS.contains(&name) {
            let message = format!("unknown name `{name}`: the arguments of a call are `args`");
            self.report_diagnostic(
                Diagnostic::new(Slug::UnknownName, span, message).with_help("write `args`").with_fix(
                    "replace with `args`",
                    span,
                    "args",
                ),
            );
            return;
        }
        let candidates = if suggest::is_open() { self.visible_names(scope) } else { Vec::new() };
        let near = suggest::suggest_name(name, candidates.iter().map(String::as_str)).map(str::to_owned);
        let mut diagnostic = Diagnostic::new(Slug::UnknownName, span, format!("unknown name `{name}`"));
        // Two letters are near to many names.
        let near = near.filter(|_| name.chars().count() > 2);
        let is_of_step = near.is_none() || matches!(name, "status" | "ok" | "role" | "text" | "start" | "end");
        if let Some(help) = self.help_for_field(scope, name).filter(|_| is_of_step) {
            diagnostic = diagnostic.with_help(help);
        } else if let Some(help) = help_for_step(scope, near.as_deref()) {
            diagnostic = diagnostic.with_help(help);
        } else if let Some(near) = near {
            diagnostic = diagnostic.with_help(format!("did you mean `{near}`?")).with_fix(
                format!("replace with `{near}`"),
                span,
                near,
            );
        } else if is_of_call {
            diagnostic = diagnostic.with_help(format!(
                "an argument of the call is `args.{name}`; text is quoted: `\"{name}\"`; otherwise declare it with `let` or `param`"
            ));
        } else if builtins::find_builtin(name).is_some() {
            diagnostic = diagnostic.with_help(format!("`{name}` is a function: write `{name}(…)`"));
        } else {
            diagnostic = diagnostic.with_help(format!(
                "declare it with `let {name} = …` or `param {name}: any`; a field of the output is `output.{name}`, text is quoted: `\"{name}\"`"
            ));
        }
        self.report_diagnostic(diagnostic);
    }

    /// What to write for a name that is known in another place: a field of an element, or of a step.
    fn help_for_field(&self, scope: &NameScope<'a>, name: &str) -> Option<String> {
        let element = scope.variables.iter().rev().find(|one| matches!(one.value, VariableValue::Local(..)));
        if let Some(element) = element.filter(|one| !one.name.is_empty() && one.name != "it") {
            let known = self.visible_names(scope);
            let is_near = suggest::suggest_name(name, known.iter().map(String::as_str)).is_some();
            return (!is_near)
                .then(|| format!("a field of the element is `{}.{name}`; text is quoted: `\"{name}\"`", element.name));
        }
        if scope.step.is_some() || !StepShape::any_step().has_field(name) {
            return None;
        }
        Some(match name {
            "status" | "ok" => {
                "calls that failed are `any failed`: write `never any failed`, or `no any: status == \"failed\"`"
                    .to_owned()
            }
            "role" | "text" => {
                "messages are the steps `user` and `assistant`: `never assistant /…/`, `no user: text contains \"…\"`"
                    .to_owned()
            }
            "start" | "end" => {
                format!("the time of the run is `run.{name}`, that of a call follows it: `each any: {name} …`")
            }
            _ => format!("`{name}` belongs to a step: write `each any: {name} …`, with the tool in place of `any`"),
        })
    }

    fn visible_names(&self, scope: &NameScope<'a>) -> Vec<String> {
        let variables = scope.variables.iter().rev().map(|variable| variable.name.to_owned());
        let fields = scope.step.iter().flat_map(StepShape::all_fields).map(str::to_owned);
        let names = self.scopes.get(scope.file).into_iter().flat_map(|file| file.names.keys().cloned());
        let roots = scope::root_names().map(str::to_owned);
        variables.chain(fields).chain(names).chain(roots).collect()
    }
}

/// The fields of the step in scope, where no name of the step is near. A name of the run that is near is rarely meant there.
fn help_for_step(scope: &NameScope<'_>, near: Option<&str>) -> Option<String> {
    let shape = scope.step.as_ref()?;
    let [kind] = shape.kinds.as_slice() else { return None };
    let fields = shape.all_fields();
    if *kind == StepKind::Call || near.is_some_and(|near| fields.contains(&near) || scope::find_root(near).is_none()) {
        return None;
    }
    let fields: Vec<String> = fields.iter().map(|field| format!("`{field}`")).collect();
    Some(format!("a step of kind `{}` has {}; text is quoted: `\"…\"`", kind.as_str(), fields.join(", ")))
}

/// The `response` of the call in scope if the run keeps it, otherwise its result.
fn call_envelope(span: Span) -> CheckedExpr {
    let field = |name: &str| Box::new(kinds::step_field(name, span));
    let kind = ValueTest::Plain(TestKind::Exists);
    let kept = ExprKind::Test(TypedTest { kind, negated: false, subject: field("response"), operand: None });
    let kept = Box::new(CheckedExpr::new(kept, span, Ty::Boolean).expr);
    CheckedExpr::new(ExprKind::If(kept, field("response"), field("result")), span, Ty::Any)
}
