//! `LIST where COND`, `E of LIST`: lists that are made of lists.

use super::context::ExpressionScope;
use super::fault::{Fault, UnfitValue, broken_program, condition_truth};
use super::frame::StackFrame;
use super::machine::Machine;
use crate::bytecode::ops::{CodeRef, Slot};
use crate::bytecode::program::CodeId;
use averment_base::value::{Node, ObjectEntry, Value};
use smallvec::SmallVec;

impl<'run> Machine<'run> {
    /// The values of a key in every element; elements without it are left out.
    pub(super) fn map_field(&mut self, base: Node<'run>, key: &'run str, at: usize) -> Result<(), Fault> {
        let (mut lacks, mut has) = (false, false);
        self.join_all(base, |machine, node, into| {
            let found = machine.open_json(node)?.field(key);
            let is_missing = matches!(found.value, Value::Missing);
            if machine.note_listed(&node, is_missing, key, at) {
                into.push(Node::computed(Value::Absent));
            }
            (lacks, has) = (lacks || is_missing, has || !is_missing);
            if !is_missing {
                into.push(found);
            }
            Ok(())
        })?;
        self.observer.look.doubts.leaves_out |= lacks && has;
        Ok(())
    }

    /// The body shares the locals of the code around it; the element is the next local.
    pub(super) fn eval_collect(
        &mut self,
        code: CodeRef,
        slot: Slot,
        filter: bool,
        at: usize,
        frame: StackFrame,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Result<(), Fault> {
        let source = self.pop()?;
        let source = self.open_json(source)?;
        let values: Vec<Node<'run>>;
        let items: &[Node<'run>] = match source.value {
            Value::List(items) => items,
            Value::Object(object) => {
                values = object.entries().iter().map(|entry: &ObjectEntry<'run>| entry.node).collect();
                &values
            }
            Value::Missing | Value::Null => {
                self.push(Node::computed(Value::Missing));
                return Ok(());
            }
            Value::Absent => {
                self.push(Node::computed(Value::Absent));
                return Ok(());
            }
            Value::Truth(truth) if truth.plain_answer().is_none() => {
                self.push(Node::computed(Value::Absent));
                return Ok(());
            }
            _ => return Err(Fault::NotAList(Box::new(UnfitValue::new(&source, self.op_span(at))))),
        };
        let (node, leaves_out) =
            self.without_observers(|machine| machine.collect_items(CodeId(code.0), slot, filter, items, frame, scope))?;
        self.observer.look.doubts.leaves_out |= leaves_out;
        let nowhere = matches!(node.value, Value::List(_)) && (items.is_empty() || node.leads_nowhere());
        self.push(if nowhere { Node::from_nowhere(node.value) } else { node });
        Ok(())
    }

    /// The list, and whether something missing decided some of its elements.
    fn collect_items(
        &mut self,
        code: CodeId,
        slot: Slot,
        filter: bool,
        items: &[Node<'run>],
        frame: StackFrame,
        scope: &ExpressionScope<'_, 'run>,
    ) -> Result<(Node<'run>, bool), Fault> {
        let (mut kept, mut unknown, mut on_evidence) = (Vec::new(), false, !filter);
        let mut doubtful = false;
        for item in items {
            self.meter.charge_fuel(4)?;
            let locals: SmallVec<[Node<'run>; 4]> = self
                .locals
                .get(frame.locals..frame.locals.saturating_add(slot.0 as usize))
                .ok_or_else(broken_program)?
                .iter()
                .copied()
                .chain(std::iter::once(*item))
                .collect();
            let node = self.enter_code(code, scope, |own| own.extend_from_slice(&locals))?;
            if !filter {
                kept.extend((!matches!(node.value, Value::Missing)).then_some(node));
                continue;
            }
            let truth = condition_truth(&node, self.code_span(code))?;
            unknown |= truth.plain_answer().is_none();
            on_evidence |= !truth.by_missing();
            doubtful |= truth.by_missing();
            if self.note_filtered(item, truth.by_missing(), self.code_span(code)) {
                kept.push(Node::computed(Value::Absent));
                continue;
            }
            if truth.plain_answer() == Some(true) {
                kept.push(*item);
            }
        }
        if unknown {
            return Ok((Node::computed(Value::Absent), false));
        }
        let list = Value::List(self.in_arena(&kept)?);
        let nowhere = !on_evidence || !filter && kept.is_empty();
        let node = if nowhere { Node::from_nowhere(list) } else { Node::computed(list) };
        Ok((node, doubtful && on_evidence))
    }
}
