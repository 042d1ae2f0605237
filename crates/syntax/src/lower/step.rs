//! Lowers step patterns and flows (language reference, section 5).

use super::qualifiers::{Qualifiers, is_qualifier};
use super::{GrammarPair, NodeChildren, SyntaxLowering};
use crate::ast::{
    AgentPattern, Atom, AtomSubject, ByAgent, Expr, ExprKind, FlowExpr, FlowKind, KindText, Name, PatternArgument,
    PatternForm, StepPattern, StepWord, TextOrRegex,
};
use crate::grammar::Rule;
use averment_base::source::Span;

/// The preceding patterns in a list, so that a text in the list can take over an earlier kind word.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ListContext {
    /// The last kind word.
    kind: Option<StepWord>,
    /// True if it precedes a program name with parentheses: `command rm(flags: ["-f"])`.
    is_parsed: bool,
    /// A tool after the kind word.
    tool: Option<Span>,
}

impl SyntaxLowering<'_> {
    /// Lowers a step pattern that is not part of a list.
    pub(crate) fn lower_step(&mut self, node: GrammarPair<'_>) -> Option<StepPattern> {
        self.pattern_list(|lower| lower.listed_step(node))
    }

    /// Lowers the patterns of one list.
    pub(super) fn pattern_list<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::take(&mut self.listed);
        let result = work(self);
        self.listed = outer;
        result
    }

    /// Lowers a step pattern in a list.
    pub(super) fn listed_step(&mut self, node: GrammarPair<'_>) -> Option<StepPattern> {
        let span = self.node_span(&node);
        let mut parts: Vec<StepPattern> = Vec::new();
        let mut condition = None;
        for child in NodeChildren::of_node(node) {
            match child.as_rule() {
                Rule::bar => {}
                rule if is_qualifier(rule) => self.qualify_group(parts.last_mut()?, child)?,
                Rule::where_clause => {
                    let before = parts.first()?.span.cover_with(parts.last()?.span);
                    condition = Some(self.open_condition(child, before)?);
                }
                _ => parts.push(self.step_part(child)?),
            }
        }
        let choice = parts.len() > 1;
        let step = one_or_choice(parts)?;
        let Some((word, condition)) = condition else { return Some(step) };
        if choice {
            let written = self.source_text(step.span).to_owned();
            self.report_error(
                word,
                "a condition behind a choice needs parentheses around the choice",
                format!("write `({written}) where …`, or put each pattern with its own condition in parentheses"),
            );
        }
        Some(StepPattern { kind: PatternForm::Where { step: Box::new(step), condition }, span })
    }

    fn open_condition(&mut self, node: GrammarPair<'_>, step: Span) -> Option<(Span, Expr)> {
        let mut children = NodeChildren::of_node(node);
        let word = children.next_if_rule(Rule::k_where)?;
        let word = self.node_span(&word);
        // In parentheses, the condition ends with them, so a bar in it is not a choice.
        let enclosed = self.in_step_group;
        let outer = std::mem::replace(&mut self.open_where, (!enclosed).then_some((step, word)));
        let condition = self.lower_expression(children.next()?);
        self.open_where = outer;
        Some((word, condition?))
    }

    pub(super) fn step_part(&mut self, node: GrammarPair<'_>) -> Option<StepPattern> {
        let span = self.node_span(&node);
        match node.as_rule() {
            Rule::step_group => self.step_group(node),
            Rule::proposed_group => {
                let group = NodeChildren::of_node(node).find(|child| child.as_rule() == Rule::step_group)?;
                // Only calls can be proposed, so no kind word is taken over.
                let step = self.pattern_list(|lower| lower.step_group(group))?;
                Some(StepPattern { kind: PatternForm::Proposed(Box::new(step)), span })
            }
            _ => Some(StepPattern { kind: PatternForm::Atom(self.lower_atom(node)?), span }),
        }
    }

    fn step_group(&mut self, node: GrammarPair<'_>) -> Option<StepPattern> {
        let span = self.node_span(&node);
        let inner = NodeChildren::of_node(node).next()?;
        let step = self.in_brackets(span, |lower| {
            lower.in_step_group = true;
            lower.listed_step(inner)
        });
        Some(StepPattern { span, ..step? })
    }

    fn lower_atom(&mut self, node: GrammarPair<'_>) -> Option<Atom> {
        let mut children = NodeChildren::of_node(node);
        let proposed = children.skip_word(Rule::proposed);
        let subject = self.lower_subject(children.next()?, proposed)?;
        let arguments = match children.next_if_rule(Rule::entries) {
            Some(entries) => Some(self.lower_entries(entries)?),
            None => None,
        };
        if let AtomSubject::Tool(name) = &subject {
            self.tool_of_list(name, arguments.as_deref().unwrap_or_default());
        }
        let Qualifiers { status, by, tagged } = self.lower_qualifiers(children)?;
        Some(Atom { subject, arguments, status, by, tagged, proposed })
    }

    pub(super) fn lower_by(&mut self, node: GrammarPair<'_>) -> Option<ByAgent> {
        let span = self.node_span(&node);
        let agent = NodeChildren::of_node(node).find(|child| child.as_rule() != Rule::k_by)?;
        let agent = match agent.as_rule() {
            Rule::agent_name => AgentPattern::Name(self.node_name(&agent)),
            Rule::binding => {
                let name = agent.as_str().trim_start_matches('$').to_owned();
                AgentPattern::Binding(Expr { kind: ExprKind::Binding(name), span: self.node_span(&agent) })
            }
            _ => match self.text_or_regex(agent)? {
                TextOrRegex::Text(text) => AgentPattern::Text(text),
                TextOrRegex::Regex(regex) => AgentPattern::Regex(regex),
            },
        };
        Some(ByAgent { agent, span })
    }

    fn lower_subject(&mut self, node: GrammarPair<'_>, proposed: bool) -> Option<AtomSubject> {
        match node.as_rule() {
            // Only calls can be proposed.
            Rule::quoted_tool if proposed || self.listed.kind.is_none() => {
                let text = self.lower_text(node.into_inner().next()?)?;
                Some(match text.literal_text() {
                    Some(literal) => AtomSubject::QuotedTool(Name { text: literal.to_owned(), span: text.span }),
                    None => AtomSubject::ToolText(text),
                })
            }
            Rule::quoted_tool => {
                let text = node.into_inner().next()?;
                self.goes_on(text)
            }
            Rule::regex => self.goes_on(node),
            Rule::kind_subject => {
                let mut children = NodeChildren::of_node(node);
                let word = children.next_if_rule(Rule::kind_word)?;
                let text = match children.next() {
                    Some(text) => Some(self.kind_text(text)?),
                    None => None,
                };
                let kind = kind_word(word.as_str());
                let is_parsed = matches!(text, Some(KindText::Command(_)));
                self.listed = ListContext { kind: Some(kind), is_parsed, tool: None };
                Some(AtomSubject::Kind { kind, word: Some(self.node_span(&word)), text })
            }
            _ => Some(AtomSubject::Tool(self.node_name(&node))),
        }
    }

    /// Lowers a text or a regular expression that takes over the preceding kind word.
    fn goes_on(&mut self, node: GrammarPair<'_>) -> Option<AtomSubject> {
        let (span, written) = (self.node_span(&node), self.node_text(&node).to_owned());
        let ListContext { kind, tool, .. } = self.listed;
        let Some(kind) = kind else {
            let help = format!(
                "write the kind of step in front, such as `command {written}`, or `(any where tool matches {written})`"
            );
            self.report_error(span, "a regular expression alone names no step", help);
            return None;
        };
        if let Some(tool) = tool {
            let (word, name) = (kind.as_str(), self.source_text(tool).to_owned());
            let mut help = format!("write `{word} {written}`");
            if node.as_rule() != Rule::regex {
                help.push_str(&format!("; where it is the name of a tool, put it in front of `{word}`"));
            }
            self.report_error(
                span,
                format!("`{name}` is a tool, so {written} may go on with it or with `{word}`"),
                help,
            );
        }
        let text = Some(self.kind_text(node)?);
        Some(AtomSubject::Kind { kind, word: None, text })
    }

    /// Records a tool in a list, because a bare name is a tool even after a kind word. Reports a tool with entries of a command, such as `flags`.
    fn tool_of_list(&mut self, name: &Name, entries: &[PatternArgument]) {
        let is_of_command = |entry: &PatternArgument| match entry {
            PatternArgument::Matches { path: Expr { kind: ExprKind::Name(path), .. }, .. } => {
                matches!(path.as_str(), "args" | "flags" | "options")
            }
            _ => false,
        };
        if self.listed.is_parsed && entries.iter().any(is_of_command) {
            self.report_error(
                name.span,
                format!("`{}` is a tool here, and these are entries of a command", name.text),
                format!("write `command {}(…)`; a tool stands in front of the commands", name.text),
            );
        }
        self.listed.tool = Some(name.span);
    }

    fn kind_text(&mut self, node: GrammarPair<'_>) -> Option<KindText> {
        Some(match node.as_rule() {
            Rule::command_name => KindText::Command(self.node_name(&node)),
            _ => match self.text_or_regex(node)? {
                TextOrRegex::Text(text) => KindText::Text(text),
                TextOrRegex::Regex(regex) => KindText::Regex(regex),
            },
        })
    }

    pub(super) fn text_or_regex(&mut self, node: GrammarPair<'_>) -> Option<TextOrRegex> {
        Some(match node.as_rule() {
            Rule::regex => TextOrRegex::Regex(self.lower_regex(node)?),
            _ => TextOrRegex::Text(self.lower_text(node)?),
        })
    }

    fn lower_entries(&mut self, node: GrammarPair<'_>) -> Option<Vec<PatternArgument>> {
        let span = self.node_span(&node);
        self.in_brackets(span, |lower| NodeChildren::of_node(node).map(|entry| lower.lower_entry(entry)).collect())
    }

    fn lower_entry(&mut self, node: GrammarPair<'_>) -> Option<PatternArgument> {
        let span = self.node_span(&node);
        let mut children = NodeChildren::of_node(node);
        let first = children.next()?;
        let path = match first.as_rule() {
            Rule::entry_key => Expr { kind: ExprKind::Name(first.as_str().to_owned()), span: self.node_span(&first) },
            _ => {
                // A key with a dash parses as a difference; it is reported once, as an invalid key.
                let before = self.diagnostics.0.len();
                let path = self.lower_expression(first)?;
                if children.peek_rule().is_some() && !is_path(&path) {
                    self.diagnostics.0.truncate(before);
                    let value = children.peek_text();
                    self.no_path(&path, value);
                }
                path
            }
        };
        match children.next() {
            Some(value) => Some(PatternArgument::Matches { path, value: self.lower_expression(value)?, span }),
            None => Some(PatternArgument::Test(path)),
        }
    }

    fn no_path(&mut self, path: &Expr, value: &str) {
        let written = self.source_text(path.span).to_owned();
        let plain = written.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        match written.find('-').filter(|_| plain) {
            Some(dash) => {
                let start = path.span.start.saturating_add(u32::try_from(dash).unwrap_or(0));
                let place = Span { start, end: start.saturating_add(1), ..path.span };
                self.dashed_key(place, &Name { text: written, span: path.span }, value);
            }
            None => self.report_error(
                path.span,
                format!("`{written}` is not the path of an argument"),
                "in front of `:` stands a path such as `amount` or `customer.name`; a test needs no `:`, for example `amount > 100`",
            ),
        }
    }

    pub(super) fn flow_sequence(&mut self, node: GrammarPair<'_>) -> Option<FlowExpr> {
        let span = self.node_span(&node);
        let mut parts: Vec<FlowExpr> =
            NodeChildren::of_node(node).map(|child| self.flow_choice(child)).collect::<Option<_>>()?;
        if parts.len() == 1 { parts.pop() } else { Some(FlowExpr { kind: FlowKind::Sequence(parts), span }) }
    }

    fn flow_choice(&mut self, node: GrammarPair<'_>) -> Option<FlowExpr> {
        let span = self.node_span(&node);
        let parts = NodeChildren::of_node(node).filter(|child| child.as_rule() != Rule::bar);
        let mut parts: Vec<FlowExpr> =
            self.pattern_list(|lower| parts.map(|part| lower.flow_part(part)).collect::<Option<_>>())?;
        if parts.len() == 1 { parts.pop() } else { Some(FlowExpr { kind: FlowKind::Choice(parts), span }) }
    }

    fn flow_part(&mut self, node: GrammarPair<'_>) -> Option<FlowExpr> {
        if node.as_rule() == Rule::flow_repeat {
            return self.flow_repeat(node);
        }
        let step = self.step_part(node)?;
        Some(FlowExpr { span: step.span, kind: FlowKind::Step(step) })
    }

    fn flow_repeat(&mut self, node: GrammarPair<'_>) -> Option<FlowExpr> {
        let span = self.node_span(&node);
        let mut children = NodeChildren::of_node(node);
        let group = children.next_if_rule(Rule::flow_group)?;
        let body = self.flow_group(group)?;
        let Some(sign) = children.next_if_rule(Rule::repetition) else { return Some(FlowExpr { span, ..body }) };
        let (least, most) = self.lower_repetition(sign)?;
        Some(FlowExpr { kind: FlowKind::Repeat { body: Box::new(body), least, most }, span })
    }

    fn flow_group(&mut self, node: GrammarPair<'_>) -> Option<FlowExpr> {
        let span = self.node_span(&node);
        let mut children = NodeChildren::of_node(node);
        let inner = children.next_if_rule(Rule::flow_sequence)?;
        let flow = self.in_brackets(span, |lower| lower.flow_sequence(inner))?;
        let Some(clause) = children.next_if_rule(Rule::where_clause) else { return Some(flow) };
        let word = self.node_span(&clause);
        let condition = NodeChildren::of_node(clause).find(|child| child.as_rule() == Rule::expression)?;
        let condition = self.in_brackets(span, |lower| lower.lower_expression(condition))?;
        match as_step(flow) {
            Some(step) => {
                let step = StepPattern { kind: PatternForm::Where { step: Box::new(step), condition }, span };
                Some(FlowExpr { kind: FlowKind::Step(step), span })
            }
            None => {
                self.report_error(
                    word,
                    "`where` speaks of one step, and a flow with `->` or repetition stands before it",
                    "put one step and its condition in parentheses: `(search where args.depth <= 3)`",
                );
                None
            }
        }
    }

    fn lower_repetition(&mut self, node: GrammarPair<'_>) -> Option<(u32, Option<u32>)> {
        let span = self.node_span(&node);
        let written = self.node_text(&node);
        let mut children = NodeChildren::of_node(node.clone());
        match children.peek_rule()? {
            Rule::star => return Some((0, None)),
            Rule::plus => return Some((1, None)),
            Rule::optional_sign => return Some((0, Some(1))),
            _ => {}
        }
        let counts: Vec<Option<u32>> = children.map(|digits| digits.as_str().replace('_', "").parse().ok()).collect();
        let open = written.contains(',');
        match counts.as_slice() {
            [Some(count)] if !open => Some((*count, Some(*count))),
            [Some(least)] => Some((*least, None)),
            [Some(least), Some(most)] => Some((*least, Some(*most))),
            _ => {
                self.report_error(span, "a repetition counts with small whole numbers", "write `(search){2,3}`");
                Some((0, None))
            }
        }
    }
}

