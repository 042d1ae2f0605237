//! The projection of a run: the names of the calls in order, some entries of the run, some texts, and nothing that no rule looks at.
//!
//! A [`ReadSet`] says which parts of a run a program's assertions look at. [`LineReader`] takes these parts out of the bytes of a
//! line and passes over all others; [`RunProjection::full_run`] takes the same out of a run that was read in full. Both say the same of the same
//! run. Where a line is in any way unusual the line reader gives up and the full reader has to read it: duplicate keys among those it
//! reads, calls that are not in their order, types that do not fit, formats it does not know.

mod call;
mod chunk;
mod computed_entries;
mod full_run;
mod keys;
mod line;
mod line_keys;
mod messages;
mod responses;
mod run_keys;
#[cfg(test)]
mod samples;
mod session;
mod side_messages;
mod span_attributes;
mod spans;
#[cfg(test)]
mod tests;
mod texts;

use super::scan::ScanCursor;
pub use crate::build::StepEnding;
use averment_base::value::Value;
use averment_base::value::text::read_escape;
use averment_runs::normal::{of_run, of_step};
use averment_runs::run::CallTimes;
pub use chunk::ScannedChunk;
pub use computed_entries::{is_composed_entry, is_computed_entry};
pub use line::LineReader;

/// The fields of a call that a projection can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CallField {
    /// Its arguments.
    Args,
    /// Its result.
    Result,
}

impl CallField {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Args, Self::Result];

    /// The field of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            of_step::ARGS => Some(Self::Args),
            of_step::RESULT => Some(Self::Result),
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Args => of_step::ARGS,
            Self::Result => of_step::RESULT,
        }
    }
}

/// The parts of a run that a program reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadSet {
    /// Entries of the run, under their names in normal form.
    pub roots: Vec<String>,
    /// Requested fields of single calls, by [`CallField`].
    pub fields: [bool; 2],
    /// Fields whose texts are requested, over all calls, by [`CallField`].
    pub texts: [bool; 2],
    /// True if call times are requested.
    pub times: bool,
}

/// Which parts of a value are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldMask {
    /// All of it.
    All,
    /// These keys of an object, and nothing else of it.
    Keys(Vec<(String, FieldMask)>),
}

impl Default for FieldMask {
    fn default() -> Self {
        Self::Keys(Vec::new())
    }
}

impl FieldMask {
    /// Adds all that another mask reads.
    pub fn join_mask(&mut self, other: &Self) {
        let (Self::Keys(own), Self::Keys(added)) = (&mut *self, other) else { return *self = Self::All };
        for (key, inner) in added {
            match own.iter_mut().find(|(name, _)| name == key) {
                Some((_, mask)) => mask.join_mask(inner),
                None => own.push((key.clone(), inner.clone())),
            }
        }
    }

    /// Adds what a path of keys leads to.
    pub fn add_path(&mut self, keys: &[String]) {
        let mut mask = self;
        for key in keys {
            let Self::Keys(entries) = mask else { return };
            let known = entries.iter().position(|(name, _)| name == key);
            let at = known.unwrap_or_else(|| {
                entries.push((key.clone(), Self::default()));
                entries.len() - 1
            });
            let Some((_, inner)) = entries.get_mut(at) else { return };
            mask = inner;
        }
        *mask = Self::All;
    }
}

/// A value that is there, but not read yet.
#[derive(Debug, Clone, Copy)]
pub enum RawValue<'a> {
    /// A value, also missing or not recorded.
    Value(Value<'a>),
    /// The bytes of a value.
    Bytes(usize, usize),
    /// The bytes of a text that holds a value as JSON.
    Written(usize, usize),
}

/// A call.
#[derive(Debug, Clone, Copy)]
pub struct ProjectedCall<'a> {
    /// The name of its tool.
    pub name: &'a str,
    /// Its fields that are asked for, by [`CallField`].
    pub fields: [RawValue<'a>; 2],
    /// When it started and ended, and its turn; none where only the full reader tells.
    pub times: Option<CallTimes>,
    /// True where it may name the call that started it.
    pub may_have_parent: bool,
    /// What it says of how it ended; none where only the full reader tells.
    pub ending: Option<StepEnding>,
    /// Its bytes, where it is an element of the list of calls in a line.
    pub place: Option<(usize, usize)>,
}

impl<'a> ProjectedCall<'a> {
    /// What is held of a field.
    #[must_use]
    pub fn field(&self, field: CallField) -> Option<RawValue<'a>> {
        self.fields.get(field as usize).copied()
    }
}

/// Longer texts are not copied; in bytes.
const LONG: usize = 16 << 10;

