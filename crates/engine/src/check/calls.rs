//! Calls of functions: `def`s of the file first, then the table of builtins.

use super::Checker;
use super::expr::Typed;
use super::scope::{LookupSide, Scope, Symbol};
use super::ty::{Measure, Ty};
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
    pub(super) fn call(
        &mut self,
        scope: &Scope<'a>,
        name: &ast::Name,
        arguments: &'a [ast::Expr],
        piped: bool,
        span: Span,
    ) -> Typed {
        let call = WrittenCall { name, arguments, piped, span };
        let symbol = self.symbol(scope.file, &name.text);
        if let Some((symbol, declared)) = symbol {
            self.symbols.refer(name.span, declared);
            match symbol {
                Symbol::Def(number) => return self.call_def(scope, number, call),
                Symbol::Broken => {
                    self.arguments(scope, arguments);
                    return Typed::broken(span);
                }
                Symbol::Param(_) | Symbol::Let(_) | Symbol::Step(_) => {}
            }
        }
        match builtins::lookup(&name.text) {
            Some(builtin) => self.call_builtin(scope, builtin, call),
            None => {
                if !is_like_a_step(arguments) {
                    self.arguments(scope, arguments);
                }
                self.report_unknown_function(scope.file, call, symbol.map(|(symbol, _)| symbol));
                Typed::broken(span)
            }
        }
    }

    /// Arguments: on the left-hand side of a step's parentheses the first one is what is looked at.
    fn arguments(&mut self, scope: &Scope<'a>, arguments: &'a [ast::Expr]) -> Vec<Typed> {
        let plain = scope.on(LookupSide::Plain);
        let scopes = std::iter::once(scope).chain(std::iter::repeat(&plain));
        arguments.iter().zip(scopes).map(|(argument, scope)| self.expr(scope, argument)).collect()
    }

    fn call_def(&mut self, scope: &Scope<'a>, number: u32, call: WrittenCall<'_, 'a>) -> Typed {
        let WrittenCall { name, arguments, span, .. } = call;
        let values = self.arguments(scope, arguments);
        let parameters = self.definitions.parameters(number);
        if values.len() != parameters.len() {
            let names: Vec<&str> = parameters.iter().map(|parameter| parameter.text.as_str()).collect();
            let given: Vec<String> = arguments.iter().map(|argument| self.written(argument.span)).collect();
            let shown: Vec<String> = names
                .iter()
                .enumerate()
                .map(|(index, name)| given.get(index).cloned().unwrap_or_else(|| (*name).to_owned()))
                .collect();
            let call = format!("{}({})", name.text, shown.join(", "));
            self.report_argument_count(name, counted(parameters.len(), parameters.len()), values.len(), &call);
            return Typed::broken(span);
        }
        let ty = self.def_type(number, Some(name.span));
        let values = values.into_iter().map(|value| value.expr).collect();
        Typed::new(ExprKind::Def(number, values), span, ty)
    }

    fn call_builtin(&mut self, scope: &Scope<'a>, builtin: &'static Builtin, call: WrittenCall<'_, 'a>) -> Typed {
        if let Some(over_runs) = self.fold_of_runs(scope, builtin, call) {
            return over_runs;
        }
        let values = self.arguments(scope, call.arguments);
        self.call_of(builtin, call, values)
    }

    /// A call of a function whose arguments are checked.
    pub(super) fn call_of(
        &mut self,
        builtin: &'static Builtin,
        call: WrittenCall<'_, 'a>,
        values: Vec<Typed>,
    ) -> Typed {
        let (least, most) = builtin.arity();
        if !(least..=most).contains(&values.len()) {
            let completed = self.completed_call(builtin, call.arguments, call.piped);
            self.report_argument_count(call.name, counted(least, most), values.len(), &completed);
            return Typed::broken(call.span);
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
        Typed::new(ExprKind::Builtin(builtin.name, values), call.span, ty)
    }

    /// A share lies between 0 and 1: `95` is meant as `95%`.
    fn check_share(&mut self, share: Option<&Typed>) {
        let Some((number, text, span)) = share.and_then(|share| self.number_of(share)) else { return };
        if (0.0..=1.0).contains(&number) {
            return;
        }
        let diagnostic = Diagnostic::new(Slug::Impossible, span, "a share lies between 0 and 1");
        self.report(match (1.0..=100.0).contains(&number) {
            true => {
                diagnostic.help(format!("write `{text}%`")).fix("write it as a percentage", span, format!("{text}%"))
            }
            false => diagnostic.help("write `95%` or `0.95`"),
        });
    }

    /// The number that an argument always is, as it is written, and where.
    pub(super) fn number_of(&self, value: &Typed) -> Option<(f64, String, Span)> {
        match self.constant(&value.expr)? {
            Constant::Number(text) => text.parse::<f64>().ok().map(|number| (number, text, value.expr.span)),
            _ => None,
        }
    }

    fn report_argument_count(&mut self, name: &ast::Name, takes: String, found: usize, call: &str) {
        self.report(
            Diagnostic::new(Slug::ArgumentCount, name.span, format!("`{}` takes {takes}, found {found}", name.text))
                .help(format!("write `{call}`")),
        );
    }

    /// The call with the arguments that are there and, for the missing ones, those of the function's example.
    fn completed_call(&self, builtin: &Builtin, arguments: &[ast::Expr], piped: bool) -> String {
        let (least, most) = builtin.arity();
        let example = example_arguments(builtin);
        let given = arguments.iter().map(|argument| self.written(argument.span));
        let mut all: Vec<String> = given.take(most).collect();
        for index in all.len()..least {
            let name = builtin.parameters.get(index).map_or("value", |parameter| parameter.name);
            all.push(example.get(index).cloned().unwrap_or_else(|| name.to_owned()));
        }
        if piped && !all.is_empty() {
            let first = all.remove(0);
            return format!("{first} | {}({})", builtin.name, all.join(", "));
        }
        format!("{}({})", builtin.name, all.join(", "))
    }

    fn check_argument(&mut self, builtin: &Builtin, parameter: &builtins::Parameter, value: &Typed) {
        let ty = value.ty.plain();
        if value.is_broken() || parameter.accepts(ty.ir()) || ty == Ty::Range && parameter.types.contains(&Type::List) {
            return;
        }
        let words: Vec<&str> = parameter.types.iter().map(|&ty| builtins::type_word(ty)).collect();
        let found = ty.class().map_or("this", super::ty::Class::noun);
        let message = format!("`{}` of `{}` is a {}, not {found}", parameter.name, builtin.name, words.join(" or a "));
        self.report(Diagnostic::new(Slug::TypeMismatch, value.expr.span, message).help(format!(
            "`{}`; for example `{}`",
            builtin.signature(),
            builtin.example
        )));
    }

    fn report_unknown_function(&mut self, file: usize, call: WrittenCall<'_, 'a>, other: Option<Symbol>) {
        let WrittenCall { name, arguments, span, .. } = call;
        if self.scopes.get(file).is_some_and(|scope| scope.incomplete) {
            return;
        }
        let mut diagnostic =
            Diagnostic::new(Slug::UnknownFunction, name.span, format!("unknown function `{}`", name.text));
        let names = self.function_names(file);
        diagnostic = match (other, suggest::nearest(&name.text, names.iter().map(String::as_str))) {
            (Some(Symbol::Step(_)), _) => {
                diagnostic.help(format!("`{}` is a step: `require {}(…)` says that it occurs", name.text, name.text))
            }
            (None, _) if is_like_a_step(arguments) => {
                let call = self.written(span);
                diagnostic.help(format!(
                    "that the tool is called is said with `require {call}`, that it is not with `never {call}`"
                ))
            }
            (Some(_), _) => {
                diagnostic.help(format!("`{}` is a value: write `{}` without parentheses", name.text, name.text))
            }
            (None, Some(near)) => diagnostic.help(format!("did you mean `{near}`?")).fix(
                format!("replace with `{near}`"),
                name.span,
                near,
            ),
            (None, None) => diagnostic.help(match self.module_near(&name.text) {
                Some((near, module)) => format!("`{near}` comes with `use {module}`"),
                None => format!(
                    "define it with `def {}(…) = …`; a tool call is stated with `require {}(…)`",
                    name.text, name.text
                ),
            }),
        };
        self.report(diagnostic);
    }

    /// The functions that can be called in a file.
    pub(super) fn function_names(&self, file: usize) -> Vec<String> {
        let scope = self.scopes.get(file);
        let defs = scope.into_iter().flat_map(|scope| {
            scope.names.iter().filter(|(_, one)| matches!(one.symbol, Symbol::Def(_))).map(|(name, _)| name.clone())
        });
        defs.chain(builtins::names().map(str::to_owned)).collect()
    }

    /// The name of the standard library that was probably meant, and the module that declares it.
    pub(super) fn module_near(&self, name: &str) -> Option<(&'static str, String)> {
        let names = |text: &'static str| text.lines().filter_map(|line| line.strip_prefix("def ")?.split('(').next());
        let all: Vec<(&'static str, &'static str)> =
            MODULES.iter().flat_map(|module| names(module.text).map(|name| (name, module.name))).collect();
        let near = suggest::nearest(name, all.iter().map(|(name, _)| *name))?;
        all.iter().find(|(name, _)| *name == near).map(|(name, module)| (*name, format!("std.{module}")))
    }
}

/// Whether arguments read like the tests in a step's parentheses: `amount > 100`.
fn is_like_a_step(arguments: &[ast::Expr]) -> bool {
    let of_name = |subject: &ast::Expr| matches!(subject.kind, ast::ExprKind::Name(_) | ast::ExprKind::Field { .. });
    arguments
        .first()
        .is_some_and(|first| matches!(&first.kind, ast::ExprKind::Test { subject, .. } if of_name(subject)))
}

/// `2 arguments`, `1 or 2 arguments`.
fn counted(least: usize, most: usize) -> String {
    let noun = if most == 1 { "argument" } else { "arguments" };
    match least {
        _ if least == most => format!("{least} {noun}"),
        _ if least.saturating_add(1) == most => format!("{least} or {most} {noun}"),
        _ => format!("{least} to {most} {noun}"),
    }
}

/// The texts of the arguments in a function's example.
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

/// The type of a call's value: some functions give what their first argument holds.
fn result_type(builtin: &Builtin, values: &[Typed]) -> Ty {
    let first = values.first().map_or(Ty::Any, |value| value.ty.clone());
    match builtin.name {
        "first" | "last" => return first.element(),
        "distinct" | "sort" | "reverse" if matches!(first, Ty::List(_)) => return first,
        "words" | "lines" | "split" | "keys" => return Ty::list(Ty::String),
        _ => {}
    }
    if builtin.keeps_unit {
        let measured = first.measure().or_else(|| first.element().measure());
        match measured {
            Some(Measure::Plain) if first.is_count() || first.element().is_count() => return Ty::Share,
            Some(Measure::Plain) | None => {}
            Some(measure) => return Ty::measuring(measure),
        }
    }
    match builtin.result {
        // Functions that give whole numbers count.
        crate::ir::Type::Integer => Ty::Count,
        other => Ty::of(other),
    }
}
