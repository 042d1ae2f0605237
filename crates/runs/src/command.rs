//! Shell commands, parsed as far as rules ask: which programs run, with which arguments and flags.
//!
//! A command line may run several programs (`cd app && npm ci | tee log`), and wrappers (`bash -lc "…"`, `sudo`, `find -exec`) hide the one that
//! matters. [`line`] finds all of them, and says where a line hides what it runs (`$CMD`, `curl … | sh`). Of expansions only those are made
//! that the line itself decides: variables that it sets once.

mod aliases;
mod code;
mod collect;
mod expand;
mod lex;
mod plain;
mod unwrap;
mod wanted;
mod word;
pub mod wrappers;

use crate::normal::of_step;
use averment_base::value::{Node, Object, ObjectEntry, Value};
use bumpalo::Bump;
pub use collect::{CommandLine, CommandPart, line};
pub use plain::{PlainCommand, parse_plain};
pub use wanted::{WantedCommand, searched_for};

/// True for a program that only prepares the main one.
fn is_preparation(part: &CommandPart) -> bool {
    let prepares = ["cd", "pushd", "popd", "export", "set", "source", ".", "ulimit", "umask", "unset"];
    part.program.as_deref().is_some_and(|program| prepares.contains(&program))
}

/// Hands over the derived fields of a command: `program`, `args`, `flags` and `options` of its first program (one that does more than
/// `cd`), and `parts` with these of every program.
pub fn set_fields<'run>(command: &str, arena: &'run Bump, mut set: impl FnMut(&'run str, Value<'run>)) {
    let CommandLine { parts, .. } = line(command);
    let main = parts.iter().find(|part| !is_preparation(part)).or(parts.first());
    match main {
        Some(part) => {
            let fields = part_fields(part, arena).into_iter().filter(|entry| entry.key != WRAPPERS_FIELD);
            fields.for_each(|entry| set(entry.key, entry.node.value));
        }
        None => {
            set("args", Value::List(&[]));
            set("flags", Value::List(&[]));
        }
    }
    let parts = parts.iter().map(|part| {
        let entries: &[ObjectEntry<'run>] = arena.alloc_slice_copy(&part_fields(part, arena));
        Node::computed(Value::Object(Object::new(arena, entries)))
    });
    set(of_step::PARTS, Value::List(arena.alloc_slice_fill_iter(parts.collect::<Vec<_>>())));
}

/// The list of programs of a command whose `program` is recorded: that one.
pub fn recorded_part<'run>(field: impl Fn(&str) -> Option<Node<'run>>, arena: &'run Bump) -> Node<'run> {
    let known = PART_FIELDS.into_iter().filter_map(|key| Some(ObjectEntry { key, node: field(key)? }));
    let no_wrappers = ObjectEntry::computed(WRAPPERS_FIELD, Value::List(&[]));
    let entries: &[ObjectEntry<'run>] = arena.alloc_slice_copy(&known.chain([no_wrappers]).collect::<Vec<_>>());
    let object = Node::computed(Value::Object(Object::new(arena, entries)));
    Node::computed(Value::List(arena.alloc_slice_copy(&[object])))
}

/// The fields of commands that follow from their line.
pub const LINE_FIELDS: [&str; 5] = [of_step::PROGRAM, of_step::ARGS, of_step::FLAGS, of_step::OPTIONS, of_step::PARTS];

const PART_FIELDS: [&str; 4] = [of_step::PROGRAM, of_step::ARGS, of_step::FLAGS, of_step::OPTIONS];
/// What was taken off in front of a program, shells aside.
const WRAPPERS_FIELD: &str = "wrappers";

fn part_fields<'run>(part: &CommandPart, arena: &'run Bump) -> [ObjectEntry<'run>; 5] {
    let list = |words: Vec<&str>| {
        let nodes =
            words.into_iter().map(|word| Node::computed(Value::plain_text(arena.alloc_str(word)))).collect::<Vec<_>>();
        Value::List(arena.alloc_slice_copy(&nodes))
    };
    let [program, args, flags_key, options_key] = PART_FIELDS;
    let wrappers = ObjectEntry::computed(WRAPPERS_FIELD, list(part.wrappers.clone()));
    let Some(name) = &part.program else {
        // Which program it is, and so what its words mean, only the running shell knows.
        let [program, args, flags, options] = PART_FIELDS.map(|key| ObjectEntry::computed(key, Value::Absent));
        return [program, args, flags, options, wrappers];
    };
    let flags = flag_forms(name, &part.words);
    [
        ObjectEntry::computed(program, Value::plain_text(arena.alloc_str(name))),
        ObjectEntry::computed(args, list(part_arguments(&part.words))),
        ObjectEntry::computed(flags_key, list(flags.iter().map(String::as_str).collect())),
        ObjectEntry::computed(options_key, option_values(&part.words, arena)),
        wrappers,
    ]
}

/// Values of flags count as arguments, too, because only the program can tell.
fn part_arguments(words: &[String]) -> Vec<&str> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let (before, behind) = words.split_at_checked(end).unwrap_or((words, &[]));
    let plain = before.iter().filter(|word| !word.starts_with('-') || *word == "-");
    plain.chain(behind.iter().skip(1)).map(String::as_str).collect()
}

