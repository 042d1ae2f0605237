//! The programs of a command line, in order, and what of them the line hides.

use super::code;
use super::expand::{self, unescaped};
use super::lex::{self, CommandSegment, SegmentInput, SegmentList, Variables};
use super::unwrap::{CommandLayers, InnerCommand, is_shell, open_command};
use super::word::{ShellWord, joined};

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
    collector.collect_script(command, &ScriptContext::default());
    collector.line
}

/// What programs may read from their input.
#[derive(Debug, Clone, Default)]
enum ShellInput {
    /// Nobody hands them lines.
    #[default]
    Nothing,
    /// This text.
    Text(String),
    /// What this program prints.
    By(String),
}

impl ShellInput {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Nothing | Self::By(_) => None,
        }
    }
}

/// What stands around a script.
#[derive(Debug, Clone, Default)]
struct ScriptContext<'a> {
    depth: usize,
    input: ShellInput,
    wrappers: Vec<&'static str>,
    placeholder: Option<&'a str>,
}

struct Collector<'v> {
    line: CommandLine,
    variables: &'v Variables,
}

impl Collector<'_> {
    fn collect_script(&mut self, script: &str, around: &ScriptContext<'_>) {
        if around.depth > DEEPEST {
            return self.hide_part(around, || format!("scripts stand more than {DEEPEST} deep in each other"));
        }
        let SegmentList { done, is_broken, is_cut } = lex::split_segments(script, self.variables);
        let mut before = None;
        for segment in &done {
            if self.line.parts.len() >= MOST_PARTS {
                return self.hide_part(around, || format!("it runs more than {MOST_PARTS} programs"));
            }
            let input = match &segment.input {
                SegmentInput::Inherited => around.input.clone(),
                SegmentInput::File => ShellInput::Nothing,
                SegmentInput::Text(text) => ShellInput::Text(text.clone()),
                SegmentInput::Pipe => before.map_or(ShellInput::Nothing, piped_input),
                SegmentInput::PipeOfGroup => ShellInput::By("( … )".to_owned()),
            };
            self.collect_words(&segment.words, segment, &ScriptContext { input, ..around.clone() });
            let inside = ScriptContext { depth: around.depth.saturating_add(1), ..ScriptContext::default() };
            for script in segment.substitutions.iter().chain(&segment.files) {
                self.collect_script(script, &inside);
            }
            before = Some(segment);
        }
        if is_cut {
            self.hide_part(around, || "it is too long to be read to its end".to_owned());
        }
        if is_broken {
            self.hide_part(around, || "a quote or a bracket of it is never closed".to_owned());
        }
    }

    fn collect_words(&mut self, words: &[ShellWord], segment: &CommandSegment, around: &ScriptContext<'_>) {
        let CommandLayers { inner, taken_off, kept, unknown_option, placeholder } =
            open_command(words, around.placeholder);
        let mut around = ScriptContext { placeholder, ..around.clone() };
        around.wrappers.extend(taken_off);
        if let Some(kept) = kept {
            self.push_part(kept, &around);
        }
        if let Some((wrapper, option)) = unknown_option {
            self.hide_part(&around, || format!("`{wrapper}` has an option `{option}` that is not known"));
        }
        let deeper = |around: ScriptContext<'_>| around.depth.saturating_add(1);
        match inner {
            InnerCommand::Nothing => {}
            InnerCommand::Program(program) => {
                self.push_part(program, &around);
                self.collect_aliases(program, &around);
                if let Some(name) = code::starts_programs(program, around.input.text()) {
                    self.hide_part(&around, || format!("`{name}` gets code that starts programs"));
                }
                self.collect_printed_file(program, segment, &around);
            }
            InnerCommand::Unknown(word) if !prints_settings(word, &around) => {
                self.hide_part(&around, || format!("{} is only known when it runs", quote_text(&word.text)));
            }
            InnerCommand::Unknown(_) => {}
            InnerCommand::Scripts(scripts) => {
                let inside = ScriptContext { depth: deeper(around.clone()), ..around };
                scripts.iter().for_each(|script| self.collect_script(script, &inside));
            }
            InnerCommand::Words(all) if around.depth > DEEPEST => {
                self.hide_part(&around, || format!("{} programs stand in wrappers in wrappers", all.len()));
            }
            InnerCommand::Words(all) => {
                let inside = ScriptContext { depth: deeper(around.clone()), ..around };
                all.iter().for_each(|words| self.collect_words(words, segment, &inside));
            }
            InnerCommand::Shell(shell) => {
                if kept.is_none() {
                    self.push_part(shell, &around);
                }
                if !self.collect_printed_file(shell, segment, &around) {
                    self.collect_input(shell, around);
                }
            }
        }
    }

    /// `alias r='rm -fr'`: what the name stands for counts as run, as the body of a function does.
    fn collect_aliases(&mut self, words: &[ShellWord], around: &ScriptContext<'_>) {
        let Some((program, words)) = words.split_first() else { return };
        if program.program() != Some("alias") {
            return;
        }
        let inside = ScriptContext { depth: around.depth.saturating_add(1), ..ScriptContext::default() };
        let meanings = words.iter().filter_map(|word| word.text.split_once('='));
        meanings.for_each(|(_, script)| self.collect_script(script, &inside));
    }

    /// A shell that takes its lines from its input.
    fn collect_input(&mut self, shell: &[ShellWord], around: ScriptContext<'_>) {
        match around.input {
            ShellInput::Nothing => {}
            ShellInput::Text(script) => {
                let inside =
                    ScriptContext { depth: around.depth.saturating_add(1), input: ShellInput::Nothing, ..around };
                self.collect_script(&script, &inside);
            }
            ShellInput::By(ref program) => {
                let shell = shell.first().and_then(ShellWord::program).unwrap_or("a shell");
                self.hide_part(&around, || format!("`{shell}` runs what `{program}` prints"));
            }
        }
    }

    /// `bash <(curl …)`, `source <(…)`: whether lines come from the output of a program in place of a file.
    fn collect_printed_file(
        &mut self,
        words: &[ShellWord],
        segment: &CommandSegment,
        around: &ScriptContext<'_>,
    ) -> bool {
        let Some(script) = segment.files.first() else { return false };
        let name =
            words.first().and_then(ShellWord::program).filter(|name| is_shell(name) || matches!(*name, "source" | "."));
        let Some(name) = name else { return false };
        if !is_settings(script) {
            self.hide_part(around, || format!("`{name}` runs what `{}` prints", shorten_text(script)));
        }
        true
    }

    fn push_part(&mut self, words: &[ShellWord], around: &ScriptContext<'_>) {
        let Some((program, words)) = words.split_first() else { return };
        let words = words.iter().map(|word| word.text.clone()).collect();
        let program = program.program().unwrap_or(&program.text).to_owned();
        self.line.parts.push(CommandPart { program: Some(program), words, wrappers: around.wrappers.clone() });
    }

    /// Something runs that the line does not tell.
    fn hide_part(&mut self, around: &ScriptContext<'_>, why: impl FnOnce() -> String) {
        if self.line.hides.is_none() {
            self.line.hides = Some(why());
            self.line.parts.push(CommandPart { program: None, words: Vec::new(), wrappers: around.wrappers.clone() });
        }
    }
}

