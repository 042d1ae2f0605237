//! Runs the instructions of a pattern on a text, and counts every step.

use super::compile::{BacktrackCode, BacktrackOp, MatchAnchor};
use super::look;
use averment_base::limits::{FuelMeter, LimitError};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};
use std::ops::Range;

#[derive(Debug, Clone, Copy)]
enum BacktrackFrame {
    Branch {
        op: u32,
        at: usize,
    },
    /// A greedy run that may still give back characters down to a position.
    Run {
        op: u32,
        at: usize,
        until: usize,
    },
    Restore {
        slot: u32,
        place: usize,
    },
}

const NONE: usize = usize::MAX;
/// Steps are charged in batches of this size.
const PORTION: u64 = 1 << 12;
/// Step limit of a search, worth some hundredths of a second. It grows with the text.
const MOST_STEPS: u64 = 4_000_000;
const STEPS_OF_BYTE: u64 = 8;
const MOST_FRAMES: usize = 1 << 19;
/// Number of characters in a run that cost one step.
const RUN: usize = 8;

pub(super) struct BacktrackSearch<'s> {
    code: &'s BacktrackCode,
    text: &'s str,
    number: u32,
    meter: &'s mut FuelMeter,
    steps: u64,
    unpaid: u64,
    frames: Vec<BacktrackFrame>,
    slots: Vec<usize>,
    entered: Vec<(usize, usize)>,
    end: usize,
}

impl<'s> BacktrackSearch<'s> {
    pub(super) fn new(code: &'s BacktrackCode, number: u32, text: &'s str, meter: &'s mut FuelMeter) -> Self {
        let (slots, entered) = (vec![NONE; code.slots], vec![(0, 0); code.entered]);
        Self { code, text, number, meter, steps: 0, unpaid: 0, frames: Vec::new(), slots, entered, end: 0 }
    }

    pub(super) fn find(&mut self, from: usize) -> Result<Option<usize>, LimitError> {
        let mut at = from;
        let found = loop {
            let Some(start) = self.next_candidate(at)? else { break None };
            self.slots.fill(NONE);
            self.frames.clear();
            if self.matches_at(start)? {
                break Some(start);
            }
            let next = self.past_run(start)?;
            let Some(letter) = self.text.get(next..).and_then(|rest| rest.chars().next()) else { break None };
            at = next.saturating_add(letter.len_utf8());
        };
        self.meter.charge_fuel(self.unpaid)?;
        self.steps = self.steps.saturating_add(self.unpaid);
        self.unpaid = 0;
        Ok(found)
    }

    /// Returns the next match. An empty match directly after the previous match is skipped.
    pub(super) fn next(&mut self, after: Option<Range<usize>>) -> Result<Option<Range<usize>>, LimitError> {
        let mut from = after.as_ref().map_or(0, |after| after.end);
        loop {
            let Some(start) = self.find(from)? else { return Ok(None) };
            let found = start..self.end;
            if !found.is_empty() || after.as_ref().is_none_or(|after| after.end != start) {
                return Ok(Some(found));
            }
            let Some((_, next)) = self.char_at(start, false) else { return Ok(None) };
            from = next;
        }
    }

    pub(super) fn check_memory(&self, bytes: usize) -> Result<(), LimitError> {
        self.meter.check_memory(bytes)
    }

    fn next_candidate(&mut self, at: usize) -> Result<Option<usize>, LimitError> {
        match self.code.anchor {
            Some(MatchAnchor::Text) => return Ok((at == 0).then_some(0)),
            Some(MatchAnchor::Line) if at > 0 => return self.next_line_start(at),
            _ => {}
        }
        let Some(first) = &self.code.first else { return Ok(Some(at)) };
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        let skipped = rest.iter().position(|byte| first.get(usize::from(*byte)).copied().unwrap_or(true));
        // Skipped bytes cost only a scan, and are no backtracking steps.
        self.meter.charge_scan(skipped.unwrap_or(rest.len()))?;
        Ok(skipped.map(|skipped| at.saturating_add(skipped)))
    }

    fn next_line_start(&mut self, at: usize) -> Result<Option<usize>, LimitError> {
        let before = at.saturating_sub(1);
        let end = memchr::memchr(b'\n', self.text.as_bytes().get(before..).unwrap_or_default());
        self.meter.charge_scan(end.unwrap_or_else(|| self.text.len().saturating_sub(before)))?;
        Ok(end.map(|end| before.saturating_add(end).saturating_add(1)))
    }

    /// Skips ahead after a failure, because a run that starts later and ends here was already tried.
    fn past_run(&mut self, start: usize) -> Result<usize, LimitError> {
        let Some(BacktrackOp::Run { set, most: u32::MAX, .. }) = self.code.ops.first() else { return Ok(start) };
        let Some(set) = self.code.sets.get(*set as usize) else { return Ok(start) };
        let rest = self.text.get(start..).unwrap_or("");
        let run = rest.find(|letter| !set.contains(letter)).unwrap_or(rest.len());
        self.pay_steps(run / RUN)?;
        Ok(start.saturating_add(run))
    }

