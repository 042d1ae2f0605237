//! Step patterns and flows (language reference, section 5).

use super::{Children, Lower, Node};
use crate::ast::{
    Agent, Argument, Atom, By, Expr, ExprKind, Flow, FlowKind, KindText, Name, StatusWord, Step, StepKind, StepWord,
    Subject, TextOrRegex,
};
use crate::grammar::Rule;
use averment_base::source::Span;

/// What stands before a pattern in its list, so that a text in it can go on with a kind word.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Listed {
    /// The last kind word.
    kind: Option<StepWord>,
    /// It stands in front of the name of a program with parentheses: `command rm(flags: ["-f"])`.
    is_parsed: bool,
    /// A tool behind it.
    tool: Option<Span>,
}

impl Lower<'_> {
    /// A step pattern that is no part of a list.
    pub(crate) fn step(&mut self, node: Node<'_>) -> Option<Step> {
        self.pattern_list(|lower| lower.listed_step(node))
    }

    /// Lowers the patterns of one list.
    pub(super) fn pattern_list<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::take(&mut self.listed);
        let result = work(self);
        self.listed = outer;
        result
    }

    /// A step pattern of a list.
    pub(super) fn listed_step(&mut self, node: Node<'_>) -> Option<Step> {
        let span = self.span(&node);
        let mut parts: Vec<Step> = Vec::new();
        let mut condition = None;
        for child in Children::of(node) {
            match child.as_rule() {
                Rule::bar => {}
                Rule::where_clause => {
                    let before = parts.first()?.span.to(parts.last()?.span);
                    condition = Some(self.open_condition(child, before)?);
                }
                _ => parts.push(self.step_part(child)?),
            }
        }
        let choice = parts.len() > 1;
        let step = one_or_choice(parts)?;
        let Some((word, condition)) = condition else { return Some(step) };
        if choice {
            let written = self.source(step.span).to_owned();
            self.error(
                word,
                "a condition behind a choice needs parentheses around the choice",
                format!("write `({written}) where …`, or put each pattern with its own condition in parentheses"),
            );
        }
        Some(Step { kind: StepKind::Where { step: Box::new(step), condition }, span })
    }

    /// The condition of a `where` that may stand without parentheses.
    fn open_condition(&mut self, node: Node<'_>, step: Span) -> Option<(Span, Expr)> {
        let mut children = Children::of(node);
        let word = children.opt(Rule::k_where)?;
        let word = self.span(&word);
        // In parentheses the condition ends with them, so that a bar in it is no choice.
        let enclosed = self.in_step_group;
        let outer = std::mem::replace(&mut self.open_where, (!enclosed).then_some((step, word)));
        let condition = self.expression(children.next()?);
        self.open_where = outer;
        Some((word, condition?))
    }

    pub(super) fn step_part(&mut self, node: Node<'_>) -> Option<Step> {
        let span = self.span(&node);
        match node.as_rule() {
            Rule::step_group => self.step_group(node),
            Rule::proposed_group => {
                let group = Children::of(node).find(|child| child.as_rule() == Rule::step_group)?;
                // Only calls are proposed, so that no kind word goes on in it.
                let step = self.pattern_list(|lower| lower.step_group(group))?;
                Some(Step { kind: StepKind::Proposed(Box::new(step)), span })
            }
            _ => Some(Step { kind: StepKind::Atom(self.atom(node)?), span }),
        }
    }

    fn step_group(&mut self, node: Node<'_>) -> Option<Step> {
        let span = self.span(&node);
        let inner = Children::of(node).next()?;
        let step = self.bracketed(span, |lower| {
            lower.in_step_group = true;
            lower.listed_step(inner)
        });
        Some(Step { span, ..step? })
    }

    fn atom(&mut self, node: Node<'_>) -> Option<Atom> {
        let mut children = Children::of(node);
        let proposed = children.word(Rule::proposed);
        let subject = self.subject(children.next()?, proposed)?;
        let arguments = match children.opt(Rule::entries) {
            Some(entries) => Some(self.entries(entries)?),
            None => None,
        };
        if let Subject::Tool(name) = &subject {
            self.tool_of_list(name, arguments.as_deref().unwrap_or_default());
        }
        let (mut status, mut by, mut tagged) = (None, None, None);
        for child in children {
            let span = self.span(&child);
            let again = match child.as_rule() {
                Rule::status => status.is_some(),
                Rule::tagged => tagged.is_some(),
                _ => by.is_some(),
            };
            if again {
                let help = "say it once; other steps are `a | b`, and a condition of one's own is `where …`";
                self.error(span, "this stands behind the step twice", help);
            }
            match child.as_rule() {
                Rule::tagged => {
                    let label = Children::of(child).find(|part| part.as_rule() == Rule::label)?;
                    tagged = Some(self.name(&label));
                }
                Rule::status => {
                    status = Some(match Children::of(child).peek() {
                        Some(Rule::k_failed) => StatusWord::Failed,
                        _ => StatusWord::Ok,
                    });
                }
                _ => by = Some(self.by(child)?),
            }
        }
        Some(Atom { subject, arguments, status, by, tagged, proposed })
    }

    fn by(&mut self, node: Node<'_>) -> Option<By> {
        let span = self.span(&node);
        let agent = Children::of(node).find(|child| child.as_rule() != Rule::k_by)?;
        let agent = match agent.as_rule() {
            Rule::agent_name => Agent::Name(self.name(&agent)),
            Rule::binding => {
                let name = agent.as_str().trim_start_matches('$').to_owned();
                Agent::Binding(Expr { kind: ExprKind::Binding(name), span: self.span(&agent) })
            }
            _ => match self.text_or_regex(agent)? {
                TextOrRegex::Text(text) => Agent::Text(text),
                TextOrRegex::Regex(regex) => Agent::Regex(regex),
            },
        };
        Some(By { agent, span })
    }

    fn subject(&mut self, node: Node<'_>, proposed: bool) -> Option<Subject> {
        match node.as_rule() {
            // Only calls are proposed.
            Rule::quoted_tool if proposed || self.listed.kind.is_none() => {
                Some(Subject::QuotedTool(self.quoted(node.into_inner().next()?)?))
            }
            Rule::quoted_tool => {
                let text = node.into_inner().next()?;
                self.goes_on(text)
            }
            Rule::regex => self.goes_on(node),
            Rule::kind_subject => {
                let mut children = Children::of(node);
                let word = children.opt(Rule::kind_word)?;
                let text = match children.next() {
                    Some(text) => Some(self.kind_text(text)?),
                    None => None,
                };
                let kind = kind_word(word.as_str());
                let is_parsed = matches!(text, Some(KindText::Command(_)));
                self.listed = Listed { kind: Some(kind), is_parsed, tool: None };
                Some(Subject::Kind { kind, word: Some(self.span(&word)), text })
            }
            _ => Some(Subject::Tool(self.name(&node))),
        }
    }

    /// A text or a regular expression that goes on with the kind word before it.
    fn goes_on(&mut self, node: Node<'_>) -> Option<Subject> {
        let (span, written) = (self.span(&node), self.written(&node).to_owned());
        let Listed { kind, tool, .. } = self.listed;
        let Some(kind) = kind else {
            let help = format!(
                "write the kind of step in front, such as `command {written}`, or `(any where tool matches {written})`"
            );
            self.error(span, "a regular expression alone names no step", help);
            return None;
        };
        if let Some(tool) = tool {
            let (word, name) = (kind.as_str(), self.source(tool).to_owned());
            let mut help = format!("write `{word} {written}`");
            if node.as_rule() != Rule::regex {
                help.push_str(&format!("; where it is the name of a tool, put it in front of `{word}`"));
            }
            self.error(span, format!("`{name}` is a tool, so {written} may go on with it or with `{word}`"), help);
        }
        let text = Some(self.kind_text(node)?);
        Some(Subject::Kind { kind, word: None, text })
    }

    /// A bare name is a tool, also behind a kind word.
    fn tool_of_list(&mut self, name: &Name, entries: &[Argument]) {
        let is_of_command = |entry: &Argument| match entry {
            Argument::Matches { path: Expr { kind: ExprKind::Name(path), .. }, .. } => {
                matches!(path.as_str(), "args" | "flags" | "options")
            }
            _ => false,
        };
        if self.listed.is_parsed && entries.iter().any(is_of_command) {
            self.error(
                name.span,
                format!("`{}` is a tool here, and these are entries of a command", name.text),
                format!("write `command {}(…)`; a tool stands in front of the commands", name.text),
            );
        }
        self.listed.tool = Some(name.span);
    }

    fn kind_text(&mut self, node: Node<'_>) -> Option<KindText> {
        Some(match node.as_rule() {
            Rule::command_name => KindText::Command(self.name(&node)),
            _ => match self.text_or_regex(node)? {
                TextOrRegex::Text(text) => KindText::Text(text),
                TextOrRegex::Regex(regex) => KindText::Regex(regex),
            },
        })
    }

    /// A string or a regular expression.
    pub(super) fn text_or_regex(&mut self, node: Node<'_>) -> Option<TextOrRegex> {
        Some(match node.as_rule() {
            Rule::regex => TextOrRegex::Regex(self.regex(node)?),
            _ => TextOrRegex::Text(self.text(node)?),
        })
    }

    fn entries(&mut self, node: Node<'_>) -> Option<Vec<Argument>> {
        let span = self.span(&node);
        self.bracketed(span, |lower| Children::of(node).map(|entry| lower.entry(entry)).collect())
    }

    /// `path: value`, or a test.
    fn entry(&mut self, node: Node<'_>) -> Option<Argument> {
        let span = self.span(&node);
        let mut children = Children::of(node);
        let first = children.next()?;
        let path = match first.as_rule() {
            Rule::entry_key => Expr { kind: ExprKind::Name(first.as_str().to_owned()), span: self.span(&first) },
            _ => {
                // A key with a dash reads as a difference; that is said once, as a mistake in a key.
                let before = self.diagnostics.0.len();
                let path = self.expression(first)?;
                if children.peek().is_some() && !is_path(&path) {
                    self.diagnostics.0.truncate(before);
                    let value = children.peek_text();
                    self.no_path(&path, value);
                }
                path
            }
        };
        match children.next() {
            Some(value) => Some(Argument::Matches { path, value: self.expression(value)?, span }),
            None => Some(Argument::Test(path)),
        }
    }

    fn no_path(&mut self, path: &Expr, value: &str) {
        let written = self.source(path.span).to_owned();
        let plain = written.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        match written.find('-').filter(|_| plain) {
            Some(dash) => {
                let start = path.span.start.saturating_add(u32::try_from(dash).unwrap_or(0));
                let place = Span { start, end: start.saturating_add(1), ..path.span };
                self.dashed_key(place, &Name { text: written, span: path.span }, value);
            }
            None => self.error(
                path.span,
                format!("`{written}` is not the path of an argument"),
                "in front of `:` stands a path such as `amount` or `customer.name`; a test needs no `:`, for example `amount > 100`",
            ),
        }
    }

    /// A flow: `A -> (B | C)+ -> D`.
    pub(super) fn flow_sequence(&mut self, node: Node<'_>) -> Option<Flow> {
        let span = self.span(&node);
        let mut parts: Vec<Flow> = Children::of(node).map(|child| self.flow_choice(child)).collect::<Option<_>>()?;
        if parts.len() == 1 { parts.pop() } else { Some(Flow { kind: FlowKind::Sequence(parts), span }) }
    }

    fn flow_choice(&mut self, node: Node<'_>) -> Option<Flow> {
        let span = self.span(&node);
        let parts = Children::of(node).filter(|child| child.as_rule() != Rule::bar);
        let mut parts: Vec<Flow> =
            self.pattern_list(|lower| parts.map(|part| lower.flow_part(part)).collect::<Option<_>>())?;
        if parts.len() == 1 { parts.pop() } else { Some(Flow { kind: FlowKind::Choice(parts), span }) }
    }

    fn flow_part(&mut self, node: Node<'_>) -> Option<Flow> {
        if node.as_rule() == Rule::flow_repeat {
            return self.flow_repeat(node);
        }
        let step = self.step_part(node)?;
        Some(Flow { span: step.span, kind: FlowKind::Step(step) })
    }

    fn flow_repeat(&mut self, node: Node<'_>) -> Option<Flow> {
        let span = self.span(&node);
        let mut children = Children::of(node);
        let group = children.opt(Rule::flow_group)?;
        let body = self.flow_group(group)?;
        let Some(sign) = children.opt(Rule::repetition) else { return Some(Flow { span, ..body }) };
        let (least, most) = self.repetition(sign)?;
        Some(Flow { kind: FlowKind::Repeat { body: Box::new(body), least, most }, span })
    }

    fn flow_group(&mut self, node: Node<'_>) -> Option<Flow> {
        let span = self.span(&node);
        let mut children = Children::of(node);
        let inner = children.opt(Rule::flow_sequence)?;
        let flow = self.bracketed(span, |lower| lower.flow_sequence(inner))?;
        let Some(clause) = children.opt(Rule::where_clause) else { return Some(flow) };
        let word = self.span(&clause);
        let condition = Children::of(clause).find(|child| child.as_rule() == Rule::expression)?;
        let condition = self.bracketed(span, |lower| lower.expression(condition))?;
        match as_step(flow) {
            Some(step) => {
                let step = Step { kind: StepKind::Where { step: Box::new(step), condition }, span };
                Some(Flow { kind: FlowKind::Step(step), span })
            }
            None => {
                self.error(
                    word,
                    "`where` speaks of one step, and a flow with `->` or repetition stands before it",
                    "put one step and its condition in parentheses: `(search where args.depth <= 3)`",
                );
                None
            }
        }
    }

    fn repetition(&mut self, node: Node<'_>) -> Option<(u32, Option<u32>)> {
        let span = self.span(&node);
        let written = self.written(&node);
        let mut children = Children::of(node.clone());
        match children.peek()? {
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
                self.error(span, "a repetition counts with small whole numbers", "write `(search){2,3}`");
                Some((0, None))
            }
        }
    }
}

/// A path: names, fields and indexes from a plain name or a quoted key.
fn is_path(expr: &Expr) -> bool {
    let mut expr = expr;
    loop {
        expr = match &expr.kind {
            ExprKind::Name(_) => return true,
            ExprKind::Text(text) => return text.literal().is_some(),
            ExprKind::Field { base, .. }
            | ExprKind::Index { base, .. }
            | ExprKind::Every { base }
            | ExprKind::Deep { base } => base,
            _ => return false,
        }
    }
}

fn one_or_choice(mut parts: Vec<Step>) -> Option<Step> {
    if parts.len() == 1 {
        return parts.pop();
    }
    let span = parts.first()?.span.to(parts.last()?.span);
    Some(Step { kind: StepKind::Choice(parts), span })
}

/// A flow that is one step or a choice of steps.
fn as_step(flow: Flow) -> Option<Step> {
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
