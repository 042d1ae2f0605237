//! Roles whose words a format may leave out, so that a run in which none of them speaks says nothing of them.

use super::RunBuilder;
use crate::adapt::nodes::node_text;
use averment_base::value::{Node, ObjectEntry, Value};
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::StepKind;

impl<'run> RunBuilder<'run, '_> {
    /// Words that may be of this role are not told as such: what it said is not all known.
    pub(in crate::adapt) fn leave_role_open(&mut self, role: &'static str) {
        if !self.open_roles.contains(&role) {
            self.open_roles.push(role);
        }
    }

    /// The roles among these in which nobody speaks, as far as the run records messages at all.
    pub(in crate::adapt) fn note_partial_roles(&mut self, roles: &[&'static str]) {
        let speaks = |role: &&str| {
            let is_role = |field: &ObjectEntry<'run>| {
                field.key == of_step::ROLE && node_text(field.node).is_some_and(|word| word == *role)
            };
            self.steps.iter().any(|step| step.kind == StepKind::Message && step.fields.iter().any(is_role))
        };
        if !self.is_recorded(StepKind::Message) {
            return;
        }
        let silent: Vec<_> = roles
            .iter()
            .filter(|role| !speaks(role) || self.open_roles.contains(role))
            .chain(self.open_roles.iter().filter(|role| !roles.contains(role)))
            .collect();
        if !silent.is_empty() {
            let nodes: Vec<_> = silent.into_iter().map(|role| Node::computed(Value::plain_text(role))).collect();
            let list = self.list_node(&nodes);
            self.set_entry(of_run::UNRECORDED_ROLES, list);
        }
    }
}
