//! The entries of a run beside its calls: under which keys each is found, in the normal form and in home-grown formats.

use super::keys::Keys;
use crate::adapt::format::{InMessages, Projected};
use crate::adapt::registry::FORMATS;
use crate::names::{Names, Part};
use averment_runs::normal::{Expected, expected, of_run, of_step};
use averment_runs::run::Kind;
use smallvec::SmallVec;

/// What a key of a run stands for.
#[derive(Debug, Clone, Default)]
pub(super) struct RunKey {
    pub(super) special: Special,
    /// The entries that it may be in a home-grown format, with the rank of the name.
    pub(super) generic: SmallVec<[(u8, u8); 2]>,
    /// The entry that it is in the normal form.
    pub(super) native: Option<u8>,
    /// What it has to be, by the form of the run.
    pub(super) generic_type: Expected,
    pub(super) native_type: Expected,
    /// In a home-grown format it is a number of which nobody says the unit.
    pub(super) without_unit: bool,
    /// A list of messages may stand here beside the calls.
    pub(super) messages: bool,
    /// A bit for every key that has a role.
    pub(super) mark: u128,
}

/// Keys that decide more than a value.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Special {
    #[default]
    None,
    /// The list of calls of a home-grown format; the rank of its name.
    Generic(u8),
    /// The list of calls of the normal form.
    Native,
    /// A line with this key is for the full reader, unless its value is `null`; where it is no list of calls but a conversation, also then.
    Refuse,
    /// A line with this key is for the full reader even where it stands there as `null`: it makes the normal form of a run.
    Steps,
    /// A list of messages of such a format.
    Messages(&'static InMessages),
    /// It tells of calls in a conversation.
    TellsOfCalls,
    /// A conversation beside it is for the full reader.
    InFullBeside,
}

/// Whether a value is what is expected, as far as that is plain to see.
pub(super) fn fits(expected: Expected, value: &[u8]) -> bool {
    let first = value.first().copied().unwrap_or(0);
    let number = first == b'-' || first.is_ascii_digit();
    match expected {
        Expected::Any => true,
        // One beyond the range of doubles or below 0 is not recorded: that is for the full reader.
        Expected::Number => {
            first == b'n'
                || (first.is_ascii_digit() && value.len() <= 20 && !value.iter().any(|byte| byte | 0x20 == b'e'))
        }
        Expected::Object => matches!(first, b'{' | b'n'),
        Expected::TextOrNumber => number || matches!(first, b'"' | b'n'),
        Expected::Boolean => matches!(first, b't' | b'f' | b'n'),
    }
}

/// Entries that only the normal form has and that the full reader has to look at.
/// Of a recorded environment nothing is repeated in a report: the full reader knows what is in it.
const REFUSED: [&str; 3] = [of_run::COMPLETE, of_run::ENV, of_step::TURN];

/// Whether `null` is a value of an entry, in home-grown formats and in the normal form; elsewhere it says that it is not recorded.
pub(super) fn null_counts(root: &str, names: &Names) -> (bool, bool) {
    let named = names.of_entry(root).is_some() || names.is_of_run(root);
    (!named, expected(root) == Expected::Any)
}

/// The names of an entry in home-grown formats.
fn names_of<'n>(root: &'n str, names: &'n Names) -> Vec<&'n str> {
    match names.of_entry(root) {
        Some(list) => list.iter().map(AsRef::as_ref).collect(),
        None if names.is_of_run(root) || names.of(Part::Calls).iter().any(|key| key == root) => Vec::new(),
        None => vec![root],
    }
}

/// The rank from which on a duration stands in seconds.
pub(super) fn milliseconds(names: &Names) -> u8 {
    u8::try_from(names.of(Part::Milliseconds).len()).unwrap_or(u8::MAX)
}

/// The keys of runs while they are put together.
#[derive(Default)]
struct RunKeys(Vec<(String, RunKey)>);

