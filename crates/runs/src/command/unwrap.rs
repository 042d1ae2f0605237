//! What the words of one program run: wrappers taken off, shells opened.

use super::word::{ShellWord, joined};
use super::wrappers::{self, WrappedCommand, Wrapper};
use std::borrow::Cow;

/// A step from the words of a program to what they run.
#[derive(Debug)]
pub(super) enum InnerCommand<'a> {
    /// A program with its arguments, and no more.
    Program(&'a [ShellWord]),
    /// Only the running shell knows which program.
    Unknown(&'a ShellWord),
    /// Lines of a shell.
    Scripts(Vec<Cow<'a, str>>),
    /// A shell that takes its lines from its input, with its arguments.
    Shell(&'a [ShellWord]),
    /// Words that begin with another program, each.
    Words(Vec<&'a [ShellWord]>),
    /// Nothing.
    Nothing,
}

/// What words run, and what stands around it.
#[derive(Debug)]
pub(super) struct CommandLayers<'a> {
    pub(super) inner: InnerCommand<'a>,
    /// The wrappers that were taken off.
    pub(super) taken_off: Vec<&'static str>,
    /// A wrapper that is a program of the line, too.
    pub(super) kept: Option<&'a [ShellWord]>,
    /// An option of a wrapper that nobody knows: the word behind it may be its value or the program.
    pub(super) unknown_option: Option<(&'static str, &'a str)>,
    /// What stands for the input of `xargs` and the files of `find` in what they run.
    pub(super) placeholder: Option<&'a str>,
}

/// Wrappers in front of one program.
const MOST_WRAPPERS: usize = 32;
/// Words of the shell in front of a program.
const KEYWORDS: [&str; 10] = ["!", "coproc", "do", "elif", "else", "if", "then", "until", "while", "{"];
/// Words of the shell that end something.
const ENDS: [&str; 4] = ["done", "esac", "fi", "}"];
/// Words of the shell behind which no program stands.
const HEADS: [&str; 3] = ["case", "for", "select"];
/// Shells.
const SHELLS: [&str; 8] = ["ash", "bash", "csh", "dash", "fish", "ksh", "sh", "zsh"];
/// Options of shells with a value.
const SHELL_VALUES: [&str; 2] = ["--init-file", "--rcfile"];
/// Names of files that are the input.
const INPUT_FILES: [&str; 4] = ["-", "/dev/fd/0", "/dev/stdin", "/proc/self/fd/0"];

/// Whether a program is a shell.
pub(super) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}

/// Opens words up to a program, to lines, or to words that begin with other programs. `placeholder` stands for what is known only when they run.
pub(super) fn open_command<'a>(words: &'a [ShellWord], placeholder: Option<&'a str>) -> CommandLayers<'a> {
    let mut opened = CommandLayers {
        inner: InnerCommand::Nothing,
        taken_off: Vec::new(),
        kept: None,
        unknown_option: None,
        placeholder,
    };
    let mut rest = words;
    loop {
        rest = skip_shell_words(rest);
        let Some((first, behind)) = rest.split_first() else { return opened };
        if first.is_variable_of_powershell() && is_set_in_powershell(first, behind) {
            rest = behind.get(1..).unwrap_or_default();
            continue;
        }
        let name = first.program().filter(|_| opened.placeholder != Some(&first.text));
        let Some(name) = name.filter(|_| opened.taken_off.len() < MOST_WRAPPERS) else {
            opened.inner = InnerCommand::Unknown(first);
            return opened;
        };
        let Some(wrapper) = find_wrapper(name, behind) else {
            opened.inner = if is_shell(name) { open_shell(rest) } else { InnerCommand::Program(rest) };
            return opened;
        };
        let options = WrapperOptions::read(wrapper, behind);
        if options.is_idle || options.runs_nothing(wrapper) {
            opened.inner = InnerCommand::Program(rest);
            return opened;
        }
        opened.unknown_option = opened.unknown_option.or(options.unknown.map(|option| (wrapper.name, option)));
        opened.placeholder = find_placeholder(wrapper, behind).or(opened.placeholder);
        if !wrapper.is_taken_off {
            opened.kept = Some(rest);
            opened.inner = options.inner_command(wrapper, rest);
            return opened;
        }
        opened.taken_off.push(wrapper.name);
        if wrapper.inner != WrappedCommand::Words || !options.scripts.is_empty() || options.rest.is_empty() {
            opened.inner = options.inner_command(wrapper, rest);
            return opened;
        }
        rest = options.rest;
    }
}

/// Takes off assignments and words of the shell.
fn skip_shell_words(words: &[ShellWord]) -> &[ShellWord] {
    let mut rest = words;
    while let Some((first, behind)) = rest.split_first() {
        let text = first.text.as_str();
        match text {
            _ if first.assignment().is_some() => rest = behind,
            _ if KEYWORDS.contains(&text) => rest = behind,
            "function" => rest = behind.get(1..).unwrap_or_default(),
            _ if HEADS.contains(&text) || ENDS.contains(&text) && behind.is_empty() => return &[],
            _ => return rest,
        }
    }
    rest
}

/// `$x = …`, `$env:NAME=…`.
fn is_set_in_powershell(first: &ShellWord, behind: &[ShellWord]) -> bool {
    first.text.contains('=') || behind.first().is_some_and(|next| matches!(next.text.as_str(), "=" | "+="))
}

/// The wrapper that a name with these words behind it is.
fn find_wrapper(name: &str, behind: &[ShellWord]) -> Option<&'static Wrapper> {
    wrappers::of_name(name).find(|wrapper| wrapper.command.is_empty() || command_end(wrapper, behind).is_some())
}

/// How many words go up to the command that makes a wrapper: `--context x exec` of `docker`.
fn command_end(wrapper: &Wrapper, behind: &[ShellWord]) -> Option<usize> {
    let mut wanted = wrapper.command.split(' ').peekable();
    let mut after_option = false;
    for (at, word) in behind.iter().enumerate() {
        let text = word.text.as_str();
        if wanted.next_if_eq(&text).is_some() {
            after_option = false;
            if wanted.peek().is_none() {
                return Some(at.saturating_add(1));
            }
        } else if text.starts_with('-') {
            after_option = !text.contains('=');
        } else if !std::mem::take(&mut after_option) {
            return None;
        }
    }
    None
}

/// What `xargs` and `find` put the names in place of.
fn find_placeholder<'a>(wrapper: &Wrapper, behind: &'a [ShellWord]) -> Option<&'a str> {
    match wrapper.name {
        "find" | "fd" | "fdfind" | "parallel" => Some("{}"),
        "xargs" => {
            let mut words = behind.iter().map(|word| word.text.as_str());
            let found = words.find_map(|word| word.strip_prefix("-I").or_else(|| word.strip_prefix("--replace=")));
            Some(found.map_or("{}", |held| if held.is_empty() { words.next().unwrap_or("{}") } else { held }))
        }
        _ => None,
    }
}

