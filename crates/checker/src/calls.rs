//! Calls of functions: `def`s of the file first, then the table of builtins.

use super::Checker;
use super::expr::CheckedExpr;
use super::other_functions;
use super::scope::{FileSymbol, LookupSide, NameScope};
use super::ty::{NumberMeasure, Ty};
use super::word_set::WordSet;
use crate::ir::{Constant, ExprKind, Type};
use averment_base::diagnostic::{Diagnostic, Slug, suggest};
use averment_base::source::Span;
use averment_builtins::stdlib::MODULES;
use averment_builtins::table::{self as builtins, Builtin};
use averment_syntax::ast;

/// A call of a function as it is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct WrittenCall<'c, 'a> {
    /// The name of the function.
    pub(super) name: &'c ast::Name,
    /// Its arguments; the first one stands in front of the `|` of a piped call.
    pub(super) arguments: &'a [ast::Expr],
    /// Whether it is `a | f(b)`.
    pub(super) piped: bool,
    /// Where it stands.
    pub(super) span: Span,
}

impl<'a> Checker<'a> {
    /// `f(a, b)` and `a | f(b)`.
    pub(super) fn check_call(
        &mut self,
        scope: &NameScope<'a>,
        name: &ast::Name,
        arguments: &'a [ast::Expr],
        piped: bool,
        span: Span,
    ) -> CheckedExpr {
        let call = WrittenCall { name, arguments, piped, span };
        let symbol = self.resolve_symbol(scope.file, &name.text);
        if let Some((symbol, declared)) = symbol {
            self.symbols.add_reference(name.span, declared);
            match symbol {
                FileSymbol::Def(number) => return self.call_def(scope, number, call),
                FileSymbol::Broken => {
                    self.check_arguments(scope, arguments);
                    return CheckedExpr::broken_at(span);
                }
                FileSymbol::Param(_) | FileSymbol::Let(_) | FileSymbol::Step(_) => {}
            }
        }
        match builtins::find_builtin(&name.text) {
            Some(builtin) => self.call_builtin(scope, builtin, call),
            None => {
                if !is_like_a_step(arguments) {
                    self.check_arguments(scope, arguments);
                }
                self.report_unknown_function(scope.file, call, symbol.map(|(symbol, _)| symbol));
                CheckedExpr::broken_at(span)
            }
        }
    }

    /// On the left-hand side of a step's parentheses the first argument is the subject.
    fn check_arguments(&mut self, scope: &NameScope<'a>, arguments: &'a [ast::Expr]) -> Vec<CheckedExpr> {
        let plain = scope.on_side(LookupSide::Plain);
        let scopes = std::iter::once(scope).chain(std::iter::repeat(&plain));
        arguments.iter().zip(scopes).map(|(argument, scope)| self.check_expr(scope, argument)).collect()
    }

    fn call_def(&mut self, scope: &NameScope<'a>, number: u32, call: WrittenCall<'_, 'a>) -> CheckedExpr {
        let WrittenCall { name, arguments, span, .. } = call;
        let values = self.check_arguments(scope, arguments);
        let parameters = self.definitions.def_parameters(number);
        if values.len() != parameters.len() {
            let names: Vec<&str> = parameters.iter().map(|parameter| parameter.text.as_str()).collect();
            let given: Vec<String> = arguments.iter().map(|argument| self.source_line(argument.span)).collect();
            let shown: Vec<String> = names
                .iter()
                .enumerate()
                .map(|(index, name)| given.get(index).cloned().unwrap_or_else(|| (*name).to_owned()))
                .collect();
            let call = format!("{}({})", name.text, shown.join(", "));
            self.report_argument_count(name, count_arguments(parameters.len(), parameters.len()), values.len(), &call);
            return CheckedExpr::broken_at(span);
        }
        let ty = self.def_type(number, Some(name.span));
        self.check_words_of_def(number, &values);
        let values = values.into_iter().map(|value| value.expr).collect();
        CheckedExpr::new(ExprKind::Def(number, values), span, ty)
    }

    fn call_builtin(
        &mut self,
        scope: &NameScope<'a>,
        builtin: &'static Builtin,
        call: WrittenCall<'_, 'a>,
    ) -> CheckedExpr {
        if let Some(over_runs) = self.fold_of_runs(scope, builtin, call) {
            return over_runs;
        }
        let values = self.check_arguments(scope, call.arguments);
        self.call_of(builtin, call, values)
    }

