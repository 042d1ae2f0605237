//! Compiles the syntax tree of a pattern to instructions.

use super::set::CharSet;
use super::tree::{PatternNode, PatternTree, RepeatNode};
use regex_syntax::hir::Look;

/// A matching instruction; `back` means it moves toward the start of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BacktrackOp {
    Character {
        wanted: char,
        back: bool,
    },
    Set {
        set: u32,
        back: bool,
    },
    /// A greedy run of a set, which is given back one by one down to the minimum. `then` is the next character, if known.
    Run {
        set: u32,
        least: u32,
        most: u32,
        back: bool,
        then: Option<char>,
    },
    Look(Look),
    Split {
        first: u32,
        second: u32,
    },
    Jump(u32),
    Save(u32),
    /// Leaves a loop whose iteration consumed nothing.
    Leave {
        slot: u32,
        to: u32,
    },
    /// Enters an atomic group or a lookaround.
    Enter(u32),
    /// Leaves an atomic group or a lookaround. A lookaround resets the position.
    Keep {
        entered: u32,
        returns: bool,
    },
    /// Enters a negative lookaround; matching continues there if its body fails.
    EnterNot {
        entered: u32,
        to: u32,
    },
    /// The body of a negative lookaround matched, so it fails.
    FailNot(u32),
    Reference {
        group: u32,
        any_case: bool,
        back: bool,
    },
    If {
        group: u32,
        otherwise: u32,
    },
    Found,
}

#[derive(Debug)]
pub(super) struct BacktrackCode {
    pub(super) ops: Vec<BacktrackOp>,
    pub(super) sets: Vec<CharSet>,
    /// Number of slots: two per group, then those of loops.
    pub(super) slots: usize,
    pub(super) entered: usize,
    /// The bytes that a match can start with; `None` if it may be empty.
    pub(super) first: Option<Box<[bool; 256]>>,
    pub(super) anchor: Option<MatchAnchor>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatchAnchor {
    Text,
    Line,
}

const MOST: usize = 1 << 15;

/// Compiles a syntax tree; `None` if it needs too many instructions.
pub(super) fn compile_tree(tree: &PatternTree) -> Option<BacktrackCode> {
    let sets: Vec<CharSet> = tree.sets.iter().map(|ranges| CharSet::new(ranges)).collect();
    let slots = tree.groups.checked_add(1)?.checked_mul(2)?;
    let mut compiler = PatternCompiler { ops: Vec::new(), slots, entered: 0 };
    compiler.compile_node(&tree.root, false)?;
    compiler.push_op(BacktrackOp::Found)?;
    let mut ops = compiler.ops;
    for at in 0..ops.len() {
        let next = match ops.get(at.saturating_add(1)) {
            Some(BacktrackOp::Character { wanted, back: false }) => Some(*wanted),
            _ => None,
        };
        if let Some(BacktrackOp::Run { back: false, then, .. }) = ops.get_mut(at) {
            *then = next;
        }
    }
    let mut first = Box::new([false; 256]);
    let first = (!collect_first_bytes(&tree.root, &sets, &mut first)).then_some(first);
    let text = begins_with(&tree.root, &[Look::Start]).then_some(MatchAnchor::Text);
    let anchor = text.or_else(|| begins_with(&tree.root, &[Look::Start, Look::StartLF]).then_some(MatchAnchor::Line));
    let (slots, entered) = (compiler.slots as usize, compiler.entered as usize);
    Some(BacktrackCode { ops, sets, slots, entered, first, anchor })
}

fn begins_with(node: &PatternNode, looks: &[Look]) -> bool {
    match node {
        PatternNode::Look(look) => looks.contains(look),
        PatternNode::Sequence(parts) => {
            let takes_nothing = |part: &&PatternNode| matches!(part, PatternNode::Empty | PatternNode::Around { .. });
            parts.iter().find(|part| !takes_nothing(part)).is_some_and(|part| begins_with(part, looks))
        }
        PatternNode::Choice(parts) => parts.iter().all(|part| begins_with(part, looks)),
        PatternNode::Capture(_, inside) | PatternNode::Atomic(inside) => begins_with(inside, looks),
        _ => false,
    }
}

/// Collects the possible first bytes. Returns true if the node may be empty, so that the next node counts too.
fn collect_first_bytes(node: &PatternNode, sets: &[CharSet], bytes: &mut [bool; 256]) -> bool {
    let mut note = |low: char, high: char| {
        let byte = |letter: char| usize::from(letter.encode_utf8(&mut [0; 4]).as_bytes().first().copied().unwrap_or(0));
        bytes.get_mut(byte(low)..=byte(high)).unwrap_or_default().fill(true);
    };
    match node {
        PatternNode::Empty | PatternNode::Look(_) | PatternNode::Around { .. } => true,
        PatternNode::Character(letter) => {
            note(*letter, *letter);
            false
        }
        PatternNode::Set(set) => {
            let ranges = sets.get(*set as usize).map_or(&[][..], |set| &set.ranges);
            ranges.iter().for_each(|(low, high)| note(*low, *high));
            false
        }
        PatternNode::Sequence(parts) => parts.iter().all(|part| collect_first_bytes(part, sets, bytes)),
        PatternNode::Choice(parts) => {
            // All alternatives are visited, even after one that may be empty.
            let empty = parts.iter().filter(|part| collect_first_bytes(part, sets, bytes)).count();
            empty > 0
        }
        PatternNode::Repeat(repeat) => collect_first_bytes(&repeat.inside, sets, bytes) || repeat.least == 0,
        PatternNode::Capture(_, inside) | PatternNode::Atomic(inside) => collect_first_bytes(inside, sets, bytes),
        PatternNode::Reference { .. } => {
            bytes.fill(true);
            true
        }
        PatternNode::If { yes, no, .. } => {
            let empty = collect_first_bytes(yes, sets, bytes);
            collect_first_bytes(no, sets, bytes) || empty
        }
    }
}

struct PatternCompiler {
    ops: Vec<BacktrackOp>,
    slots: u32,
    entered: u32,
}

impl PatternCompiler {
    fn push_op(&mut self, op: BacktrackOp) -> Option<usize> {
        let at = self.ops.len();
        self.ops.push(op);
        (at < MOST).then_some(at)
    }