/// The options of a wrapper, and what stands behind them.
struct WrapperOptions<'a> {
    scripts: Vec<Cow<'a, str>>,
    actions: Vec<&'a [ShellWord]>,
    rest: &'a [ShellWord],
    unknown: Option<&'a str>,
    is_idle: bool,
}

impl<'a> WrapperOptions<'a> {
    fn read(wrapper: &Wrapper, behind: &'a [ShellWord]) -> Self {
        let start = if wrapper.command.is_empty() { 0 } else { command_end(wrapper, behind).unwrap_or(0) };
        let mut options = Self { scripts: Vec::new(), actions: Vec::new(), rest: &[], unknown: None, is_idle: false };
        let (mut rest, mut places) = (behind.get(start..).unwrap_or_default(), wrapper.places);
        let passes_words = matches!(wrapper.inner, WrappedCommand::Option | WrappedCommand::Actions);
        while let Some((first, next)) = rest.split_first() {
            let text = first.text.as_str();
            options.is_idle |= wrapper.is_idle(text);
            if let Some(script) = options.take_script(wrapper, text, next) {
                rest = script;
            } else if text == "--" && !passes_words {
                rest = next.get(places..).unwrap_or_default();
                break;
            } else if text.starts_with('-') && text.len() > 1 || text == "-" && wrapper.places == 0 {
                if !passes_words && !wrapper.takes_next(text) && !wrapper.is_flag(text) {
                    options.unknown = options.unknown.or(Some(text));
                }
                rest = next.get(usize::from(wrapper.takes_next(text))..).unwrap_or_default();
            } else if passes_words || places > 0 {
                places = places.saturating_sub(1);
                rest = next;
            } else {
                break;
            }
        }
        options.rest = rest;
        options
    }

