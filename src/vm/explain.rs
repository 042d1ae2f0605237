//! Why an expression came out as it did: the tests that decided, with the values they saw and where these stand in the run.

use super::context::Scope;
use super::fault::{Fault, Unfit};
use super::locate;
use super::machine::Machine;
use super::observe::{Gap, Seen, TestKindSeen};
use super::outcome::{Evidence, Role};
use crate::bytecode::ops::Op;
use crate::bytecode::program::CodeId;
use crate::bytecode::shape::{Polarity, Shape};
use crate::diagnostic::suggest;
use crate::source::Span;
use crate::truth::Truth;
use crate::value::json::to_json;
use crate::value::{Node, Value};

/// Why, in words, and what proves it.
#[derive(Debug, Clone, Default)]
pub struct Explanation {
    /// A clause for the reason of a finding: `` `output.status` is "open" ``. Several are joined by `; `.
    pub reason: String,
    /// The values that it speaks of.
    pub evidence: Vec<Evidence>,
}

/// Reasons name at most this many values; the others are counted.
const NAMED: usize = 3;
/// Evidence lists at most this many values.
const LISTED: usize = 20;

impl<'run> Machine<'run> {
    /// Evaluates a condition once more and says why it came out as it did.
    pub fn explain(&mut self, code: CodeId, scope: &Scope<'_, 'run>) -> Explanation {
        let (outcome, recorder) = self.observed(code, scope);
        let truth = match outcome {
            Ok(truth) => truth,
            Err(fault) => return self.explain_fault(&fault),
        };
        let blamed: Vec<&Seen<'run>> = recorder.seen.iter().filter(|seen| is_blamed(seen, truth)).collect();
        let mut explanation = Explanation::default();
        let mut clauses: Vec<String> = Vec::new();
        for seen in blamed {
            self.explain_test(seen, scope, &mut clauses, &mut explanation.evidence);
        }
        explanation.evidence.truncate(LISTED);
        explanation.reason = joined(&clauses);
        explanation
    }

    /// What a fault says, with the value that caused it.
    pub fn explain_fault(&self, fault: &Fault) -> Explanation {
        let Some(Unfit { span, type_name, value, origin }) = fault.unfit() else {
            return Explanation { reason: fault.to_string(), evidence: Vec::new() };
        };
        let wanted = if matches!(fault, Fault::NotAList(_)) { "no list" } else { "neither true nor false" };
        let reason = format!("`{}` is the {type_name} {value}, {wanted}", self.rule_text(*span));
        let evidence = Evidence {
            role: Role::Decisive,
            label: reason.clone(),
            value: Some(value.clone()),
            origin: origin.range(),
            rule_span: Some(*span),
            ..Evidence::default()
        };
        Explanation { reason, evidence: vec![evidence] }
    }

    fn explain_test(
        &self,
        seen: &Seen<'run>,
        scope: &Scope<'_, 'run>,
        clauses: &mut Vec<String>,
        evidence: &mut Vec<Evidence>,
    ) {
        let sides = self.sides(seen);
        let mut parts = Vec::new();
        for (node, at) in &sides {
            if seen.kind == TestKindSeen::Compared && self.is_literal(*at) {
                continue;
            }
            let part = self.describe(node, *at, &seen.gaps);
            evidence.push(self.evidence(node, *at, part.clone(), scope));
            parts.push(part);
        }
        if let Some(why) = &seen.why {
            parts.push(why.clone());
        }
        let clause = if parts.is_empty() {
            format!("`{}` is false", self.rule_text(self.span(seen.at)))
        } else {
            parts.join(" and ")
        };
        if !clauses.contains(&clause) {
            clauses.push(clause);
        }
    }