/// Flags as written plus their equivalents: `-rf` as `-r` and `-f`, `--filter=unit` as `--filter`, table aliases.
fn flag_forms(program: &str, words: &[String]) -> Vec<String> {
    let mut flags = indexmap::IndexSet::new();
    let mut others: Vec<String> = Vec::new();
    let command = aliases::command_of(program, &part_arguments(words));
    let mut add = |flag: String| {
        for other in aliases::other_forms(program, command, &flag) {
            others.push(other.to_owned());
        }
        flags.insert(flag);
    };
    for word in words.iter().take_while(|word| *word != "--").filter(|word| word.starts_with('-') && *word != "-") {
        add(word.clone());
        match (word.strip_prefix("--"), word.split_once('=')) {
            (_, Some((name, _))) => add(name.to_owned()),
            (None, None) => {
                letter_flags(word).for_each(&mut add);
            }
            _ => {}
        }
    }
    flags.extend(others);
    flags.into_iter().collect()
}

/// `-rf` stands for `-r` and `-f`.
fn letter_flags(word: &str) -> impl Iterator<Item = String> {
    let letters = word.strip_prefix('-').unwrap_or_default();
    let cluster = letters.len() > 1 && letters.chars().all(|c| c.is_ascii_alphabetic());
    letters.chars().filter(move |_| cluster).map(|letter| format!("-{letter}"))
}

/// The flags that a rule means with one word: of a cluster of different letters each of them, in any order and place; of everything else
/// the word itself.
#[must_use]
pub fn meant_flags(word: &str) -> Vec<String> {
    let single: Vec<String> = letter_flags(word).collect();
    let distinct = single.iter().enumerate().all(|(at, letter)| !single.get(..at).unwrap_or_default().contains(letter));
    if single.is_empty() || !distinct { vec![word.to_owned()] } else { single }
}

/// Values of each flag, `true` for an occurrence without one; the next word counts as a value.
fn option_values<'run>(words: &[String], arena: &'run Bump) -> Value<'run> {
    let options = plain::parse_options(words).options;
    let entries = options.iter().map(|(name, values)| {
        let values = values.iter().map(|value| {
            Node::computed(match value {
                Some(value) => Value::plain_text(arena.alloc_str(value)),
                None => Value::Boolean(true),
            })
        });
        let values = arena.alloc_slice_copy(&values.collect::<Vec<_>>());
        ObjectEntry::computed(arena.alloc_str(name), Value::List(values))
    });
    let entries = arena.alloc_slice_copy(&entries.collect::<Vec<_>>());
    Value::Object(Object::new(arena, entries))
}

#[cfg(test)]
mod tests;
