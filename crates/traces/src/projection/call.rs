//! One call of a line: which of its fields count, and whether it is as simple as the line reader wants it.

use super::keys::KeyReader;
use super::{CallField, ProjectedCall, RawValue, ReadSet, ScannedChunk, TextPool};
use crate::adapt::fields::ByteSpan;
use crate::adapt::generic::BestRanked;
use crate::build::StepEnding;
use crate::names::{NamedPart, PartNames};
use crate::scan::{ScanCursor, few_digits};
use crate::time;
use averment_base::value::{Number, Value, ValueText};
use averment_runs::normal::{is_misspelt_ending, of_step};
use averment_runs::run::{CallTimes, StepStatus};
use std::borrow::Cow;

#[derive(Debug, Clone, Copy)]
pub(super) struct CallKey {
    part: Option<NamedPart>,
    rank: u8,
    mark: u128,
    /// The number's unit is known: milliseconds, or seconds if the part says so.
    unit: bool,
    /// In normal form `null` means recorded, and text arguments stay text.
    native: bool,
    beside: Option<KeyBeside>,
}

/// A key that is no part of a call, and says something of it all the same.
#[derive(Debug, Clone, Copy)]
enum KeyBeside {
    /// What started it.
    Parent,
    /// How it ended.
    Ending,
}

impl CallKey {
    const OTHER: Self = Self { part: None, rank: 0, mark: 0, unit: true, native: false, beside: None };
}

/// A key that is nearly one that says how the call ended: the full reader tells what it means.
fn misspelt_role(key: &[u8]) -> Option<CallKey> {
    let is_near = is_misspelt_ending(std::str::from_utf8(key).ok()?);
    is_near.then_some(CallKey { beside: Some(KeyBeside::Ending), ..CallKey::OTHER })
}

impl KeyBeside {
    fn all_keys() -> impl Iterator<Item = (&'static str, Self)> {
        let endings = of_step::IS_ERROR.into_iter().chain([of_step::EXIT_CODE, of_step::RESPONSE]);
        endings.map(|key| (key, Self::Ending)).chain([(of_step::PARENT_ID, Self::Parent)])
    }
}

/// `None` if there are too many.
pub(super) fn call_keys(names: Option<&PartNames>) -> Option<KeyReader<CallKey>> {
    let mut roles: Vec<(String, CallKey)> = Vec::new();
    for part in NamedPart::of_calls() {
        let normal = part.call_field().map(Cow::Borrowed);
        for key in names.map_or(normal.as_slice(), |names| names.names_of(part)) {
            let (part, rank) = names.map_or(Some((part, 0)), |names| names.call_part(key))?;
            let unit = names.is_none_or(|names| names.carries_unit(key));
            if !roles.iter().any(|(known, _)| known == key) {
                let mark = 1_u128.checked_shl(u32::try_from(roles.len()).ok()?)?;
                let role = CallKey { part: Some(part), rank, mark, unit, native: names.is_none(), beside: None };
                roles.push((key.to_string(), role));
            }
        }
    }
    let other = CallKey::OTHER;
    for (key, beside) in KeyBeside::all_keys() {
        if !roles.iter().any(|(known, _)| known == key) {
            roles.push((key.to_owned(), CallKey { beside: Some(beside), ..other }));
        }
    }
    Some(KeyReader::new(roles, other).with_unknown(misspelt_role))
}

#[derive(Debug, Default)]
pub(super) struct CallOrder {
    calls: usize,
    with_start: usize,
    last_start: f64,
    in_order: bool,
    last_turn: Option<u64>,
    turns_in_order: bool,
    /// Some call records arguments; some call records how it ended.
    args: bool,
    results: bool,
    /// First start, and last known time of the calls.
    span: (f64, f64),
}

impl CallOrder {
    pub(super) fn new() -> Self {
        let span = (f64::INFINITY, f64::NEG_INFINITY);
        Self { last_start: f64::NEG_INFINITY, in_order: true, turns_in_order: true, span, ..Self::default() }
    }

    /// True if the calls are in order of start, whatever that depends on.
    pub(super) fn is_plain(&self) -> bool {
        self.with_start < self.calls || (self.in_order && self.turns_in_order)
    }

    pub(super) fn fits_into(&self, duration: f64) -> bool {
        !time::is_too_short(duration, self.span.0, self.span.1)
    }

