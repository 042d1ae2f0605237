//! From the tree of a pattern to instructions.

use super::set::Set;
use super::tree::{Node, Repeat, Tree};
use regex_syntax::hir::Look;

/// An instruction; `back` says that it goes towards the start of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Character {
        wanted: char,
        back: bool,
    },
    Set {
        set: u32,
        back: bool,
    },
    /// As many of a set as there are, given back one by one as far as the least number. Where a character is known that follows, only in
    /// front of such.
    Run {
        set: u32,
        least: u32,
        most: u32,
        back: bool,
        then: Option<char>,
    },
    Look(Look),
    /// Goes on with the first, and with the second when that fails.
    Split {
        first: u32,
        second: u32,
    },
    Jump(u32),
    /// Keeps the place.
    Save(u32),
    /// Leaves a loop whose turn has taken nothing since the place was kept.
    Leave {
        slot: u32,
        to: u32,
    },
    /// Begins what gives nothing back once it has matched, or is only looked at.
    Enter(u32),
    /// Ends it; the place is again where it began when it was only looked at.
    Keep {
        entered: u32,
        returns: bool,
    },
    /// Begins what may not match; goes on there when it does not.
    EnterNot {
        entered: u32,
        to: u32,
    },
    /// It has matched.
    FailNot(u32),
    Reference {
        group: u32,
        any_case: bool,
        back: bool,
    },
    /// Jumps where a group has not matched.
    If {
        group: u32,
        otherwise: u32,
    },
    Found,
}

/// A pattern as instructions.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) ops: Vec<Op>,
    pub(super) sets: Vec<Set>,
    /// Places that are kept: two for each group, then those of loops.
    pub(super) slots: usize,
    pub(super) entered: usize,
    /// Bytes that a match begins with; none where it may be empty.
    pub(super) first: Option<Box<[bool; 256]>>,
    /// Where alone a match can begin.
    pub(super) anchor: Option<Anchor>,
}

/// Where alone a match can begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Text,
    Line,
}

/// More instructions are refused.
const MOST: usize = 1 << 15;

/// `None` for what would take too many instructions.
pub(super) fn compile(tree: &Tree) -> Option<Code> {
    let sets: Vec<Set> = tree.sets.iter().map(|ranges| Set::new(ranges)).collect();
    let slots = tree.groups.checked_add(1)?.checked_mul(2)?;
    let mut compiler = Compiler { ops: Vec::new(), slots, entered: 0 };
    compiler.node(&tree.root, false)?;
    compiler.push(Op::Found)?;
    let mut ops = compiler.ops;
    for at in 0..ops.len() {
        let next = match ops.get(at.saturating_add(1)) {
            Some(Op::Character { wanted, back: false }) => Some(*wanted),
            _ => None,
        };
        if let Some(Op::Run { back: false, then, .. }) = ops.get_mut(at) {
            *then = next;
        }
    }
    let mut first = Box::new([false; 256]);
    let first = (!begins(&tree.root, &sets, &mut first)).then_some(first);
    let text = begins_with(&tree.root, &[Look::Start]).then_some(Anchor::Text);
    let anchor = text.or_else(|| begins_with(&tree.root, &[Look::Start, Look::StartLF]).then_some(Anchor::Line));
    let (slots, entered) = (compiler.slots as usize, compiler.entered as usize);
    Some(Code { ops, sets, slots, entered, first, anchor })
}

/// Whether every match begins at a place where one of these stands.
fn begins_with(node: &Node, looks: &[Look]) -> bool {
    match node {
        Node::Look(look) => looks.contains(look),
        Node::Sequence(parts) => {
            let takes_nothing = |part: &&Node| matches!(part, Node::Empty | Node::Around { .. });
            parts.iter().find(|part| !takes_nothing(part)).is_some_and(|part| begins_with(part, looks))
        }
        Node::Choice(parts) => parts.iter().all(|part| begins_with(part, looks)),
        Node::Capture(_, inside) | Node::Atomic(inside) => begins_with(inside, looks),
        _ => false,
    }
}

/// Notes the bytes that a match begins with; whether it may be empty, so that what follows counts as well.
fn begins(node: &Node, sets: &[Set], bytes: &mut [bool; 256]) -> bool {
    let mut note = |low: char, high: char| {
        let byte = |letter: char| usize::from(letter.encode_utf8(&mut [0; 4]).as_bytes().first().copied().unwrap_or(0));
        bytes.get_mut(byte(low)..=byte(high)).unwrap_or_default().fill(true);
    };
    match node {
        Node::Empty | Node::Look(_) | Node::Around { .. } => true,
        Node::Character(letter) => {
            note(*letter, *letter);
            false
        }
        Node::Set(set) => {
            let ranges = sets.get(*set as usize).map_or(&[][..], |set| &set.ranges);
            ranges.iter().for_each(|(low, high)| note(*low, *high));
            false
        }
        Node::Sequence(parts) => parts.iter().all(|part| begins(part, sets, bytes)),
        Node::Choice(parts) => {
            // Each alternative is looked at, also behind one that may be empty.
            let empty = parts.iter().filter(|part| begins(part, sets, bytes)).count();
            empty > 0
        }
        Node::Repeat(repeat) => begins(&repeat.inside, sets, bytes) || repeat.least == 0,
        Node::Capture(_, inside) | Node::Atomic(inside) => begins(inside, sets, bytes),
        Node::Reference { .. } => {
            bytes.fill(true);
            true
        }
        Node::If { yes, no, .. } => {
            let empty = begins(yes, sets, bytes);
            begins(no, sets, bytes) || empty
        }
    }
}

