//! The programs of a command line, in order, and what of them the line hides.

use super::expand::{self, unescaped};
use super::lex::{self, CommandSegment, Input, Segments, Variables};
use super::unwrap::{Opened, Unwrapped, is_shell, open};
use super::word::{Word, joined};

/// One program that a command line runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandPart {
    /// Its name without folders; `None` where only the running shell knows it.
    pub program: Option<String>,
    /// Everything behind it.
    pub words: Vec<String>,
    /// The wrappers that were taken off in front of it, shells aside.
    pub wrappers: Vec<&'static str>,
}

/// What a command line runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// All programs, in order, wrappers taken off; those of `$(…)` and `bash -c "…"` included.
    pub parts: Vec<CommandPart>,
    /// Why it runs more than can be told, in words: `` `sh` runs what `curl` prints ``. One part without a program stands for that.
    pub hides: Option<String>,
}

/// No command line of a person or a model runs more programs.
pub(super) const MOST_PARTS: usize = 256;
/// Wrappers and substitutions inside each other.
const DEEPEST: usize = 8;
/// Programs that print settings of a shell, which are evaluated: `eval "$(ssh-agent -s)"`.
const SETTINGS: [&str; 19] = [
    "asdf",
    "brew",
    "conda",
    "dircolors",
    "direnv",
    "fnm",
    "gpg-agent",
    "keychain",
    "lesspipe",
    "mamba",
    "micromamba",
    "minikube",
    "mise",
    "nodenv",
    "opam",
    "pyenv",
    "rbenv",
    "ssh-agent",
    "starship",
];

/// Reads a command line.
#[must_use]
pub fn line(command: &str) -> CommandLine {
    let mut line = read(command, &Variables::new());
    if line.hides.is_some() {
        let variables = expand::variables(&lex::split_segments(command, &Variables::new()).done);
        if !variables.is_empty() {
            line = read(command, &variables);
        }
    }
    line
}

fn read(command: &str, variables: &Variables) -> CommandLine {
    let mut collector = Collector { line: CommandLine::default(), variables };
    collector.script(command, &Surroundings::default());
    collector.line
}

/// What programs may read from their input.
#[derive(Debug, Clone, Default)]
enum Printed {
    /// Nobody hands them lines.
    #[default]
    Nothing,
    /// This text.
    Text(String),
    /// What this program prints.
    By(String),
}

/// What stands around a script.
#[derive(Debug, Clone, Default)]
struct Surroundings<'a> {
    depth: usize,
    input: Printed,
    wrappers: Vec<&'static str>,
    placeholder: Option<&'a str>,
}

struct Collector<'v> {
    line: CommandLine,
    variables: &'v Variables,
}