impl RunKeys {
    fn change(&mut self, key: &str, change: impl FnOnce(&mut RunKey)) {
        let at = self.0.iter().position(|(known, _)| known == key).unwrap_or_else(|| {
            let mark = 1_u128.checked_shl(u32::try_from(self.0.len()).unwrap_or(128)).unwrap_or(0);
            self.0.push((key.to_owned(), RunKey { mark, ..RunKey::default() }));
            self.0.len() - 1
        });
        if let Some((_, role)) = self.0.get_mut(at) {
            change(role);
        }
    }
}

/// The keys of runs with these entries; `None` where they are too many.
pub(super) fn keys(roots: &[String], names: &Names) -> Option<Keys<RunKey>> {
    let mut roles = RunKeys::default();
    specials(&mut roles, names);
    messages(&mut roles, names);
    types(&mut roles, roots, names);
    for (number, root) in (0_u8..).zip(roots) {
        roles.change(root, |role| role.native = Some(number));
        for (rank, key) in (0_u8..).zip(names_of(root, names)) {
            roles.change(key, |role| role.generic.push((number, rank)));
        }
    }
    let told_apart = roles.0.iter().all(|(_, role)| role.mark != 0);
    told_apart.then(|| Keys::new(roles.0, RunKey::default()))
}

/// The keys that decide more than a value.
fn specials(roles: &mut RunKeys, names: &Names) {
    let calls = names.of(Part::Calls);
    for (rank, key) in (0_u8..).zip(calls) {
        roles.change(key, |role| role.special = Special::Generic(rank));
    }
    let mut set = |key: &str, special: Special| {
        if !calls.iter().any(|name| name == key) {
            roles.change(key, |role| role.special = special);
        }
    };
    for kind in Kind::ALL {
        set(kind.list_key(), if kind == Kind::Call { Special::Native } else { Special::Refuse });
    }
    REFUSED.into_iter().for_each(|key| set(key, Special::Refuse));
    set(of_run::STEPS, Special::Steps);
    for format in FORMATS {
        format.marks.iter().for_each(|key| set(key, Special::Refuse));
        if let Projected::Messages(messages) = &format.projected {
            messages.in_full_beside.iter().for_each(|key| set(key, Special::InFullBeside));
            messages.tell_of_calls.iter().for_each(|key| set(key, Special::TellsOfCalls));
            set(messages.list, Special::Messages(messages));
        }
    }
}

/// The lists of messages that a run may have beside its calls.
fn messages(roles: &mut RunKeys, names: &Names) {
    let others = names.of(Part::Messages).iter().map(AsRef::as_ref);
    for key in others.chain([Kind::Message.list_key()]) {
        roles.change(key, |role| role.messages = true);
    }
}

/// What the entries have to be, in the normal form and under the names of home-grown formats.
fn types(roles: &mut RunKeys, roots: &[String], names: &Names) {
    for entry in of_run::ALL.into_iter().filter(|entry| expected(entry) != Expected::Any) {
        let own = names.of_entry(entry).is_none() && !names.is_of_run(entry);
        roles.change(entry, |role| {
            role.native_type = expected(entry);
            if own {
                role.generic_type = expected(entry);
            }
        });
        for key in names.of_entry(entry).unwrap_or_default() {
            roles.change(key, |role| role.generic_type = expected(entry));
        }
    }
    for key in names.of_entry(of_run::DURATION).unwrap_or_default().iter().filter(|key| !names.carries_unit(key)) {
        roles.change(key, |role| role.without_unit = true);
    }
    // Where a duration stands only in seconds it is computed.
    if let Some((number, _)) = (0_u8..).zip(roots).find(|(_, root)| *root == of_run::DURATION) {
        for (rank, key) in (milliseconds(names)..).zip(names.of(Part::Seconds)) {
            roles.change(key, |role| {
                role.generic_type = expected(of_run::DURATION);
                role.generic.push((number, rank));
            });
        }
    }
}
