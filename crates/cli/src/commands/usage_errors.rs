//! Converts clap errors into the message form of all other errors: the problem and the suggested fix.

use super::exit::CommandError;
use averment_base::diagnostic::suggest::suggest_name;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Command words of other tools that mean one of our commands, although the spelling is different.
const FOREIGN_COMMANDS: [(&str, &str); 6] = [
    ("validate", "check"),
    ("verify", "check"),
    ("eval", "check"),
    ("assert", "check"),
    ("format", "fmt"),
    ("view", "trace show"),
];
const FOREIGN_OPTIONS: [(&str, &str); 7] = [
    ("--jobs", "--threads N"),
    ("--parallel", "--threads N"),
    ("--output", "--report FORMAT=FILE"),
    ("-o", "--report FORMAT=FILE"),
    ("--config", "--project FILE"),
    ("--only", "--rule NAME"),
    ("--threshold", "--min-pass-rate 95%"),
];

/// Converts the error; `None` for output that clap prints itself, such as help.
pub fn usage_error(error: &clap::Error) -> Option<CommandError> {
    let invalid = |kind| context_text(error, kind);
    let command = command_words(error);
    let (message, help) = match error.kind() {
        ErrorKind::UnknownArgument => {
            let argument = invalid(ContextKind::InvalidArg)?;
            (format!("unexpected argument `{argument}`"), argument_help(error, &argument, &command))
        }
        ErrorKind::InvalidSubcommand => {
            let word = invalid(ContextKind::InvalidSubcommand)?;
            (format!("there is no command `{command} {word}`"), subcommand_help(error, &word, &command))
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = context_texts(error, ContextKind::InvalidArg);
            let named: Vec<String> = missing.iter().map(|one| format!("`{one}`")).collect();
            let verb = if named.len() == 1 { "is" } else { "are" };
            (format!("{} {verb} missing", named.join(" and ")), format!("write `{}`", usage_line(error)?))
        }
        ErrorKind::InvalidValue => {
            let (argument, value) = (invalid(ContextKind::InvalidArg)?, invalid(ContextKind::InvalidValue)?);
            let known = context_texts(error, ContextKind::ValidValue);
            if value.is_empty() || known.is_empty() {
                return None;
            }
            let near = suggest_name(&value, known.iter().map(String::as_str));
            let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            (format!("`{argument}` cannot be `{value}`"), format!("{near}it is one of {}", known.join(", ")))
        }
        _ => return None,
    };
    Some(CommandError::usage(message, help))
}

fn argument_help(error: &clap::Error, argument: &str, command: &str) -> String {
    let foreign = FOREIGN_OPTIONS.iter().find(|(word, _)| *word == argument && command.ends_with(" check"));
    match (foreign, context_text(error, ContextKind::SuggestedArg)) {
        (Some((_, own)), _) => format!("write `{own}`"),
        (None, Some(near)) => format!("did you mean `{near}`?"),
        _ if matches!(argument, "-v" | "--verbose") => {
            "`aver explain RULES TRACE` says how each verdict came about".to_owned()
        }
        (None, None) if argument.starts_with('-') => format!("`{command} --help` lists the options"),
        (None, None) => format!("write `{}`", usage_line(error).unwrap_or_else(|| format!("{command} --help"))),
    }
}

fn subcommand_help(error: &clap::Error, word: &str, command: &str) -> String {
    let foreign = FOREIGN_COMMANDS.iter().find(|(foreign, _)| *foreign == word);
    if let Some((_, own)) = foreign {
        return format!("write `{command} {own}`");
    }
    if let Some(near) = context_texts(error, ContextKind::SuggestedSubcommand).first() {
        return format!("did you mean `{command} {near}`?");
    }
    match command.ends_with(" trace") {
        true => format!("write `{command} show {word}`; `{command} --help` lists the commands"),
        false => format!("`{command} --help` lists the commands"),
    }
}

/// Returns the command words, such as `aver check`, from clap's usage line.
fn command_words(error: &clap::Error) -> String {
    let usage = usage_line(error).unwrap_or_default();
    let is_word = |word: &&str| !word.starts_with(['-', '<', '[']);
    usage.split_whitespace().take_while(is_word).collect::<Vec<_>>().join(" ")
}

fn usage_line(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return None };
    let usage = usage.to_string();
    let line = usage.lines().next()?.trim();
    Some(line.strip_prefix("Usage:").unwrap_or(line).trim().to_owned())
}

fn context_text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    context_texts(error, kind).into_iter().next()
}

fn context_texts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}
