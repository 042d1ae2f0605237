//! Step patterns: every form becomes a choice of alternatives, each of one kind with one test of its name.

use super::Checker;
use super::described_values::DescribedValue;
use super::expr::CheckedExpr;
use super::kinds::{self, AlternativeDraft};
use super::scope::{FileSymbol, LookupSide, NameScope, RenamedBindings, ScopeVariable, VariableValue};
use super::ty::{StepShape, Ty};
use crate::ir::{self, Constant, NameTest};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_runs::normal::of_step;
use averment_runs::run::StepKind;
use averment_syntax::ast::{
    self, AgentPattern, Atom, AtomSubject, ByAgent, KindText, PatternArgument, PatternForm, StatusWord, TestKind,
};
use std::rc::Rc;

/// A pattern with what is known of the steps it matches.
#[derive(Debug, Clone)]
pub struct LoweredPattern {
    /// The pattern.
    pub pattern: ir::CheckedPattern,
    /// The steps.
    pub shape: StepShape,
}

impl<'a> Checker<'a> {
    pub(super) fn lower_pattern(&mut self, scope: &NameScope<'a>, step: &'a ast::StepPattern) -> LoweredPattern {
        let parts = self.pattern_parts(&pattern_scope(scope), step);
        let shape = union_shape(&parts);
        let alternatives = parts.into_iter().map(AlternativeDraft::into_alternative).collect();
        let text = self.source_line(step.span);
        LoweredPattern { pattern: ir::CheckedPattern { text, span: step.span, alternatives }, shape }
    }

    pub(super) fn pattern_parts(&mut self, scope: &NameScope<'a>, step: &'a ast::StepPattern) -> Vec<AlternativeDraft> {
        stacker::maybe_grow(128 << 10, 1 << 20, || match &step.kind {
            PatternForm::Atom(atom) => self.lower_atom(scope, atom, step.span),
            PatternForm::Choice(steps) => steps.iter().flat_map(|step| self.pattern_parts(scope, step)).collect(),
            PatternForm::Where { step, condition } => self.where_condition(scope, step, condition),
            PatternForm::Proposed(inner) => {
                let mut parts = self.pattern_parts(scope, inner);
                self.mark_proposed(&mut parts, inner.span);
                parts
            }
        })
    }

    /// `A where cond`: the condition sees the step; its conjuncts `path == $x` bind.
    fn where_condition(
        &mut self,
        scope: &NameScope<'a>,
        step: &'a ast::StepPattern,
        condition: &'a ast::Expr,
    ) -> Vec<AlternativeDraft> {
        let mut parts = self.pattern_parts(scope, step);
        let inner = scope.with_step(union_shape(&parts)).on_side(LookupSide::Plain);
        for part in &mut parts {
            self.entry_test(&inner, condition, part);
        }
        parts
    }

    fn lower_atom(&mut self, scope: &NameScope<'a>, atom: &'a Atom, span: Span) -> Vec<AlternativeDraft> {
        let mut parts = match &atom.subject {
            AtomSubject::Tool(name) => match self.resolve_symbol(scope.file, &name.text) {
                Some((FileSymbol::Step(number), declared)) => {
                    self.symbols.add_reference(name.span, declared);
                    let parts = self.expand_step(scope, number, name, atom.arguments.as_deref().unwrap_or(&[]));
                    self.within_limit(parts, name.span)
                }
                Some((FileSymbol::Broken, _)) => vec![AlternativeDraft::any_of_kind(StepKind::Call, NameTest::Any)],
                symbol => {
                    if let Some((FileSymbol::Param(number), _)) = symbol {
                        self.report_bare_param(number, name);
                    }
                    let part = self.tool_draft(scope, name);
                    self.with_other_names(scope, part, atom)
                }
            },
            AtomSubject::QuotedTool(name) => {
                self.check_tool(scope, &name.text, name.span);
                let part = self.exact_tool(&name.text);
                self.with_other_names(scope, part, atom)
            }
            AtomSubject::ToolText(text) => {
                let part = self.described_tool(scope, text);
                vec![self.with_entries(scope, part, atom)]
            }
            AtomSubject::Kind { kind, word: _, text } => {
                let part = self.kind_draft(scope, *kind, text.as_ref());
                vec![self.with_entries(scope, part, atom)]
            }
        };
        if let Some(status) = atom.status {
            self.with_status(&mut parts, status, span);
        }
        if let Some(by) = &atom.by {
            self.with_agent(scope, &mut parts, by);
        }
        if let Some(tag) = &atom.tagged {
            self.with_tag(&mut parts, tag);
        }
        if atom.proposed {
            self.mark_proposed(&mut parts, span);
        }
        parts
    }

