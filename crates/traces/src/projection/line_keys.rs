//! What the keys of a line say of it, before anything that depends on the whole line is decided.

use super::run_keys::{self, EntrySpans, RunForm, SpecialKey, UnreadValue, fits_expected};
use crate::adapt::fields::ByteSpan;
use crate::adapt::format::MessageLayout;
use crate::scan::ScanCursor;
use smallvec::SmallVec;

#[derive(Debug, Default)]
pub(super) struct LineKeys {
    pub(super) marks: u128,
    pub(super) form: Option<RunForm>,
    pub(super) rank: u8,
    /// The calls must use their first name.
    pub(super) first_needed: bool,
    pub(super) messages: Option<(usize, &'static MessageLayout)>,
    pub(super) beside: Option<usize>,
    /// The conversation is the run even beside calls.
    pub(super) beside_calls: bool,
    /// A conversation would need the full reader.
    pub(super) no_chat: bool,
    pub(super) tells_of_calls: bool,
    /// What may be a call beside a conversation.
    pub(super) unread: SmallVec<[UnreadValue; 8]>,
    /// Types that the full reader would reject.
    pub(super) wrong_generic: bool,
    pub(super) wrong_native: bool,
}

impl LineKeys {
    /// `None` for the full reader.
    pub(super) fn note_special(&mut self, special: SpecialKey, first: u8, at: usize) -> Option<()> {
        match special {
            SpecialKey::Steps => return None,
            SpecialKey::Refuse if first != b'n' => return None,
            SpecialKey::Refuse => self.no_chat = true,
            SpecialKey::Messages(form) => {
                self.first_needed |= !form.beside_calls;
                self.beside_calls |= form.beside_calls;
                self.no_chat |= self.messages.replace((at, form)).is_some();
            }
            SpecialKey::InFullBeside => self.no_chat = true,
            SpecialKey::TellsOfCalls => self.tells_of_calls = true,
            SpecialKey::None | SpecialKey::Generic(_) | SpecialKey::Native | SpecialKey::NearError => {}
        }
        Some(())
    }
}

/// `None` for invalid JSON.
#[inline]
pub(super) fn note_entry(
    role: &run_keys::RunKey,
    cursor: ScanCursor<'_>,
    (start, end): ByteSpan,
    found: &mut [EntrySpans],
    keys_seen: &mut LineKeys,
) -> Option<()> {
    let value = cursor.slice(start, end);
    keys_seen.wrong_generic |= !fits_expected(role.generic_type, value) || role.without_unit;
    keys_seen.wrong_native |= !fits_expected(role.native_type, value);
    let null = cursor.is_null(start, end)?;
    for (root, rank) in &role.generic {
        if let Some(found) = found.get_mut(usize::from(*root)) {
            match null {
                true => found.generic_null = true,
                false => found.generic.offer_value(*rank, (start, end)),
            }
        }
    }
    if let Some(found) = role.native.and_then(|root| found.get_mut(usize::from(root))) {
        found.native_null |= null;
        if !null {
            found.native = Some((start, end));
        }
    }
    Some(())
}