    pub(super) fn records_field(&self, field: CallField) -> bool {
        match field {
            CallField::Args => self.args,
            CallField::Result => self.results,
        }
    }

    fn note_span(&mut self, start: Option<f64>, end: Option<f64>, duration: Option<f64>) {
        let Some(start) = start else { return };
        let end = end.or(duration.map(|duration| start + duration)).unwrap_or(start);
        self.span = (self.span.0.min(start), self.span.1.max(end));
    }

    fn note_call(&mut self, start: Option<f64>, turn: Option<u64>) {
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

#[derive(Default)]
struct CallFields {
    tool: BestRanked<ByteSpan>,
    begin: BestRanked<ByteSpan>,
    end: BestRanked<f64>,
    milliseconds: BestRanked<f64>,
    seconds: BestRanked<f64>,
    turn: BestRanked<ByteSpan>,
    /// Its agent may be named after its origin.
    by_agent: bool,
    fields: [BestRanked<ByteSpan>; 2],
    nulls: [bool; 2],
    ended: bool,
    written: bool,
    error: BestRanked<bool>,
    ok: BestRanked<StepStatus>,
    status: BestRanked<StepStatus>,
    not_executed: bool,
    /// A key of `KeyBeside` stands here.
    parent: bool,
    ending_beside: bool,
}

/// `None` for the full reader. False for a call that was not executed.
pub(super) fn read_call<'a>(
    keys: &mut KeyReader<CallKey>,
    chunk: ScannedChunk<'a>,
    start: usize,
    read_set: &ReadSet,
    texts: &mut [TextPool; 2],
    order: &mut CallOrder,
) -> Option<(ProjectedCall<'a>, bool, usize)> {
    let ScannedChunk { text, cursor, .. } = chunk;
    let (call_fields, behind) = call_fields(keys, text, cursor, start)?;
    let CallFields { nulls, .. } = call_fields;
    let tool = call_fields.tool.best_value()?;
    if cursor.has_escape(tool.0, tool.1) {
        return None;
    }
    let begin = call_fields.begin.best_value().map(|(start, end)| parse_instant(cursor, text, start, end));
    let turn = call_fields.turn.best_value().map(|(start, end)| parse_turn(cursor, start, end));
    if matches!(begin, Some(None)) || matches!(turn, Some(None)) {
        return None;
    }
    order.note_call(begin.flatten(), turn.flatten());
    let duration =
        call_fields.milliseconds.best_value().or(call_fields.seconds.best_value().map(|seconds| seconds * 1000.0));
    if duration.is_some_and(|duration| duration < 0.0) {
        return None;
    }
    order.note_span(begin.flatten(), call_fields.end.best_value(), duration);
    let times = call_fields.call_times(begin.flatten(), turn.flatten());
    let fields = call_fields.fields.map(|field| field.best_value());
    order.args |= fields[0].is_some() || nulls[0];
    order.results |= fields[1].is_some() || nulls[1] || call_fields.ended;
    let held = |span: Option<ByteSpan>, null: bool| match (span, null) {
        (Some((start, end)), _) => RawValue::Bytes(start, end),
        (None, true) => RawValue::Value(Value::Null),
        (None, false) => RawValue::Value(Value::Missing),
    };
    let mut args = held(fields[0], nulls[0]);
    if call_fields.written
        && let Some((start, end)) = fields[0]
        && cursor.byte_at(start) == b'"'
    {
        args = RawValue::Written(start, end);
    }
    for ((span, texts), wanted) in fields.iter().zip(texts.iter_mut()).zip(read_set.texts) {
        if let Some((start, end)) = span.filter(|_| wanted) {
            match args {
                RawValue::Written(written, _) if written == start => texts.add_texts_in(chunk.read_value(args)?),
                _ => take_texts(cursor, text, start, end, texts)?,
            }
        }
    }
    let name = text.get(tool.0.wrapping_add(1)..tool.1.wrapping_sub(1))?;
    let call = ProjectedCall {
        name,
        fields: [args, held(fields[1], nulls[1])],
        times,
        may_have_parent: call_fields.parent,
        ending: call_fields.ending(),
        place: Some((start, behind)),
    };
    Some((call, !call_fields.not_executed, behind))
}

impl CallFields {
    /// `None` if only the full reader knows them, as for seconds.
    fn call_times(&self, start: Option<f64>, turn: Option<u64>) -> Option<CallTimes> {
        let took = self.milliseconds.best_value();
        if self.by_agent || (took.is_none() && self.seconds.best_value().is_some()) {
            return None;
        }
        let end = self.end.best_value().or_else(|| Some(start? + took?));
        Some(CallTimes { start, end, turn: turn.map(u32::try_from).transpose().ok()? })
    }

