//! `aver man`: manual pages, generated from the texts of `--help`.

use super::exit::{CommandError, Exit};
use averment_base::diagnostic::render::one_line;
use averment_base::diagnostic::suggest::suggest_name;
use clap_mangen::Man;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver man | man -l -                      read the page of aver
  aver man check | man -l -                the page of one command
  aver man --out ~/.local/share/man/man1   write all pages; `man aver-check` finds them")]
pub struct ManArgs {
    /// A command; without one, the page of aver itself is printed
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    command: Option<String>,
    /// Write all pages into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints one manual page, or writes all of them.
pub fn run_man(arguments: &ManArgs, command: clap::Command) -> Result<Exit, CommandError> {
    let pages = man_pages(command);
    if let Some(folder) = &arguments.out {
        return write_pages(&pages, folder);
    }
    let wanted = arguments.command.as_deref().map_or_else(|| "aver".to_owned(), |name| format!("aver-{name}"));
    let Some(page) = pages.iter().find(|page| page.name == wanted) else {
        let given = arguments.command.as_deref().unwrap_or_default();
        let names = pages.iter().filter_map(|page| page.name.strip_prefix("aver-"));
        let help = match suggest_name(given, names) {
            Some(near) => format!("did you mean `aver man {near}`?"),
            None => "`aver --help` lists the commands".to_owned(),
        };
        return Err(CommandError::usage(format!("there is no command `{given}`"), help));
    };
    std::io::stdout().write_all(&page.page_text()?)?;
    Ok(Exit::Holds)
}

struct ManPage {
    name: String,
    command: clap::Command,
}

impl ManPage {
    fn page_text(&self) -> std::io::Result<Vec<u8>> {
        let mut text = Vec::new();
        let source = concat!("aver ", env!("CARGO_PKG_VERSION"));
        Man::new(self.command.clone())
            .title(self.name.to_uppercase())
            .source(source)
            .manual("Averment")
            .render(&mut text)?;
        Ok(with_examples(&String::from_utf8_lossy(&text)).into_bytes())
    }
}

/// Moves the text after the options into its own section, keeping its lines.
fn with_examples(text: &str) -> String {
    let Some((before, behind)) = text.split_once(".SH EXTRA\n") else { return text.to_owned() };
    let (examples, rest) =
        behind.split_once(".SH ").map_or((behind, String::new()), |(examples, rest)| (examples, format!(".SH {rest}")));
    let examples = examples.strip_prefix("Examples:\n").unwrap_or(examples);
    format!("{before}.SH EXAMPLES\n.nf\n{}\n.fi\n{rest}", examples.trim_end())
}

fn man_pages(mut command: clap::Command) -> Vec<ManPage> {
    command.build();
    let mut pages = Vec::new();
    let mut todo = vec![(command.get_name().to_owned(), command)];
    while let Some((name, command)) = todo.pop() {
        let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help" && !inner.is_hide_set());
        todo.extend(inner.map(|inner| (format!("{name}-{}", inner.get_name()), inner.clone())));
        pages.push(ManPage { name, command });
    }
    pages.sort_by(|a, b| a.name.cmp(&b.name));
    pages
}

fn write_pages(pages: &[ManPage], folder: &Path) -> Result<Exit, CommandError> {
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error: std::io::Error| {
            CommandError::usage(
                format!("`{path}` cannot be written: {}", super::io_error_text(&error)),
                "name another folder",
            )
        }
    };
    std::fs::create_dir_all(folder).map_err(failed(folder))?;
    for page in pages {
        let path = folder.join(format!("{}.1", page.name));
        super::draft_file::write_file(&path, &page.page_text()?).map_err(failed(&path))?;
    }
    writeln!(std::io::stdout(), "{} pages in {}", pages.len(), one_line(&folder.display().to_string()))?;
    Ok(Exit::Holds)
}
