//! Mutations of step patterns and flows.

use super::edit::{EditFinder, MutantKind};
use averment_base::source::Span;
use averment_base::value::compare::with_deep_stack;
use averment_syntax::ast::{
    Atom, AtomSubject, Expr, ExprKind, FlowExpr, FlowKind, KindText, PatternArgument, PatternForm, StatusWord,
    StepPattern, StepWord, TestKind,
};

impl EditFinder<'_> {
    pub(super) fn mutate_step(&mut self, step: &StepPattern) {
        with_deep_stack(|| match &step.kind {
            PatternForm::Atom(atom) => self.mutate_atom(atom, step.span),
            PatternForm::Choice(steps) => {
                self.mutate_patterns(steps);
                steps.iter().for_each(|step| self.mutate_step(step));
            }
            PatternForm::Where { step: inner, condition } => {
                let missing = format!(
                    "a test with a `{}` for which `{}` is false",
                    self.short_text(inner.span),
                    self.short_text(condition.span)
                );
                self.push_removal(inner.span.end, condition.span.end, MutantKind::DropCondition, missing);
                self.mutate_step(inner);
                self.mutate_expr(condition);
            }
            PatternForm::Proposed(inner) => {
                self.cut_proposed(step.span);
                self.mutate_step(inner);
            }
        });
    }

    pub(super) fn mutate_patterns(&mut self, steps: &[StepPattern]) {
        let spans: Vec<Span> = steps.iter().map(|step| step.span).collect();
        for (number, span) in spans.iter().enumerate() {
            let missing = format!("a test in which `{}` alone decides", self.short_text(*span));
            match steps.get(number + 1).and_then(|next| Some((continued_kind(next)?, next.span))) {
                // The next pattern takes its kind from this one, so the kind word is kept.
                Some((kind, next)) => {
                    let range = span.start as usize..next.start as usize;
                    self.push_replacement(range, format!("{} ", kind.as_str()), MutantKind::DropPattern, missing);
                }
                None => self.cut_element(&spans, number, MutantKind::DropPattern, missing),
            }
        }
    }

    fn cut_proposed(&mut self, span: Span) {
        if let Some(word) = self.first_word(span, "proposed") {
            let word = self.with_space(word);
            self.push_replacement(
                word,
                "",
                MutantKind::DropWord,
                "a test with such a call that was executed".to_owned(),
            );
        }
    }

    fn mutate_atom(&mut self, atom: &Atom, span: Span) {
        if atom.proposed {
            self.cut_proposed(span);
        }
        self.mutate_subject(&atom.subject);
        if let Some(arguments) = &atom.arguments {
            self.mutate_arguments(arguments);
        }
        if let Some(status) = atom.status {
            self.mutate_status(status, span);
        }
        if let Some(tag) = &atom.tagged {
            let before = self.text.get(..tag.span.start as usize).unwrap_or("").trim_end();
            if let Some(start) = before.strip_suffix("tagged").map(|front| front.trim_end().len()) {
                let missing = format!("a test with such a call of a tool without the tag `{}`", tag.text);
                self.push_replacement(start..tag.span.end as usize, "", MutantKind::DropArgument, missing);
            }
        }
        if let Some(by) = &atom.by {
            let missing = format!("a test with such a step that is not {}", self.short_text(by.span));
            let range = self.with_space(by.span.start as usize..by.span.end as usize);
            self.push_replacement(range, "", MutantKind::DropArgument, missing);
        }
    }

    fn mutate_subject(&mut self, subject: &AtomSubject) {
        match subject {
            AtomSubject::Tool(name) if name.text.contains(['*', '?']) && !name.text.trim_matches('*').is_empty() => {
                let missing = format!("a test with a call of a tool that `{}` does not match", name.text);
                self.replace_span(name.span, "any", MutantKind::Widen, missing);
            }
            AtomSubject::Kind { kind, word, text: Some(KindText::Text(text)) } => {
                let missing = format!("a test with a `{}` that is not {}", kind.as_str(), self.span_text(text.span));
                self.widen(*kind, *word, text.span, missing);
            }
            AtomSubject::Kind { kind, word, text: Some(KindText::Regex(regex)) } => {
                let missing =
                    format!("a test with a `{}` that does not match {}", kind.as_str(), self.span_text(regex.span));
                self.widen(*kind, *word, regex.span, missing);
                self.mutate_regex(regex);
            }
            _ => {}
        }
    }

    /// Removes the text after a kind word. If the kind word belongs to an earlier text of the list, it replaces this text.
    fn widen(&mut self, kind: StepWord, word: Option<Span>, text: Span, missing: String) {
        match word {
            Some(word) => self.push_removal(word.end, text.end, MutantKind::Widen, missing),
            None => self.replace_span(text, kind.as_str(), MutantKind::Widen, missing),
        }
    }

    fn mutate_arguments(&mut self, arguments: &[PatternArgument]) {
        let spans: Vec<Span> = arguments.iter().map(span_of).collect();
        for (number, argument) in arguments.iter().enumerate() {
            let Some(&span) = spans.get(number) else { continue };
            let (kind, missing) = match bound_name(argument) {
                Some(name) => (MutantKind::DropBinding, format!("a test in which only the value of `${name}` differs")),
                None => (
                    MutantKind::DropArgument,
                    format!("a test with such a call for which `{}` is false", self.short_text(span)),
                ),
            };
            match spans.len() {
                1 => self.replace_span(self.with_parentheses(span), "", kind, missing),
                _ => self.cut_element(&spans, number, kind, missing),
            }
            match argument {
                PatternArgument::Matches { value, .. } => self.mutate_operand(value),
                PatternArgument::Test(test) => self.mutate_expr(test),
            }
        }
    }

    fn with_parentheses(&self, span: Span) -> Span {
        let before = self.text.get(..span.start as usize).unwrap_or("").trim_end();
        let behind = self.text.get(span.end as usize..).unwrap_or("");
        let gap = behind.len() - behind.trim_start_matches([' ', '\t', '\n', '\r', ',']).len();
        match (before.strip_suffix('('), behind.get(gap..).is_some_and(|rest| rest.starts_with(')'))) {
            (Some(outside), true) => Span::new(span.file, outside.len(), span.end as usize + gap + 1),
            _ => span,
        }
    }

    fn mutate_status(&mut self, status: StatusWord, span: Span) {
        let (word, other) = match status {
            StatusWord::Ok => ("ok", "failed"),
            StatusWord::Failed => ("failed", "ok"),
        };
        // The status word is at the end, or inside of parentheses around the pattern.
        let written = self.span_text(span);
        let Some(at) = written.rfind(word) else { return };
        let start = span.start as usize + at;
        let missing = format!("a test with such a call that is not `{word}`");
        let before = self.text.get(..start).unwrap_or("").trim_end().len();
        self.push_replacement(before..start + word.len(), "", MutantKind::DropWord, missing.clone());
        self.push_replacement(start..start + word.len(), other, MutantKind::Swap, missing);
    }

    pub(super) fn mutate_flow(&mut self, flow: &FlowExpr) {
        with_deep_stack(|| match &flow.kind {
            FlowKind::Step(step) => self.mutate_step(step),
            FlowKind::Sequence(parts) | FlowKind::Choice(parts) => {
                let spans: Vec<Span> = parts.iter().map(|part| part.span).collect();
                for (number, span) in spans.iter().enumerate() {
                    let missing = format!("a test in which `{}` alone decides", self.short_text(*span));
                    self.cut_element(&spans, number, MutantKind::DropPattern, missing);
                }
                parts.iter().for_each(|part| self.mutate_flow(part));
            }
            FlowKind::Repeat { body, .. } => {
                self.mutate_repetition(flow.span);
                self.mutate_flow(body);
            }
        });
    }

    fn mutate_repetition(&mut self, span: Span) {
        let Some(sign) = self.span_text(span).chars().next_back() else { return };
        let (others, missing) = match sign {
            '*' => (&["+"][..], "a test in which it does not occur"),
            '+' => (&["*", ""][..], "tests in which it does not occur, and occurs twice"),
            '?' => (&["*", ""][..], "tests in which it does not occur, and occurs twice"),
            _ => return,
        };
        let at = span.end as usize - 1;
        for other in others {
            self.push_replacement(at..at + 1, *other, MutantKind::Bound, missing.to_owned());
        }
    }
}

/// Returns the kind that a pattern takes from an earlier one, if it begins without a kind word.
fn continued_kind(step: &StepPattern) -> Option<StepWord> {
    match &step.kind {
        PatternForm::Atom(Atom { subject: AtomSubject::Kind { kind, word: None, .. }, .. }) => Some(*kind),
        PatternForm::Choice(steps) => steps.first().and_then(continued_kind),
        PatternForm::Where { step, .. } => continued_kind(step),
        PatternForm::Atom(_) | PatternForm::Proposed(_) => None,
    }
}

fn span_of(argument: &PatternArgument) -> Span {
    match argument {
        PatternArgument::Matches { span, .. } => *span,
        PatternArgument::Test(test) => test.span,
    }
}

fn bound_name(argument: &PatternArgument) -> Option<&str> {
    let value = match argument {
        PatternArgument::Matches { value, .. } => value,
        PatternArgument::Test(Expr { kind: ExprKind::Test { test, .. }, .. })
            if test.kind == TestKind::Equal && !test.negated =>
        {
            test.operand.as_deref()?
        }
        PatternArgument::Test(_) => return None,
    };
    match &value.kind {
        ExprKind::Binding(name) => Some(name),
        _ => None,
    }
}
