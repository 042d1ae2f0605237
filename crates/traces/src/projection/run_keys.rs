//! The entries of a run beside its calls: under which keys each is found, in the normal form and in home-grown formats.

use super::keys::KeyReader;
use super::{ScannedChunk, computed_entries};
use crate::adapt::fields::ByteSpan;
use crate::adapt::format::{LineProjection, MessageLayout};
use crate::adapt::generic::BestRanked;
use crate::adapt::registry::FORMATS;
use crate::build::near_run_key;
use crate::names::{NamedPart, PartNames};
use averment_runs::normal::{EntryType, entry_type, is_misspelt_error, of_run, of_step};
use averment_runs::run::StepKind;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashSet};
use smallvec::SmallVec;

#[derive(Debug, Clone, Default)]
pub(super) struct RunKey {
    pub(super) special: SpecialKey,
    /// Its home-grown entries, with name ranks.
    pub(super) generic: SmallVec<[(u8, u8); 2]>,
    pub(super) native: Option<u8>,
    pub(super) generic_type: EntryType,
    pub(super) native_type: EntryType,
    /// A home-grown number without a known unit.
    pub(super) without_unit: bool,
    pub(super) messages: bool,
    pub(super) mark: u128,
    /// The list of messages beside which its value says nothing of what was done.
    pub(super) harmless_beside: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) enum SpecialKey {
    #[default]
    None,
    Generic(u8),
    Native,
    /// The line goes to the full reader unless the value is `null` beside a list of calls.
    Refuse,
    /// The line goes to the full reader even for `null`: this key marks the normal form.
    Steps,
    Messages(&'static MessageLayout),
    TellsOfCalls,
    /// A conversation beside it goes to the full reader.
    InFullBeside,
    /// It is nearly called `error`: the line goes to the full reader if anything is there.
    NearError,
}

impl SpecialKey {
    /// Whether a run may stand under the key.
    pub(super) fn holds_run(self) -> bool {
        matches!(self, Self::Generic(_) | Self::Native | Self::Messages(_))
    }

    /// Whether a value may be one that the reader of a conversation does not look at.
    pub(super) fn may_be_beside(self) -> bool {
        !matches!(self, Self::Messages(_) | Self::TellsOfCalls)
    }
}

/// A list or an object that no reader of conversations looks at.
#[derive(Debug)]
pub(super) struct UnreadValue {
    pub(super) span: ByteSpan,
    pub(super) harmless_beside: Option<&'static str>,
}

impl UnreadValue {
    pub(super) fn may_hold_call(&self, chunk: ScannedChunk<'_>, form: &MessageLayout) -> bool {
        self.harmless_beside != Some(form.list) && chunk.may_hold_call(self.span)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunForm {
    Generic,
    Native,
}

/// Where an entry stands in a line.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct EntrySpans {
    pub(super) generic: BestRanked<ByteSpan>,
    pub(super) native: Option<ByteSpan>,
    /// Present as `null`: under a home-grown name, and under its own.
    pub(super) generic_null: bool,
    pub(super) native_null: bool,
}

impl EntrySpans {
    pub(super) fn place(&self, form: RunForm) -> Option<ByteSpan> {
        match form {
            RunForm::Generic => self.generic.best_value(),
            RunForm::Native => self.native,
        }
    }
}

/// A cheap check of a value's type.
pub(super) fn fits_expected(expected: EntryType, value: &[u8]) -> bool {
    let first = value.first().copied().unwrap_or(0);
    let number = first == b'-' || first.is_ascii_digit();
    match expected {
        EntryType::Any => true,
        // One beyond the range of doubles or below 0 is not recorded: that is for the full reader.
        EntryType::Number => {
            first == b'n'
                || (first.is_ascii_digit() && value.len() <= 20 && !value.iter().any(|byte| byte | 0x20 == b'e'))
        }
        EntryType::Object => matches!(first, b'{' | b'n'),
        EntryType::TextOrNumber => number || matches!(first, b'"' | b'n'),
        EntryType::Boolean => matches!(first, b't' | b'f' | b'n'),
    }
}

/// Normal-form entries for the full reader; it knows the environment that reports must not repeat.
const REFUSED: [&str; 3] = [of_run::COMPLETE, of_run::ENV, of_step::TURN];

/// True if `null` is a value (home-grown, normal form); otherwise it means not recorded.
pub(super) fn null_counts(root: &str, names: &PartNames) -> (bool, bool) {
    let named = names.of_entry(root).is_some() || names.is_of_run(root);
    (!named, entry_type(root) == EntryType::Any)
}

fn names_of<'n>(root: &'n str, names: &'n PartNames) -> Vec<&'n str> {
    match computed_entries::names_of(root, names).or_else(|| names.of_entry(root)) {
        Some(list) => list.iter().map(AsRef::as_ref).collect(),
        None if names.is_of_run(root) || names.names_of(NamedPart::Calls).iter().any(|key| key == root) => Vec::new(),
        None => vec![root],
    }
}

/// Durations from this name rank on are in seconds.
pub(super) fn seconds_rank(names: &PartNames) -> u8 {
    u8::try_from(names.names_of(NamedPart::Milliseconds).len()).unwrap_or(u8::MAX)
}

#[derive(Default)]
struct RunKeys(IndexMap<String, RunKey, FxBuildHasher>);

impl RunKeys {
    fn change_key(&mut self, key: &str, change: impl FnOnce(&mut RunKey)) {
        match self.0.get_mut(key) {
            Some(role) => change(role),
            None => change(self.0.entry(key.to_owned()).or_default()),
        }
    }

    /// Keys that only mark a format share one bit: any of them sends its line to the full reader, so nothing tells them apart.
    fn share_marks(&mut self) {
        let marks: FxHashSet<&str> = FORMATS.iter().flat_map(|format| format.marks).copied().collect();
        let mut next = 1_u32;
        for (key, role) in &mut self.0 {
            role.mark = if matches!(role.special, SpecialKey::Refuse) && marks.contains(key.as_str()) {
                1
            } else {
                let own = 1_u128.checked_shl(next).unwrap_or(0);
                next += 1;
                own
            };
        }
    }
}

/// `None` if there are too many.
pub(super) fn keys_of_runs(roots: &[String], names: &PartNames) -> Option<KeyReader<RunKey>> {
    let mut roles = RunKeys::default();
    add_specials(&mut roles, names);
    add_messages(&mut roles, names);
    add_types(&mut roles, roots, names);
    for (number, root) in (0_u8..).zip(roots) {
        roles.change_key(root, |role| role.native = Some(number));
        for (rank, key) in (0_u8..).zip(names_of(root, names)) {
            roles.change_key(key, |role| role.generic.push((number, rank)));
        }
    }
    roles.share_marks();
    let told_apart = roles.0.values().all(|role| role.mark != 0);
    told_apart
        .then(|| KeyReader::new(roles.0.into_iter().collect::<Vec<_>>(), RunKey::default()).with_unknown(misspelt_role))
}

/// A key that is nearly one of the normal form: the full reader tells of it.
fn misspelt_role(key: &[u8]) -> Option<RunKey> {
    let key = std::str::from_utf8(key).ok()?;
    let special = match near_run_key(key) {
        Some(_) => SpecialKey::Refuse,
        None if is_misspelt_error(key) => SpecialKey::NearError,
        None => return None,
    };
    Some(RunKey { special, ..RunKey::default() })
}

fn add_specials(roles: &mut RunKeys, names: &PartNames) {
    let calls = names.names_of(NamedPart::Calls);
    for (rank, key) in (0_u8..).zip(calls) {
        roles.change_key(key, |role| role.special = SpecialKey::Generic(rank));
    }
    let mut set = |key: &str, special: SpecialKey| {
        if !calls.iter().any(|name| name == key) {
            roles.change_key(key, |role| role.special = special);
        }
    };
    for kind in StepKind::ALL {
        set(kind.list_key(), if kind == StepKind::Call { SpecialKey::Native } else { SpecialKey::Refuse });
    }
    REFUSED.into_iter().for_each(|key| set(key, SpecialKey::Refuse));
    for format in FORMATS {
        format.marks.iter().for_each(|key| set(key, SpecialKey::Refuse));
        if let LineProjection::Messages(messages) = &format.projected {
            messages.in_full_beside.iter().for_each(|key| set(key, SpecialKey::InFullBeside));
            messages.tell_of_calls.iter().for_each(|key| set(key, SpecialKey::TellsOfCalls));
            set(messages.list, SpecialKey::Messages(messages));
        }
    }
    // After the marks: formats that also have steps do not change what `null` means here.
    set(of_run::STEPS, SpecialKey::Steps);
    for format in FORMATS {
        let LineProjection::Messages(messages) = &format.projected else { continue };
        for key in format.harmless_keys {
            roles.change_key(key, |role| role.harmless_beside = Some(messages.list));
        }
    }
}

fn add_messages(roles: &mut RunKeys, names: &PartNames) {
    let others = names.names_of(NamedPart::Messages).iter().map(AsRef::as_ref);
    for key in others.chain([StepKind::Message.list_key()]) {
        roles.change_key(key, |role| role.messages = true);
    }
}

fn add_types(roles: &mut RunKeys, roots: &[String], names: &PartNames) {
    for entry in of_run::ALL.into_iter().filter(|entry| entry_type(entry) != EntryType::Any) {
        let own = names.of_entry(entry).is_none() && !names.is_of_run(entry);
        roles.change_key(entry, |role| {
            role.native_type = entry_type(entry);
            if own {
                role.generic_type = entry_type(entry);
            }
        });
        for key in names.of_entry(entry).unwrap_or_default() {
            roles.change_key(key, |role| role.generic_type = entry_type(entry));
        }
    }
    for key in names.of_entry(of_run::DURATION).unwrap_or_default().iter().filter(|key| !names.carries_unit(key)) {
        roles.change_key(key, |role| role.without_unit = true);
    }
    // Where a duration stands only in seconds it is computed.
    if let Some((number, _)) = (0_u8..).zip(roots).find(|(_, root)| *root == of_run::DURATION) {
        for (rank, key) in (seconds_rank(names)..).zip(names.names_of(NamedPart::Seconds)) {
            roles.change_key(key, |role| {
                role.generic_type = entry_type(of_run::DURATION);
                role.generic.push((number, rank));
            });
        }
    }
}
