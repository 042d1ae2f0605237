//! Support for the line editor while the user types: continuation lines, completion and colors.

use super::command::COMMANDS;
use super::{CONTINUED, PROMPT};
use averment_base::diagnostic::Slug;
use averment_base::diagnostic::render::printable;
use averment_base::limits::Limits;
use averment_ide::assist::{Completion, CompletionKind, CursorContext, complete_at, strip_placeholders};
use averment_syntax as syntax;
use averment_syntax::token::{self, TokenKind};
use averment_syntax::words;
use rustyline::completion::{Candidate, Completer, FilenameCompleter};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use std::borrow::Cow;

/// Maximum length of an input that is colored, in bytes.
const COLORED: usize = 20_000;

/// Implements the traits of the line editor.
pub struct LineAssistant {
    /// The known names.
    pub context: CursorContext,
    /// Limits for parsing the input.
    pub limits: Limits,
    /// True if text is colored.
    pub color: bool,
    /// Names of rules that `:explain` can complete.
    pub rules: Vec<String>,
}

/// True if an input continues on the next line. Two empty lines end every input.
pub fn goes_on(text: &str, limits: &Limits) -> bool {
    if text.trim_start().starts_with(':') {
        return false;
    }
    let given_up = text.ends_with("\n\n\n");
    !given_up && syntax::is_unfinished(text, limits)
}

/// A completion candidate.
pub struct CompletionOffer {
    shown: String,
    inserted: String,
}

impl Candidate for CompletionOffer {
    fn display(&self) -> &str {
        &self.shown
    }

    fn replacement(&self) -> &str {
        &self.inserted
    }
}

impl Helper for LineAssistant {}

impl Validator for LineAssistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let goes_on = goes_on(context.input(), &self.limits);
        Ok(if goes_on { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Completer for LineAssistant {
    type Candidate = CompletionOffer;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<CompletionOffer>)> {
        let typed = line.get(..at).unwrap_or(line);
        match typed.trim_start().strip_prefix(':') {
            Some(command) => self.complete_command(line, at, command),
            None => Ok(self.complete_text(line, at)),
        }
    }
}

impl LineAssistant {
    fn complete_command(
        &self,
        line: &str,
        at: usize,
        command: &str,
    ) -> rustyline::Result<(usize, Vec<CompletionOffer>)> {
        let Some((word, rest)) = command.split_once(char::is_whitespace) else {
            let fitting = COMMANDS.iter().filter(|known| known.name.starts_with(command));
            let offers = fitting.map(|known| CompletionOffer {
                shown: format!(":{}  {}", known.name, known.doc),
                inserted: format!("{} ", known.name)
                    .trim_end_matches(|c| known.argument.is_empty() && c == ' ')
                    .to_owned(),
            });
            return Ok((at - command.len(), offers.collect()));
        };
        let start = at - rest.len();
        let named = |names: &mut dyn Iterator<Item = String>| {
            let fitting = names.filter(|name| name.starts_with(rest));
            (start, fitting.map(|name| CompletionOffer { shown: name.clone(), inserted: name }).collect::<Vec<_>>())
        };
        Ok(match word {
            "on" | "load" | "save" | "save!" => {
                let (start, pairs) = FilenameCompleter::new().complete_path(line, at)?;
                let offers =
                    pairs.into_iter().map(|pair| CompletionOffer { shown: pair.display, inserted: pair.replacement });
                (start, offers.collect())
            }
            "error" => named(&mut Slug::ALL.iter().map(|slug| slug.as_str().to_owned())),
            "docs" => named(&mut averment_builtins::table::builtin_names().map(str::to_owned)),
            "explain"
                if !rest.contains(char::is_whitespace) && self.rules.iter().any(|rule| rule.starts_with(rest)) =>
            {
                named(&mut self.rules.iter().cloned())
            }
            _ => self.complete_text(line, at),
        })
    }

    fn complete_text(&self, line: &str, at: usize) -> (usize, Vec<CompletionOffer>) {
        let found = complete_at(line, at, &self.context);
        let typed = line.get(found.range.start..at).unwrap_or("");
        let offers = found.starting_with(typed).map(completion_offer).collect();
        (found.range.start, offers)
    }
}

/// Returns a completion candidate: the first words of statements, and other completions in full.
fn completion_offer(completion: &Completion) -> CompletionOffer {
    let inserted = match completion.kind {
        CompletionKind::Statement | CompletionKind::Declaration | CompletionKind::Modifier => {
            format!("{} ", completion.label)
        }
        CompletionKind::Function | CompletionKind::Step => completion.label.clone(),
        _ => strip_placeholders(&completion.insert),
    };
    let detail = if completion.detail.is_empty() { String::new() } else { format!("  {}", completion.detail) };
    CompletionOffer {
        shown: printable(&format!("{}{detail}", completion.label)).into_owned(),
        inserted: printable(&inserted).into_owned(),
    }
}

impl Hinter for LineAssistant {
    type Hint = String;

    /// Returns a hint after the cursor: the argument of a command, or the only possible completion of a word.
    fn hint(&self, line: &str, at: usize, context: &Context<'_>) -> Option<String> {
        if at < line.len() || line.is_empty() {
            return None;
        }
        if let Some(command) = line.strip_prefix(':') {
            let known = COMMANDS.iter().find(|known| known.name == command.trim_end())?;
            let space = if command.ends_with(' ') { "" } else { " " };
            return (!known.argument.is_empty()).then(|| format!("{space}{}", known.argument));
        }
        let (start, offers) = self.complete(line, at, context).ok()?;
        let typed = line.get(start..at).filter(|typed| typed.len() > 1)?;
        match offers.as_slice() {
            [only] => only.inserted.trim_end().strip_prefix(typed).filter(|rest| !rest.is_empty()).map(str::to_owned),
            _ => None,
        }
    }
}

impl Highlighter for LineAssistant {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        if !self.color || line.len() > COLORED {
            return Cow::Borrowed(line);
        }
        Cow::Owned(color_text(line, &self.limits))
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        if self.color { Cow::Owned(format!("\u{1b}[1;34m{prompt}\u{1b}[0m")) } else { Cow::Borrowed(prompt) }
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        if self.color { Cow::Owned(format!("\u{1b}[2m{hint}\u{1b}[0m")) } else { Cow::Borrowed(hint) }
    }

    fn highlight_char(&self, line: &str, _: usize, _: CmdKind) -> bool {
        self.color && line.len() <= COLORED
    }
}