    pub(super) fn call_of(
        &mut self,
        builtin: &'static Builtin,
        call: WrittenCall<'_, 'a>,
        values: Vec<CheckedExpr>,
    ) -> CheckedExpr {
        let (least, most) = builtin.arity();
        if !(least..=most).contains(&values.len()) {
            let completed = self.completed_call(builtin, call.arguments, call.piped);
            self.report_argument_count(call.name, count_arguments(least, most), values.len(), &completed);
            return CheckedExpr::broken_at(call.span);
        }
        for (value, parameter) in values.iter().zip(builtin.parameters) {
            self.check_argument(builtin, parameter, value);
        }
        match builtin.name {
            "jsonpath" => self.check_jsonpath(&values),
            "percentile" => self.check_share(values.get(1)),
            "date" | "weekday" | "hour" => self.check_zone(values.get(1)),
            _ => {}
        }
        let ty = result_type(builtin, &values);
        let values = values.into_iter().map(|value| value.expr).collect();
        CheckedExpr::new(ExprKind::Builtin(builtin.name, values), call.span, ty)
    }

    /// A share lies between 0 and 1, so `95` probably means `95%`.
    fn check_share(&mut self, share: Option<&CheckedExpr>) {
        let Some((number, text, span)) = share.and_then(|share| self.number_of(share)) else { return };
        if (0.0..=1.0).contains(&number) {
            return;
        }
        let diagnostic = Diagnostic::new(Slug::Impossible, span, "a share lies between 0 and 1");
        self.report_diagnostic(match (1.0..=100.0).contains(&number) {
            true => diagnostic.with_help(format!("write `{text}%`")).with_fix(
                "write it as a percentage",
                span,
                format!("{text}%"),
            ),
            false => diagnostic.with_help("write `95%` or `0.95`"),
        });
    }

    /// The number an argument always has, its source text and its place.
    pub(super) fn number_of(&self, value: &CheckedExpr) -> Option<(f64, String, Span)> {
        match self.constant_value(&value.expr)? {
            Constant::Number(text) => text.parse::<f64>().ok().map(|number| (number, text, value.expr.span)),
            _ => None,
        }
    }

    fn report_argument_count(&mut self, name: &ast::Name, takes: String, found: usize, call: &str) {
        self.report_diagnostic(
            Diagnostic::new(Slug::ArgumentCount, name.span, format!("`{}` takes {takes}, found {found}", name.text))
                .with_help(format!("write `{call}`")),
        );
    }

    fn completed_call(&self, builtin: &Builtin, arguments: &[ast::Expr], piped: bool) -> String {
        let (least, most) = builtin.arity();
        let example = example_arguments(builtin);
        let given = arguments.iter().map(|argument| self.source_line(argument.span));
        let mut all: Vec<String> = given.take(most).collect();
        for index in all.len()..least {
            let name = builtin.parameters.get(index).map_or("value", |parameter| parameter.name);
            // What is known of a run is what its calls gave.
            let sources = (name == "sources").then(|| "(result of any)".to_owned());
            all.push(sources.or_else(|| example.get(index).cloned()).unwrap_or_else(|| name.to_owned()));
        }
        if piped && !all.is_empty() {
            let first = all.remove(0);
            return format!("{first} | {}({})", builtin.name, all.join(", "));
        }
        format!("{}({})", builtin.name, all.join(", "))
    }

    fn check_argument(&mut self, builtin: &Builtin, parameter: &builtins::BuiltinParameter, value: &CheckedExpr) {
        let ty = value.ty.without_schema();
        if value.is_broken()
            || parameter.accepts_type(ty.to_ir_type())
            || ty == Ty::Range && parameter.types.contains(&Type::List)
        {
            return;
        }
        let words: Vec<&str> = parameter.types.iter().map(|&ty| builtins::type_word(ty)).collect();
        let found = ty.comparison_class().map_or("this", super::ty::ComparisonClass::noun);
        let message = format!("`{}` of `{}` is a {}, not {found}", parameter.name, builtin.name, words.join(" or a "));
        self.report_diagnostic(Diagnostic::new(Slug::TypeMismatch, value.expr.span, message).with_help(format!(
            "`{}`; for example `{}`",
            builtin.signature(),
            builtin.example
        )));
    }

    fn report_unknown_function(&mut self, file: usize, call: WrittenCall<'_, 'a>, other: Option<FileSymbol>) {
        let WrittenCall { name, arguments, span, .. } = call;
        if self.scopes.get(file).is_some_and(|scope| scope.incomplete) {
            return;
        }
        let mut diagnostic =
            Diagnostic::new(Slug::UnknownFunction, name.span, format!("unknown function `{}`", name.text));
        let names = self.function_names(file);
        if let (None, Some(meant)) = (other, other_functions::find_meant(&name.text)) {
            self.report_diagnostic(meant.offer(diagnostic, name.span));
            return;
        }
        diagnostic = match (other, suggest::suggest_name(&name.text, names.iter().map(String::as_str))) {
            (Some(FileSymbol::Step(_)), _) => diagnostic
                .with_help(format!("`{}` is a step: `require {}(…)` checks that it occurs", name.text, name.text)),
            (None, _) if is_like_a_step(arguments) => {
                let call = self.source_line(span);
                diagnostic.with_help(format!(
                    "write `require {call}` for \"the tool is called\" and `never {call}` for \"it is not called\""
                ))
            }
            (Some(_), _) => {
                diagnostic.with_help(format!("`{}` is a value: write `{}` without parentheses", name.text, name.text))
            }
            (None, Some(near)) => diagnostic.with_help(format!("did you mean `{near}`?")).with_fix(
                format!("replace with `{near}`"),
                name.span,
                near,
            ),
            (None, None) => diagnostic.with_help(match self.module_near(&name.text) {
                Some((near, module)) => format!("`{near}` comes with `use {module}`"),
                None => format!(
                    "define it with `def {}(…) = …`; a tool call is stated with `require {}(…)`",
                    name.text, name.text
                ),
            }),
        };
        self.report_diagnostic(diagnostic);
    }

