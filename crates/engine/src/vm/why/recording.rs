//! Recording a derivation: the parts of an assertion as they are judged, see [`super::derivation`]. A part is opened before it is judged and
//! closed with what came out.

use super::derivation::{DerivationPart, PartKind, PartResult, TemporalTrace};
use crate::vm::fault::Fault;
use crate::vm::outcome::CheckFinding;
use averment_base::truth::Verdict;

/// Maximum number of parts: bounds the memory that a hostile rule can use.
const PARTS: usize = 20_000;
/// Recorded windows per assertion; each one scans all of its steps.
const WINDOWS: usize = 100;

#[derive(Debug)]
pub(in crate::vm) struct DerivationRecording {
    open: Vec<DerivationPart>,
    done: Vec<DerivationPart>,
    count: usize,
    cut: bool,
    /// The names of the bindings of the assertion.
    names: Vec<String>,
    windows: usize,
    /// Open parts that are not recorded. While nobody asks for a derivation, the assertion is such a part.
    muted: usize,
}

impl Default for DerivationRecording {
    fn default() -> Self {
        Self { muted: 1, ..Self::new(Vec::new()) }
    }
}

impl DerivationRecording {
    pub(in crate::vm) fn new(names: Vec<String>) -> Self {
        Self { open: Vec::new(), done: Vec::new(), count: 0, cut: false, names, windows: 0, muted: 0 }
    }

    pub(in crate::vm) fn into_parts(mut self) -> (Vec<DerivationPart>, bool) {
        while !self.open.is_empty() {
            self.close_innermost();
        }
        (self.done, self.cut)
    }

    pub(in crate::vm) fn is_muted(&self) -> bool {
        self.muted > 0
    }

    /// Parts recorded until [`Self::close_part`] become its children.
    pub(in crate::vm) fn open_part(&mut self, part: impl FnOnce() -> DerivationPart) {
        if self.is_muted() {
            self.muted += 1;
        } else {
            self.open.push(part());
        }
    }

    /// True if the part of a window is to be opened; those behind the first windows are only counted.
    pub(in crate::vm) fn open_window(&mut self) -> bool {
        if !self.is_muted() {
            self.windows += 1;
            if self.windows <= WINDOWS {
                return true;
            }
            if let Some(block) = self.open.last_mut() {
                block.more += 1;
            }
        }
        self.muted += 1;
        false
    }

    pub(in crate::vm) fn close_part(&mut self, judged: &Result<CheckFinding, Fault>) {
        if self.is_muted() {
            self.muted -= 1;
            return;
        }
        if let Some(part) = self.open.last_mut() {
            let verdict = match judged {
                Ok(finding) => {
                    // Windows and blocks say which they are; what their parts found is said there.
                    if part.note.is_empty() && matches!(part.kind, PartKind::Temporal | PartKind::World) {
                        part.note.clone_from(&finding.reason);
                    }
                    finding.verdict
                }
                Err(fault) => {
                    part.note = fault.to_string();
                    if fault.unfit_value().is_some() { Verdict::Fail } else { Verdict::Error }
                }
            };
            part.found = PartResult::Verdict(verdict);
        }
        self.close_innermost();
    }

    pub(in crate::vm) fn add_part(&mut self, part: DerivationPart) {
        if !self.is_muted() {
            self.push_part(part);
        }
    }

    pub(in crate::vm) fn note_temporal(&mut self, temporal: TemporalTrace) {
        if let Some(part) = self.open.last_mut().filter(|_| self.muted == 0) {
            part.temporal = Some(Box::new(temporal));
        }
    }

    pub(in crate::vm) fn binding_name(&self, number: u32) -> String {
        self.names.get(number as usize).cloned().unwrap_or_else(|| number.to_string())
    }

    fn push_part(&mut self, part: DerivationPart) {
        let size = part_size(&part);
        if self.count + size > PARTS {
            self.cut = true;
            if let Some(around) = self.open.last_mut() {
                around.more += 1;
            }
            return;
        }
        self.count += size;
        match self.open.last_mut() {
            Some(around) => around.parts.push(part),
            None => self.done.push(part),
        }
    }

    fn close_innermost(&mut self) {
        if let Some(part) = self.open.pop() {
            let part = flatten_single(part);
            // Its own parts have been counted as they came.
            self.count = self.count.saturating_sub(part_size(&part).saturating_sub(1));
            self.push_part(part);
        }
    }
}

fn part_size(part: &DerivationPart) -> usize {
    let mut count = 0;
    let mut open = vec![part];
    while let Some(part) = open.pop() {
        count += 1;
        open.extend(&part.parts);
    }
    count
}

fn flatten_single(mut part: DerivationPart) -> DerivationPart {
    if part.kind == PartKind::Member
        && part.parts.len() == 1
        && part.more == 0
        && let Some(only) = part.parts.pop()
    {
        return DerivationPart { span: part.span.or(only.span), ..only };
    }
    part
}