/// Colors a text by the tokens of the rule parser, so that strings are recognized correctly.
fn color_text(line: &str, limits: &Limits) -> String {
    if let Some(command) = line.strip_prefix(':') {
        let (word, rest) = command.split_at(command.find(char::is_whitespace).unwrap_or(command.len()));
        return format!("\u{1b}[1;35m:{word}\u{1b}[0m{rest}");
    }
    let scan = token::scan_tokens(line, limits.rule_depth, limits.rule_tokens);
    let mut colored: Vec<(usize, usize, &str)> = scan.remarks.iter().map(|one| (one.start, one.end, "2")).collect();
    for token in &scan.tokens {
        let text = line.get(token.start..token.end).unwrap_or("");
        let code = match token.kind {
            TokenKind::Text | TokenKind::OpenText | TokenKind::OpenInterpolation => "32",
            TokenKind::Regex | TokenKind::OpenRegex => "35",
            TokenKind::Number => "36",
            TokenKind::Binding => "33",
            TokenKind::Word if words::LITERALS.contains(&text) => "36",
            TokenKind::Word if is_keyword(text) => "1",
            _ => continue,
        };
        colored.push((token.start, token.end, code));
    }
    colored.sort_unstable();
    let (mut out, mut at) = (String::with_capacity(line.len() * 2), 0);
    for (start, end, code) in colored {
        let (Some(before), Some(text)) = (line.get(at..start), line.get(start..end)) else { continue };
        out.push_str(before);
        out.push_str(&format!("\u{1b}[{code}m{text}\u{1b}[0m"));
        at = end;
    }
    out.push_str(line.get(at..).unwrap_or(""));
    out
}

fn is_keyword(word: &str) -> bool {
    words::STATEMENTS.contains(&word)
        || words::DECLARATIONS.contains(&word)
        || words::MODIFIERS.contains(&word)
        || words::OPERATORS.contains(&word)
}

/// Formats an input for a transcript, with the prompt and the continuation prompt.
pub fn transcript_input(input: &str) -> String {
    let mut lines = input.lines();
    let mut out = format!("{PROMPT}{}\n", printable(lines.next().unwrap_or("")));
    lines.for_each(|line| out.push_str(&format!("{CONTINUED}{}\n", printable(line))));
    out
}
