//! Records that a file repeats: a program that resumes or exports a session again writes down what was there before. What was
//! done once counts once, in every format; a format says in its row of the table what tells its records apart.

use super::fields::key_table;
use super::nodes::{node_list, node_object, objects_of};
use super::run_builder::RunBuilder;
use averment_base::value::compare::values_equal;
use averment_base::value::{Node, Object, ObjectEntry, TextOrigin, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What tells the records of a format apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordIds {
    pub(super) sameness: RecordSameness,
    /// Alternative paths to the id in a record; the first one that is there counts.
    pub(super) paths: &'static [&'static [&'static str]],
    /// Keys of the list of records, where a run is an object.
    pub(super) lists: &'static [&'static str],
}

/// What an id says that comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordSameness {
    /// No record has an id: only a file that begins anew is one.
    NoId,
    /// One record has it. With other contents it may be anything.
    Unique,
    /// One record has it. With other contents it replaces the earlier one.
    Updated,
    /// Several records may have it, as they may have a time: the same contents are the same record.
    Shared,
    /// It is that of a call in the record. Some providers number calls, so that a short one may be another call's.
    OfCall,
    /// It says which run it is: a file that begins anew with it is a copy.
    OfRun,
    /// The reader of the format decides.
    OwnReader,
}

impl RecordIds {
    pub(super) const NONE: Self = Self { sameness: RecordSameness::NoId, paths: &[], lists: &[] };
    pub(super) const OWN_READER: Self = Self { sameness: RecordSameness::OwnReader, ..Self::NONE };

    pub(super) const fn unique(paths: &'static [&'static [&'static str]]) -> Self {
        Self { sameness: RecordSameness::Unique, paths, lists: &[] }
    }

    pub(super) const fn updated(paths: &'static [&'static [&'static str]]) -> Self {
        Self { sameness: RecordSameness::Updated, paths, lists: &[] }
    }

    pub(super) const fn shared(paths: &'static [&'static [&'static str]]) -> Self {
        Self { sameness: RecordSameness::Shared, paths, lists: &[] }
    }

    pub(super) const fn of_run(paths: &'static [&'static [&'static str]]) -> Self {
        Self { sameness: RecordSameness::OfRun, paths, lists: &[] }
    }

    pub(super) const fn of_call(paths: &'static [&'static [&'static str]]) -> Self {
        Self { sameness: RecordSameness::OfCall, paths, lists: &[] }
    }

    fn record_id<'run>(&self, record: Object<'run>) -> Option<RecordId<'run>> {
        self.paths.iter().find_map(|path| id_at(record, path))
    }
}

/// Text and numbers are ids; an empty text is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum RecordId<'run> {
    Text(&'run str),
    Number(u64),
}

impl RecordId<'_> {
    fn is_random(self) -> bool {
        matches!(self, Self::Text(text) if text.len() >= LONG_ID)
    }
}

/// On the way there may be lists.
fn id_at<'run>(record: Object<'run>, path: &[&str]) -> Option<RecordId<'run>> {
    let (first, rest) = path.split_first()?;
    match record.get(first)?.value {
        Value::Text(text) if rest.is_empty() && !text.is_empty() => Some(RecordId::Text(text.as_str())),
        Value::Number(number) if rest.is_empty() => Some(RecordId::Number(number.to_f64().to_bits())),
        Value::Object(inner) => id_at(inner, rest),
        Value::List(items) => objects_of(items).find_map(|inner| id_at(inner, rest)),
        _ => None,
    }
}

/// The run without the records that stand in it again.
pub(super) fn without_copies<'run>(
    root: Node<'run>,
    ids: &RecordIds,
    builder: &mut RunBuilder<'run, '_>,
) -> Node<'run> {
    if ids.sameness == RecordSameness::OwnReader {
        return root;
    }
    let Value::Object(run) = root.value else {
        let kept = node_list(root).and_then(|items| distinct_records(items, ids, builder));
        return kept.map_or(root, |kept| Node::new(Value::List(kept), root.origin));
    };
    let listed = run.entries().iter().filter(|entry| ids.lists.contains(&entry.key));
    let kept = listed.filter_map(|entry| Some((entry.key, distinct_records(node_list(entry.node)?, ids, builder)?)));
    let kept: Vec<_> = kept.collect();
    if kept.is_empty() {
        return root;
    }
    let replaced = run.entries().iter().map(|entry| match kept.iter().find(|(key, _)| *key == entry.key) {
        Some((key, items)) => ObjectEntry { key, node: Node::new(Value::List(items), entry.node.origin) },
        None => *entry,
    });
    let entries = builder.arena.alloc_slice_copy(&replaced.collect::<Vec<_>>());
    Node::new(Value::Object(Object::new(builder.arena, entries)), root.origin)
}