impl Collector<'_> {
    fn script(&mut self, script: &str, around: &Surroundings<'_>) {
        if around.depth > DEEPEST {
            return self.hide(around, || format!("scripts stand more than {DEEPEST} deep in each other"));
        }
        let Segments { done, is_broken } = lex::split_segments(script, self.variables);
        let mut before = None;
        for segment in &done {
            if self.line.parts.len() >= MOST_PARTS {
                return self.hide(around, || format!("it runs more than {MOST_PARTS} programs"));
            }
            let input = match &segment.input {
                Input::Inherited => around.input.clone(),
                Input::File => Printed::Nothing,
                Input::Text(text) => Printed::Text(text.clone()),
                Input::Pipe => before.map_or(Printed::Nothing, printed),
                Input::PipeOfGroup => Printed::By("( … )".to_owned()),
            };
            self.words(&segment.words, segment, &Surroundings { input, ..around.clone() });
            let inside = Surroundings { depth: around.depth.saturating_add(1), ..Surroundings::default() };
            for script in segment.substitutions.iter().chain(&segment.files) {
                self.script(script, &inside);
            }
            before = Some(segment);
        }
        if is_broken {
            self.hide(around, || "a quote or a bracket of it is never closed".to_owned());
        }
    }

    fn words(&mut self, words: &[Word], segment: &CommandSegment, around: &Surroundings<'_>) {
        let Opened { inner, taken_off, kept, unknown_option, placeholder } = open(words, around.placeholder);
        let mut around = Surroundings { placeholder, ..around.clone() };
        around.wrappers.extend(taken_off);
        if let Some(kept) = kept {
            self.push(kept, &around);
        }
        if let Some((wrapper, option)) = unknown_option {
            self.hide(&around, || format!("`{wrapper}` has an option `{option}` that is not known"));
        }
        let deeper = |around: Surroundings<'_>| around.depth.saturating_add(1);
        match inner {
            Unwrapped::Nothing => {}
            Unwrapped::Program(program) => {
                self.push(program, &around);
                self.printed_file(program, segment, &around);
            }
            Unwrapped::Unknown(word) if !prints_settings(word, &around) => {
                self.hide(&around, || format!("{} is only known when it runs", quoted(&word.text)));
            }
            Unwrapped::Unknown(_) => {}
            Unwrapped::Scripts(scripts) => {
                let inside = Surroundings { depth: deeper(around.clone()), ..around };
                scripts.iter().for_each(|script| self.script(script, &inside));
            }
            Unwrapped::Words(all) if around.depth > DEEPEST => {
                self.hide(&around, || format!("{} programs stand in wrappers in wrappers", all.len()));
            }
            Unwrapped::Words(all) => {
                let inside = Surroundings { depth: deeper(around.clone()), ..around };
                all.iter().for_each(|words| self.words(words, segment, &inside));
            }
            Unwrapped::Shell(shell) => {
                if kept.is_none() {
                    self.push(shell, &around);
                }
                if !self.printed_file(shell, segment, &around) {
                    self.input_of(shell, around);
                }
            }
        }
    }

    /// A shell that takes its lines from its input.
    fn input_of(&mut self, shell: &[Word], around: Surroundings<'_>) {
        match around.input {
            Printed::Nothing => {}
            Printed::Text(script) => {
                let inside = Surroundings { depth: around.depth.saturating_add(1), input: Printed::Nothing, ..around };
                self.script(&script, &inside);
            }
            Printed::By(ref program) => {
                let shell = shell.first().and_then(Word::program).unwrap_or("a shell");
                self.hide(&around, || format!("`{shell}` runs what `{program}` prints"));
            }
        }
    }

    /// `bash <(curl …)`, `source <(…)`: whether lines come from the output of a program in place of a file.
    fn printed_file(&mut self, words: &[Word], segment: &CommandSegment, around: &Surroundings<'_>) -> bool {
        let Some(script) = segment.files.first() else { return false };
        let name =
            words.first().and_then(Word::program).filter(|name| is_shell(name) || matches!(*name, "source" | "."));
        let Some(name) = name else { return false };
        if !is_settings(script) {
            self.hide(around, || format!("`{name}` runs what `{}` prints", shortened(script)));
        }
        true
    }

    fn push(&mut self, words: &[Word], around: &Surroundings<'_>) {
        let Some((program, words)) = words.split_first() else { return };
        let words = words.iter().map(|word| word.text.clone()).collect();
        let program = program.program().unwrap_or(&program.text).to_owned();
        self.line.parts.push(CommandPart { program: Some(program), words, wrappers: around.wrappers.clone() });
    }

    /// Something runs that the line does not tell.
    fn hide(&mut self, around: &Surroundings<'_>, why: impl FnOnce() -> String) {
        if self.line.hides.is_none() {
            self.line.hides = Some(why());
            self.line.parts.push(CommandPart { program: None, words: Vec::new(), wrappers: around.wrappers.clone() });
        }
    }
}

/// What a program in front of `|` prints.
fn printed(segment: &CommandSegment) -> Printed {
    let name = segment.words.first().and_then(Word::program);
    let words = segment.words.get(1..).unwrap_or_default();
    if let (Some("cat"), [], Input::Text(text)) = (name, words, &segment.input) {
        return Printed::Text(text.clone());
    }
    let is_known = words.iter().all(Word::is_known);
    match name {
        Some("echo") if is_known => Printed::Text(echoed(words)),
        Some("printf") if is_known => Printed::Text(formatted(words)),
        Some(name) => Printed::By(name.to_owned()),
        None => Printed::By(segment.words.first().map_or_else(|| "( … )".to_owned(), |word| shortened(&word.text))),
    }
}

fn echoed(words: &[Word]) -> String {
    let is_option = |word: &&Word| matches!(word.text.as_str(), "-n" | "-e" | "-E" | "-ne" | "-en");
    let options = words.iter().take_while(is_option).count();
    let (options, words) = words.split_at_checked(options).unwrap_or((&[], words));
    let text = joined(words);
    if options.iter().any(|option| option.text.contains('e')) { unescaped(&text) } else { text }
}

/// Every argument stands in place of a `%s`; where there is none, the format is all that is printed.
fn formatted(words: &[Word]) -> String {
    let Some((format, arguments)) = words.split_first() else { return String::new() };
    let format = unescaped(&format.text);
    if !format.contains('%') {
        return format;
    }
    let mut text = String::new();
    let mut arguments = arguments.iter();
    loop {
        let left = arguments.len();
        let mut pieces = format.split('%');
        text.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let value = arguments.next().map_or("", |word| word.text.as_str());
            text.push_str(value);
            text.push_str(piece.get(1..).unwrap_or_default());
        }
        if arguments.len() == 0 || arguments.len() == left {
            return text;
        }
    }
}

/// `eval "$(ssh-agent -s)"`: the word is a substitution of a program that prints settings.
fn prints_settings(word: &Word, around: &Surroundings<'_>) -> bool {
    let script = word.text.strip_prefix("$(").and_then(|script| script.strip_suffix(')'));
    around.wrappers.contains(&"eval") && script.is_some_and(is_settings)
}

fn is_settings(script: &str) -> bool {
    let mut words = script.split_whitespace();
    let name = words.next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    SETTINGS.contains(&name) || words.any(|word| word == "completion")
}

/// The beginning of a text as code.
fn quoted(text: &str) -> String {
    let text = shortened(text);
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// The beginning of a text, for a message.
fn shortened(text: &str) -> String {
    const MOST: usize = 40;
    let short: String = text.chars().take(MOST).map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}