/// True for names, fields and indexes that start at a plain name or a quoted key.
fn is_path(expr: &Expr) -> bool {
    let mut expr = expr;
    loop {
        expr = match &expr.kind {
            ExprKind::Name(_) => return true,
            ExprKind::Text(text) => return text.literal_text().is_some(),
            ExprKind::Field { base, .. }
            | ExprKind::Index { base, .. }
            | ExprKind::Every { base }
            | ExprKind::Deep { base } => base,
            _ => return false,
        }
    }
}

fn one_or_choice(mut parts: Vec<StepPattern>) -> Option<StepPattern> {
    if parts.len() == 1 {
        return parts.pop();
    }
    let span = parts.first()?.span.cover_with(parts.last()?.span);
    Some(StepPattern { kind: PatternForm::Choice(parts), span })
}

fn as_step(flow: FlowExpr) -> Option<StepPattern> {
    match flow.kind {
        FlowKind::Step(step) => Some(step),
        FlowKind::Choice(parts) => {
            let parts = parts.into_iter().map(as_step).collect::<Option<Vec<_>>>()?;
            one_or_choice(parts)
        }
        _ => None,
    }
}

fn kind_word(text: &str) -> StepWord {
    StepWord::ALL.into_iter().find(|word| word.as_str() == text).unwrap_or(StepWord::Span)
}