    pub(super) fn function_names(&self, file: usize) -> Vec<String> {
        let scope = self.scopes.get(file);
        let defs = scope.into_iter().flat_map(|scope| {
            scope.names.iter().filter(|(_, one)| matches!(one.symbol, FileSymbol::Def(_))).map(|(name, _)| name.clone())
        });
        defs.chain(builtins::builtin_names().map(str::to_owned)).collect()
    }

    pub(super) fn module_near(&self, name: &str) -> Option<(&'static str, String)> {
        let names = |text: &'static str| text.lines().filter_map(|line| line.strip_prefix("def ")?.split('(').next());
        let all: Vec<(&'static str, &'static str)> =
            MODULES.iter().flat_map(|module| names(module.text).map(|name| (name, module.name))).collect();
        let near = suggest::suggest_name(name, all.iter().map(|(name, _)| *name))?;
        all.iter().find(|(name, _)| *name == near).map(|(name, module)| (*name, format!("std.{module}")))
    }
}

fn is_like_a_step(arguments: &[ast::Expr]) -> bool {
    let of_name = |subject: &ast::Expr| matches!(subject.kind, ast::ExprKind::Name(_) | ast::ExprKind::Field { .. });
    arguments
        .first()
        .is_some_and(|first| matches!(&first.kind, ast::ExprKind::Test { subject, .. } if of_name(subject)))
}

/// `2 arguments`, `1 or 2 arguments`.
fn count_arguments(least: usize, most: usize) -> String {
    let noun = if most == 1 { "argument" } else { "arguments" };
    match least {
        _ if least == most => format!("{least} {noun}"),
        _ if least.saturating_add(1) == most => format!("{least} or {most} {noun}"),
        _ => format!("{least} to {most} {noun}"),
    }
}

fn example_arguments(builtin: &Builtin) -> Vec<String> {
    let start = builtin.example.find(&format!("{}(", builtin.name));
    let Some(rest) =
        start.and_then(|at| builtin.example.get(at.saturating_add(builtin.name.len()).saturating_add(1)..))
    else {
        return Vec::new();
    };
    let (mut all, mut part, mut depth, mut quote) = (Vec::new(), String::new(), 0_u32, None);
    for letter in rest.chars() {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(letter),
            ('(' | '[' | '{', None) => depth = depth.saturating_add(1),
            (')', None) if depth == 0 => break,
            (')' | ']' | '}', None) => depth = depth.saturating_sub(1),
            (',', None) if depth == 0 => {
                all.push(std::mem::take(&mut part).trim().to_owned());
                continue;
            }
            _ => {}
        }
        part.push(letter);
    }
    all.push(part.trim().to_owned());
    all
}

/// The type of a call's value; some functions return elements of their first argument.
fn result_type(builtin: &Builtin, values: &[CheckedExpr]) -> Ty {
    let first = values.first().map_or(Ty::Any, |value| value.ty.clone());
    match builtin.name {
        "first" | "last" => return first.element_type(),
        "distinct" | "sort" | "reverse" if matches!(first, Ty::List(_)) => return first,
        "words" | "lines" | "split" | "keys" => return Ty::list_of(Ty::String),
        "lower" | "trim" | "text" if matches!(first, Ty::Word(_) | Ty::WordOrOther(_)) => return first,
        "weekday" => return Ty::Word(WordSet::Weekday),
        "type_of" => return Ty::Word(WordSet::TypeName),
        "find_secrets" => return Ty::list_of(Ty::Word(WordSet::SecretKind)),
        "find_pii" => return Ty::list_of(Ty::Word(WordSet::PiiKind)),
        _ => {}
    }
    if builtin.keeps_unit {
        let measured = first.number_measure().or_else(|| first.element_type().number_measure());
        match measured {
            Some(NumberMeasure::Plain) if first.is_count() || first.element_type().is_count() => return Ty::Share,
            Some(NumberMeasure::Plain) | None => {}
            Some(measure) => return Ty::with_measure(measure),
        }
    }
    match builtin.result {
        // Functions that give whole numbers count.
        crate::ir::Type::Integer => Ty::Count,
        other => Ty::from_ir(other),
    }
}
