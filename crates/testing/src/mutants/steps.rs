//! Changes of step patterns and flows.

use super::edit::{Finder, MutantKind};
use averment_base::source::Span;
use averment_base::value::compare::deeper;
use averment_syntax::ast::{
    Argument, Atom, Expr, ExprKind, Flow, FlowKind, KindText, StatusWord, Step, StepKind, StepWord, Subject, TestKind,
};

impl Finder<'_> {
    /// The changes of a pattern and of everything in it.
    pub(super) fn step(&mut self, step: &Step) {
        deeper(|| match &step.kind {
            StepKind::Atom(atom) => self.atom(atom, step.span),
            StepKind::Choice(steps) => {
                self.patterns(steps);
                steps.iter().for_each(|step| self.step(step));
            }
            StepKind::Where { step: inner, condition } => {
                let missing = format!(
                    "a test with a `{}` for which `{}` is false",
                    self.short(inner.span),
                    self.short(condition.span)
                );
                self.cut(inner.span.end, condition.span.end, MutantKind::DropCondition, missing);
                self.step(inner);
                self.expr(condition);
            }
            StepKind::Proposed(inner) => {
                self.cut_proposed(step.span);
                self.step(inner);
            }
        });
    }

    /// Each pattern of a list left out.
    pub(super) fn patterns(&mut self, steps: &[Step]) {
        let spans: Vec<Span> = steps.iter().map(|step| step.span).collect();
        for (number, span) in spans.iter().enumerate() {
            let missing = format!("a test in which `{}` alone decides", self.short(*span));
            match steps.get(number + 1).and_then(|next| Some((continued_kind(next)?, next.span))) {
                // What goes on with this one takes its word over.
                Some((kind, next)) => {
                    let range = span.start as usize..next.start as usize;
                    self.replace(range, format!("{} ", kind.as_str()), MutantKind::DropPattern, missing);
                }
                None => self.cut_element(&spans, number, MutantKind::DropPattern, missing),
            }
        }
    }

    fn cut_proposed(&mut self, span: Span) {
        if let Some(word) = self.first_word(span, "proposed") {
            let word = self.with_space(word);
            self.replace(word, "", MutantKind::DropWord, "a test with such a call that was executed".to_owned());
        }
    }

    fn atom(&mut self, atom: &Atom, span: Span) {
        if atom.proposed {
            self.cut_proposed(span);
        }
        self.subject(&atom.subject);
        if let Some(arguments) = &atom.arguments {
            self.arguments(arguments);
        }
        if let Some(status) = atom.status {
            self.status(status, span);
        }
        if let Some(tag) = &atom.tagged {
            let before = self.text.get(..tag.span.start as usize).unwrap_or("").trim_end();
            if let Some(start) = before.strip_suffix("tagged").map(|front| front.trim_end().len()) {
                let missing = format!("a test with such a call of a tool without the tag `{}`", tag.text);
                self.replace(start..tag.span.end as usize, "", MutantKind::DropArgument, missing);
            }
        }
        if let Some(by) = &atom.by {
            let missing = format!("a test with such a step that is not {}", self.short(by.span));
            let range = self.with_space(by.span.start as usize..by.span.end as usize);
            self.replace(range, "", MutantKind::DropArgument, missing);
        }
    }

    fn subject(&mut self, subject: &Subject) {
        match subject {
            Subject::Tool(name) if name.text.contains(['*', '?']) && !name.text.trim_matches('*').is_empty() => {
                let missing = format!("a test with a call of a tool that `{}` does not match", name.text);
                self.replace_span(name.span, "any", MutantKind::Widen, missing);
            }
            Subject::Kind { kind, word, text: Some(KindText::Text(text)) } => {
                let missing = format!("a test with a `{}` that is not {}", kind.as_str(), self.at(text.span));
                self.widen(*kind, *word, text.span, missing);
            }
            Subject::Kind { kind, word, text: Some(KindText::Regex(regex)) } => {
                let missing = format!("a test with a `{}` that does not match {}", kind.as_str(), self.at(regex.span));
                self.widen(*kind, *word, regex.span, missing);
                self.regex(regex);
            }
            _ => {}
        }
    }

    /// A kind of step without the text behind its word; where the word stands with an earlier text, it takes the place of this one.
    fn widen(&mut self, kind: StepWord, word: Option<Span>, text: Span, missing: String) {
        match word {
            Some(word) => self.cut(word.end, text.end, MutantKind::Widen, missing),
            None => self.replace_span(text, kind.as_str(), MutantKind::Widen, missing),
        }
    }

    fn arguments(&mut self, arguments: &[Argument]) {
        let spans: Vec<Span> = arguments.iter().map(span_of).collect();
        for (number, argument) in arguments.iter().enumerate() {
            let Some(&span) = spans.get(number) else { continue };
            let (kind, missing) = match binds(argument) {
                Some(name) => (MutantKind::DropBinding, format!("a test in which only the value of `${name}` differs")),
                None => (
                    MutantKind::DropArgument,
                    format!("a test with such a call for which `{}` is false", self.short(span)),
                ),
            };
            match spans.len() {
                1 => self.replace_span(self.parenthesised(span), "", kind, missing),
                _ => self.cut_element(&spans, number, kind, missing),
            }
            match argument {
                Argument::Matches { value, .. } => self.operand(value),
                Argument::Test(test) => self.expr(test),
            }
        }
    }

    /// A place with the parentheses around it.
    fn parenthesised(&self, span: Span) -> Span {
        let before = self.text.get(..span.start as usize).unwrap_or("").trim_end();
        let behind = self.text.get(span.end as usize..).unwrap_or("");
        let gap = behind.len() - behind.trim_start_matches([' ', '\t', '\n', '\r', ',']).len();
        match (before.strip_suffix('('), behind.get(gap..).is_some_and(|rest| rest.starts_with(')'))) {
            (Some(outside), true) => Span::new(span.file, outside.len(), span.end as usize + gap + 1),
            _ => span,
        }
    }

    fn status(&mut self, status: StatusWord, span: Span) {
        let (word, other) = match status {
            StatusWord::Ok => ("ok", "failed"),
            StatusWord::Failed => ("failed", "ok"),
        };
        // The word stands at the end, inside a parenthesis where the pattern has one around it.
        let written = self.at(span);
        let Some(at) = written.rfind(word) else { return };
        let start = span.start as usize + at;
        let missing = format!("a test with such a call that is not `{word}`");
        let before = self.text.get(..start).unwrap_or("").trim_end().len();
        self.replace(before..start + word.len(), "", MutantKind::DropWord, missing.clone());
        self.replace(start..start + word.len(), other, MutantKind::Swap, missing);
    }

    /// The changes of a flow.
    pub(super) fn flow(&mut self, flow: &Flow) {
        deeper(|| match &flow.kind {
            FlowKind::Step(step) => self.step(step),
            FlowKind::Sequence(parts) | FlowKind::Choice(parts) => {
                let spans: Vec<Span> = parts.iter().map(|part| part.span).collect();
                for (number, span) in spans.iter().enumerate() {
                    let missing = format!("a test in which `{}` alone decides", self.short(*span));
                    self.cut_element(&spans, number, MutantKind::DropPattern, missing);
                }
                parts.iter().for_each(|part| self.flow(part));
            }
            FlowKind::Repeat { body, .. } => {
                self.repetition(flow.span);
                self.flow(body);
            }
        });
    }

    fn repetition(&mut self, span: Span) {
        let Some(sign) = self.at(span).chars().next_back() else { return };
        let (others, missing) = match sign {
            '*' => (&["+"][..], "a test in which it does not occur"),
            '+' => (&["*", ""][..], "tests in which it does not occur, and occurs twice"),
            '?' => (&["*", ""][..], "tests in which it does not occur, and occurs twice"),
            _ => return,
        };
        let at = span.end as usize - 1;
        for other in others {
            self.replace(at..at + 1, *other, MutantKind::Bound, missing.to_owned());
        }
    }
}

/// The kind with which a pattern goes on, where it begins without a word of its own.
fn continued_kind(step: &Step) -> Option<StepWord> {
    match &step.kind {
        StepKind::Atom(Atom { subject: Subject::Kind { kind, word: None, .. }, .. }) => Some(*kind),
        StepKind::Choice(steps) => steps.first().and_then(continued_kind),
        StepKind::Where { step, .. } => continued_kind(step),
        StepKind::Atom(_) | StepKind::Proposed(_) => None,
    }
}

fn span_of(argument: &Argument) -> Span {
    match argument {
        Argument::Matches { span, .. } => *span,
        Argument::Test(test) => test.span,
    }
}

/// The binding that an argument binds.
fn binds(argument: &Argument) -> Option<&str> {
    let value = match argument {
        Argument::Matches { value, .. } => value,
        Argument::Test(Expr { kind: ExprKind::Test { test, .. }, .. })
            if test.kind == TestKind::Equal && !test.negated =>
        {
            test.operand.as_deref()?
        }
        Argument::Test(_) => return None,
    };
    match &value.kind {
        ExprKind::Binding(name) => Some(name),
        _ => None,
    }
}