    /// The values of a test with the instructions that made them.
    fn sides(&self, seen: &Seen<'run>) -> Vec<(Node<'run>, usize)> {
        let nodes = [Some(seen.subject), seen.operand];
        let made = self.made_by(seen.at);
        nodes
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(side, node)| (node, made.get(side).copied().unwrap_or(seen.at)))
            .collect()
    }

    /// The instructions, by number in the program, that made the values which an instruction takes.
    fn made_by(&self, at: usize) -> Vec<usize> {
        let Some((start, ops)) = self.chunk_around(at) else { return Vec::new() };
        Shape::of(ops).sources(at - start).iter().map(|source| source + start).collect()
    }

    fn is_literal(&self, at: usize) -> bool {
        matches!(self.program.code.get(at), Some(Op::Constant(_) | Op::Regex(_)))
    }

    /// `` `output.amount` is 250 ``, `` `output.state` is missing ``, `` the run does not record `cost` ``.
    fn describe(&self, node: &Node<'run>, at: usize, gaps: &[Gap<'run>]) -> String {
        let text = self.rule_text(self.span(at));
        match node.value {
            Value::Missing => match gaps.iter().rev().find(|gap| gap.at <= at).and_then(|gap| self.near(gap)) {
                Some(near) => format!("`{text}` is missing (there is `{near}`)"),
                None => format!("`{text}` is missing"),
            },
            Value::Absent | Value::Truth(Truth::Undecided) => format!("the run does not record `{text}`"),
            ref value => format!("`{text}` is {}", shortened(&to_json(value))),
        }
    }

    /// A key of the object at a gap that is nearly the one asked for.
    fn near(&self, gap: &Gap<'run>) -> Option<&'run str> {
        let key = match self.program.code.get(gap.at)? {
            Op::Field(name, _) | Op::StepField(name) => self.program.names.get(name.0 as usize)?,
            _ => return None,
        };
        let Value::Object(object) = gap.base.value else { return None };
        suggest::nearest(key, object.entries().iter().map(|entry| entry.key))
    }

    fn evidence(&self, node: &Node<'run>, at: usize, label: String, scope: &Scope<'_, 'run>) -> Evidence {
        let own = locate::pointer(self.run, node);
        let step = own.as_deref().and_then(|path| locate::step_of(self.run, path)).or_else(|| self.step_number(scope));
        let path = own.or_else(|| locate::step_pointer(self.run, step?)).unwrap_or_default();
        let value = match node.value {
            Value::Missing | Value::Absent => None,
            ref value => Some(to_json(value)),
        };
        Evidence {
            role: Role::Value,
            label,
            step,
            path,
            value,
            origin: node.origin.range(),
            rule_span: Some(self.span(at)),
        }
    }

    /// The step in scope as an index into the run's steps.
    fn step_number(&self, scope: &Scope<'_, 'run>) -> Option<u32> {
        let step = scope.step?;
        let at = self.run.steps.iter().position(|other| std::ptr::eq(other, step))?;
        u32::try_from(at).ok()
    }

    /// The text of the rules at a place, on one line.
    pub fn rule_text(&self, span: Span) -> String {
        let source = self.program.sources.get(span.file.0 as usize);
        let text = source.and_then(|source| source.text.get(span.range())).unwrap_or("");
        shortened(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// Whether a test has a part in the outcome: an undecided one makes it undecided, one decided by something missing makes it vacuous,
/// otherwise those whose truth pulls the whole to where it went.
fn is_blamed(seen: &Seen<'_>, outcome: Truth) -> bool {
    if seen.kind == TestKindSeen::Source {
        // A source speaks only where nothing was in it.
        return seen.truth == outcome || seen.truth.by_missing() && outcome.by_missing();
    }
    let pulls = match seen.polarity {
        Polarity::Same => seen.truth,
        Polarity::Opposite => !seen.truth,
        Polarity::None => return seen.truth.plain().is_none() && outcome == Truth::Undecided,
    };
    match outcome {
        Truth::Undecided => pulls == Truth::Undecided,
        Truth::TrueByMissing => pulls.by_missing(),
        Truth::False | Truth::FalseByMissing => pulls.plain() == Some(false),
        Truth::True => pulls.plain() == Some(true),
    }
}

fn joined(clauses: &[String]) -> String {
    let named: Vec<&str> = clauses.iter().take(NAMED).map(String::as_str).collect();
    let more = clauses.len().saturating_sub(NAMED);
    let mut text = named.join("; ");
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    text
}

/// Long texts and values are cut: reports show them in full where they list the evidence.
fn shortened(text: &str) -> String {
    const WIDTH: usize = 120;
    if text.chars().count() <= WIDTH {
        return text.to_owned();
    }
    text.chars().take(WIDTH - 1).chain(['…']).collect()
}
