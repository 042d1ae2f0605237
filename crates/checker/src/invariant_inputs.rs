//! What generated inputs of a call are made by: `generate { a: integer 0..9 } cases 50 seed 7`.

use super::Checker;
use super::scope::NameScope;
use crate::ir::{Constant, GeneratedCall, InputsSpec, SeedNamePart, ToolNamePart, ValueKind, ValueSpec};
use averment_base::diagnostic::{Diagnostic, Slug, suggest};
use averment_base::source::Span;
use averment_syntax::ast::{self, ExprKind, GeneratedInputs, GeneratedKind, InputGenerator, TextPart};
use std::collections::BTreeSet;

const GENERATED: [&str; 5] = ["integer", "number", "string", "boolean", "list"];

/// Nesting of generated lists.
const NESTED: usize = 16;

pub(super) struct GenerateClause<'a> {
    pub inputs: &'a GeneratedInputs,
    pub cases: &'a ast::NumberLiteral,
    pub seed: &'a ast::NumberLiteral,
    pub seed_name: Option<&'a ast::TextLiteral>,
}

pub(super) struct GeneratedTool<'a> {
    pub name: &'a ast::Name,
    /// Of a name with parameters.
    pub parts: Vec<ToolNamePart>,
    /// True in `for each tool`.
    pub each: bool,
}

impl<'a> Checker<'a> {
    pub(super) fn generated_inputs(&mut self, rule: Option<u32>, tool: GeneratedTool<'_>, made: &GenerateClause<'a>) {
        let GeneratedTool { name, parts, each } = tool;
        let inputs = self.inputs_spec(made.inputs);
        let cases = self.whole_number(made.cases, "the number of cases");
        let seed = self.whole_number(made.seed, "a seed");
        if let Some(many) = cases.filter(|&cases| u32::try_from(cases).is_err()) {
            let message = format!("{many} are more cases than the {} that there can be", u32::MAX);
            self.report_diagnostic(
                Diagnostic::new(Slug::TooLarge, made.cases.span, message).with_help("write `cases 100`"),
            );
        }
        let own = rule.and_then(|rule| self.module.rules.get(rule as usize)).map(|rule| rule.id.clone());
        let seed_name = match made.seed_name {
            Some(text) => self.seed_name(text, each),
            None => own.map(|id| vec![SeedNamePart::Text(id)]),
        };
        let cases = cases.and_then(|cases| u32::try_from(cases).ok());
        if let (Some(rule), Some(inputs), Some(cases), Some(seed), Some(seed_name)) =
            (rule, inputs, cases, seed, seed_name)
        {
            let named = match parts.is_empty() {
                true => vec![ToolNamePart::Text(name.text.clone())],
                false => parts,
            };
            let named = (!each).then_some(named);
            let cases = cases.max(1);
            self.module.inputs.push(GeneratedCall {
                rule,
                tool: named,
                span: name.span,
                inputs,
                cases,
                seed,
                seed_name,
            });
        }
    }

    fn inputs_spec(&mut self, inputs: &'a GeneratedInputs) -> Option<InputsSpec> {
        let arguments = match inputs {
            GeneratedInputs::Schema(span) => return Some(InputsSpec::Schema(*span)),
            GeneratedInputs::Arguments(arguments) => arguments,
        };
        let (mut all, mut names) = (Vec::new(), BTreeSet::new());
        let mut good = true;
        for argument in arguments {
            if !names.insert(argument.name.text.as_str()) {
                self.report_key_twice(&argument.name);
                continue;
            }
            match self.check_generator(argument) {
                Some(spec) => all.push((argument.name.text.clone(), spec)),
                None => good = false,
            }
        }
        good.then_some(InputsSpec::Arguments(all))
    }

    /// `None` if the generator was reported.
    fn check_generator(&mut self, generator: &'a InputGenerator) -> Option<ValueSpec> {
        if let Some(beyond) = generator.elements.get(NESTED) {
            let message = format!("lists are made at most {NESTED} levels deep");
            self.report_diagnostic(
                Diagnostic::new(Slug::TooDeep, beyond.ty.span, message).with_help("make the elements less deep"),
            );
            return None;
        }
        // The innermost first; of each what is wrong with it is said.
        let kinds = std::iter::once(&generator.value).chain(&generator.elements);
        let kinds: Vec<Option<ValueSpec>> = kinds.map(|kind| self.generated_kind(kind)).collect();
        let mut inner: Option<ValueSpec> = None;
        for kind in kinds.into_iter().rev() {
            let mut outer = kind?;
            if let Some(element) = inner.take() {
                let ValueKind::List { elements, .. } = &mut outer.kind else {
                    let diagnostic = Diagnostic::new(Slug::TypeMismatch, outer.span, "only a list has elements");
                    self.report_diagnostic(diagnostic.with_help("write `list 1..3 of integer 0..9`"));
                    return None;
                };
                *elements = Some(Box::new(element));
            }
            inner = Some(outer);
        }
        inner
    }