    /// `None` if only the full reader knows it.
    fn ending(&self) -> Option<StepEnding> {
        let given = self.status.best_value().or(self.ok.best_value());
        let error = self.error.best_value() == Some(true);
        (!self.ending_beside).then_some(StepEnding { error, given, withheld: false })
    }
}

#[inline]
fn call_fields(
    keys: &mut KeyReader<CallKey>,
    text: &str,
    cursor: ScanCursor<'_>,
    start: usize,
) -> Option<(CallFields, usize)> {
    let mut call_fields = CallFields::default();
    let mut marks = 0_u128;
    let behind = keys.read_object(cursor, start, |role, at| {
        let end = cursor.value_end(at)?;
        let Some(part) = role.part else {
            match role.beside {
                None => {}
                Some(KeyBeside::Parent) => call_fields.parent = true,
                Some(KeyBeside::Ending) => call_fields.ending_beside = true,
            }
            return Some(end);
        };
        if marks & role.mark != 0 {
            return None;
        }
        marks |= role.mark;
        let null = cursor.is_null(at, end)?;
        if null {
            match part {
                _ if !part.has_null(role.native) => {}
                NamedPart::Args => call_fields.nulls[0] = true,
                NamedPart::Result => call_fields.nulls[1] = true,
                _ => {}
            }
            return Some(end);
        }
        match part {
            NamedPart::Start | NamedPart::End | NamedPart::Milliseconds if !role.unit && cursor.byte_at(at) != b'"' => {
                return None;
            }
            NamedPart::Tool => {
                // What stands inside of a `function` is for the full reader.
                (cursor.byte_at(at) == b'"').then_some(())?;
                call_fields.tool.offer_value(role.rank, (at, end));
            }
            NamedPart::Args => {
                call_fields.written = !role.native || is_written_object(cursor, at)?;
                call_fields.fields[0].offer_value(role.rank, (at, end));
            }
            NamedPart::Result => call_fields.fields[1].offer_value(role.rank, (at, end)),
            NamedPart::Start => call_fields.begin.offer_value(role.rank, (at, end)),
            NamedPart::End => call_fields.end.offer_value(role.rank, parse_instant(cursor, text, at, end)?),
            NamedPart::Milliseconds => call_fields.milliseconds.offer_value(role.rank, parse_number(cursor, at, end)?),
            NamedPart::Seconds => {
                // Seconds that are no number count as not there.
                if matches!(cursor.byte_at(at), b'-' | b'0'..=b'9') {
                    call_fields.seconds.offer_value(role.rank, parse_number(cursor, at, end)?);
                }
            }
            NamedPart::Turn => call_fields.turn.offer_value(role.rank, (at, end)),
            NamedPart::Error => {
                call_fields.ended = true;
                let is_error = !matches!(cursor.slice(at, end), b"false" | b"\"\"");
                call_fields.error.offer_value(role.rank, is_error);
            }
            NamedPart::Ok => {
                call_fields.ended = true;
                let status = match cursor.slice(at, end) {
                    b"true" => StepStatus::Ok,
                    b"false" => StepStatus::Failed,
                    _ => return None,
                };
                call_fields.ok.offer_value(role.rank, status);
            }
            NamedPart::Status => {
                call_fields.ended = true;
                let status = parse_status(cursor, text, at, end)?;
                call_fields.not_executed |= !status.is_executed();
                call_fields.status.offer_value(role.rank, status);
            }
            NamedPart::Agent => call_fields.by_agent = true,
            // Nothing that a projection holds.
            NamedPart::CallId | NamedPart::Calls | NamedPart::Id | NamedPart::Input | NamedPart::Output => {}
            NamedPart::Cost | NamedPart::Usage | NamedPart::Messages | NamedPart::Role | NamedPart::Text => {}
        }
        Some(end)
    })?;
    Some((call_fields, behind))
}

/// True if text arguments start like a JSON object; `None` if unclear.
fn is_written_object(cursor: ScanCursor<'_>, at: usize) -> Option<bool> {
    if cursor.byte_at(at) != b'"' {
        return Some(false);
    }
    match cursor.byte_at(cursor.skip_blank(at.wrapping_add(1))) {
        b'\\' => None,
        first => Some(first == b'{'),
    }
}

#[inline]
pub(super) fn take_texts(
    cursor: ScanCursor<'_>,
    text: &str,
    start: usize,
    end: usize,
    texts: &mut TextPool,
) -> Option<()> {
    match cursor.byte_at(start) {
        b'"' => {
            texts.any = true;
            texts.add_text(cursor, text, start, end.wrapping_sub(1));
        }
        b'{' | b'[' => {
            texts.perhaps = true;
            cursor.each_text(start, end, |open, close| texts.add_text(cursor, text, open, close))?;
        }
        _ => {
            parse_number(cursor, start, end)
                .map(|_| ())
                .or_else(|| matches!(cursor.slice(start, end), b"true" | b"false").then_some(()))?;
            texts.any = true;
        }
    }
    Some(())
}

/// In milliseconds.
pub(super) fn parse_instant(cursor: ScanCursor<'_>, text: &str, start: usize, end: usize) -> Option<f64> {
    if cursor.byte_at(start) == b'"' {
        let inner = text.get(start.wrapping_add(1)..end.wrapping_sub(1))?;
        return if cursor.has_escape(start, end) {
            None
        } else {
            time::to_milliseconds(&Value::Text(ValueText::Plain(inner)))
        };
    }
    parse_number(cursor, start, end).filter(|number| !time::is_in_seconds(&Value::Number(Number::Real(*number))))
}

/// Digits and a fraction only.
pub(super) fn parse_number(cursor: ScanCursor<'_>, start: usize, end: usize) -> Option<f64> {
    if let Some(whole) = parse_integer(cursor, start, end) {
        #[expect(clippy::cast_precision_loss, reason = "at most fifteen digits, which a double holds")]
        return Some(whole as f64);
    }
    let text = std::str::from_utf8(cursor.slice(start, end)).ok()?;
    let plain = text.strip_prefix('-').unwrap_or(text);
    if text.len() > 20 || !super::chunk::is_plain_number(plain) {
        return None;
    }
    text.parse().ok()
}

pub(super) fn parse_turn(cursor: ScanCursor<'_>, start: usize, end: usize) -> Option<u64> {
    parse_integer(cursor, start, end).filter(|turn| *turn <= u64::from(u32::MAX))
}

/// At most 15 digits.
#[inline]
fn parse_integer(cursor: ScanCursor<'_>, start: usize, end: usize) -> Option<u64> {
    let length = end.wrapping_sub(start);
    if length == 0 || length > 15 || (length > 1 && cursor.byte_at(start) == b'0') {
        return None;
    }
    if let (1..=8, Some([a, b, c, d, e, f, g, h, ..])) = (length, cursor.sixteen_at(start)) {
        return few_digits(u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]), length);
    }
    cursor.slice(start, end).iter().try_fold(0_u64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit <= 9).then(|| value.wrapping_mul(10).wrapping_add(u64::from(digit)))
    })
}

/// `None` if unknown.
fn parse_status(cursor: ScanCursor<'_>, text: &str, start: usize, end: usize) -> Option<StepStatus> {
    if cursor.byte_at(start) != b'"' || cursor.has_escape(start, end) {
        return None;
    }
    StepStatus::from_word(text.get(start.wrapping_add(1)..end.wrapping_sub(1))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::ByteIndex;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn digits_are_read_as_they_stand(number in "[0-9]{1,16}|[0-9./:a\\-]{1,9}", behind in "[,} ]{0,20}") {
            let text = format!("{number}{behind}");
            let mut index = ByteIndex::default();
            index.build_index(text.as_bytes()).unwrap();
            let read = parse_integer(ScanCursor::new(text.as_bytes(), &index, 10), 0, number.len());
            let plain = number.len() <= 15
                && number.bytes().all(|byte| byte.is_ascii_digit())
                && (number.len() == 1 || !number.starts_with('0'));
            prop_assert_eq!(read, plain.then(|| number.parse().unwrap()));
        }
    }
}
