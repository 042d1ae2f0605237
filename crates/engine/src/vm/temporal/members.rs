//! Tests on another pattern's binding that few values can meet: `result.items contains $id`, `id in $ids`, `to == $x`.
//!
//! Such a test is looked up instead of tried. One side is the binding, the other one needs nothing but the step; each gives its marks, and
//! the test can only be met where they have one in common. Of the side that holds the other these are the elements of a list, the keys of
//! an object, and of a text those values of the run that stand in it; else it is the value itself.

use super::view::WindowView;
use crate::bytecode::ops::{BindingRef, InstructionOperand, Op};
use crate::bytecode::program::CodeId;
use crate::vm::context::ExpressionScope;
use crate::vm::fault::Fault;
use aho_corasick::AhoCorasick;
use averment_base::value::compare::ValueKey;
use averment_base::value::{Node, Value, ValueText};
use averment_syntax::ast::TestKind;
use std::hash::BuildHasher;
use std::ops::Range;

#[derive(Debug, Clone)]
pub(super) struct LookupTest {
    pub(super) name: u32,
    /// Instructions of its other side, which depend only on the step.
    part: Range<u32>,
    holder: ContainerSide,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ContainerSide {
    /// The step's value: `result contains $id`.
    Step,
    /// The binding: `id in $ids`.
    Binding,
    Neither,
}

impl LookupTest {
    /// `None` if the code does not have this form.
    pub(super) fn from_code(ops: &[Op]) -> Option<Self> {
        let count = u32::try_from(ops.len()).ok()?;
        let (side, part, name, kind, behind) = match ops {
            [side @ .., Op::Binding(BindingRef(name)), Op::Test(kind, false)] => {
                (side, 0..count - 2, *name, *kind, true)
            }
            // Jumps count from the start of the code, so that only what has none can stand alone.
            [Op::Binding(BindingRef(name)), side @ .., Op::Test(kind, false)]
                if !side.iter().any(|op| is_jump(*op)) =>
            {
                (side, 1..count - 1, *name, *kind, false)
            }
            _ => return None,
        };
        let holder = match (kind, behind) {
            (TestKind::Contains, true) | (TestKind::In, false) => ContainerSide::Step,
            (TestKind::Contains, false) | (TestKind::In, true) => ContainerSide::Binding,
            (TestKind::Equal, _) => ContainerSide::Neither,
            _ => return None,
        };
        let member = Self { name, part, holder };
        let depends = side.iter().any(|op| matches!(op, Op::Binding(_) | Op::Response()));
        (!side.is_empty() && !depends).then_some(member)
    }

    pub(super) fn is_held(&self) -> bool {
        self.holder == ContainerSide::Binding
    }

    /// `None` if every value has to be tried; `texts` finds the binding's text values inside a text.
    pub(super) fn step_marks<'run>(
        &self,
        code: CodeId,
        scope: &ExpressionScope<'_, 'run>,
        texts: &AhoCorasick,
        view: &mut WindowView<'_, 'run>,
    ) -> Result<Option<Vec<u64>>, Fault> {
        let node = view.machine.evaluate_part(code, self.part.clone(), scope)?;
        let marks = match node.value {
            Value::Missing => Some(Vec::new()),
            // Which values such a list holds is not known.
            Value::List(items) if items.iter().any(|item| item.value.is_absent()) => None,
            Value::Absent | Value::Truth(_) | Value::Range(_) | Value::Regex(_) => None,
            value if self.holder != ContainerSide::Step => Some(vec![hash(&value)]),
            Value::Text(text) => {
                view.spend_fuel(text.as_str().len() / 16)?;
                let found = texts.find_overlapping_iter(text.as_str());
                let found = found.filter_map(|found| text.as_str().get(found.range()));
                Some(found.map(|text| hash(&Value::Text(ValueText::Plain(text)))).collect())
            }
            value => held_marks(&value),
        };
        let Some(mut hashes) = marks else { return Ok(None) };
        view.spend_fuel(hashes.len())?;
        hashes.sort_unstable();
        hashes.dedup();
        Ok(Some(hashes))
    }
}

fn is_jump(op: Op) -> bool {
    op.operands().iter().any(|operand| matches!(operand, InstructionOperand::Target(_)))
}

/// Marks of the elements or keys; `None` for a value whose parts cannot be listed.
pub(super) fn held_marks(value: &Value<'_>) -> Option<Vec<u64>> {
    match value {
        Value::List(items) => Some(items.iter().map(|item| hash(&item.value)).collect()),
        Value::Object(object) => {
            Some(object.entries().iter().map(|entry| hash(&Value::Text(ValueText::Plain(entry.key)))).collect())
        }
        _ => None,
    }
}

/// Equal values have equal hashes.
pub(super) fn hash(value: &Value<'_>) -> u64 {
    rustc_hash::FxBuildHasher.hash_one(ValueKey(*value))
}

pub(super) fn text_finder(values: &[Node<'_>]) -> Option<AhoCorasick> {
    let texts = values.iter().filter_map(|node| match node.value {
        Value::Text(text) => Some(text.as_str().as_bytes()),
        _ => None,
    });
    AhoCorasick::new(texts).ok()
}