    fn pay_steps(&mut self, steps: usize) -> Result<(), LimitError> {
        self.unpaid = self.unpaid.saturating_add(steps as u64);
        if self.unpaid < PORTION {
            return Ok(());
        }
        self.meter.charge_fuel(self.unpaid)?;
        self.steps = self.steps.saturating_add(self.unpaid);
        self.unpaid = 0;
        let most = MOST_STEPS.saturating_add((self.text.len() as u64).saturating_mul(STEPS_OF_BYTE));
        if self.steps > most { Err(LimitError::Backtracking(self.number)) } else { Ok(()) }
    }

    fn matches_at(&mut self, start: usize) -> Result<bool, LimitError> {
        let (mut op, mut at) = (0, start);
        loop {
            self.pay_steps(1)?;
            let Some(instruction) = self.code.ops.get(op as usize).copied() else { return Ok(false) };
            if instruction == BacktrackOp::Found {
                self.end = at;
                return Ok(true);
            }
            if let Some(next) = self.run_op(instruction, op, at)? {
                (op, at) = next;
                continue;
            }
            match self.pop_branch()? {
                Some(next) => (op, at) = next,
                None => return Ok(false),
            }
        }
    }

    /// Executes one instruction. Returns the next instruction and the position; `None` on failure.
    #[inline]
    fn run_op(&mut self, instruction: BacktrackOp, op: u32, at: usize) -> Result<Option<(u32, usize)>, LimitError> {
        let next = op.saturating_add(1);
        Ok(match instruction {
            BacktrackOp::Character { wanted, back } => {
                self.char_at(at, back).filter(|(letter, _)| *letter == wanted).map(|(_, at)| (next, at))
            }
            BacktrackOp::Set { set, back } => {
                let set = self.code.sets.get(set as usize);
                self.char_at(at, back)
                    .filter(|(letter, _)| set.is_some_and(|set| set.contains(*letter)))
                    .map(|(_, at)| (next, at))
            }
            BacktrackOp::Run { .. } => self.match_run(instruction, op, at)?,
            BacktrackOp::Look(look) => look::look_matches(look, self.text, at).then_some((next, at)),
            BacktrackOp::Split { first, second } => {
                self.push_frame(BacktrackFrame::Branch { op: second, at })?;
                Some((first, at))
            }
            BacktrackOp::Jump(to) => Some((to, at)),
            BacktrackOp::Save(slot) => {
                self.save_place(slot, at)?;
                Some((next, at))
            }
            BacktrackOp::Leave { slot, to } => Some((if self.slot_place(slot) == at { to } else { next }, at)),
            BacktrackOp::Enter(entered) => {
                self.note_entry(entered, at);
                Some((next, at))
            }
            BacktrackOp::Keep { entered, returns } => {
                let (height, began) = self.entered.get(entered as usize).copied().unwrap_or_default();
                self.keep_only_restores(height)?;
                Some((next, if returns { began } else { at }))
            }
            BacktrackOp::EnterNot { entered, to } => {
                self.note_entry(entered, at);
                self.push_frame(BacktrackFrame::Branch { op: to, at })?;
                Some((next, at))
            }
            BacktrackOp::FailNot(entered) => {
                let (height, _) = self.entered.get(entered as usize).copied().unwrap_or_default();
                self.undo_to(height)?;
                None
            }
            BacktrackOp::Reference { group, any_case, back } => {
                self.match_reference(group, any_case, back, at)?.map(|at| (next, at))
            }
            BacktrackOp::If { group, otherwise } => {
                Some((if self.group_text(group).is_some() { next } else { otherwise }, at))
            }
            BacktrackOp::Found => None,
        })
    }

    /// Returns the character at (or before) a position, and the position beyond it.
    #[inline]
    fn char_at(&self, at: usize, back: bool) -> Option<(char, usize)> {
        if back {
            let letter = self.text.get(..at)?.chars().next_back()?;
            return Some((letter, at.checked_sub(letter.len_utf8())?));
        }
        let byte = *self.text.as_bytes().get(at)?;
        if byte.is_ascii() {
            return Some((char::from(byte), at.checked_add(1)?));
        }
        let letter = self.text.get(at..)?.chars().next()?;
        Some((letter, at.checked_add(letter.len_utf8())?))
    }

    fn match_run(
        &mut self,
        instruction: BacktrackOp,
        op: u32,
        start: usize,
    ) -> Result<Option<(u32, usize)>, LimitError> {
        let BacktrackOp::Run { set, least, most, back, then } = instruction else { return Ok(None) };
        let code = self.code;
        let Some(set) = code.sets.get(set as usize) else { return Ok(None) };
        let (mut at, mut until, mut count) = (start, start, 0);
        while count < most {
            let Some((_, next)) = self.char_at(at, back).filter(|(letter, _)| set.contains(*letter)) else { break };
            at = next;
            count = count.saturating_add(1);
            if count == least {
                until = at;
            }
        }
        self.pay_steps(start.abs_diff(at) / RUN)?;
        if count < least {
            return Ok(None);
        }
        self.give_back(op, at, until, back, then)
    }

