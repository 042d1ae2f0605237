//! The projection of a run that was read in full.

use super::{CallField, ProjectedCall, RawValue, ReadSet, RunProjection, TextPool};
use averment_base::value::{Node, Value, ValueText};
use averment_runs::run::{CallTimes, Run, StepKind};
use smallvec::{SmallVec, smallvec};

impl<'a> RunProjection<'a> {
    /// Takes what is asked for out of a run.
    pub fn project_run(&mut self, run: &Run<'a>, read_set: &ReadSet) {
        self.clear_run();
        self.roots.extend(read_set.roots.iter().map(|name| RawValue::Value(run.root_value(name).value)));
        self.records_calls = run.records_kind(StepKind::Call);
        self.unusual = !run.complete || run.died_at_start();
        for step in run.steps.iter().filter(|step| step.kind == StepKind::Call) {
            self.unusual |= !step.status.is_executed();
            let field = |field: CallField| step.object.get(field.as_str()).map_or(Value::Missing, |node| node.value);
            for (name, texts) in CallField::ALL.into_iter().zip(&mut self.texts) {
                if read_set.texts.get(name as usize) == Some(&true) {
                    texts.add_texts_in(field(name));
                }
            }
            let fields = CallField::ALL.map(|name| RawValue::Value(field(name)));
            self.calls.push(ProjectedCall {
                name: step.name,
                fields,
                times: Some(CallTimes::of_step(step)),
                may_have_parent: true,
                ending: None,
                place: None,
            });
        }
    }
}

impl TextPool {
    #[inline]
    pub(super) fn add_texts_in(&mut self, root: Value<'_>) {
        match root {
            Value::Text(text) => self.add_value_text(text),
            root => self.add_nested_texts(root),
        }
    }

    fn add_value_text(&mut self, text: ValueText<'_>) {
        self.any = true;
        self.text.push_str(text.as_str());
        self.end_text();
    }

    fn add_nested_texts(&mut self, root: Value<'_>) {
        let mut open: SmallVec<[Node<'_>; 8]> = smallvec![Node::computed(root)];
        while let Some(node) = open.pop() {
            match node.value {
                Value::Text(text) => self.add_value_text(text),
                Value::Number(_) | Value::Boolean(_) => self.any = true,
                Value::List(items) => open.extend(items.iter().rev().copied()),
                Value::Object(object) => open.extend(object.entries().iter().rev().map(|entry| entry.node)),
                _ => {}
            }
        }
    }
}
