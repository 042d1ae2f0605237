//! Instructions that fetch values: from the run, the scope and the program, and along paths.

// What rules and runs make of numbers may not overflow.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use super::context::ExpressionScope;
use super::fault::{Fault, broken_program};
use super::frame::StackFrame;
use super::machine::{LetState, Machine};
use super::why::evidence::ValueGap;
use super::why::profile::CostCenter;
use crate::bytecode::ops::{BindingRef, LetRef, Name, Op, Parameter, Slot};
use crate::bytecode::program::CodeId;
use averment_base::near;
use averment_base::value::compare::with_deep_stack;
use averment_base::value::{Node, Number, Object, ObjectEntry, Value, ValueText};
use averment_builtins::json::ValueMemory;
use averment_checker::ir::Constant;
use averment_syntax::ast::TestKind;

fn missing_node<'run>() -> Node<'run> {
    Node::computed(Value::Missing)
}

impl<'run> Machine<'run> {
    pub(super) fn name_text(&self, name: Name) -> Result<&'run str, Fault> {
        self.program.names.get(name.0 as usize).map(String::as_str).ok_or_else(broken_program)
    }

    pub(super) fn push_literal(&mut self, number: u32) -> Result<(), Fault> {
        let program = self.program;
        let constant = program.constants.get(number as usize).ok_or_else(broken_program)?;
        let node = match self.literals.get(&number) {
            Some(node) => *node,
            None => {
                let node = self.constant_node(constant)?;
                if matches!(constant, Constant::List(_) | Constant::Object(_)) {
                    self.literals.insert(number, node);
                }
                node
            }
        };
        self.push(node);
        Ok(())
    }

    pub(super) fn constant_node(&mut self, constant: &'run Constant) -> Result<Node<'run>, Fault> {
        let value = match constant {
            Constant::Null => Value::Null,
            Constant::Boolean(value) => Value::Boolean(*value),
            Constant::Number(text) => Value::Number(Number::Written(text)),
            Constant::Text(text) => Value::Text(ValueText::Plain(text)),
            Constant::List(items) => {
                self.meter.charge_memory(items.len().saturating_mul(size_of::<Node<'_>>()))?;
                let mut nodes = Vec::with_capacity(items.len());
                for item in items {
                    nodes.push(with_deep_stack(|| self.constant_node(item))?);
                }
                Value::List(self.arena.alloc_slice_copy(&nodes))
            }
            Constant::Object(entries) => {
                self.meter.charge_memory(entries.len().saturating_mul(size_of::<ObjectEntry<'_>>()))?;
                let mut made = Vec::with_capacity(entries.len());
                for (key, value) in entries {
                    made.push(ObjectEntry { key, node: with_deep_stack(|| self.constant_node(value))? });
                }
                Value::Object(Object::new(self.arena, self.arena.alloc_slice_copy(&made)))
            }
        };
        Ok(Node::computed(value))
    }

    pub(super) fn push_root(&mut self, name: Name) -> Result<(), Fault> {
        let name = self.name_text(name)?;
        self.push(self.run.root_value(name));
        Ok(())
    }

    pub(super) fn code_ops(&self, code: CodeId) -> Result<&'run [Op], Fault> {
        self.program.code_ops(code).ok_or_else(broken_program)
    }

    pub(super) fn step_field(&mut self, name: Name, at: usize, scope: &ExpressionScope<'_, 'run>) -> Result<(), Fault> {
        let name = self.name_text(name)?;
        let found = scope.step.and_then(|step| step.object.get(name));
        if let (None, Some(step)) = (found, scope.step) {
            self.note_gap(at, step.node);
        }
        self.push(found.unwrap_or(missing_node()));
        Ok(())
    }

    /// An entry of the step in scope takes precedence over the run's.
    pub(super) fn step_or_root(&mut self, name: Name, scope: &ExpressionScope<'_, 'run>) -> Result<(), Fault> {
        let name = self.name_text(name)?;
        let own = scope.step.and_then(|step| step.object.get(name));
        self.push(own.unwrap_or_else(|| self.run.root_value(name)));
        Ok(())
    }

    /// The step's own cost or usage; not recorded if the step does not say.
    pub(super) fn step_own(&mut self, name: Name, scope: &ExpressionScope<'_, 'run>) -> Result<(), Fault> {
        let name = self.name_text(name)?;
        let own = scope.step.and_then(|step| step.object.get(name));
        self.push(own.unwrap_or(Node::computed(Value::Absent)));
        Ok(())
    }

    /// What an invariant judges: the given response, a recorded `response`, or the call's result.
    pub(super) fn push_response(&mut self, scope: &ExpressionScope<'_, 'run>) {
        let recorded = || self.run.object.get("response");
        let result = || scope.step.and_then(|step| step.object.get("result"));
        let node = scope.response.or_else(result).or_else(recorded).unwrap_or_else(|| self.run.root_value("output"));
        self.push(node);
    }

    pub(super) fn push_parameter(&mut self, parameter: Parameter) -> Result<(), Fault> {
        let program = self.program;
        let param = program.params.get(parameter.0 as usize).ok_or_else(broken_program)?;
        let Some(value) = &param.default else {
            return Err(Fault::Other(format!(
                "the parameter `{}` has no value: add `--param {}=…`",
                param.name, param.name
            )));
        };
        let node = self.constant_node(value)?;
        self.push(node);
        Ok(())
    }

    /// A `let` sees only the run, so its value is computed once per run.
    pub(super) fn let_value(&mut self, number: LetRef, at: usize) -> Result<(), Fault> {
        let index = number.0 as usize;
        let code = *self.program.lets.get(index).ok_or_else(broken_program)?;
        let node = match self.lets.get(index).copied() {
            Some(LetState::Known(node)) if !self.must_grade(code) => node,
            Some(LetState::Open) => return Err(Fault::Depth),
            _ => self.compute_let(index, code, at)?,
        };
        self.push(node);
        Ok(())
    }

    fn compute_let(&mut self, index: usize, code: CodeId, at: usize) -> Result<Node<'run>, Fault> {
        self.set_let(index, LetState::Open);
        let number = u32::try_from(index).unwrap_or(u32::MAX);
        let around = self.observer.enter_definition(at);
        let outcome =
            self.costing(CostCenter::Value(number), |this| this.enter_code(code, &ExpressionScope::default(), |_| {}));
        self.observer.leave_definition(around);
        self.set_let(index, outcome.as_ref().map_or(LetState::Unknown, |node| LetState::Known(*node)));
        outcome
    }

    fn set_let(&mut self, index: usize, state: LetState<'run>) {
        if let Some(place) = self.lets.get_mut(index) {
            *place = state;
        }
    }

    pub(super) fn push_local(&mut self, slot: Slot, frame: StackFrame) -> Result<(), Fault> {
        let node = *self.locals.get(frame.locals.saturating_add(slot.0 as usize)).ok_or_else(broken_program)?;
        self.push(node);
        Ok(())
    }

    pub(super) fn push_binding(&mut self, binding: BindingRef, scope: &ExpressionScope<'_, 'run>) {
        let node = scope.bindings.get(binding.0 as usize).copied().flatten().unwrap_or(missing_node());
        self.push(node);
    }

    /// Where a path continues: a text that is entirely a JSON object or list is parsed, other values stay.
    pub(super) fn open_json(&mut self, node: Node<'run>) -> Result<Node<'run>, Fault> {
        if !matches!(node.value, Value::Text(_)) {
            return Ok(node);
        }
        let memory = ValueMemory { arena: self.arena, limits: &self.limits, meter: &mut self.meter };
        Ok(self.cache.parse_container(&node, memory)?.unwrap_or(node))
    }

    pub(super) fn eval_field(&mut self, name: Name, spread: bool, at: usize) -> Result<(), Fault> {
        let key = self.name_text(name)?;
        let base = self.pop()?;
        let base = self.open_json(base)?;
        if spread {
            if self.observer.near_keys.is_some() {
                self.note_near_elements(at, &base, key)?;
            }
            return self.map_field(base, key, at);
        }
        let found = base.field(key);
        if matches!(found.value, Value::Missing) {
            if !matches!(base.value, Value::Missing) {
                self.note_gap(at, base);
            }
            let has_no_keys = !matches!(base.value, Value::Object(_) | Value::Missing | Value::Null);
            if self.tests_presence(at) && (has_no_keys || base.leads_nowhere() || self.has_slip(&base, key)) {
                self.push(Node::from_nowhere(Value::Missing));
                return Ok(());
            }
        }
        self.push(found);
        Ok(())
    }

    fn note_gap(&mut self, at: usize, base: Node<'run>) {
        self.observer.note_gap(self.program, ValueGap { at, base, why: None });
    }

    /// Elements that lack a key may have nearly the same one.
    fn note_near_elements(&mut self, at: usize, base: &Node<'run>, key: &str) -> Result<(), Fault> {
        let Value::List(items) = base.value else { return Ok(()) };
        for item in items {
            let base = self.open_json(*item)?;
            if let Some(keys) =
                self.observer.near_keys.as_mut().filter(|_| matches!(base.field(key).value, Value::Missing))
            {
                keys.note_gap(self.program, &ValueGap { at, base, why: None });
            }
        }
        Ok(())
    }

    /// True if only further keys come between this instruction and a test that looks at missing values directly.
    pub(super) fn tests_presence(&self, at: usize) -> bool {
        let rest = at.checked_add(1).and_then(|next| self.program.code.get(next..)).unwrap_or_default();
        let next = rest.iter().find(|op| !matches!(op, Op::Field(_, false)));
        matches!(next, Some(Op::Inspect(TestKind::Exists | TestKind::IsMissing | TestKind::IsEmpty, _)))
    }

    /// True if an object lacks the key but has a near miss that the program does not mention.
    pub(super) fn has_slip(&self, base: &Node<'run>, key: &str) -> bool {
        let Value::Object(object) = base.value else { return false };
        let near = near::nearest_name(key, object.entries().iter().map(|entry| entry.key));
        near.is_some_and(|near| !self.program.names.iter().any(|name| name == near))
    }

    pub(super) fn eval_index(&mut self, spread: bool, at: usize) -> Result<(), Fault> {
        let index = self.pop()?;
        let base = self.pop()?;
        let base = self.open_json(base)?;
        if spread {
            return self.map_all(base, |node| element_of(node, &index));
        }
        let found = element_of(&base, &index);
        if matches!(found.value, Value::Missing) && !matches!(base.value, Value::Missing) {
            self.note_gap(at, base);
        }
        self.push(found);
        Ok(())
    }

    pub(super) fn eval_every(&mut self, spread: bool) -> Result<(), Fault> {
        let base = self.pop()?;
        let base = self.open_json(base)?;
        if spread {
            return self.join_all(base, |machine, node, into| {
                let node = machine.open_json(node)?;
                machine.collect_members(&node, into)
            });
        }
        let node = match base.value {
            Value::List([]) => Node::new(base.value, base.origin.as_nowhere()),
            Value::List(_) | Value::Absent | Value::Missing => base,
            Value::Object(_) => {
                let mut values = Vec::new();
                self.collect_members(&base, &mut values)?;
                let origin = if values.is_empty() { base.origin.as_nowhere() } else { base.origin };
                Node::new(self.spread_list(&values)?, origin)
            }
            _ => missing_node(),
        };
        self.push(node);
        Ok(())
    }

    pub(super) fn eval_deep(&mut self, spread: bool) -> Result<(), Fault> {
        let base = self.pop()?;
        if spread {
            return self.join_all(base, |machine, node, into| machine.collect_deep(node, into));
        }
        if matches!(base.value, Value::Absent | Value::Missing) {
            self.push(base);
            return Ok(());
        }
        let mut all = Vec::new();
        self.collect_deep(base, &mut all)?;
        let list = self.spread_list(&all)?;
        self.push(Node::new(list, base.origin));
        Ok(())
    }

    fn collect_members(&mut self, node: &Node<'run>, into: &mut Vec<Node<'run>>) -> Result<(), Fault> {
        match node.value {
            Value::List(items) => {
                self.meter.charge_fuel(items.len() as u64)?;
                into.extend_from_slice(items);
            }
            Value::Object(object) => {
                self.meter.charge_fuel(object.entries().len() as u64)?;
                into.extend(object.entries().iter().map(|entry| entry.node));
            }
            // What is not recorded may hold anything.
            ref value if value.is_absent() => into.push(*node),
            _ => {}
        }
        Ok(())
    }

    /// The value and everything nested in it, in text order.
    fn collect_deep(&mut self, node: Node<'run>, into: &mut Vec<Node<'run>>) -> Result<(), Fault> {
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            self.meter.charge_fuel(1)?;
            self.check_room(into.len().saturating_add(open.len()))?;
            into.push(node);
            match self.open_json(node)?.value {
                Value::List(items) => open.extend(items.iter().rev()),
                Value::Object(object) => open.extend(object.entries().iter().rev().map(|entry| entry.node)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Applies a path step to every element; elements without it are dropped.
    fn map_all(&mut self, base: Node<'run>, step: impl Fn(&Node<'run>) -> Node<'run>) -> Result<(), Fault> {
        self.join_all(base, |machine, node, into| {
            let found = step(&machine.open_json(node)?);
            if !matches!(found.value, Value::Missing) {
                into.push(found);
            }
            Ok(())
        })
    }

    pub(super) fn join_all(
        &mut self,
        base: Node<'run>,
        mut each: impl FnMut(&mut Self, Node<'run>, &mut Vec<Node<'run>>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let Value::List(items) = base.value else {
            self.push(if matches!(base.value, Value::Absent) { base } else { missing_node() });
            return Ok(());
        };
        let mut all = Vec::new();
        for item in items {
            self.meter.charge_fuel(1)?;
            each(self, *item, &mut all)?;
            self.check_room(all.len())?;
        }
        let list = self.spread_list(&all)?;
        self.push(Node::new(list, if all.is_empty() { base.origin.as_nowhere() } else { base.origin }));
        Ok(())
    }

    fn check_room(&self, count: usize) -> Result<(), Fault> {
        Ok(self.meter.check_memory(count.saturating_mul(size_of::<Node<'_>>()))?)
    }

    fn spread_list(&mut self, items: &[Node<'run>]) -> Result<Value<'run>, Fault> {
        let list = self.new_list(items)?;
        if let Value::List(items) = list {
            self.cache.weights.note_list(items);
        }
        Ok(list)
    }

    pub(super) fn new_list(&mut self, items: &[Node<'run>]) -> Result<Value<'run>, Fault> {
        self.meter.charge_fuel(items.len() as u64)?;
        self.meter.charge_memory(size_of_val(items))?;
        Ok(Value::List(self.arena.alloc_slice_copy(items)))
    }
}

/// A negative index counts from the end; an object is indexed by key.
fn element_of<'run>(base: &Node<'run>, index: &Node<'run>) -> Node<'run> {
    match (&base.value, &index.value) {
        (Value::Missing, _) | (_, Value::Missing) => missing_node(),
        (Value::Absent, _) | (_, Value::Absent) => Node::computed(Value::Absent),
        (Value::List(items), Value::Number(number)) => number
            .as_i64()
            .and_then(|index| list_position(index, items.len()))
            .and_then(|at| items.get(at))
            .copied()
            .unwrap_or(missing_node()),
        (Value::Object(object), Value::Text(key)) => object.get(key.as_str()).unwrap_or(missing_node()),
        _ => missing_node(),
    }
}

fn list_position(index: i64, length: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(at) => Some(at),
        Err(_) => length.checked_sub(usize::try_from(index.checked_neg()?).ok()?),
    }
}
