//! The entries of a run beside its calls: under which keys each is found, in the normal form and in home-grown formats.

use super::keys::Keys;
use crate::names::Names;
use averment_runs::run::Kind;
use smallvec::SmallVec;

/// What a key of a run stands for.
#[derive(Debug, Clone, Default)]
pub(super) struct Role {
    pub(super) special: Special,
    /// The entries that it may be in a home-grown format, with the rank of the name.
    pub(super) generic: SmallVec<[(u8, u8); 2]>,
    /// The entry that it is in the normal form.
    pub(super) native: Option<u8>,
    /// What it has to be, by the form of the run.
    pub(super) generic_type: Type,
    pub(super) native_type: Type,
    /// A bit for every key that has a role.
    pub(super) mark: u128,
}

/// Keys that decide more than a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
    /// A list of messages. Where there are calls too, these have to stand under the first of their names.
    Messages,
    /// A list of messages that nothing else overrides.
    Trajectory,
    /// Answers of an API, as `Messages`; a conversation with them is for the full reader.
    Choices,
    /// Tools that could be called: a conversation with them would tell of calls.
    Tools,
}

/// The types that the full reader asks of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Type {
    #[default]
    Any,
    Number,
    Object,
    TextOrNumber,
}

impl Type {
    /// Whether a value fits, as far as that is plain to see.
    pub(super) fn fits(self, value: &[u8]) -> bool {
        let first = value.first().copied().unwrap_or(0);
        let number = first == b'-' || first.is_ascii_digit();
        match self {
            Self::Any => true,
            // One beyond the range of doubles is not recorded: that is for the full reader.
            Self::Number => {
                first == b'n' || (number && value.len() <= 20 && !value.iter().any(|byte| byte | 0x20 == b'e'))
            }
            Self::Object => matches!(first, b'{' | b'n'),
            Self::TextOrNumber => number || matches!(first, b'"' | b'n'),
        }
    }
}

/// Keys whose presence makes another format of a run, or steps of other kinds.
/// Of a recorded environment nothing is repeated in a report: the full reader knows what is in it.
const REFUSED: [&str; 7] = ["role", "request", "loglines", "steps", "complete", "turn", "env"];

/// The entries that facts cannot give without the full reader: they are put together from several parts.
#[must_use]
pub(super) fn is_composed(name: &str) -> bool {
    matches!(name, "turns" | "usage" | "cost" | "steps" | "prompt" | "complete")
        || Kind::ALL.iter().any(|kind| kind.list_key() == name)
}

/// Whether `null` is a value of an entry, in home-grown formats and in the normal form; elsewhere it says that it is not recorded.
pub(super) fn null_counts(root: &str, names: &Names) -> (bool, bool) {
    let known = ["id", "inputs", "output", "error", "duration"].contains(&root);
    (!known && !names.is_of_run(root), !matches!(root, "id" | "duration"))
}

/// The names of an entry in home-grown formats.
fn names_of<'n>(root: &'n str, names: &'n Names) -> Vec<&'n str> {
    let list = match root {
        "id" => &names.id,
        "inputs" => &names.input,
        "output" => &names.output,
        "error" => &names.error,
        "duration" => &names.milliseconds,
        _ if names.is_of_run(root) || names.calls.iter().any(|key| key == root) => return Vec::new(),
        _ => return vec![root],
    };
    list.iter().map(AsRef::as_ref).collect()
}

/// The rank from which on a duration stands in seconds.
pub(super) fn milliseconds(names: &Names) -> u8 {
    u8::try_from(names.milliseconds.len()).unwrap_or(u8::MAX)
}

/// The keys of runs with these entries; `None` where they are too many.
pub(super) fn keys(roots: &[String], names: &Names) -> Option<Keys<Role>> {
    let mut roles: Vec<(String, Role)> = Vec::new();
    let mut change = |key: &str, change: &dyn Fn(&mut Role)| {
        let at = roles.iter().position(|(known, _)| known == key).unwrap_or_else(|| {
            let mark = 1_u128.checked_shl(u32::try_from(roles.len()).unwrap_or(128)).unwrap_or(0);
            roles.push((key.to_owned(), Role { mark, ..Role::default() }));
            roles.len() - 1
        });
        if let Some((_, role)) = roles.get_mut(at) {
            change(role);
        }
    };
    for (rank, key) in (0_u8..).zip(&names.calls) {
        change(key, &|role| role.special = Special::Generic(rank));
    }
    let mapped = |key: &str| names.calls.iter().any(|name| name == key);
    if !mapped("calls") {
        change("calls", &|role| role.special = Special::Native);
    }
    for key in REFUSED.into_iter().chain(Kind::ALL.map(Kind::list_key)) {
        match key {
            "calls" => {}
            _ if mapped(key) => {}
            "messages" => change(key, &|role| role.special = Special::Messages),
            "steps" => change(key, &|role| role.special = Special::Steps),
            _ => change(key, &|role| role.special = Special::Refuse),
        }
    }
    let others = [("traj", Special::Trajectory), ("choices", Special::Choices)];
    for (key, special) in others.into_iter().chain([("tools", Special::Tools), ("functions", Special::Tools)]) {
        if !mapped(key) {
            change(key, &|role| role.special = special);
        }
    }
    // Where a duration stands only in seconds it is computed.
    if let Some(number) = (0_u8..).zip(roots).find(|(_, root)| *root == "duration").map(|(number, _)| number) {
        for (rank, key) in (milliseconds(names)..).zip(&names.seconds) {
            change(key, &|role| {
                role.generic_type = Type::Number;
                role.generic.push((number, rank));
            });
        }
    }
    for key in &names.milliseconds {
        change(key, &|role| role.generic_type = Type::Number);
    }
    for key in &names.id {
        change(key, &|role| role.generic_type = Type::TextOrNumber);
    }
    change("id", &|role| role.native_type = Type::TextOrNumber);
    for key in ["duration", "cost", "turns"] {
        change(key, &|role| role.native_type = Type::Number);
    }
    change("turns", &|role| role.generic_type = Type::Number);
    change("usage", &|role| role.native_type = Type::Object);
    for (number, root) in (0_u8..).zip(roots) {
        change(root, &|role| role.native = Some(number));
        for (rank, key) in (0_u8..).zip(names_of(root, names)) {
            change(key, &|role| role.generic.push((number, rank)));
        }
    }
    let told_apart = roles.iter().all(|(_, role)| role.mark != 0);
    told_apart.then(|| Keys::new(roles, Role::default()))
}