struct Compiler {
    ops: Vec<Op>,
    slots: u32,
    entered: u32,
}

impl Compiler {
    fn push(&mut self, op: Op) -> Option<usize> {
        let at = self.ops.len();
        self.ops.push(op);
        (at < MOST).then_some(at)
    }

    fn next(&self) -> u32 {
        u32::try_from(self.ops.len()).unwrap_or(u32::MAX)
    }

    fn set(&mut self, at: usize, op: Op) {
        if let Some(place) = self.ops.get_mut(at) {
            *place = op;
        }
    }

    fn node(&mut self, node: &Node, back: bool) -> Option<()> {
        match node {
            Node::Empty => {}
            Node::Character(wanted) => drop(self.push(Op::Character { wanted: *wanted, back })?),
            Node::Set(set) => drop(self.push(Op::Set { set: *set, back })?),
            Node::Look(look) => drop(self.push(Op::Look(*look))?),
            Node::Sequence(parts) if back => parts.iter().rev().try_for_each(|part| self.node(part, back))?,
            Node::Sequence(parts) => parts.iter().try_for_each(|part| self.node(part, back))?,
            Node::Choice(parts) => self.choice(parts, back)?,
            Node::Repeat(repeat) => self.repeat(repeat, back)?,
            Node::Capture(group, inside) => {
                let start = group.checked_mul(2)?;
                let (first, last) = if back { (start.checked_add(1)?, start) } else { (start, start.checked_add(1)?) };
                self.push(Op::Save(first))?;
                self.node(inside, back)?;
                self.push(Op::Save(last))?;
            }
            Node::Around { ahead, negated: false, inside } => self.kept(inside, !ahead, true)?,
            Node::Around { ahead, negated: true, inside } => {
                let entered = self.enter();
                let at = self.push(Op::Found)?;
                self.node(inside, !ahead)?;
                self.push(Op::FailNot(entered))?;
                self.set(at, Op::EnterNot { entered, to: self.next() });
            }
            Node::Atomic(inside) => self.kept(inside, back, false)?,
            Node::Reference { group, any_case } => {
                self.push(Op::Reference { group: *group, any_case: *any_case, back })?;
            }
            Node::If { group, yes, no } => {
                let at = self.push(Op::Found)?;
                self.node(yes, back)?;
                let end = self.push(Op::Found)?;
                self.set(at, Op::If { group: *group, otherwise: self.next() });
                self.node(no, back)?;
                self.set(end, Op::Jump(self.next()));
            }
        }
        Some(())
    }

    fn enter(&mut self) -> u32 {
        self.entered = self.entered.saturating_add(1);
        self.entered.saturating_sub(1)
    }

    fn kept(&mut self, inside: &Node, back: bool, returns: bool) -> Option<()> {
        let entered = self.enter();
        self.push(Op::Enter(entered))?;
        self.node(inside, back)?;
        self.push(Op::Keep { entered, returns })?;
        Some(())
    }

    fn choice(&mut self, parts: &[Node], back: bool) -> Option<()> {
        let mut ends = Vec::new();
        for (number, part) in (1_usize..).zip(parts) {
            if number == parts.len() {
                self.node(part, back)?;
                break;
            }
            let split = self.push(Op::Found)?;
            self.node(part, back)?;
            ends.push(self.push(Op::Found)?);
            self.set(split, Op::Split { first: u32::try_from(split).ok()?.checked_add(1)?, second: self.next() });
        }
        let end = self.next();
        ends.into_iter().for_each(|at| self.set(at, Op::Jump(end)));
        Some(())
    }

    fn repeat(&mut self, repeat: &Repeat, back: bool) -> Option<()> {
        let Repeat { inside, least, most, greedy } = repeat;
        if let (Node::Set(set), true) = (inside, greedy) {
            let most = most.unwrap_or(u32::MAX);
            self.push(Op::Run { set: *set, least: *least, most, back, then: None })?;
            return Some(());
        }
        for _ in 0..*least {
            self.node(inside, back)?;
        }
        match most {
            None => self.star(inside, *greedy, back),
            Some(most) => {
                let mut splits = Vec::new();
                for _ in *least..*most {
                    splits.push(self.push(Op::Found)?);
                    self.node(inside, back)?;
                }
                let end = self.next();
                for at in splits {
                    let inside = u32::try_from(at).ok()?.checked_add(1)?;
                    self.set(at, split(inside, end, *greedy));
                }
                Some(())
            }
        }
    }

    fn star(&mut self, inside: &Node, greedy: bool, back: bool) -> Option<()> {
        let start = self.push(Op::Found)?;
        let slot = inside.can_be_empty().then_some(self.slots);
        if let Some(slot) = slot {
            self.slots = slot.checked_add(1)?;
            self.push(Op::Save(slot))?;
        }
        self.node(inside, back)?;
        let leave = match slot {
            Some(slot) => Some((self.push(Op::Found)?, slot)),
            None => None,
        };
        self.push(Op::Jump(u32::try_from(start).ok()?))?;
        let end = self.next();
        if let Some((at, slot)) = leave {
            self.set(at, Op::Leave { slot, to: end });
        }
        self.set(start, split(u32::try_from(start).ok()?.checked_add(1)?, end, greedy));
        Some(())
    }
}

/// Into a loop or past it.
fn split(inside: u32, past: u32, greedy: bool) -> Op {
    if greedy { Op::Split { first: inside, second: past } } else { Op::Split { first: past, second: inside } }
}