/// `None` where nothing is there twice.
fn distinct_records<'run>(
    items: &'run [Node<'run>],
    ids: &RecordIds,
    builder: &mut RunBuilder<'run, '_>,
) -> Option<&'run [Node<'run>]> {
    let mut copies = CopySearch { items, handling: FxHashMap::default(), first_copy: None, count: 0 };
    copies.find_new_beginnings(ids, builder);
    copies.find_ids(ids, builder);
    if copies.handling.is_empty() {
        return None;
    }
    if let Some(first) = copies.first_copy {
        let message = match copies.count {
            1 => "a record is repeated in the file and is read once".to_owned(),
            count => format!("{count} records are repeated in the file: each is read once"),
        };
        builder.add_warning(first, message);
    }
    let kept = items.iter().enumerate().filter_map(|(place, node)| match copies.handling.get(&place) {
        Some(CopyHandling::LeftOut) => None,
        Some(CopyHandling::Updated(later)) => items.get(*later).copied(),
        None => Some(*node),
    });
    Some(builder.arena.alloc_slice_copy(&kept.collect::<Vec<_>>()))
}

/// What is done with a record that another one repeats or updates.
#[derive(Debug, Clone, Copy)]
enum CopyHandling {
    LeftOut,
    /// The last version of it stands at that place.
    Updated(usize),
}

struct CopySearch<'run> {
    items: &'run [Node<'run>],
    handling: FxHashMap<usize, CopyHandling>,
    first_copy: Option<TextOrigin>,
    count: usize,
}

impl<'run> CopySearch<'run> {
    fn leave_out(&mut self, place: usize) {
        self.handling.insert(place, CopyHandling::LeftOut);
        self.count += 1;
        if self.first_copy.is_none() {
            self.first_copy = self.items.get(place).map(|node| node.origin);
        }
    }

    /// A part of the file that is the same as its beginning: all that was there so far, or all that follows. Where neither an id nor a
    /// time says that it is a copy, it may have been done again.
    fn find_new_beginnings(&mut self, ids: &RecordIds, builder: &mut RunBuilder<'run, '_>) {
        let Some(first) = self.items.first().filter(|first| node_object(**first).is_some()) else { return };
        if !self.items.iter().skip(1).any(|node| values_equal(&first.value, &node.value)) {
            return;
        }
        let prefixes = common_prefixes(self.items);
        let mut place = 1;
        while let Some(node) = self.items.get(place) {
            let later = self.items.get(place..).unwrap_or_default();
            let length = prefixes.get(place).map_or(0, |same| place.min(*same));
            if length < 2 || length < place && length < later.len() {
                place += 1;
                continue;
            }
            let copied = later.get(..length).unwrap_or_default();
            if !copied.iter().filter_map(|node| node_object(*node)).any(|record| is_told_apart(record, ids)) {
                let message = format!(
                    "{length} records are the same as the first ones, and have neither ids nor times: it may all have happened again"
                );
                builder.skip_record(node.origin, message);
            }
            (place..place + length).for_each(|place| self.leave_out(place));
            place += length;
        }
    }

    fn find_ids(&mut self, ids: &RecordIds, builder: &mut RunBuilder<'run, '_>) {
        if ids.paths.is_empty() || ids.sameness == RecordSameness::OfRun {
            return;
        }
        let mut known: FxHashMap<RecordId<'run>, SmallVec<[usize; 1]>> = FxHashMap::default();
        let items = self.items;
        for (place, node) in items.iter().enumerate() {
            if self.handling.contains_key(&place) {
                continue;
            }
            let Some(id) = node_object(*node).and_then(|record| ids.record_id(record)) else { continue };
            let before = known.entry(id).or_default();
            let is_same = |place: &usize| items.get(*place).is_some_and(|item| values_equal(&item.value, &node.value));
            let may_be = |known: &usize| {
                ids.sameness != RecordSameness::OfCall || id.is_random() || place.checked_sub(1) == Some(*known)
            };
            if before.iter().any(|known| may_be(known) && is_same(known)) {
                self.leave_out(place);
                continue;
            }
            match (before.first(), ids.sameness) {
                (Some(_), RecordSameness::Unique) => {
                    builder.skip_record(node.origin, "a record has the id of an earlier record and other contents");
                    self.handling.insert(place, CopyHandling::LeftOut);
                }
                (Some(first), RecordSameness::Updated) => {
                    self.handling.insert(*first, CopyHandling::Updated(place));
                    self.handling.insert(place, CopyHandling::LeftOut);
                }
                _ if before.len() < MANY => before.push(place),
                _ => {}
            }
        }
    }
}

