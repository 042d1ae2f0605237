//! Lowers statements (language reference, sections 4, 6 and 9).

use super::{GrammarPair, NodeChildren, SyntaxLowering};
use crate::ast::{
    BlockScope, Expr, GroupKind, NeverWindow, PredicateTarget, Quantifier, SequenceMode, SlidingExtent, Statement,
    StatementKind, StepCount, StepPattern, SyntaxItem, ValueTest, WithinBound, WithinUnit, WorldCheck,
};
use crate::grammar::{self, Rule};
use averment_base::source::Span;

impl SyntaxLowering<'_> {
    pub(super) fn lower_statement(&mut self, node: GrammarPair<'_>) -> Option<Statement> {
        let span = self.node_span(&node);
        let kind = self.statement_kind(node)?;
        Some(Statement { kind, span })
    }

    fn statement_kind(&mut self, node: GrammarPair<'_>) -> Option<StatementKind> {
        let mut children = NodeChildren::of_node(node.clone());
        match node.as_rule() {
            Rule::expression_statement => self.expression_statement(children),
            Rule::not_statement => {
                let span = self.node_span(&node);
                children.skip_word(Rule::k_not);
                let inner = children.next()?;
                Some(StatementKind::Not(Box::new(self.with_depth(1, span, |lower| lower.lower_statement(inner))?)))
            }
            Rule::require_statement => self.lower_require(&mut children),
            Rule::repeat_statement => self.lower_repeat(children),
            Rule::never_statement => self.lower_never(children),
            Rule::only_statement => Some(StatementKind::Only { steps: self.steps_of(&mut children)? }),
            Rule::count_statement => self.lower_count(&mut children),
            Rule::first_statement => Some(StatementKind::First { step: self.step_of(&mut children)? }),
            Rule::last_statement => Some(StatementKind::Last { step: self.step_of(&mut children)? }),
            Rule::before_statement | Rule::starts_statement => self.lower_before(children),
            Rule::after_statement => self.lower_after(children),
            Rule::immediately_statement => self.lower_immediately(children),
            Rule::sequence_statement => self.lower_sequence(children),
            Rule::no_statement => self.lower_no(children),
            Rule::valid_statement => self.lower_valid(children),
            Rule::match_statement => self.lower_match(children),
            Rule::score_statement => self.lower_score(&node, children),
            Rule::between_block | Rule::when_block | Rule::each_statement => self.lower_scoped(&node),
            Rule::group_statement => self.group_of(children),
            Rule::world_statement => self.lower_world(children.next()?).map(StatementKind::World),
            Rule::flow_statement => {
                let flow = children.find(|child| child.as_rule() == Rule::flow_sequence)?;
                Some(StatementKind::Flow { flow: self.flow_sequence(flow)? })
            }
            Rule::some_statement => self.lower_some(children),
            Rule::either_statement => self.lower_either(children),
            Rule::nested_statement => {
                self.two_steps(&mut children).map(|(open, close)| StatementKind::Nested { open, close })
            }
            Rule::together_statement => {
                self.listed_pair(&mut children).map(|(left, right)| StatementKind::Together { left, right })
            }
            Rule::apart_statement => {
                self.listed_pair(&mut children).map(|(left, right)| StatementKind::Apart { left, right })
            }
            Rule::not_both_statement => {
                self.listed_pair(&mut children).map(|(left, right)| StatementKind::NotBoth { left, right })
            }
            Rule::if_statement => {
                let (condition, consequence) = self.two_steps(&mut children)?;
                Some(StatementKind::IfThen { condition, consequence })
            }
            Rule::rate_statement => self.lower_rate(children),
            Rule::power_statement => self.lower_power(children),
            Rule::infix_statement => self.lower_infix(children),
            // A grammar rule without a row here yields no statement; a test of the examples in the statement table detects that.
            _ => None,
        }
    }

    fn expression_statement(&mut self, mut children: NodeChildren<'_>) -> Option<StatementKind> {
        let condition = self.lower_expression(children.next()?)?;
        let over = match children.next_if_rule(Rule::in_a_row) {
            Some(row) => Some(SlidingExtent::Row(self.node_span(&row))),
            None => self.lower_within(&mut children)?.map(SlidingExtent::Within),
        };
        Some(match over {
            Some(over) => StatementKind::Sliding { condition, over },
            None => StatementKind::Expression(condition),
        })
    }

    fn step_of(&mut self, children: &mut NodeChildren<'_>) -> Option<StepPattern> {
        self.pattern_list(|lower| lower.listed_step_of(children))
    }

    /// Returns the next step, as part of a list.
    fn listed_step_of(&mut self, children: &mut NodeChildren<'_>) -> Option<StepPattern> {
        let node = children.find(|child| matches!(child.as_rule(), Rule::step | Rule::listed_step))?;
        self.listed_step(node)
    }

    /// Returns a list of steps.
    fn steps_of(&mut self, children: &mut NodeChildren<'_>) -> Option<Vec<StepPattern>> {
        self.pattern_list(|lower| {
            let mut steps = vec![lower.listed_step_of(children)?];
            while let Some(node) = children.next_if_rule(Rule::listed_step) {
                steps.push(lower.listed_step(node)?);
            }
            Some(steps)
        })
    }

    /// Returns the next two steps, which are independent.
    fn two_steps(&mut self, children: &mut NodeChildren<'_>) -> Option<(StepPattern, StepPattern)> {
        Some((self.step_of(children)?, self.step_of(children)?))
    }

    /// Returns the next two steps, which form a list.
    fn listed_pair(&mut self, children: &mut NodeChildren<'_>) -> Option<(StepPattern, StepPattern)> {
        self.pattern_list(|lower| Some((lower.listed_step_of(children)?, lower.listed_step_of(children)?)))
    }

    fn lower_some(&mut self, mut children: NodeChildren<'_>) -> Option<StatementKind> {
        let step = self.step_of(&mut children)?;
        Some(StatementKind::Each { quantifier: Quantifier::Some, step, condition: self.lower_condition(children)? })
    }

    fn lower_either(&mut self, mut children: NodeChildren<'_>) -> Option<StatementKind> {
        self.pattern_list(|lower| {
            let mut steps = vec![lower.listed_step_of(&mut children)?];
            while children.skip_word(Rule::k_or) {
                steps.push(lower.listed_step_of(&mut children)?);
            }
            Some(StatementKind::Either { steps })
        })
    }

    /// Lowers `A iff B` and `B only after A`.
    fn lower_infix(&mut self, mut children: NodeChildren<'_>) -> Option<StatementKind> {
        let left = self.step_of(&mut children)?;
        let only_after = children.peek_rule() == Some(Rule::k_only);
        let right = self.step_of(&mut children)?;
        if !only_after {
            return Some(StatementKind::Iff { left, right });
        }
        let (each, immediately, starts, within, reversed) = (false, false, false, None, true);
        Some(StatementKind::Before { each, immediately, starts, step: right, targets: vec![left], within, reversed })
    }

    fn lower_condition(&mut self, mut children: NodeChildren<'_>) -> Option<Expr> {
        let condition = children.find(|child| child.as_rule() == Rule::condition)?;
        self.lower_expression(NodeChildren::of_node(condition).next()?)
    }

    fn lower_require(&mut self, children: &mut NodeChildren<'_>) -> Option<StatementKind> {
        let step = self.step_of(children)?;
        let times = match children.next_if_rule(Rule::times) {
            Some(node) => {
                let span = self.node_span(&node);
                self.where_before(&step, "a number of times", span);
                Some(self.lower_times(NodeChildren::of_node(node).next()?)?)
            }
            None => None,
        };
        Some(StatementKind::Require { step, times })
    }

    fn where_before(&mut self, step: &StepPattern, what: &str, rest: Span) {
        let crate::ast::PatternForm::Where { step: inner, condition } = &step.kind else { return };
        let written = self.source_text(step.span).to_owned();
        if written.starts_with('(') && written.ends_with(')') && step.span.start < inner.span.start {
            return;
        }
        let place = inner.span.at_end().cover_with(condition.span.at_start());
        let start = place.start + u32::from(self.source_text(place).starts_with(' '));
        self.report_error(
            Span { start, end: start + 5, ..place },
            format!("`where` ends a pattern, so it needs parentheses before {what}"),
            format!("write `{}({written}) {}`", self.line_before(step.span), self.source_text(rest)),
        );
    }

    fn lower_times(&mut self, node: GrammarPair<'_>) -> Option<StepCount> {
        let span = self.node_span(&node);
        let (mut least, mut most, mut range) = (None, None, false);
        for child in NodeChildren::of_node(node) {
            match child.as_rule() {
                Rule::range_dots => range = true,
                _ if range => most = Some(self.lower_number(&child)),
                _ => least = Some(self.lower_number(&child)),
            }
        }
        if !range {
            most = least.clone();
        }
        Some(StepCount { least, most, span })
    }

    fn lower_repeat(&mut self, mut children: NodeChildren<'_>) -> Option<StatementKind> {
        let step = self.step_of(&mut children)?;
        let limit = children.find(|child| child.as_rule() == Rule::number)?;
        Some(StatementKind::Repeat { step, limit: self.lower_number(&limit) })
    }

    fn lower_never(&mut self, mut children: NodeChildren<'_>) -> Option<StatementKind> {
        let steps = self.steps_of(&mut children)?;
        let window = match children.next_if_rule(Rule::window) {
            Some(node) => Some(self.lower_window(node)?),
            None => None,
        };
        Some(StatementKind::Never { steps, window, within: self.lower_within(&mut children)? })
    }

    fn lower_window(&mut self, node: GrammarPair<'_>) -> Option<NeverWindow> {
        let mut children = NodeChildren::of_node(node);
        let word = children.next()?.as_rule();
        let first = self.step_of(&mut children)?;
        Some(match word {
            Rule::k_before => NeverWindow::Before { close: first },
            Rule::k_between => NeverWindow::Between { open: first, close: self.step_of(&mut children)? },
            _ => NeverWindow::After { open: first, until: self.lower_until(&mut children)? },
        })
    }

    fn lower_until(&mut self, children: &mut NodeChildren<'_>) -> Option<Option<StepPattern>> {
        if children.skip_word(Rule::k_until) { self.step_of(children).map(Some) } else { Some(None) }
    }

    /// Lowers a `within`; the outer `None` means that it is invalid.
    fn lower_within(&mut self, children: &mut NodeChildren<'_>) -> Option<Option<WithinBound>> {
        let Some(node) = children.next_if_rule(Rule::within) else { return Some(None) };
        let span = self.node_span(&node);
        let mut parts = NodeChildren::of_node(node);
        parts.skip_word(Rule::k_within);
        let number = parts.next_if_rule(Rule::number)?;
        let number = self.lower_number(&number);
        let unit = parts.next_if_rule(Rule::within_unit).map(|unit| match NodeChildren::of_node(unit).peek_rule() {
            Some(Rule::k_turn | Rule::k_turns) => WithinUnit::Turns,
            _ => WithinUnit::Calls,
        });
        Some(Some(WithinBound { number, unit, span }))
    }

    fn lower_count(&mut self, children: &mut NodeChildren<'_>) -> Option<StatementKind> {
        let step = self.step_of(children)?;
        let node = children.next_if_rule(Rule::count_test)?;
        let test: ValueTest = self.lower_test(node)?;
        self.where_before(&step, "a comparison", test.span);
        Some(StatementKind::Count { step, test })
    }

    fn lower_targets(&mut self, node: GrammarPair<'_>) -> Option<(Vec<StepPattern>, Option<WithinBound>)> {
        let mut children = NodeChildren::of_node(node);
        let steps = self.steps_of(&mut children)?;
        Some((steps, self.lower_within(&mut children)?))
    }

    fn lower_before(&mut self, mut children: NodeChildren<'_>) -> Option<StatementKind> {
        let starts = children.skip_word(Rule::k_starts);
        children.skip_word(Rule::k_before);
        let each = children.skip_word(Rule::k_each);
        let step = self.step_of(&mut children)?;
        let rest = children.next()?;
        if rest.as_rule() == Rule::block {
            return Some(StatementKind::Block {
                scope: BlockScope::Before { close: step },
                body: self.lower_block(rest)?,
            });
        }
        let (targets, within) = self.lower_targets(rest)?;
        Some(StatementKind::Before { each, immediately: false, starts, step, targets, within, reversed: false })
    }

    fn lower_after(&mut self, mut children: NodeChildren<'_>) -> Option<StatementKind> {
        children.skip_word(Rule::k_after);
        let each = children.skip_word(Rule::k_each);
        let step = self.step_of(&mut children)?;
        if let Some(targets) = children.next_if_rule(Rule::targets) {
            let (targets, within) = self.lower_targets(targets)?;
            return Some(StatementKind::After { each, immediately: false, step, targets, within });
        }
        let until = self.lower_until(&mut children)?;
        let body = self.lower_block(children.next()?)?;
        Some(StatementKind::Block { scope: BlockScope::After { open: step, until }, body })
    }

    fn lower_immediately(&mut self, mut children: NodeChildren<'_>) -> Option<StatementKind> {
        children.skip_word(Rule::k_immediately);
        let before = children.next()?.as_rule() == Rule::k_before;
        let step = self.step_of(&mut children)?;
        let (targets, within) = self.lower_targets(children.next()?)?;
        let (each, immediately) = (false, true);
        Some(if before {
            StatementKind::Before { each, immediately, starts: false, step, targets, within, reversed: false }
        } else {
            StatementKind::After { each, immediately, step, targets, within }
        })
    }

    fn lower_sequence(&mut self, mut children: NodeChildren<'_>) -> Option<StatementKind> {
        children.skip_word(Rule::k_sequence);
        let mode = match children.next_if_rule(Rule::sequence_mode) {
            Some(word) if word.as_str() == "only" => SequenceMode::Only,
            Some(_) => SequenceMode::Exactly,
            None => SequenceMode::Gaps,
        };
        let mut steps = vec![self.step_of(&mut children)?];
        while let Some(node) = children.next_if_rule(Rule::step) {
            steps.push(self.lower_step(node)?);
        }
        Some(StatementKind::Sequence { mode, steps, within: self.lower_within(&mut children)? })
    }

    fn lower_no(&mut self, mut children: NodeChildren<'_>) -> Option<StatementKind> {
        children.skip_word(Rule::k_no);
        if let Some(predicate) = children.next_if_rule(Rule::identifier) {
            let predicate = self.node_name(&predicate);
            let target = children.find(|child| child.as_rule() == Rule::no_target)?;
            return Some(StatementKind::NoPredicate { predicate, target: self.no_target(&target)? });
        }
        let step = self.step_of(&mut children)?;
        Some(StatementKind::Each { quantifier: Quantifier::No, step, condition: self.lower_condition(children)? })
    }

    /// Lowers the text after `in` as an expression and as a step pattern. A reading with errors is dropped; errors are reported only if both have
    /// some.
    fn no_target(&mut self, node: &GrammarPair<'_>) -> Option<PredicateTarget> {
        let span = self.node_span(node);
        let start = node.as_span().start();
        let written = self.text.get(start..super::end_of(node)).unwrap_or("");
        let place = super::TextPlace::whole_text(self.place.file, self.place.file_offset(start));
        let mut readings = SyntaxLowering { depth: self.depth, ..SyntaxLowering::new(written, place, self.limits) };
        let steps = self.limits.rule_steps;
        let expr = grammar::parse_rule(Rule::lone_expression, written, steps)
            .ok()
            .and_then(|body| readings.lower_expression(NodeChildren::of_node(body).next()?));
        let mut expr_mistakes = std::mem::take(&mut readings.diagnostics);
        let expr = expr.filter(|_| expr_mistakes.0.is_empty());
        let is_known = self.no_steps.contains(written);
        let body = if is_known { None } else { grammar::parse_rule(Rule::lone_step, written, steps).ok() };
        if body.is_none() {
            self.no_steps.insert(written);
        }
        let step = body.and_then(|body| readings.lower_step(NodeChildren::of_node(body).next()?));
        let step = step.filter(|_| readings.diagnostics.0.is_empty());
        if expr.is_none() && step.is_none() {
            if expr_mistakes.0.is_empty() {
                expr_mistakes = readings.diagnostics;
            }
            // The text parsed before as part of the statement, but by itself exceeded the step limit.
            if expr_mistakes.0.is_empty() {
                expr_mistakes.push(super::too_many_steps(span, steps));
            }
            self.diagnostics.extend(expr_mistakes);
            return None;
        }
        Some(PredicateTarget { expr, step, span })
    }

    fn lower_valid(&mut self, children: NodeChildren<'_>) -> Option<StatementKind> {
        let (mut step, mut strict) = (None, false);
        for child in children {
            match child.as_rule() {
                Rule::k_strict => strict = true,
                Rule::step => step = Some(self.lower_step(child)?),
                _ => {}
            }
        }
        Some(StatementKind::ArgsValid { step, strict })
    }

    fn lower_scoped(&mut self, node: &GrammarPair<'_>) -> Option<StatementKind> {
        let mut children = NodeChildren::of_node(node.clone());
        if node.as_rule() == Rule::when_block {
            children.skip_word(Rule::k_when);
            let condition = self.lower_expression(children.next()?)?;
            return Some(StatementKind::Block {
                scope: BlockScope::When { condition },
                body: self.lower_block(children.next()?)?,
            });
        }
        let first = self.step_of(&mut children)?;
        if node.as_rule() == Rule::between_block {
            let close = self.step_of(&mut children)?;
            return Some(StatementKind::Block {
                scope: BlockScope::Between { open: first, close },
                body: self.lower_block(children.next()?)?,
            });
        }
        match children.next_if_rule(Rule::block) {
            Some(block) => {
                Some(StatementKind::Block { scope: BlockScope::Each { step: first }, body: self.lower_block(block)? })
            }
            None => Some(StatementKind::Each {
                quantifier: Quantifier::Each,
                step: first,
                condition: self.lower_condition(children)?,
            }),
        }
    }

    fn group_of(&mut self, mut children: NodeChildren<'_>) -> Option<StatementKind> {
        let mut kind = match children.next()?.as_rule() {
            Rule::k_any => GroupKind::Any,
            Rule::k_all => GroupKind::All,
            _ => GroupKind::None,
        };
        let mut body: Option<Vec<SyntaxItem>> = None;
        for child in children {
            match child.as_rule() {
                Rule::number => kind = GroupKind::AtLeast(self.lower_number(&child)),
                Rule::block => body = Some(self.lower_block(child)?),
                _ => {}
            }
        }
        Some(StatementKind::Group { kind, body: body? })
    }

    fn lower_world(&mut self, node: GrammarPair<'_>) -> Option<WorldCheck> {
        let mut children = NodeChildren::of_node(node.clone());
        children.next()?;
        let subject = children.next()?;
        let has = |word| children.rest_rules().any(|rule| rule == word);
        let (negated, empty) = (has(Rule::k_not), has(Rule::k_empty));
        Some(match node.as_rule() {
            Rule::file_check => WorldCheck::File { path: self.lower_text(subject)?, test: self.last_test(children)? },
            Rule::env_check => WorldCheck::Env { name: self.node_name(&subject), empty, negated },
            Rule::tool_check => WorldCheck::Tool { name: self.tool_name(subject)?, negated },
            Rule::http_check => WorldCheck::Http { url: self.text_or_regex(subject)?, test: self.last_test(children)? },
            _ => {
                let code = children.find(|child| child.as_rule() == Rule::number)?;
                WorldCheck::Run { command: self.lower_text(subject)?, code: self.lower_number(&code) }
            }
        })
    }

    fn last_test(&mut self, mut children: NodeChildren<'_>) -> Option<ValueTest> {
        let node = children.find(|child| child.as_rule() == Rule::test)?;
        self.lower_test(node)
    }
}
