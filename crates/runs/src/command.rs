//! Shell commands, parsed as far as rules ask: which programs run, with which arguments and flags.
//!
//! A command line may run several programs (`cd app && npm ci | tee log`), and wrappers (`bash -lc "…"`, `sudo`, `env A=b`) hide the
//! one that matters. [`command_parts`] finds all of them; no shell is imitated beyond that: nothing is expanded.

mod aliases;
mod lex;
mod plain;

use averment_base::value::{Node, Object, ObjectEntry, Value};
use bumpalo::Bump;
pub use plain::{PlainCommand, parse_plain};

/// One program that a command line runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandPart {
    /// Its name without folders.
    pub program: String,
    /// Everything behind it.
    pub words: Vec<String>,
}

/// Maximum programs of a command line; nobody writes more.
const MOST_PARTS: usize = 256;
/// Maximum nesting of wrappers and substitutions.
const DEEPEST: usize = 8;

/// All programs that a command line runs, in order, wrappers removed; those of `$(…)` and `bash -c "…"` included.
#[must_use]
pub fn command_parts(command: &str) -> Vec<CommandPart> {
    let mut found = Vec::new();
    collect_parts(command, 0, &mut found);
    found
}

fn collect_parts(command: &str, depth: usize, found: &mut Vec<CommandPart>) {
    if depth > DEEPEST {
        return;
    }
    for segment in lex::split_segments(command) {
        if found.len() >= MOST_PARTS {
            return;
        }
        match unwrap_command(&segment.words) {
            WrappedCommand::Script(script) => collect_parts(script, depth + 1, found),
            WrappedCommand::Program([program, words @ ..]) => {
                found.push(CommandPart { program: base_name(program).to_owned(), words: words.to_vec() });
            }
            WrappedCommand::Program([]) => {}
        }
        for script in &segment.substitutions {
            collect_parts(script, depth + 1, found);
        }
    }
}

enum WrappedCommand<'a> {
    /// A command line of its own: `bash -c "…"`.
    Script(&'a str),
    Program(&'a [String]),
}

fn unwrap_command(words: &[String]) -> WrappedCommand<'_> {
    let mut rest = words;
    while let [first, behind @ ..] = rest {
        match base_name(first) {
            _ if is_assignment(first) => rest = behind,
            "if" | "then" | "else" | "elif" | "do" | "while" | "until" | "!" | "{" | "time" | "nohup" | "exec"
            | "command" | "builtin" | "eval"
                if !behind.is_empty() =>
            {
                rest = behind;
            }
            "fi" | "done" | "esac" | "}" if behind.is_empty() => return WrappedCommand::Program(&[]),
            "for" | "case" | "select" | "function" => return WrappedCommand::Program(&[]),
            "sudo" | "doas" => rest = behind_options(behind, &["-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T"], 0),
            "env" => rest = behind_options(behind, &["-u", "-C", "-S"], 0),
            "nice" | "ionice" => rest = behind_options(behind, &["-n", "-c", "-p"], 0),
            "stdbuf" => rest = behind_options(behind, &["-i", "-o", "-e"], 0),
            "timeout" => rest = behind_options(behind, &["-s", "-k"], 1),
            "xargs" => rest = behind_options(behind, &["-I", "-n", "-P", "-L", "-d", "-a", "-s", "-E"], 0),
            shell if is_shell(shell) => {
                return match script_of(behind) {
                    Some(script) => WrappedCommand::Script(script),
                    None => WrappedCommand::Program(rest),
                };
            }
            _ => return WrappedCommand::Program(rest),
        }
    }
    WrappedCommand::Program(words)
}

/// `valued` are the options that take the next word.
fn behind_options<'a>(words: &'a [String], valued: &[&str], own: usize) -> &'a [String] {
    let mut rest = words;
    while let [first, behind @ ..] = rest {
        if !first.starts_with('-') {
            break;
        }
        let takes_next = valued.contains(&first.as_str());
        rest = behind.get(usize::from(takes_next)..).unwrap_or_default();
        if first == "--" {
            break;
        }
    }
    rest.get(own..).unwrap_or_default()
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

