//! Messages beside a list of calls. No projection holds them; but where the full reader finds something wrong with one, the run is no run.

use super::ScannedChunk;
use super::call::{parse_instant, parse_number, parse_turn};
use super::keys::{KeyReader, read_list};
use averment_runs::normal::of_step;

#[derive(Debug, Clone, Copy)]
enum CheckedType {
    Role,
    Text,
    Instant,
    Number,
    Turn,
}

const TYPES: [(&str, CheckedType); 6] = [
    (of_step::ROLE, CheckedType::Role),
    (of_step::TEXT, CheckedType::Text),
    (of_step::START, CheckedType::Instant),
    (of_step::END, CheckedType::Instant),
    (of_step::DURATION, CheckedType::Number),
    (of_step::TURN, CheckedType::Turn),
];

/// The bit detects duplicates.
#[derive(Debug, Clone, Copy)]
struct MessageKey {
    checked: Option<CheckedType>,
    mark: u8,
}

#[derive(Debug)]
pub(super) struct MessageChecker {
    keys: KeyReader<MessageKey>,
}

impl MessageChecker {
    pub(super) fn new() -> Self {
        let key = |(number, (key, of)): (u32, &(&str, CheckedType))| {
            ((*key).to_owned(), MessageKey { checked: Some(*of), mark: 1_u8.wrapping_shl(number) })
        };
        Self { keys: KeyReader::new((0_u32..).zip(&TYPES).map(key), MessageKey { checked: None, mark: 0 }) }
    }

    /// True if a message records a time. `None` for the full reader.
    pub(super) fn check_list(&mut self, chunk: ScannedChunk<'_>, start: usize) -> Option<bool> {
        let ScannedChunk { text, cursor, .. } = chunk;
        let mut timed = false;
        read_list(cursor, start, |at| {
            let (mut marks, mut has_role) = (0_u8, false);
            let behind = self.keys.read_object(cursor, at, |key, at| {
                let end = cursor.value_end(at)?;
                let Some(of) = key.checked else { return Some(end) };
                if marks & key.mark != 0 {
                    return None;
                }
                marks |= key.mark;
                let null = cursor.is_null(at, end)?;
                match of {
                    CheckedType::Role => has_role = cursor.byte_at(at) == b'"',
                    _ if null => {}
                    CheckedType::Text => (cursor.byte_at(at) == b'"').then_some(())?,
                    CheckedType::Instant => {
                        parse_instant(cursor, text, at, end)?;
                        timed = true;
                    }
                    CheckedType::Number => parse_number(cursor, at, end).map(|_| ())?,
                    CheckedType::Turn => parse_turn(cursor, at, end).map(|_| ())?,
                }
                Some(end)
            })?;
            has_role.then_some(behind)
        })
        .map(|_| timed)
    }
}