    fn with_other_names(
        &mut self,
        scope: &NameScope<'a>,
        part: AlternativeDraft,
        atom: &'a Atom,
    ) -> Vec<AlternativeDraft> {
        let others = match &part.name {
            NameTest::Exactly(name) => self.catalogue.other_names(name),
            _ => Vec::new(),
        };
        let names = std::iter::once(part.name.clone()).chain(others);
        let parts: Vec<AlternativeDraft> = names.map(|name| AlternativeDraft { name, ..part.clone() }).collect();
        parts.into_iter().map(|part| self.with_entries(scope, part, atom)).collect()
    }

    fn with_entries(&mut self, scope: &NameScope<'a>, mut part: AlternativeDraft, atom: &'a Atom) -> AlternativeDraft {
        let lenient = self.catalogue.lenient;
        self.catalogue.lenient |= part.lenient;
        let mut inner = scope.with_step(part.shape.clone()).on_side(LookupSide::Left);
        let mut program = None;
        if matches!(&atom.subject, AtomSubject::Kind { text: Some(KindText::Command(_)), .. }) {
            let (with_program, local) = inner.with_local("", Ty::Any);
            (inner, program) = (with_program, Some(local));
        }
        self.check_entries(&inner, atom.arguments.as_deref().unwrap_or_default(), &mut part);
        if let Some(program) = program {
            kinds::join_program_tests(&mut part.tests, program);
        }
        self.catalogue.lenient = lenient;
        part
    }

    /// A bare tool name: `any`, a glob or exactly this.
    fn tool_draft(&mut self, scope: &NameScope<'a>, name: &ast::Name) -> AlternativeDraft {
        if name.text == "any" {
            return AlternativeDraft::any_of_kind(StepKind::Call, NameTest::Any);
        }
        if name.text.contains(['*', '?']) {
            self.check_tool_glob(&name.text, name.span);
            let mut part = AlternativeDraft {
                lenient: true,
                ..AlternativeDraft::any_of_kind(StepKind::Call, NameTest::Glob(name.text.clone()))
            };
            part.shape.arguments = self.catalogue.arguments_of_glob(&name.text);
            return part;
        }
        if !self.scopes.get(scope.file).is_some_and(|scope| scope.incomplete) {
            self.check_tool(scope, &name.text, name.span);
        }
        self.exact_tool(&name.text)
    }

    fn exact_tool(&self, name: &str) -> AlternativeDraft {
        let mut part = AlternativeDraft::any_of_kind(StepKind::Call, NameTest::Exactly(name.to_owned()));
        part.shape.arguments = self.catalogue.tool_arguments(name);
        part
    }

    fn with_status(&mut self, parts: &mut [AlternativeDraft], status: StatusWord, span: Span) {
        for part in parts {
            if part.shape.has_field("ok") {
                part.succeeded = Some(status == StatusWord::Ok);
            } else {
                let kind = part.kind.as_str();
                self.report_diagnostic(
                    Diagnostic::new(Slug::UnknownField, span, format!("a {kind} has no status")).with_help(
                        "`ok` and `failed` belong after calls, commands, reads, writes, http requests and spans",
                    ),
                );
            }
        }
    }

