//! `aver docs`: the reference, made from the same tables and pages as the program and its documentation.

use super::console::{ColorChoice, OutputStream};
use super::exit::{CommandError, Exit};
use averment::pages::PAGES;
use averment_base::diagnostic::render::{TextColor, TextStyle, paint_text};
use averment_base::diagnostic::suggest::suggest_name;
use averment_builtins::{reference, stdlib, table};
use averment_ide::assist::{self, Role};
use std::fmt::Write as _;
use std::io::Write as _;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver docs                 list the topics
  aver docs cheatsheet      the language on one page
  aver docs --all           all pages in one text, for a model
  aver docs language        the language
  aver docs course          statements about the course of a run, precisely
  aver docs functions       all functions with their types and examples
  aver docs median          one function
  aver docs std.secrets     a module of the standard set
  aver docs before          a word of the language")]
pub struct DocsArgs {
    /// A topic, a function, a module or a word of the language; without one, the topics are listed
    topic: Option<String>,
    /// Print all pages in one text, the short one first, for a model that writes rules
    #[arg(long, conflicts_with = "topic")]
    all: bool,
}

/// Prints a topic, or the list of topics.
pub fn run_docs(arguments: &DocsArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    let style = OutputStream::Out.style(color);
    let text = match arguments.topic.as_deref() {
        None if arguments.all => styled_page(&all_pages(), style),
        None => topic_list(),
        Some("functions") => styled_page(&reference::reference_page(), style),
        Some("stdlib") => styled_page(&stdlib::modules_page(), style),
        Some(topic) => topic_page(topic, style)?,
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(Exit::Holds)
}

/// Returns all pages, the short one first, each after a title line.
fn all_pages() -> String {
    let mut text = String::new();
    let (functions, stdlib) = (reference::reference_page(), stdlib::modules_page());
    let own = PAGES.iter().map(|page| (page.topic, page.text));
    for (name, page) in own.chain([("functions", functions.as_str()), ("stdlib", stdlib.as_str())]) {
        let _ = write!(text, "<!-- {name} -->\n\n{}\n\n", page.trim());
    }
    text
}

/// Returns the list of topics, one per line.
pub fn topic_list() -> String {
    let mut text = String::new();
    for page in PAGES {
        let _ = writeln!(text, "{:14}{}", page.topic, page.about);
    }
    let _ = writeln!(text, "{:14}all functions; the name of one shows it alone", "functions");
    let modules: Vec<String> = stdlib::module_names().map(|name| format!("std.{name}")).collect();
    let _ = writeln!(text, "{:14}the standard set; {} show one module", "stdlib", modules.join(", "));
    text
}

/// Returns the page of a topic or function.
pub fn topic_page(topic: &str, style: TextStyle) -> Result<String, CommandError> {
    if let Some(page) = PAGES.iter().find(|page| page.topic == topic) {
        return Ok(styled_page(page.text, style));
    }
    if let Some(builtin) = table::find_builtin(topic) {
        return Ok(styled_page(&reference::function_entry(builtin), style));
    }
    if let Some(module) = stdlib::find_module(topic.strip_prefix("std.").unwrap_or(topic)) {
        return Ok(styled_page(&module.reference_page(), style));
    }
    if let Some(page) = word_page(topic) {
        return Ok(page);
    }
    if let Some((module, entry)) = stdlib::find_definition(topic) {
        return Ok(styled_page(&format!("{entry}\n\nFrom `std.{module}`.\n"), style));
    }
    let known = PAGES.iter().map(|page| page.topic).chain(["functions", "stdlib"]);
    let known = known
        .chain(table::builtin_names())
        .chain(stdlib::module_names())
        .chain(stdlib::definition_names())
        .chain(Role::ALL.into_iter().flat_map(assist::words_with_role).map(|one| one.word));
    let help = suggest_name(topic.strip_prefix("std.").unwrap_or(topic), known)
        .map_or("`aver docs` lists the topics".to_owned(), |near| format!("did you mean `{near}`?"));
    Err(CommandError::usage(format!("there is no topic, function or word `{topic}`"), help))
}

/// Returns the page of a word of the language.
pub fn word_page(word: &str) -> Option<String> {
    let mut text = String::new();
    for one in assist::explained_words(word) {
        let _ = writeln!(text, "{} ({}): {}", one.word, one.role.noun(), one.doc);
        let written = assist::strip_placeholders(one.snippet);
        let shown = if one.example.is_empty() { written.as_str() } else { one.example };
        for line in shown.lines().filter(|_| shown != one.word) {
            let _ = writeln!(text, "    {line}");
        }
    }
    // Words that are also functions have their own page.
    (!text.is_empty() && averment_builtins::table::find_builtin(word).is_none()).then_some(text)
}

/// Formats a Markdown page for a terminal: titles are highlighted, code is indented, everything else is unchanged.
pub fn styled_page(text: &str, style: TextStyle) -> String {
    let (mut shown, mut code) = (String::with_capacity(text.len()), false);
    for line in text.lines() {
        if line.starts_with("```") {
            code = !code;
        } else if code {
            let _ = writeln!(shown, "    {line}");
        } else if line.starts_with('#') {
            let _ =
                writeln!(shown, "{}", paint_text(style, TextColor::Bold, line.trim_start_matches('#').trim_start()));
        } else {
            let _ = writeln!(shown, "{line}");
        }
    }
    shown
}