/// For each place, how many records from there on are the same as the first ones of the list: the Z-function of Gusfield, so that a list of
/// equal records takes linear time. The entry of the first place is 0.
fn common_prefixes(items: &[Node<'_>]) -> Vec<usize> {
    let is_same = |place: usize, other: usize| match (items.get(place), items.get(other)) {
        (Some(one), Some(other)) => values_equal(&one.value, &other.value),
        _ => false,
    };
    let mut prefixes = vec![0; items.len()];
    // The known stretch that reaches furthest: it begins at `start` and is the same as the beginning up to `end`.
    let (mut start, mut end) = (0, 0);
    for place in 1..items.len() {
        let known = if place < end { prefixes.get(place - start).copied().unwrap_or(0).min(end - place) } else { 0 };
        let mut length = known;
        while is_same(length, place + length) {
            length += 1;
        }
        if place + length > end {
            (start, end) = (place, place + length);
        }
        if let Some(slot) = prefixes.get_mut(place) {
            *slot = length;
        }
    }
    prefixes
}

/// Whether something in a record is of that record alone: its id, a time, or an id too long to come again by chance.
fn is_told_apart(record: Object<'_>, ids: &RecordIds) -> bool {
    let holds_request = || RequestKey::Any.keys().iter().any(|key| record.get(key).is_some());
    let is_id = |id: RecordId<'_>| ids.sameness != RecordSameness::OfCall || id.is_random();
    ids.record_id(record).is_some_and(is_id) || holds_request() || has_identity(record, 0)
}

fn has_identity(object: Object<'_>, depth: usize) -> bool {
    object.entries().iter().any(|entry| match entry.node.value {
        Value::Number(_) => TimeKey::from_key(entry.key).is_some(),
        Value::Text(text) => {
            let is_id = || AnyIdKey::from_key(entry.key).is_some() && text.as_str().len() >= LONG_ID;
            TimeKey::from_key(entry.key).is_some() && !text.is_empty() || is_id()
        }
        Value::Object(inner) => depth < DEEP && has_identity(inner, depth + 1),
        Value::List(items) => depth < DEEP && objects_of(items).any(|inner| has_identity(inner, depth + 1)),
        _ => false,
    })
}

/// Numbered ids (`call_1`) come again in every conversation, random ones do not.
const LONG_ID: usize = 12;
/// Nesting in which ids and times are looked for.
const DEEP: usize = 4;
/// Records compared that have one time.
const MANY: usize = 32;

key_table! {
    /// When something was done, whoever writes it.
    TimeKey {
        Any = "timestamp" | "timestamp_ms" | "ts" | "time" | "created" | "created_at" | "createdAt" | "start_time" | "startTime" | "date",
    }
}

key_table! {
    /// A request holds the conversation so far: the same one is that which was sent again.
    RequestKey {
        Any = "request" | "request_body",
    }
}

key_table! {
    /// What something is called that was done once, whoever writes it.
    AnyIdKey {
        Any = "id" | "uuid" | "session_id" | "sessionId" | "message_id" | "messageId" | "run_id" | "event_id" | "tool_call_id" | "toolCallId"
            | "call_id" | "callId" | "tool_use_id" | "toolUseId" | "response_id" | "responseId",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every list of up to nine records of two kinds.
    #[test]
    fn common_prefixes_are_those_found_one_by_one() {
        for length in 0..10_usize {
            for kinds in 0..1_u32 << length {
                let text = |place: usize| if kinds >> place & 1 == 1 { "a" } else { "b" };
                let items: Vec<_> = (0..length).map(|place| Node::computed(Value::plain_text(text(place)))).collect();
                let plain =
                    (0..length).map(|from| (from..length).take_while(|at| text(*at) == text(at - from)).count());
                let wanted: Vec<usize> =
                    plain.enumerate().map(|(from, same)| if from == 0 { 0 } else { same }).collect();
                assert_eq!(common_prefixes(&items), wanted);
            }
        }
    }
}