    /// `by researcher`: same meaning as `agent: "researcher"`.
    fn with_agent(&mut self, scope: &NameScope<'a>, parts: &mut [AlternativeDraft], by: &'a ByAgent) {
        let agent = kinds::step_field(of_step::AGENT, by.span);
        let (kind, operand) = match &by.agent {
            AgentPattern::Binding(binding) => {
                let ast::ExprKind::Binding(name) = &binding.kind else { return };
                let number = self.bind_name(scope, name);
                parts.iter_mut().for_each(|part| part.binds.push((number, agent.clone())));
                return;
            }
            AgentPattern::Name(name) if name.text.contains(['*', '?']) => {
                let number = self.add_regex(super::regex::of_glob(&name.text), name.text.clone());
                (TestKind::Matches, CheckedExpr::new(ir::ExprKind::Regex(number), name.span, Ty::Any).expr)
            }
            AgentPattern::Name(name) => {
                let name_of = ir::ExprKind::Constant(Constant::Text(name.text.clone()));
                (TestKind::Equal, CheckedExpr::new(name_of, name.span, Ty::String).expr)
            }
            AgentPattern::Text(text) => (TestKind::Equal, self.text_literal(scope, text).expr),
            AgentPattern::Regex(regex) => (TestKind::Matches, self.regex_literal(regex, Some(of_step::AGENT)).expr),
        };
        parts.iter_mut().for_each(|part| part.tests.push(kinds::positive_test(kind, agent.clone(), operand.clone())));
    }

    /// `tagged destructive`: a tag of the called tool.
    fn with_tag(&mut self, parts: &mut [AlternativeDraft], tag: &ast::Name) {
        for part in parts {
            if part.kind == StepKind::Call {
                let constant = ir::ExprKind::Constant(Constant::Text(tag.text.clone()));
                let tag_name = CheckedExpr::new(constant, tag.span, Ty::String).expr;
                let tags = kinds::step_field(of_step::TAGS, tag.span);
                part.tests.push(kinds::positive_test(TestKind::In, tag_name, tags));
            } else {
                let kind = part.kind.as_str();
                self.report_diagnostic(
                    Diagnostic::new(Slug::CallsOnly, tag.span, format!("tools have tags, and this is a {kind}"))
                        .with_help("`tagged` belongs after calls: name a tool, or `any`"),
                );
            }
        }
    }

    fn mark_proposed(&mut self, parts: &mut [AlternativeDraft], span: Span) {
        for part in parts {
            if part.kind == StepKind::Call {
                part.proposed = true;
            } else {
                let kind = part.kind.as_str();
                self.report_diagnostic(
                    Diagnostic::new(
                        Slug::CallsOnly,
                        span,
                        format!("`proposed` works only on calls, and this is a {kind}"),
                    )
                    .with_help("only calls can be denied or pending: name a tool"),
                );
            }
        }
    }

    /// Expands a `def step`: plain parameters become the given expressions, `$` parameters the given bindings.
    fn expand_step(
        &mut self,
        scope: &NameScope<'a>,
        number: usize,
        name: &'a ast::Name,
        given: &'a [PatternArgument],
    ) -> Vec<AlternativeDraft> {
        let Some(entry) = self.definitions.step_entry(number) else { return Vec::new() };
        if self.definitions.expanding.contains(&number) {
            self.report_recursion(&name.text, Some(name.span));
            return vec![AlternativeDraft::any_of_kind(StepKind::Call, NameTest::Any)];
        }
        if given.len() != entry.parameters.len() {
            self.report_step_arguments(entry.name, entry.parameters, name, given);
            return vec![AlternativeDraft::any_of_kind(StepKind::Call, NameTest::Any)];
        }
        if let Some(parts) = self.definitions.plain_steps.get(&number) {
            return parts.to_vec();
        }
        let mut inner = NameScope::of_file(entry.file);
        inner.next_local = scope.next_local;
        let mistakes = self.diagnostics.0.len();
        let Some(suffix) = self.bindings.begin_expansion() else {
            self.report_too_many(name.span);
            return vec![AlternativeDraft::any_of_kind(StepKind::Call, NameTest::Any)];
        };
        let mut renamed = RenamedBindings { suffix, ..RenamedBindings::default() };
        let outer = Rc::new(NameScope { step: None, side: LookupSide::Plain, ..scope.clone() });
        for (parameter, argument) in entry.parameters.iter().zip(given) {
            match (parameter.text.strip_prefix('$'), argument) {
                (Some(inside), PatternArgument::Test(ast::Expr { kind: ast::ExprKind::Binding(outside), .. })) => {
                    renamed.given.insert(inside.to_owned(), super::bindings::binding_key(scope, outside));
                    self.note_binding(scope, outside);
                }
                (None, PatternArgument::Test(value)) if !matches!(value.kind, ast::ExprKind::Binding(_)) => {
                    let value = VariableValue::Given(value, Rc::clone(&outer));
                    inner.variables.push(ScopeVariable { name: &parameter.text, value });
                }
                _ => {
                    self.report_step_arguments(entry.name, entry.parameters, name, given);
                    return vec![AlternativeDraft::any_of_kind(StepKind::Call, NameTest::Any)];
                }
            }
        }
        inner.renamed = Some(Rc::new(renamed));
        self.definitions.expanding.push(number);
        let parts = self.pattern_parts(&inner, entry.body);
        self.definitions.expanding.pop();
        // A mistake is reported wherever the definition is used.
        if given.is_empty() && self.diagnostics.0.len() == mistakes && parts.iter().all(AlternativeDraft::is_plain) {
            self.definitions.plain_steps.insert(number, Rc::from(parts.as_slice()));
        }
        parts
    }

