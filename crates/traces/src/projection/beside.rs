//! Messages beside a list of calls. No projection holds them; but where the full reader finds something wrong with one, the run is no run.

use super::Chunk;
use super::call::{instant, number, turn};
use super::keys::{Keys, list};
use averment_runs::normal::of_step;

/// What the full reader asks of a field of a message.
#[derive(Debug, Clone, Copy)]
enum Type {
    Role,
    Text,
    Instant,
    Number,
    Turn,
}

const TYPES: [(&str, Type); 6] = [
    (of_step::ROLE, Type::Role),
    (of_step::TEXT, Type::Text),
    (of_step::START, Type::Instant),
    (of_step::END, Type::Instant),
    (of_step::DURATION, Type::Number),
    (of_step::TURN, Type::Turn),
];

/// What a key of a message stands for, with a bit that tells when it comes again.
#[derive(Debug, Clone, Copy)]
struct MessageKey {
    of: Option<Type>,
    mark: u8,
}

/// Looks at lists of messages in normal form.
#[derive(Debug)]
pub(super) struct Beside {
    keys: Keys<MessageKey>,
}

impl Beside {
    pub(super) fn new() -> Self {
        let key = |(number, (key, of)): (u32, &(&str, Type))| {
            ((*key).to_owned(), MessageKey { of: Some(*of), mark: 1_u8.wrapping_shl(number) })
        };
        Self { keys: Keys::new((0_u32..).zip(&TYPES).map(key), MessageKey { of: None, mark: 0 }) }
    }

    /// Looks at the list at an offset, and says whether some message records a time. `None` where one is not plain.
    pub(super) fn look(&mut self, chunk: Chunk<'_>, start: usize) -> Option<bool> {
        let Chunk { text, cursor, .. } = chunk;
        let mut timed = false;
        list(cursor, start, |at| {
            let (mut marks, mut has_role) = (0_u8, false);
            let behind = self.keys.object(cursor, at, |key, at| {
                let end = cursor.value(at)?;
                let Some(of) = key.of else { return Some(end) };
                if marks & key.mark != 0 {
                    return None;
                }
                marks |= key.mark;
                let null = cursor.is_null(at, end)?;
                match of {
                    Type::Role => has_role = cursor.byte(at) == b'"',
                    _ if null => {}
                    Type::Text => (cursor.byte(at) == b'"').then_some(())?,
                    Type::Instant => {
                        instant(cursor, text, at, end)?;
                        timed = true;
                    }
                    Type::Number => number(cursor, at, end).map(|_| ())?,
                    Type::Turn => turn(cursor, at, end).map(|_| ())?,
                }
                Some(end)
            })?;
            has_role.then_some(behind)
        })
        .map(|_| timed)
    }
}
