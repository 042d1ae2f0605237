//! Values that a list was made without, although the verdict may depend on them: `sum(calls[*].args.amount) <= 100` where one call has `total`.

use super::context::ExpressionScope;
use super::fault::Fault;
use super::locate;
use super::machine::Machine;
use super::outcome::UnjudgedRecord;
use super::temporal::unjudged_steps::count_steps;
use crate::bytecode::program::CodeId;
use averment_base::source::Span;
use averment_base::truth::{Truth, Verdict};
use averment_base::value::{Node, Value};
use averment_runs::run::Step;

/// What lists were made without while an expression is evaluated once more, with a value that is not recorded in each of these places.
#[derive(Debug, Default)]
pub(super) struct LeftOutValues {
    lacking: ListedPlaces,
    having: ListedPlaces,
    /// The key or the expression that the first of them lacks.
    wanted: Option<(Option<String>, Span)>,
}

#[derive(Debug, Default)]
struct ListedPlaces {
    steps: Vec<u32>,
    elements: u32,
}

/// Places kept.
const MOST: usize = 100_000;

impl LeftOutValues {
    pub(super) fn note_step(&mut self, step: u32, lacks: bool, wanted: (Option<String>, Span)) {
        if lacks {
            self.wanted.get_or_insert(wanted);
        }
        let places = if lacks { &mut self.lacking } else { &mut self.having };
        if places.steps.len() < MOST {
            places.steps.push(step);
        }
    }

    fn note_element(&mut self, lacks: bool, wanted: (Option<String>, Span)) {
        if lacks {
            self.wanted.get_or_insert(wanted);
        }
        let places = if lacks { &mut self.lacking } else { &mut self.having };
        places.elements = places.elements.saturating_add(1);
    }
}

impl<'run> Machine<'run> {
    /// The values of a key in every element; elements without it are left out.
    pub(super) fn map_field(&mut self, base: Node<'run>, key: &'run str, at: usize) -> Result<(), Fault> {
        let (mut lacks, mut has) = (false, false);
        self.join_all(base, |machine, node, into| {
            let found = machine.open_json(node)?.field(key);
            let is_missing = matches!(found.value, Value::Missing);
            if machine.left_out.is_some() && machine.note_left_out(&node, is_missing, key, at) && is_missing {
                into.push(Node::computed(Value::Absent));
            }
            (lacks, has) = (lacks || is_missing, has || !is_missing);
            if !is_missing {
                into.push(found);
            }
            Ok(())
        })?;
        self.doubts.leaves_out |= lacks && has;
        Ok(())
    }

    /// Notes an element; false for a step itself, of which a missing field says something.
    fn note_left_out(&mut self, node: &Node<'run>, lacks: bool, key: &str, at: usize) -> bool {
        let wanted = (Some(key.to_owned()), self.op_span(at));
        let pointer = locate::node_pointer(self.run, node);
        let within = pointer.as_deref().and_then(|pointer| {
            let end = pointer.match_indices('/').nth(2).map_or(pointer.len(), |(end, _)| end);
            let step = locate::step_of(self.run, pointer.get(..end)?)?;
            Some((step, end == pointer.len()))
        });
        let Some(left_out) = self.left_out.as_mut() else { return false };
        match within {
            Some((_, true)) => return false,
            Some((step, false)) => left_out.note_step(step, lacks, wanted),
            None => left_out.note_element(lacks, wanted),
        }
        true
    }

    /// Notes an element of a list that is filtered; true if something missing decided it, and it is to be kept as one that is not known.
    pub(super) fn note_filtered(&mut self, node: &Node<'run>, lacks: bool, condition: Span) -> bool {
        if self.left_out.is_none() {
            return false;
        }
        let pointer = locate::node_pointer(self.run, node).filter(|pointer| pointer.matches('/').count() == 2);
        let step = pointer.and_then(|pointer| locate::step_of(self.run, &pointer));
        if let Some(left_out) = self.left_out.as_mut() {
            match step {
                Some(step) => left_out.note_step(step, lacks, (None, condition)),
                None => left_out.note_element(lacks, (None, condition)),
            }
        }
        lacks
    }

    /// The steps or elements that a list was made without, where the verdict would be another one if they had a value.
    pub(super) fn left_out_values(
        &mut self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
        verdict: Verdict,
    ) -> Option<Box<UnjudgedRecord>> {
        if !self.doubts.leaves_out {
            return None;
        }
        let coverage = self.seen.take();
        self.left_out = Some(LeftOutValues::default());
        let known = self.lets.clone();
        self.start_afresh();
        let truth = self.evaluate_truth(code, scope);
        let found = self.left_out.take();
        self.refuel();
        self.lets = known;
        self.seen = coverage;
        // A value that was not recorded decides nothing that is decided without it.
        let found = found.filter(|_| truth.ok().map(Truth::verdict) != Some(verdict))?;
        self.unjudged_values(found)
    }

    fn unjudged_values(&self, found: LeftOutValues) -> Option<Box<UnjudgedRecord>> {
        let (key, span) = found.wanted?;
        let text = self.rule_text(span);
        let why = match key {
            Some(_) => format!("no `{text}`"),
            None => format!("something missing or unfit decides `{text}`"),
        };
        let run = self.run;
        let step = |number: &u32| run.steps.get(*number as usize);
        let is_like = |one: &u32, other: &u32| match (step(one), step(other)) {
            (Some(one), Some(other)) => one.kind == other.kind && one.name == other.name,
            _ => false,
        };
        let is_optional =
            |number: &u32| step(number).zip(key.as_deref()).is_some_and(|(step, key)| self.is_optional(step.name, key));
        let LeftOutValues { mut lacking, mut having, .. } = found;
        lacking.steps.retain(|one| having.steps.iter().any(|other| is_like(one, other)) && !is_optional(one));
        having.steps.retain(|one| lacking.steps.iter().any(|other| is_like(one, other)));
        let all = || lacking.steps.iter().chain(&having.steps).copied();
        if !lacking.steps.is_empty() {
            let (mut steps, mut all): (Vec<u32>, Vec<u32>) = (lacking.steps.clone(), all().collect());
            for numbers in [&mut steps, &mut all] {
                numbers.sort_unstable();
                numbers.dedup();
            }
            let of_all: Vec<&Step<'run>> = all.iter().filter_map(step).collect();
            return Some(Box::new(UnjudgedRecord { things: count_steps(of_all.into_iter()), why, steps, all }));
        }
        if lacking.elements == 0 || having.elements == 0 {
            return None;
        }
        let behind = u32::try_from(run.steps.len()).unwrap_or(u32::MAX);
        let numbers = |count: u32| (behind..behind.saturating_add(count)).collect::<Vec<u32>>();
        let (steps, all) = (numbers(lacking.elements), numbers(lacking.elements.saturating_add(having.elements)));
        Some(Box::new(UnjudgedRecord { things: "elements".to_owned(), why, steps, all }))
    }
}
