//! Why an expression came out as it did: the tests that decided, with the values they saw.

use super::describe::shorten_text;
use super::evidence::{EvidenceRecord, SeenTest, SeenTestKind};
use crate::bytecode::data_flow::TruthEffect;
use crate::bytecode::ops::Op;
use crate::bytecode::program::CodeId;
use crate::vm::context::ExpressionScope;
use crate::vm::fault::{Fault, UnfitValue};
use crate::vm::locate;
use crate::vm::machine::Machine;
use crate::vm::outcome::{Role, VerdictEvidence};
use averment_base::source::Span;
use averment_base::truth::Truth;
use averment_base::value::{Node, Value};

/// Why, in words, and what proves it.
#[derive(Debug, Clone, Default)]
pub struct ConditionExplanation {
    /// A clause for the reason of a finding: `` `output.status` is "open" ``. Several are joined by `; `.
    pub reason: String,
    /// The values that it speaks of.
    pub evidence: Vec<VerdictEvidence>,
}

/// Values named in a reason; others are counted.
const NAMED: usize = 3;
/// Values listed as evidence.
const LISTED: usize = 20;

impl<'run> Machine<'run> {
    /// Evaluates a condition once more and says why it came out as it did.
    pub fn explain_condition(&mut self, code: CodeId, scope: &ExpressionScope<'_, 'run>) -> ConditionExplanation {
        let (outcome, record) = self.observe_code(code, scope, None);
        match outcome {
            Ok(truth) => self.explain_recorded(&record, truth, scope),
            // It was evaluated once: only the second look at it, which remembers what it saw, takes too much.
            Err(fault @ (Fault::Memory | Fault::Fuel | Fault::Backtracking(_))) => ConditionExplanation {
                reason: format!("it does not hold, and why takes too much to say: {fault}"),
                ..ConditionExplanation::default()
            },
            Err(fault) => self.explain_fault(&fault),
        }
    }

    /// The explanation of a fault, with the value that caused it.
    pub fn explain_fault(&self, fault: &Fault) -> ConditionExplanation {
        let Some(UnfitValue { span, type_name, value, origin }) = fault.unfit_value() else {
            return ConditionExplanation { reason: fault.to_string(), evidence: Vec::new() };
        };
        let wanted = if matches!(fault, Fault::NotAList(_)) { "no list" } else { "neither true nor false" };
        let reason = format!("`{}` is the {type_name} {value}, {wanted}", self.rule_text(*span));
        let path = locate::pointer_at(self.run, *origin, type_name).unwrap_or_default();
        let evidence = VerdictEvidence {
            role: Role::Decisive,
            label: reason.clone(),
            step: locate::step_of(self.run, &path),
            path,
            value: Some(value.clone()),
            origin: origin.byte_range(),
            rule_span: Some(*span),
            ..VerdictEvidence::default()
        };
        ConditionExplanation { reason, evidence: vec![evidence] }
    }

    pub(in crate::vm) fn explain_recorded(
        &self,
        record: &EvidenceRecord<'run>,
        outcome: Truth,
        scope: &ExpressionScope<'_, 'run>,
    ) -> ConditionExplanation {
        let mut evidence = Vec::new();
        let mut clauses: Vec<String> = Vec::new();
        let blamed: Vec<&SeenTest<'run>> = record.seen.iter().filter(|seen| is_blamed(seen, outcome)).collect();
        for seen in blamed.iter().take(LISTED) {
            let sides = self.unwritten_sides(seen, record);
            let described: Vec<String> =
                sides.iter().map(|(node, at)| self.describe_value(node, *at, &seen.gaps)).collect();
            let clause = self.test_clause(seen, &sides, &described);
            for (side, ((node, at), label)) in sides.iter().zip(described).enumerate() {
                let role = if side == 0 { Role::Decisive } else { Role::Value };
                evidence.push(self.value_evidence(label, role, node, *at, &seen.gaps, scope));
            }
            evidence.extend(self.misfit_evidence(seen, scope));
            if !clauses.contains(&clause) {
                clauses.push(clause);
            }
        }
        // A value that nothing tested, such as that of a function of truth, may be missing itself.
        if blamed.is_empty()
            && outcome.by_missing()
            && let Some(gap) = record.gaps.last().copied()
        {
            let missing = Node::computed(Value::Missing);
            let described = self.describe_value(&missing, gap.at, &[gap]);
            clauses.push(described.clone());
            evidence.push(self.value_evidence(described, Role::Decisive, &missing, gap.at, &[gap], scope));
        }
        let uncounted = blamed.len().saturating_sub(LISTED);
        ConditionExplanation { reason: join_clauses(&clauses, uncounted), evidence }
    }