    /// Takes what an option runs; gives what stands behind it.
    fn take_script(&mut self, wrapper: &Wrapper, text: &'a str, next: &'a [ShellWord]) -> Option<&'a [ShellWord]> {
        let (name, held) = text.split_once('=').map_or((text, None), |(name, held)| (name, Some(held)));
        let letters = text.strip_prefix('-').filter(|rest| rest.len() > 1 && !rest.starts_with('-'));
        // `-lc 'line'`, `-S'line'`.
        let ends_with = |option: &&str| {
            let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1);
            letters.zip(letter).is_some_and(|(letters, letter)| letters.ends_with(letter))
        };
        let starts_with = |option: &&str| option.len() == 2 && text.len() > 2 && text.starts_with(*option);
        let is_option = wrapper.scripts_of().any(|option| option == name);
        if wrapper.inner == WrappedCommand::Actions {
            let end = |word: &ShellWord| matches!(word.text.as_str(), ";" | "+");
            let count = next.iter().position(end).unwrap_or(next.len());
            let (action, behind) = next.split_at_checked(count).filter(|_| is_option)?;
            self.actions.push(action);
            return Some(behind.get(1..).unwrap_or_default());
        }
        if is_option && let Some(held) = held {
            self.scripts.push(Cow::Borrowed(held));
            return Some(next);
        }
        if !is_option && let Some(option) = wrapper.scripts_of().find(starts_with) {
            self.scripts.extend(text.get(option.len()..).map(Cow::Borrowed));
            return Some(next);
        }
        if !is_option && (wrapper.is_flag(text) || wrapper.scripts_of().find(ends_with).is_none()) {
            return None;
        }
        let (script, behind) = next.split_first()?;
        self.scripts.push(Cow::Borrowed(&script.text));
        Some(behind)
    }

    /// Whether the wrapper itself is all that runs.
    fn runs_nothing(&self, wrapper: &Wrapper) -> bool {
        self.scripts.is_empty() && self.actions.is_empty() && !wrapper.is_shell && {
            matches!(wrapper.inner, WrappedCommand::Option | WrappedCommand::Actions) || self.rest.is_empty()
        }
    }

    /// What it runs; `words` begin with its own name.
    fn inner_command(self, wrapper: &Wrapper, words: &'a [ShellWord]) -> InnerCommand<'a> {
        if !self.scripts.is_empty() {
            return InnerCommand::Scripts(self.scripts);
        }
        match (wrapper.inner, self.rest) {
            (WrappedCommand::Actions, _) => InnerCommand::Words(self.actions),
            (WrappedCommand::Option, _) | (_, []) => InnerCommand::Shell(words),
            (WrappedCommand::Words, rest) => InnerCommand::Words(vec![rest]),
            (WrappedCommand::Text, [text, ..]) => InnerCommand::Scripts(vec![Cow::Borrowed(&text.text)]),
            (WrappedCommand::Line, rest) if wrapper.name == "parallel" => InnerCommand::Scripts(parallel_scripts(rest)),
            (WrappedCommand::Line, rest) => InnerCommand::Scripts(vec![Cow::Owned(joined(rest))]),
        }
    }
}

/// `parallel 'gzip {}' ::: a b`; without a line in front of `:::` each word behind it is one.
fn parallel_scripts(words: &[ShellWord]) -> Vec<Cow<'_, str>> {
    let is_separator = |word: &ShellWord| word.text.starts_with(":::");
    match words.iter().position(is_separator) {
        Some(0) => words.iter().filter(|word| !is_separator(word)).map(|word| Cow::Borrowed(&*word.text)).collect(),
        end => vec![Cow::Owned(joined(words.get(..end.unwrap_or(words.len())).unwrap_or_default()))],
    }
}

/// A shell: the line of `-c`, a file, or its input.
fn open_shell(words: &[ShellWord]) -> InnerCommand<'_> {
    let mut rest = words.get(1..).unwrap_or_default();
    let (mut is_line, mut is_input) = (false, false);
    while let Some((first, next)) = rest.split_first() {
        let text = first.text.as_str();
        if INPUT_FILES.contains(&text) && !is_line {
            return InnerCommand::Shell(words);
        } else if SHELL_VALUES.contains(&text) {
            rest = next.get(1..).unwrap_or_default();
        } else if text.starts_with(['-', '+']) && text.len() > 1 {
            let is_cluster = !text.starts_with("--");
            // `-euo pipefail`: the letter takes the next word, wherever it stands in the cluster.
            let takes_next = is_cluster && text.contains(['o', 'O']);
            is_line |= text.starts_with('-') && is_cluster && text.contains('c') || text == "--command";
            is_input |= is_cluster && text.contains('s');
            rest = next.get(usize::from(takes_next)..).unwrap_or_default();
        } else if is_line {
            return InnerCommand::Scripts(vec![Cow::Borrowed(text)]);
        } else if is_input {
            return InnerCommand::Shell(words);
        } else {
            return InnerCommand::Program(words);
        }
    }
    match words.last() {
        Some(last) if is_line => InnerCommand::Unknown(last),
        _ => InnerCommand::Shell(words),
    }
}
