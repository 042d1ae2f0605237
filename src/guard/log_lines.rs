//! Index of the lines of a log. A call and its result have the same key: the id of the call, or its tool if it has no id.
//!
//! Lines are written by one serializer: the event comes first, then the id or the tool, then the arguments.

use std::collections::HashMap;
use std::ops::Range;

/// Counts of calls in a log, obtained without reading it as a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Number of allowed calls.
    pub admitted: usize,
    /// Number of results.
    pub ended: usize,
}

/// The key of all messages.
const MESSAGES: &str = "message";
/// The group of lines without a key.
const ALONE: u32 = u32::MAX;

/// The lines with one key.
#[derive(Debug, Clone, Default)]
pub(super) struct LineGroup {
    pub(super) counts: CallCounts,
    /// The numbers of its lines.
    pub(super) lines: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct LineNote {
    start: u32,
    end: u32,
    group: u32,
}

/// The indexed lines of a log.
#[derive(Debug, Clone, Default)]
pub(super) struct LogLines {
    notes: Vec<LineNote>,
    groups: Vec<LineGroup>,
    by_key: HashMap<Box<str>, u32>,
    /// The lines of allowed calls.
    admitted: Vec<u32>,
    is_irregular: bool,
}

impl LogLines {
    /// Adds a line that starts at this offset in the log.
    pub(super) fn add_line(&mut self, line: &str, start: usize) {
        let number = to_number(self.notes.len());
        let head = LineHead::of(line);
        self.is_irregular |= !head.is_plain || head.event == "session" && number > 0;
        let group = match head.key {
            Some(key) => self.group_of(key, number, head.event),
            None => ALONE,
        };
        self.notes.push(LineNote { start: to_number(start), end: to_number(start + line.len()), group });
    }

    fn group_of(&mut self, key: &str, number: u32, event: &str) -> u32 {
        let next = to_number(self.groups.len());
        let group = match self.by_key.get(key) {
            Some(group) => *group,
            None => {
                self.by_key.insert(key.into(), next);
                self.groups.push(LineGroup::default());
                next
            }
        };
        let Some(known) = self.groups.get_mut(group as usize) else { return ALONE };
        known.lines.push(number);
        let counts = &mut known.counts;
        match event {
            "call" => {
                counts.admitted += 1;
                self.admitted.push(number);
            }
            "result" => {
                // Only a full reading can tell which of several open calls this result belongs to.
                self.is_irregular |= counts.admitted != counts.ended + 1;
                counts.ended += 1;
            }
            _ => {}
        }
        group
    }

    /// False if a part of the log could be read differently than the same lines within the whole log.
    pub(super) fn is_regular(&self) -> bool {
        !self.is_irregular
    }

    pub(super) fn count(&self) -> usize {
        self.notes.len()
    }

    /// Returns the offset of the first of this number of last calls; 0 if there are fewer calls.
    pub(super) fn start_of_last(&self, calls: u64) -> usize {
        let first = usize::try_from(calls).ok().and_then(|calls| self.admitted.len().checked_sub(calls));
        let number = first.and_then(|first| self.admitted.get(first));
        number.and_then(|number| self.notes.get(*number as usize)).map_or(0, |note| note.start as usize)
    }

    /// Returns the byte range of a line, and its group.
    pub(super) fn line(&self, number: usize) -> Option<(Range<usize>, Option<usize>)> {
        let LineNote { start, end, group } = *self.notes.get(number)?;
        Some((start as usize..end as usize, (group != ALONE).then_some(group as usize)))
    }

    pub(super) fn of_group(&self, group: usize) -> &[u32] {
        self.groups.get(group).map_or(&[], |group| &group.lines)
    }

    /// Returns the numbers of a line and of the later lines with its result. `text` is the text of the log.
    pub(super) fn part_of<'a>(&'a self, line: u32, text: &'a str) -> impl Iterator<Item = u32> + 'a {
        let group = self.line(line as usize).and_then(|(_, group)| group);
        let lines = group.map_or(&[][..], |group| self.of_group(group));
        let behind = lines.get(lines.partition_point(|one| *one <= line)..).unwrap_or_default().iter().copied();
        let is_result = move |number: &u32| {
            let place = self.line(*number as usize).map(|(place, _)| place);
            LineHead::of(place.and_then(|place| text.get(place)).unwrap_or_default()).event == "result"
        };
        std::iter::once(line).chain(behind.take_while(is_result))
    }

    /// Returns the lines of a call with this id, or of a tool if there is no id.
    pub(super) fn of_call(&self, id: Option<&str>, tool: &str) -> Option<&LineGroup> {
        self.groups.get(*self.by_key.get(call_key(id, tool).as_str())? as usize)
    }

    /// Returns the approximate memory use in bytes.
    pub(super) fn bytes(&self) -> usize {
        let of_groups = self.groups.len() * (size_of::<LineGroup>() + 2 * size_of::<Box<str>>() + 48);
        self.notes.capacity() * (size_of::<LineNote>() + 2 * size_of::<u32>()) + of_groups
    }
}

fn call_key(id: Option<&str>, tool: &str) -> String {
    let quoted = |value: &str| serde_json::to_string(value).unwrap_or_default();
    match id {
        Some(id) => format!("\"id\":{}", quoted(id)),
        None => format!("\"tool\":{}", quoted(tool)),
    }
}

/// Converts an offset or index. A log has at most 256 MiB, so it always fits.
fn to_number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

#[derive(Debug, Clone, Copy)]
pub(super) struct LineHead<'a> {
    pub(super) event: &'a str,
    pub(super) key: Option<&'a str>,
    is_plain: bool,
}

impl<'a> LineHead<'a> {
    /// False if a reader could interpret the line differently.
    pub(super) fn is_plain(self) -> bool {
        self.is_plain
    }

    pub(super) fn of(line: &'a str) -> Self {
        let unknown = Self { event: "", key: None, is_plain: false };
        let Some(rest) = line.strip_prefix("{\"guard\":\"") else { return unknown };
        let Some((event, rest)) = rest.split_once("\",") else { return unknown };
        match event {
            "call" | "denied" | "result" => Self::of_call(event, rest).unwrap_or(unknown),
            "message" => Self { event, key: Some(MESSAGES), is_plain: true },
            "session" | "warned" | "stop" => Self { event, key: None, is_plain: true },
            _ => unknown,
        }
    }

    fn of_call(event: &'a str, rest: &'a str) -> Option<Self> {
        let by_id = take_text(rest, "\"id\":");
        let (key, rest) = match by_id {
            Some(found) => found,
            None => take_text(rest, "\"tool\":")?,
        };
        let rest = match by_id {
            Some(_) => take_text(rest.strip_prefix(',')?, "\"tool\":")?.1,
            None => rest,
        };
        // Readers treat an empty id as missing, and arguments that are `null` as not recorded.
        let is_plain = key != "\"id\":\"\"" && !rest.starts_with(",\"args\":null");
        Some(Self { event, key: Some(key), is_plain })
    }
}

/// Parses a JSON string member. Returns its raw text and the rest of the line.
fn take_text<'a>(rest: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let text = rest.strip_prefix(name)?.strip_prefix('"')?;
    let mut is_escaped = false;
    let end = text.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })?;
    rest.split_at_checked(name.len() + 1 + end + 1)
}
