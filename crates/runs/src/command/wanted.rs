//! A command that a rule names by a text: `rm -rf`, `git push --force`, `sudo apt-get install`.

use super::unwrap::{InnerCommand, open_command};
use super::word::ShellWord;
use crate::normal::of_step;
use averment_base::value::{Node, Object, Value};
use bumpalo::Bump;
use std::collections::BTreeSet;

/// A program with flags and arguments, as a text names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedCommand {
    wrappers: Vec<&'static str>,
    program: String,
    /// Each letter of a cluster for itself.
    flags: Vec<String>,
    /// The argument that has to be the first one: the command of the program, as `push` of `git push`.
    command: Option<String>,
    /// Further arguments, in order.
    arguments: Vec<String>,
}

impl WantedCommand {
    /// Reads a text; `None` where it does not read as one program with flags and arguments.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let is_special =
            |c: char| matches!(c, '\'' | '"' | '`' | '$' | '\\' | '|' | '&' | ';' | '<' | '>' | '(' | ')' | '#' | '\n');
        if text.contains(is_special) {
            return None;
        }
        let words: Vec<ShellWord> = text.split_whitespace().map(ShellWord::plain).collect();
        let opened = open_command(&words, None);
        let program = match opened.inner {
            InnerCommand::Program(program) | InnerCommand::Shell(program) => program,
            _ => opened.kept?,
        };
        let program = opened.kept.unwrap_or(program);
        // Options of a wrapper say more than its name.
        let has_options = words.len() != program.len().saturating_add(opened.taken_off.len());
        let (name, behind) = program.split_first()?;
        if has_options || !is_program(&name.text) {
            return None;
        }
        let mut wanted = Self {
            wrappers: opened.taken_off,
            program: name.text.clone(),
            flags: Vec::new(),
            command: None,
            arguments: Vec::new(),
        };
        wanted.add(behind);
        Some(wanted)
    }

    fn add(&mut self, words: &[ShellWord]) {
        let mut is_end = false;
        for word in words.iter().map(|word| word.text.as_str()) {
            if word == "--" && !is_end {
                is_end = true;
            } else if !is_end && word.starts_with('-') && word.len() > 1 {
                self.flags.extend(super::meant_flags(word));
            } else if self.flags.is_empty() && self.command.is_none() && self.arguments.is_empty() && is_command(word) {
                self.command = Some(word.to_owned());
            } else {
                self.arguments.push(word.to_owned());
            }
        }
    }

    /// Whether a program of a command line, an element of `parts`, is the wanted one; `None` where the line hides which one it is.
    #[must_use]
    pub fn is_run_by(&self, part: &Object<'_>) -> Option<bool> {
        let program = part.get("program")?;
        if program.value.is_absent() {
            return None;
        }
        let is_program = matches!(&program.value, Value::Text(text) if text.as_str() == self.program);
        let flags = texts(part, "flags");
        let mut wrappers = texts(part, "wrappers").into_iter();
        Some(
            is_program
                && self.wrappers.iter().all(|wanted| wrappers.any(|wrapper| wrapper == *wanted))
                && self.flags.iter().all(|flag| flags.contains(&flag.as_str()))
                && self.takes_arguments(part),
        )
    }

    /// Whether a command line surely runs it, in any spelling.
    #[must_use]
    pub fn is_run_by_line(&self, line: &str) -> bool {
        if !line.contains(self.program.as_str()) {
            return false;
        }
        let (arena, mut is_run) = (Bump::new(), false);
        super::set_fields(line, &arena, |key, value| {
            if let (of_step::PARTS, Value::List(parts)) = (key, value) {
                let runs =
                    |part: &Node<'_>| matches!(&part.value, Value::Object(part) if self.is_run_by(part) == Some(true));
                is_run = parts.iter().any(runs);
            }
        });
        is_run
    }

    /// Whether two texts name the same command, with their flags in any order.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        self.sorted_words() == other.sorted_words()
    }

    /// All that it says with the flags in one order, a line each: the same for every spelling.
    #[must_use]
    pub fn sorted_words(&self) -> String {
        let flags: BTreeSet<&str> = self.flags.iter().map(String::as_str).collect();
        let command = self.command.as_deref().unwrap_or_default();
        let arguments = self.arguments.iter().map(String::as_str);
        let words =
            self.wrappers.iter().map(|wrapper| &**wrapper).chain(["", &self.program, command]).chain(flags).chain([""]);
        words.chain(arguments).collect::<Vec<&str>>().join("\n")
    }

    /// The name of the program.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.program
    }

    fn takes_arguments(&self, part: &Object<'_>) -> bool {
        let mut arguments = texts(part, "args").into_iter();
        // In front of the command of a program stand values of its options: `git -C dir push`.
        if let Some(command) = &self.command {
            let found = arguments.find(|argument| argument == command || !is_option_value(part, argument));
            if found != Some(command.as_str()) {
                return false;
            }
        }
        self.arguments.iter().all(|wanted| arguments.any(|argument| argument == wanted))
    }
}

/// Programs that look for a text, and run nothing.
const SEARCHES: [&str; 6] = ["grep", "egrep", "fgrep", "rg", "ag", "ack"];

/// How often a program of a command line searches for what holds a text of several words: `grep "rm -rf" notes`.
#[must_use]
pub fn searched_for(part: &Object<'_>, wanted: &str) -> usize {
    let is_search = part.get("program").and_then(|program| text(&program)).is_some_and(|name| SEARCHES.contains(&name));
    // `rg --pre` runs a program on each file.
    let runs_other = texts(part, "flags").iter().any(|flag| flag.starts_with("--pre"));
    if !is_search || runs_other || !wanted.contains(' ') {
        return 0;
    }
    let words = texts(part, "args").into_iter().chain(texts(part, "flags"));
    words.map(|word| word.matches(wanted).count()).sum()
}

/// The texts of a list of a program.
fn texts<'run>(part: &Object<'run>, key: &str) -> Vec<&'run str> {
    match part.get(key) {
        Some(Node { value: Value::List(items), .. }) => items.iter().filter_map(text).collect(),
        _ => Vec::new(),
    }
}

fn text<'run>(node: &Node<'run>) -> Option<&'run str> {
    match node.value {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    }
}

/// Whether an argument stands behind an option, so that it may be its value.
fn is_option_value(part: &Object<'_>, argument: &str) -> bool {
    let Some(Node { value: Value::Object(options), .. }) = part.get("options") else { return false };
    let holds = |node: &Node<'_>| match node.value {
        Value::List(values) => values.iter().any(|value| text(value) == Some(argument)),
        _ => text(node) == Some(argument),
    };
    options.entries().iter().any(|entry| holds(&entry.node))
}

/// A name without a folder.
fn is_program(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+'))
}

/// What reads as a command of a program, and not as a file or a number.
fn is_command(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ':'))
}