    fn misfit_evidence(&self, seen: &SeenTest<'run>, scope: &ExpressionScope<'_, 'run>) -> Option<VerdictEvidence> {
        let misfit = seen.misfit.as_ref()?;
        let node = misfit.node.as_ref()?;
        let part = self.value_evidence(misfit.text.clone(), Role::Decisive, node, seen.at, &[], scope);
        Some(VerdictEvidence { rule_span: misfit.keyword, ..part })
    }

    /// What a test says; `described` are the values of its sides in words.
    fn test_clause(&self, seen: &SeenTest<'run>, sides: &[(Node<'run>, usize)], described: &[String]) -> String {
        if let (Some(misfit), Some((_, at))) = (&seen.misfit, sides.first()) {
            let subject = self.rule_text(self.op_span(*at));
            return format!("`{subject}` {}", misfit.text);
        }
        if seen.kind == SeenTestKind::Premise {
            return format!("`{}` does not hold", self.rule_text(self.op_span(seen.at)));
        }
        // Behind a `def` the values have the names of its parameters: what was given to it says whose they are.
        let within = seen.within.filter(|at| matches!(self.program.code.get(*at), Some(Op::CallDef(..))));
        let within = within.map_or_else(String::new, |at| format!(" in `{}`", self.rule_text(self.op_span(at))));
        let nearest = seen.nearest.as_ref().map_or_else(String::new, |nearest| format!(": {nearest}"));
        if described.is_empty() {
            return format!("`{}` is false{within}{nearest}", self.rule_text(self.op_span(seen.at)));
        }
        format!("{}{within}{nearest}", described.join(" and "))
    }

    fn unwritten_sides(&self, seen: &SeenTest<'run>, record: &EvidenceRecord<'run>) -> Vec<(Node<'run>, usize)> {
        let made = record.source_ops(seen.at);
        let nodes = [Some(seen.subject), seen.operand].into_iter().flatten().enumerate();
        let sides = nodes.map(|(side, node)| (node, made.get(side).copied().unwrap_or(seen.at)));
        sides.filter(|(_, at)| seen.kind != SeenTestKind::Compared || !self.is_literal(*at, record)).collect()
    }

    /// The text of the rules at a place, on one line.
    pub fn rule_text(&self, span: Span) -> String {
        let source = self.program.sources.get(span.file.0 as usize);
        let text = source.and_then(|source| source.text.get(span.as_range())).unwrap_or("");
        if !text.contains(char::is_control) && !text.contains("  ") && text.is_ascii() {
            // Nearly all of it stands on one line.
            return shorten_text(text.trim_ascii());
        }
        shorten_text(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// The first word of the assertion around a place; of several, one inside of the others.
    pub(in crate::vm) fn statement_word(&self, span: Span) -> &str {
        let spans = self.program.assertions.iter().map(|assertion| assertion.span);
        let around = spans.filter(|one| one.file == span.file && one.start <= span.start && span.end <= one.end);
        let text = around
            .min_by_key(|one| one.end - one.start)
            .and_then(|one| self.program.sources.get(one.file.0 as usize)?.text.get(one.as_range()));
        text.and_then(|text| text.split_whitespace().next()).unwrap_or("")
    }
}

/// True if a test contributed to the outcome: the undecided, the missing, or those pulling in its direction.
fn is_blamed(seen: &SeenTest<'_>, outcome: Truth) -> bool {
    let pulls = match (seen.kind, seen.polarity) {
        (SeenTestKind::Source, _) => {
            return seen.truth.by_missing() && outcome.by_missing()
                || seen.truth == outcome && outcome == Truth::Undecided;
        }
        (_, TruthEffect::Same) => seen.truth,
        (_, TruthEffect::Opposite) => !seen.truth,
        (_, TruthEffect::None) => return seen.truth.plain_answer().is_none() && outcome == Truth::Undecided,
    };
    match outcome {
        Truth::Undecided => pulls == Truth::Undecided,
        Truth::TrueByMissing => pulls.by_missing(),
        Truth::False | Truth::FalseByMissing => pulls.plain_answer() == Some(false),
        Truth::True => pulls.plain_answer() == Some(true),
    }
}

fn join_clauses(clauses: &[String], uncounted: usize) -> String {
    let named: Vec<&str> = clauses.iter().take(NAMED).map(String::as_str).collect();
    let more = clauses.len().saturating_sub(NAMED) + uncounted;
    let mut text = named.join("; ");
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    text
}