fn is_shell(name: &str) -> bool {
    matches!(name, "bash" | "sh" | "zsh" | "dash" | "fish" | "ksh")
}

/// The word after `-c`, `-lc`, ….
fn script_of(words: &[String]) -> Option<&str> {
    let at = words.iter().position(|word| word.starts_with('-') && !word.starts_with("--") && word.contains('c'))?;
    words.get(at + 1).map(String::as_str)
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or(program)
}

/// True for a program that only prepares the main one.
fn is_preparation(part: &CommandPart) -> bool {
    matches!(
        part.program.as_str(),
        "cd" | "pushd" | "popd" | "export" | "set" | "source" | "." | "ulimit" | "umask" | "unset"
    )
}

/// Hands over the derived fields of a command: `program`, `args`, `flags` and `options` of its first program (one that does more than
/// `cd`), and `parts` with these of every program.
pub fn set_fields<'run>(command: &str, arena: &'run Bump, mut set: impl FnMut(&'run str, Value<'run>)) {
    let parts = command_parts(command);
    let main = parts.iter().find(|part| !is_preparation(part)).or(parts.first());
    match main {
        Some(part) => part_fields(part, arena).into_iter().for_each(|entry| set(entry.key, entry.node.value)),
        None => {
            set("args", Value::List(&[]));
            set("flags", Value::List(&[]));
        }
    }
    let parts = parts.iter().map(|part| {
        let entries: &[ObjectEntry<'run>] = arena.alloc_slice_copy(&part_fields(part, arena));
        Node::computed(Value::Object(Object::new(arena, entries)))
    });
    set("parts", Value::List(arena.alloc_slice_fill_iter(parts.collect::<Vec<_>>())));
}

/// The list of programs of a command whose `program` is recorded: that one.
pub fn recorded_part<'run>(field: impl Fn(&str) -> Option<Node<'run>>, arena: &'run Bump) -> Node<'run> {
    let known = PART_FIELDS.into_iter().filter_map(|key| Some(ObjectEntry { key, node: field(key)? }));
    let entries: &[ObjectEntry<'run>] = arena.alloc_slice_copy(&known.collect::<Vec<_>>());
    let object = Node::computed(Value::Object(Object::new(arena, entries)));
    Node::computed(Value::List(arena.alloc_slice_copy(&[object])))
}

const PART_FIELDS: [&str; 4] = ["program", "args", "flags", "options"];

fn part_fields<'run>(part: &CommandPart, arena: &'run Bump) -> [ObjectEntry<'run>; 4] {
    let list = |words: Vec<&str>| {
        let nodes =
            words.into_iter().map(|word| Node::computed(Value::plain_text(arena.alloc_str(word)))).collect::<Vec<_>>();
        Value::List(arena.alloc_slice_copy(&nodes))
    };
    let flags = flag_forms(part);
    let [program, args, flags_key, options_key] = PART_FIELDS;
    [
        ObjectEntry::computed(program, Value::plain_text(arena.alloc_str(&part.program))),
        ObjectEntry::computed(args, list(part_arguments(&part.words))),
        ObjectEntry::computed(flags_key, list(flags.iter().map(String::as_str).collect())),
        ObjectEntry::computed(options_key, option_values(&part.words, arena)),
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
fn flag_forms(part: &CommandPart) -> Vec<String> {
    let mut flags = indexmap::IndexSet::new();
    let mut others: Vec<String> = Vec::new();
    let command = aliases::command_of(&part.program, &part_arguments(&part.words));
    let mut add = |flag: String| {
        for other in aliases::other_forms(&part.program, command, &flag) {
            others.push(other.to_owned());
        }
        flags.insert(flag);
    };
    for word in part.words.iter().take_while(|word| *word != "--").filter(|word| word.starts_with('-') && *word != "-")
    {
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