    fn next(&self) -> u32 {
        u32::try_from(self.ops.len()).unwrap_or(u32::MAX)
    }

    fn set_op(&mut self, at: usize, op: BacktrackOp) {
        if let Some(place) = self.ops.get_mut(at) {
            *place = op;
        }
    }

    fn compile_node(&mut self, node: &PatternNode, back: bool) -> Option<()> {
        match node {
            PatternNode::Empty => {}
            PatternNode::Character(wanted) => drop(self.push_op(BacktrackOp::Character { wanted: *wanted, back })?),
            PatternNode::Set(set) => drop(self.push_op(BacktrackOp::Set { set: *set, back })?),
            PatternNode::Look(look) => drop(self.push_op(BacktrackOp::Look(*look))?),
            PatternNode::Sequence(parts) if back => {
                parts.iter().rev().try_for_each(|part| self.compile_node(part, back))?
            }
            PatternNode::Sequence(parts) => parts.iter().try_for_each(|part| self.compile_node(part, back))?,
            PatternNode::Choice(parts) => self.compile_choice(parts, back)?,
            PatternNode::Repeat(repeat) => self.compile_repeat(repeat, back)?,
            PatternNode::Capture(group, inside) => {
                let start = group.checked_mul(2)?;
                let (first, last) = if back { (start.checked_add(1)?, start) } else { (start, start.checked_add(1)?) };
                self.push_op(BacktrackOp::Save(first))?;
                self.compile_node(inside, back)?;
                self.push_op(BacktrackOp::Save(last))?;
            }
            PatternNode::Around { ahead, negated: false, inside } => self.compile_kept(inside, !ahead, true)?,
            PatternNode::Around { ahead, negated: true, inside } => {
                let entered = self.next_entered();
                let at = self.push_op(BacktrackOp::Found)?;
                self.compile_node(inside, !ahead)?;
                self.push_op(BacktrackOp::FailNot(entered))?;
                self.set_op(at, BacktrackOp::EnterNot { entered, to: self.next() });
            }
            PatternNode::Atomic(inside) => self.compile_kept(inside, back, false)?,
            PatternNode::Reference { group, any_case } => {
                self.push_op(BacktrackOp::Reference { group: *group, any_case: *any_case, back })?;
            }
            PatternNode::If { group, yes, no } => {
                let at = self.push_op(BacktrackOp::Found)?;
                self.compile_node(yes, back)?;
                let end = self.push_op(BacktrackOp::Found)?;
                self.set_op(at, BacktrackOp::If { group: *group, otherwise: self.next() });
                self.compile_node(no, back)?;
                self.set_op(end, BacktrackOp::Jump(self.next()));
            }
        }
        Some(())
    }

