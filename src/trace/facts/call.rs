//! One call of a line: which of its fields count, and whether it is as simple as the line reader wants it.

use super::keys::Keys;
use super::{Call, Demand, Field, Held, Texts};
use crate::trace::build::word_status;
use crate::trace::names::{List, Names};
use crate::trace::run::Status;
use crate::trace::scan::Cursor;
use crate::trace::time;
use crate::value::{Text, Value};

/// What a key of a call stands for, and which of several names it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Role {
    part: Part,
    rank: u8,
    /// A bit for this key.
    mark: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Tool,
    Args,
    Result,
    Start,
    End,
    Duration,
    Status,
    Ok,
    Turn,
    Other,
}

const OTHER: Role = Role { part: Part::Other, rank: 0, mark: 0 };

/// The keys of calls in the normal form, or under these names.
pub(super) fn keys(names: Option<&Names>) -> Keys<Role> {
    let one = |name: &'static str| vec![std::borrow::Cow::Borrowed(name)];
    let list = |names: Option<&List>, normal| names.cloned().unwrap_or_else(|| one(normal));
    let parts = [
        (Part::Tool, list(names.map(|names| &names.tool), "tool")),
        (Part::Args, list(names.map(|names| &names.args), "args")),
        (Part::Result, list(names.map(|names| &names.result), "result")),
        (Part::Start, list(names.map(|names| &names.start), "start")),
        (Part::End, list(names.map(|names| &names.end), "end")),
        (Part::Duration, list(names.map(|names| &names.milliseconds), "duration")),
        (Part::Status, list(names.map(|names| &names.status), "status")),
        (Part::Ok, list(names.map(|names| &names.ok), "ok")),
        (Part::Turn, list(names.map(|names| &names.turn), "turn")),
    ];
    let all = parts.into_iter().flat_map(|(part, list)| (0_u8..).zip(list).map(move |(rank, key)| (part, rank, key)));
    let roles = all.enumerate().map(|(number, (part, rank, key))| {
        (
            key.into_owned(),
            Role { part, rank, mark: 1_u64.checked_shl(u32::try_from(number).unwrap_or(64)).unwrap_or(0) },
        )
    });
    Keys::new(roles, OTHER)
}

/// A value among several under different names.
#[derive(Debug, Clone, Copy)]
struct Best {
    rank: u8,
    start: usize,
    end: usize,
}

const NOTHING: Best = Best { rank: u8::MAX, start: 0, end: 0 };

impl Best {
    #[inline]
    fn offer(&mut self, rank: u8, start: usize, end: usize) {
        if rank < self.rank {
            *self = Self { rank, start, end };
        }
    }

    fn is_some(&self) -> bool {
        self.rank != u8::MAX
    }
}

/// What the calls of a run have in common.
#[derive(Debug, Default)]
pub(super) struct Order {
    calls: usize,
    with_start: usize,
    last_start: f64,
    in_order: bool,
    last_turn: Option<u64>,
    turns_in_order: bool,
    /// Whether some call records arguments, and whether some call records how it ended.
    args: bool,
    results: bool,
}

impl Order {
    pub(super) fn new() -> Self {
        Self { last_start: f64::NEG_INFINITY, in_order: true, turns_in_order: true, ..Self::default() }
    }

    /// Whether the calls stand in the order of their starts, whatever that depends on.
    pub(super) fn is_plain(&self) -> bool {
        self.with_start < self.calls || (self.in_order && self.turns_in_order)
    }

    /// Whether the run records a field of its calls at all.
    pub(super) fn records(&self, field: Field) -> bool {
        match field {
            Field::Args => self.args,
            Field::Result => self.results,
        }
    }

    fn start(&mut self, start: Option<f64>, turn: Option<u64>) {
        self.calls += 1;
        if let Some(start) = start {
            self.with_start += 1;
            self.in_order &= self.last_start.total_cmp(&start).is_le();
            self.last_start = start;
        }
        self.turns_in_order &= self.last_turn.is_none() && self.calls == 1 || turn >= self.last_turn;
        self.last_turn = turn;
    }
}