    fn generated_kind(&mut self, kind: &'a GeneratedKind) -> Option<ValueSpec> {
        let bounds = kind.bounds.as_ref();
        let span = bounds.map_or(kind.ty.span, |bounds| kind.ty.span.cover_with(bounds.span));
        let made = match kind.ty.text.as_str() {
            "string" => {
                let (least, most) = self.range_bounds(bounds, LENGTH, |text| text.parse().ok())?;
                ValueKind::Text { least, most }
            }
            "list" => {
                let (least, most) = self.range_bounds(bounds, LENGTH, |text| text.parse().ok())?;
                ValueKind::List { least, most, elements: None }
            }
            "integer" => {
                let (least, most) = self.range_bounds(bounds, INTEGER, |text| text.parse().ok())?;
                ValueKind::Integer { least, most }
            }
            "number" => {
                let finite = |text: &str| text.parse::<f64>().ok().filter(|value| value.is_finite());
                let (least, most) = self.range_bounds(bounds, NUMBER, finite)?;
                ValueKind::Number { least, most }
            }
            "boolean" => {
                if let Some(bounds) = bounds {
                    let diagnostic = Diagnostic::new(Slug::TypeMismatch, bounds.span, "a boolean has no bounds");
                    self.report_diagnostic(diagnostic.with_help("write `boolean` alone"));
                    return None;
                }
                ValueKind::Boolean
            }
            _ => {
                self.unknown_kind(&kind.ty);
                return None;
            }
        };
        Some(ValueSpec { kind: made, span })
    }

    fn unknown_kind(&mut self, ty: &ast::Name) {
        let diagnostic = Diagnostic::new(Slug::UnknownType, ty.span, format!("unknown type `{}`", ty.text));
        let diagnostic = match suggest::suggest_name(&ty.text, GENERATED) {
            Some(near) => diagnostic.with_help(format!("did you mean `{near}`?")).with_fix(
                format!("replace with `{near}`"),
                ty.span,
                near,
            ),
            None => diagnostic.with_help(format!("generated values are {}", GENERATED.join(", "))),
        };
        self.report_diagnostic(diagnostic);
    }

    fn range_bounds<T>(
        &mut self,
        bounds: Option<&'a ast::Expr>,
        wanted: BoundRule,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<(Option<T>, Option<T>)> {
        let Some(bounds) = bounds else { return Some((None, None)) };
        let ExprKind::Range { start, end } = &bounds.kind else {
            self.report_bound(bounds.span, "put a range after the type of a generated value", wanted);
            return None;
        };
        let mut end_of = |end: &'a Option<Box<ast::Expr>>| match end {
            Some(end) => self.range_bound(end, wanted, &read).map(Some),
            None => Some(None),
        };
        let (least, most) = (end_of(start), end_of(end));
        Some((least?, most?))
    }

    fn range_bound<T>(&mut self, end: &'a ast::Expr, wanted: BoundRule, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let lowered = self.top_expr(&NameScope::of_file(0), end);
        let value = match self.constant_value(&lowered.expr) {
            Some(Constant::Number(text)) if !lowered.ty.has_unit() => read(&text),
            _ => None,
        };
        if value.is_none() {
            self.report_bound(end.span, wanted.says, wanted);
        }
        value
    }

    fn report_bound(&mut self, span: Span, says: &str, wanted: BoundRule) {
        self.report_diagnostic(Diagnostic::new(Slug::TypeMismatch, span, says).with_help(wanted.help));
    }

    fn seed_name(&mut self, text: &'a ast::TextLiteral, each: bool) -> Option<Vec<SeedNamePart>> {
        self.literals.push(text.span);
        let mut parts = Vec::new();
        for part in &text.parts {
            match part {
                TextPart::Literal(text) => parts.push(SeedNamePart::Text(text.clone())),
                TextPart::Interpolation(ast::Expr { kind: ExprKind::Name(name), .. }) if each && name == "tool" => {
                    parts.push(SeedNamePart::Tool);
                }
                TextPart::Interpolation(value) => {
                    let help = if each { "write text and `${tool}`" } else { "write it without `${…}`" };
                    let message = "the name that a seed goes with is known before any run";
                    self.report_diagnostic(Diagnostic::new(Slug::TypeMismatch, value.span, message).with_help(help));
                    return None;
                }
            }
        }
        Some(parts)
    }
}

#[derive(Clone, Copy)]
struct BoundRule {
    says: &'static str,
    help: &'static str,
}

const LENGTH: BoundRule = BoundRule {
    says: "the length of a generated value is a whole number that is not negative",
    help: "write `1..20`, `5..` or `..20`",
};
const INTEGER: BoundRule = BoundRule {
    says: "an end of generated whole numbers is a whole number of 64 bits",
    help: "write `0..9`, `5..` or `..10`",
};
const NUMBER: BoundRule = BoundRule {
    says: "an end of generated numbers is a number without a unit, which the rules give",
    help: "write `0..1`, `0.5..` or `..10`",
};