    fn next_entered(&mut self) -> u32 {
        self.entered = self.entered.saturating_add(1);
        self.entered.saturating_sub(1)
    }

    fn compile_kept(&mut self, inside: &PatternNode, back: bool, returns: bool) -> Option<()> {
        let entered = self.next_entered();
        self.push_op(BacktrackOp::Enter(entered))?;
        self.compile_node(inside, back)?;
        self.push_op(BacktrackOp::Keep { entered, returns })?;
        Some(())
    }

    fn compile_choice(&mut self, parts: &[PatternNode], back: bool) -> Option<()> {
        let mut ends = Vec::new();
        for (number, part) in (1_usize..).zip(parts) {
            if number == parts.len() {
                self.compile_node(part, back)?;
                break;
            }
            let split = self.push_op(BacktrackOp::Found)?;
            self.compile_node(part, back)?;
            ends.push(self.push_op(BacktrackOp::Found)?);
            self.set_op(
                split,
                BacktrackOp::Split { first: u32::try_from(split).ok()?.checked_add(1)?, second: self.next() },
            );
        }
        let end = self.next();
        ends.into_iter().for_each(|at| self.set_op(at, BacktrackOp::Jump(end)));
        Some(())
    }

    fn compile_repeat(&mut self, repeat: &RepeatNode, back: bool) -> Option<()> {
        let RepeatNode { inside, least, most, greedy } = repeat;
        if let (PatternNode::Set(set), true) = (inside, greedy) {
            let most = most.unwrap_or(u32::MAX);
            self.push_op(BacktrackOp::Run { set: *set, least: *least, most, back, then: None })?;
            return Some(());
        }
        for _ in 0..*least {
            self.compile_node(inside, back)?;
        }
        match most {
            None => self.compile_star(inside, *greedy, back),
            Some(most) => {
                let mut splits = Vec::new();
                for _ in *least..*most {
                    splits.push(self.push_op(BacktrackOp::Found)?);
                    self.compile_node(inside, back)?;
                }
                let end = self.next();
                for at in splits {
                    let inside = u32::try_from(at).ok()?.checked_add(1)?;
                    self.set_op(at, split_op(inside, end, *greedy));
                }
                Some(())
            }
        }
    }

    fn compile_star(&mut self, inside: &PatternNode, greedy: bool, back: bool) -> Option<()> {
        let start = self.push_op(BacktrackOp::Found)?;
        let slot = inside.can_be_empty().then_some(self.slots);
        if let Some(slot) = slot {
            self.slots = slot.checked_add(1)?;
            self.push_op(BacktrackOp::Save(slot))?;
        }
        self.compile_node(inside, back)?;
        let leave = match slot {
            Some(slot) => Some((self.push_op(BacktrackOp::Found)?, slot)),
            None => None,
        };
        self.push_op(BacktrackOp::Jump(u32::try_from(start).ok()?))?;
        let end = self.next();
        if let Some((at, slot)) = leave {
            self.set_op(at, BacktrackOp::Leave { slot, to: end });
        }
        self.set_op(start, split_op(u32::try_from(start).ok()?.checked_add(1)?, end, greedy));
        Some(())
    }
}

fn split_op(inside: u32, past: u32, greedy: bool) -> BacktrackOp {
    if greedy {
        BacktrackOp::Split { first: inside, second: past }
    } else {
        BacktrackOp::Split { first: past, second: inside }
    }
}