/// Reads the call whose bracket stands at an offset. `None` where it is not plain. The bool is false for a call that was not executed.
pub(super) fn read<'a>(
    keys: &mut Keys<Role>,
    text: &'a str,
    cursor: Cursor<'a>,
    start: usize,
    demand: &Demand,
    texts: &mut [Texts; 2],
    order: &mut Order,
) -> Option<(Call<'a>, bool, usize)> {
    let (mut tool, mut begin, mut turn) = (NOTHING, NOTHING, NOTHING);
    let mut fields = [NOTHING; 2];
    let mut null_result = false;
    let mut executed = true;
    let mut ended = false;
    let mut marks = 0_u64;
    let behind = keys.object(cursor, start, |role, at| {
        let end = cursor.value(at)?;
        if role.mark == 0 {
            return Some(end);
        }
        if marks & role.mark != 0 {
            return None;
        }
        marks |= role.mark;
        let null = cursor.byte(at) == b'n';
        match role.part {
            Part::Result if null => null_result = true,
            _ if null => {}
            Part::Tool => {
                // What stands inside of a `function` is for the full reader.
                (cursor.byte(at) == b'"').then_some(())?;
                tool.offer(role.rank, at, end);
            }
            Part::Args => fields[0].offer(role.rank, at, end),
            Part::Result => fields[1].offer(role.rank, at, end),
            Part::Start => begin.offer(role.rank, at, end),
            Part::End => instant(cursor, text, at, end).map(|_| ())?,
            Part::Duration => number(cursor, at, end).map(|_| ())?,
            Part::Turn => turn.offer(role.rank, at, end),
            Part::Ok => {
                ended = true;
                matches!(cursor.slice(at, end), b"true" | b"false").then_some(())?;
            }
            Part::Status => {
                ended = true;
                executed &= status(cursor, text, at, end)?.executed();
            }
            Part::Other => {}
        }
        Some(end)
    })?;
    if !tool.is_some() || cursor.has_escape(tool.start, tool.end) {
        return None;
    }
    let begin = if begin.is_some() { Some(instant(cursor, text, begin.start, begin.end)?) } else { None };
    let turn = if turn.is_some() { Some(whole(cursor.slice(turn.start, turn.end))?) } else { None };
    order.start(begin, turn);
    order.args |= fields[0].is_some();
    order.results |= fields[1].is_some() || null_result || ended;
    for ((best, texts), wanted) in fields.iter().zip(texts).zip(demand.texts) {
        if wanted && best.is_some() {
            take_texts(cursor, text, best.start, best.end, texts)?;
        }
    }
    // Arguments that are JSON inside of text are for the full reader.
    if (demand.texts[0] || demand.fields[0]) && fields[0].is_some() && cursor.byte(fields[0].start) == b'"' {
        return None;
    }
    let null = if null_result { Value::Null } else { Value::Missing };
    let held = |best: Best, otherwise| match best.is_some() {
        true => Held::Bytes(best.start, best.end),
        false => Held::Value(otherwise),
    };
    let name = text.get(tool.start.wrapping_add(1)..tool.end.wrapping_sub(1))?;
    Some((Call { name, fields: [held(fields[0], Value::Missing), held(fields[1], null)] }, executed, behind))
}

/// Adds the texts inside of a value.
#[inline]
fn take_texts(cursor: Cursor<'_>, text: &str, start: usize, end: usize, texts: &mut Texts) -> Option<()> {
    match cursor.byte(start) {
        b'"' => {
            texts.any = true;
            texts.add(cursor, text, start, end.wrapping_sub(1));
        }
        b'{' | b'[' => {
            texts.perhaps = true;
            cursor.texts(start, end, |open, close| texts.add(cursor, text, open, close))?;
        }
        _ => {
            number(cursor, start, end)
                .map(|_| ())
                .or_else(|| matches!(cursor.slice(start, end), b"true" | b"false").then_some(()))?;
            texts.any = true;
        }
    }
    Some(())
}

/// Milliseconds of a point in time.
fn instant(cursor: Cursor<'_>, text: &str, start: usize, end: usize) -> Option<f64> {
    if cursor.byte(start) == b'"' {
        let inner = text.get(start.wrapping_add(1)..end.wrapping_sub(1))?;
        return if cursor.has_escape(start, end) { None } else { time::milliseconds(&Value::Text(Text::Plain(inner))) };
    }
    number(cursor, start, end)
}

/// A plain number: digits, and a fraction.
fn number(cursor: Cursor<'_>, start: usize, end: usize) -> Option<f64> {
    let bytes = cursor.slice(start, end);
    if let Some(whole) = whole(bytes) {
        #[expect(clippy::cast_precision_loss, reason = "at most fifteen digits, which a double holds")]
        return Some(whole as f64);
    }
    let text = std::str::from_utf8(bytes).ok()?;
    let plain = text.strip_prefix('-').unwrap_or(text);
    if text.len() > 20 || !super::is_plain_number(plain) {
        return None;
    }
    text.parse().ok()
}

/// A number of at most fifteen digits.
#[inline]
fn whole(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() || bytes.len() > 15 || (bytes.len() > 1 && bytes.first() == Some(&b'0')) {
        return None;
    }
    let mut value = 0_u64;
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    Some(value)
}

/// How a call ended, by its word; `None` for one that nobody knows.
fn status(cursor: Cursor<'_>, text: &str, start: usize, end: usize) -> Option<Status> {
    if cursor.byte(start) != b'"' || cursor.has_escape(start, end) {
        return None;
    }
    word_status(text.get(start.wrapping_add(1)..end.wrapping_sub(1))?)
}
