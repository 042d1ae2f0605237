//! The projection of a run that was read in full.

use super::{Call, Field, Held, Projection, ReadSet, Texts};
use averment_base::value::{Node, Value};
use averment_runs::run::{CallTimes, Kind, Run};
use smallvec::{SmallVec, smallvec};

impl<'a> Projection<'a> {
    /// Takes what is asked for out of a run.
    pub fn of_run(&mut self, run: &Run<'a>, read_set: &ReadSet) {
        self.clear();
        self.roots.extend(read_set.roots.iter().map(|name| Held::Value(run.root(name).value)));
        self.records_calls = run.records(Kind::Call);
        self.unusual = !run.complete;
        for step in run.steps.iter().filter(|step| step.kind == Kind::Call) {
            self.unusual |= !step.status.executed();
            let field = |field: Field| step.object.get(field.as_str()).map_or(Value::Missing, |node| node.value);
            for (name, texts) in Field::ALL.into_iter().zip(&mut self.texts) {
                if read_set.texts.get(name as usize) == Some(&true) {
                    texts.walk(field(name));
                }
            }
            let fields = Field::ALL.map(|name| Held::Value(field(name)));
            self.calls.push(Call { name: step.name, fields, times: Some(CallTimes::of(step)), place: None });
        }
    }
}

impl Texts {
    /// Adds the texts inside of a value.
    pub(super) fn walk(&mut self, root: Value<'_>) {
        let mut open: SmallVec<[Node<'_>; 8]> = smallvec![Node::computed(root)];
        while let Some(node) = open.pop() {
            match node.value {
                Value::Text(text) => {
                    self.any = true;
                    self.text.push_str(text.as_str());
                    self.end();
                }
                Value::Number(_) | Value::Boolean(_) => self.any = true,
                Value::List(items) => open.extend(items.iter().rev().copied()),
                Value::Object(object) => open.extend(object.entries().iter().rev().map(|entry| entry.node)),
                _ => {}
            }
        }
    }
}