/// What a program in front of `|` prints.
fn piped_input(segment: &CommandSegment) -> ShellInput {
    let name = segment.words.first().and_then(ShellWord::program);
    let words = segment.words.get(1..).unwrap_or_default();
    if let (Some("cat"), [], SegmentInput::Text(text)) = (name, words, &segment.input) {
        return ShellInput::Text(text.clone());
    }
    let is_known = words.iter().all(ShellWord::is_known);
    match name {
        Some("echo") if is_known => ShellInput::Text(echo_output(words)),
        Some("printf") if is_known => ShellInput::Text(printf_output(words)),
        Some(name) => ShellInput::By(name.to_owned()),
        None => {
            ShellInput::By(segment.words.first().map_or_else(|| "( … )".to_owned(), |word| shorten_text(&word.text)))
        }
    }
}

fn echo_output(words: &[ShellWord]) -> String {
    let is_option = |word: &&ShellWord| matches!(word.text.as_str(), "-n" | "-e" | "-E" | "-ne" | "-en");
    let options = words.iter().take_while(is_option).count();
    let (options, words) = words.split_at_checked(options).unwrap_or((&[], words));
    let text = joined(words);
    if options.iter().any(|option| option.text.contains('e')) { unescaped(&text) } else { text }
}

/// Every argument stands in place of a `%s`; where there is none, the format is all that is printed.
fn printf_output(words: &[ShellWord]) -> String {
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
fn prints_settings(word: &ShellWord, around: &ScriptContext<'_>) -> bool {
    let script = word.text.strip_prefix("$(").and_then(|script| script.strip_suffix(')'));
    around.wrappers.contains(&"eval") && script.is_some_and(is_settings)
}

fn is_settings(script: &str) -> bool {
    let mut words = script.split_whitespace();
    let name = words.next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
    SETTINGS.contains(&name) || words.any(|word| word == "completion")
}

/// The beginning of a text as code.
fn quote_text(text: &str) -> String {
    let text = shorten_text(text);
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// The beginning of a text, for a message.
fn shorten_text(text: &str) -> String {
    const MOST: usize = 40;
    let short: String = text.chars().take(MOST).map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}