    fn within_limit(&mut self, parts: Vec<AlternativeDraft>, place: Span) -> Vec<AlternativeDraft> {
        if self.bindings.count_alternatives(parts.len()) {
            return parts;
        }
        self.report_too_many(place);
        vec![AlternativeDraft::any_of_kind(StepKind::Call, NameTest::Any)]
    }

    pub(super) fn report_too_many(&mut self, place: Span) {
        if self.bindings.has_just_overflowed() {
            let message = format!(
                "the definitions of this statement come to more than {} in their places, or to more than {} steps to choose from",
                super::bindings::EXPANSIONS,
                super::bindings::ALTERNATIVES,
            );
            self.report_diagnostic(
                Diagnostic::new(Slug::TooLarge, place, message)
                    .with_help("use fewer `def step`s that use others, or name the tools with a glob"),
            );
        }
    }

    fn report_step_arguments(
        &mut self,
        step: &ast::Name,
        parameters: &[ast::Name],
        name: &ast::Name,
        given: &[PatternArgument],
    ) {
        let names: Vec<&str> = parameters.iter().map(|parameter| parameter.text.as_str()).collect();
        let call = if names.is_empty() { step.text.clone() } else { format!("{}({})", step.text, names.join(", ")) };
        let (count, found) = (parameters.len(), given.len());
        let message = if count == found {
            format!("the arguments of `{}` do not fit its parameters", step.text)
        } else {
            let noun = if count == 1 { "argument" } else { "arguments" };
            format!("`{}` takes {count} {noun}, found {found}", step.text)
        };
        self.report_diagnostic(
            Diagnostic::new(Slug::ArgumentCount, name.span, message)
                .with_other(step.span, "declared here")
                .with_help(format!("write `{call}`: a plain parameter takes a value, `$id` a binding")),
        );
    }

    pub(super) fn step_names(&self, file: usize) -> Vec<String> {
        let names = self.scopes.get(file).into_iter().flat_map(|scope| scope.names.iter());
        names.filter(|(_, one)| matches!(one.symbol, FileSymbol::Step(_))).map(|(name, _)| name.clone()).collect()
    }
}

/// Scope of a pattern: file names and bindings, without an enclosing step.
fn pattern_scope<'a>(scope: &NameScope<'a>) -> NameScope<'a> {
    NameScope { step: None, side: LookupSide::Plain, response: false, ..scope.clone() }
}

fn union_shape(parts: &[AlternativeDraft]) -> StepShape {
    let mut kinds = Vec::new();
    for part in parts {
        if !kinds.contains(&part.kind) {
            kinds.push(part.kind);
        }
    }
    let known: Vec<Option<DescribedValue>> = parts.iter().map(|part| part.shape.arguments.clone()).collect();
    let all_known = !known.is_empty() && known.iter().all(Option::is_some);
    let arguments = if all_known { DescribedValue::any_of(known.into_iter().flatten()) } else { None };
    StepShape { kinds, arguments, word: None }
}
