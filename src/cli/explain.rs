//! `aver explain SLUG`: the page of a diagnostic.

use super::console::{ColorChoice, Stream};
use super::docs;
use super::exit::{Exit, Stop};
use crate::diagnostic::Slug;
use crate::diagnostic::suggest::nearest;
use std::io::Write as _;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver explain                  list everything that can be said about rules
  aver explain unknown-tool     what to avoid, what to prefer, and why")]
pub struct Arguments {
    /// The word in the brackets of a message; none lists all
    slug: Option<String>,
}

/// Prints a page, or the list of pages.
pub fn run(arguments: &Arguments, color: ColorChoice) -> Result<Exit, Stop> {
    let mut out = std::io::stdout();
    let Some(word) = &arguments.slug else {
        for slug in Slug::ALL {
            writeln!(out, "{:20}  {}", slug.as_str(), slug.title())?;
        }
        return Ok(Exit::Holds);
    };
    let plain = word.trim_matches(['[', ']', '`']);
    let Some(slug) = Slug::parse(plain) else {
        let near = nearest(plain, Slug::ALL.iter().map(|slug| slug.as_str()));
        let help = near.map_or("`aver explain` lists all".to_owned(), |near| format!("did you mean `{near}`?"));
        return Err(Stop::usage(format!("there is no diagnostic `{plain}`"), help));
    };
    out.write_all(docs::page(slug.page(), Stream::Out.style(color)).as_bytes())?;
    Ok(Exit::Holds)
}