/// Texts one behind the other, with a zero byte behind each.
#[derive(Debug, Default)]
pub struct TextPool {
    /// All of them.
    pub text: String,
    /// Where each ends, in front of its zero byte.
    pub ends: Vec<u32>,
    /// Long texts without escapes stay where they are: their places in the chunk, without the quotes.
    pub long: Vec<(usize, usize)>,
    /// True if there surely is a text, number or boolean.
    pub any: bool,
    /// True if a skipped object or list may hold some, or a text that a later key replaces.
    pub perhaps: bool,
}

/// The parts of a run that its rules can look at.
#[derive(Debug, Default)]
pub struct RunProjection<'a> {
    /// The entries, as they are asked for.
    pub roots: Vec<RawValue<'a>>,
    /// The executed calls in order; only where `records_calls`.
    pub calls: Vec<ProjectedCall<'a>>,
    /// Whether the run records calls.
    pub records_calls: bool,
    /// True where assertions need the full run: some call was not executed, or the run is not complete or died before its first step.
    pub unusual: bool,
    /// True for a conversation: the run is composed from its messages.
    pub conversation: bool,
    /// Texts, by [`CallField`].
    pub texts: [TextPool; 2],
}

impl TextPool {
    fn clear_texts(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.long.clear();
        (self.any, self.perhaps) = (false, false);
    }

    fn end_text(&mut self) {
        self.ends.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
        self.text.push('\0');
    }

    #[inline]
    fn add_text(&mut self, cursor: ScanCursor<'_>, text: &str, open: usize, close: usize) {
        if cursor.has_escape(open, close) {
            self.add_escaped(cursor, text, open.wrapping_add(1), close);
        } else if close.wrapping_sub(open) > LONG {
            self.long.push((open.wrapping_add(1), close));
            return;
        } else {
            self.text.push_str(text.get(open.wrapping_add(1)..close).unwrap_or_default());
        }
        self.end_text();
    }

    /// Resolves escapes; the index knows where they are.
    #[inline(never)]
    fn add_escaped(&mut self, cursor: ScanCursor<'_>, text: &str, start: usize, end: usize) {
        let (mut at, mut from) = (start, start);
        while let Some(slash) = cursor.next_backslash(from).filter(|slash| *slash < end) {
            let behind = slash.wrapping_add(1);
            if matches!(cursor.byte_at(behind), b'"' | b'\\' | b'/') {
                // The character stands for itself.
                self.text.push_str(text.get(at..slash).unwrap_or_default());
                (at, from) = (behind, behind.wrapping_add(1));
                continue;
            }
            let rest = text.get(slash..end).unwrap_or_default();
            let Some((character, length)) = read_escape(rest) else { break };
            self.text.push_str(text.get(at..slash).unwrap_or_default());
            self.text.push(character);
            at = slash.wrapping_add(length);
            from = at;
        }
        self.text.push_str(text.get(at..end).unwrap_or_default());
    }

    /// The text that a byte belongs to, and where it starts.
    #[must_use]
    pub fn text_around(&self, at: usize) -> (usize, &str) {
        let number = self.ends.partition_point(|end| (*end as usize) < at);
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize + 1);
        let end = self.ends.get(number).map_or(start, |end| *end as usize);
        (start, self.text.get(start..end).unwrap_or_default())
    }

    /// All texts that stand here, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let end = *end as usize;
            let text = self.text.get(start..end).unwrap_or_default();
            start = end + 1;
            text
        })
    }
}

impl RunProjection<'_> {
    /// Forgets everything, keeps the memory.
    pub fn clear_run(&mut self) {
        self.roots.clear();
        self.calls.clear();
        (self.records_calls, self.unusual, self.conversation) = (false, false, false);
        self.texts.iter_mut().for_each(TextPool::clear_texts);
    }

    /// Whether some call has a field that was not recorded, by its place in [`CallField::ALL`]: it may hold anything.
    #[must_use]
    pub fn lacks_field(&self, field: usize) -> bool {
        self.calls.iter().any(|call| matches!(call.fields.get(field), Some(RawValue::Value(Value::Absent))))
    }

    /// Makes an `error` that no key gave missing: the run has none. `roots` are the names of the entries.
    fn settle_error(&mut self, roots: &[String]) {
        for (root, name) in self.roots.iter_mut().zip(roots) {
            if name == of_run::ERROR && matches!(root, RawValue::Value(Value::Absent)) {
                *root = RawValue::Value(Value::Missing);
            }
        }
    }

    /// Tells missing call fields from fields that the run does not record.
    fn settle_fields(&mut self, records: impl Fn(CallField) -> bool) {
        let absent = CallField::ALL.map(|field| !records(field));
        if absent.contains(&true) {
            for (held, absent) in self.calls.iter_mut().flat_map(|call| call.fields.iter_mut().zip(absent)) {
                if absent && matches!(held, RawValue::Value(Value::Missing)) {
                    *held = RawValue::Value(Value::Absent);
                }
            }
        }
    }
}