    fn give_back(
        &mut self,
        op: u32,
        from: usize,
        until: usize,
        back: bool,
        then: Option<char>,
    ) -> Result<Option<(u32, usize)>, LimitError> {
        let mut at = from;
        if let Some(then) = then {
            let follows = |at: usize| self.char_at(at, false).is_some_and(|(letter, _)| letter == then);
            while !follows(at) {
                if at <= until {
                    self.pay_steps(from.abs_diff(at) / RUN)?;
                    return Ok(None);
                }
                let Some((_, before)) = self.char_at(at, true) else { return Ok(None) };
                at = before;
            }
            self.pay_steps(from.abs_diff(at) / RUN)?;
        }
        if at != until
            && let Some((_, before)) = self.char_at(at, !back)
        {
            self.push_frame(BacktrackFrame::Run { op, at: before, until })?;
        }
        Ok(Some((op.saturating_add(1), at)))
    }

    fn push_frame(&mut self, frame: BacktrackFrame) -> Result<(), LimitError> {
        if self.frames.len() >= MOST_FRAMES {
            return Err(LimitError::Backtracking(self.number));
        }
        self.frames.push(frame);
        Ok(())
    }

    fn pop_branch(&mut self) -> Result<Option<(u32, usize)>, LimitError> {
        loop {
            self.pay_steps(1)?;
            match self.frames.pop() {
                None => return Ok(None),
                Some(BacktrackFrame::Branch { op, at }) => return Ok(Some((op, at))),
                Some(BacktrackFrame::Restore { slot, place }) => self.set_slot(slot, place),
                Some(BacktrackFrame::Run { op, at, until }) => {
                    let Some(BacktrackOp::Run { back, then, .. }) = self.code.ops.get(op as usize).copied() else {
                        continue;
                    };
                    if let Some(next) = self.give_back(op, at, until, back, then)? {
                        return Ok(Some(next));
                    }
                }
            }
        }
    }

    fn slot_place(&self, slot: u32) -> usize {
        self.slots.get(slot as usize).copied().unwrap_or(NONE)
    }

    fn set_slot(&mut self, slot: u32, place: usize) {
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            *slot = place;
        }
    }

    fn save_place(&mut self, slot: u32, at: usize) -> Result<(), LimitError> {
        self.push_frame(BacktrackFrame::Restore { slot, place: self.slot_place(slot) })?;
        self.set_slot(slot, at);
        Ok(())
    }

    fn note_entry(&mut self, entered: u32, at: usize) {
        let height = self.frames.len();
        if let Some(entered) = self.entered.get_mut(entered as usize) {
            *entered = (height, at);
        }
    }

    /// Drops alternatives above a height but keeps the slot restores.
    fn keep_only_restores(&mut self, height: usize) -> Result<(), LimitError> {
        self.pay_steps(self.frames.len().saturating_sub(height))?;
        let mut kept = height;
        for from in height..self.frames.len() {
            if matches!(self.frames.get(from), Some(BacktrackFrame::Restore { .. })) {
                self.frames.swap(kept, from);
                kept = kept.saturating_add(1);
            }
        }
        self.frames.truncate(kept);
        Ok(())
    }

    fn undo_to(&mut self, height: usize) -> Result<(), LimitError> {
        self.pay_steps(self.frames.len().saturating_sub(height))?;
        while self.frames.len() > height {
            if let Some(BacktrackFrame::Restore { slot, place }) = self.frames.pop() {
                self.set_slot(slot, place);
            }
        }
        Ok(())
    }

    pub(super) fn group_range(&self, group: u32) -> Range<usize> {
        let start = self.slot_place(group.saturating_mul(2));
        start..self.slot_place(group.saturating_mul(2).saturating_add(1))
    }

    pub(super) fn group_text(&self, group: u32) -> Option<&'s str> {
        self.text.get(self.group_range(group))
    }

    /// Returns the position after a backreference; `None` if it does not match here.
    fn match_reference(
        &mut self,
        group: u32,
        any_case: bool,
        back: bool,
        at: usize,
    ) -> Result<Option<usize>, LimitError> {
        let Some(wanted) = self.group_text(group) else { return Ok(None) };
        self.pay_steps(wanted.len() / RUN)?;
        if !any_case {
            let (before, after) = self.text.split_at_checked(at).unwrap_or((self.text, ""));
            let rest = if back { before.strip_suffix(wanted) } else { after.strip_prefix(wanted) };
            return Ok(rest.map(|rest| if back { rest.len() } else { self.text.len().saturating_sub(rest.len()) }));
        }
        let mut place = at;
        let mut letters = wanted.chars();
        while let Some(wanted) = if back { letters.next_back() } else { letters.next() } {
            let Some((letter, next)) = self.char_at(place, back) else { return Ok(None) };
            if letter != wanted {
                self.pay_steps(RUN)?;
                if !is_same(letter, wanted) {
                    return Ok(None);
                }
            }
            place = next;
        }
        Ok(Some(place))
    }
}

fn is_same(one: char, other: char) -> bool {
    let mut class = ClassUnicode::new([ClassUnicodeRange::new(one, one)]);
    class.try_case_fold_simple().is_ok()
        && class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&other))
}
