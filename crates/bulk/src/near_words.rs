//! How near names are told.

use crate::near_bytes::KEY;
use averment_engine::vm::near_names::{NameCategory, NearName};
use averment_engine::vm::near_paths::deeper_glob;
use averment_report::table::ReportTable;

/// A regular expression without flags, as it is written.
fn is_regex(text: &str) -> bool {
    text.len() > 2 && text.starts_with('/') && text.ends_with('/')
}

pub(crate) fn near_name_line(table: &ReportTable, program: usize, found: &NearName) -> String {
    let place = table.span_location(table.source_span(program, found.span));
    format!("warning: {place}: {}\n", near_name_words(found))
}

pub(crate) fn near_name_words(found: &NearName) -> String {
    let (wanted, other) = (one_line(&found.wanted), one_line(&found.found));
    match found.what {
        NameCategory::NoTool => format!("no run calls a tool `{wanted}`, and {}", found.found),
        NameCategory::Tool => format!("no run calls `{wanted}`, and some run calls `{other}`"),
        NameCategory::ToolText if wanted.starts_with('/') => {
            format!("no run calls a tool that `{wanted}` matches, and some run calls `{other}`")
        }
        NameCategory::ToolText => {
            format!("no run calls a tool with `{wanted}` in its name, and some run calls `{other}`")
        }
        NameCategory::Key => format!("no run has the key `{wanted}`, and some run has `{other}` in its place"),
        NameCategory::File => {
            format!("`{wanted}` matches no path of a run in which `{other}` differs from it by letter case alone")
        }
        NameCategory::Part => {
            format!(
                "no value is `{wanted}` as a whole, and some value holds it: a part of a text is looked for with `contains`"
            )
        }
        NameCategory::Value => {
            format!("no value is `{wanted}`, and some value differs from it by a typo: write it as the run does")
        }
        NameCategory::LetterCase if is_regex(&wanted) => format!(
            "`{wanted}` matches no value in this letter case, and some value in another: add the flag `i`, as in `{wanted}i`"
        ),
        NameCategory::LetterCase => format!(
            "`{wanted}` stands in no value in this letter case, and in some value in another: write `icontains`, or a regular expression with the flag `i`"
        ),
        NameCategory::WhiteSpace => format!(
            "`{wanted}` stands in no value with these spaces, and in some value with others: write a regular expression with `\\s*` between the words, or ask for one key of JSON, such as `output.key`"
        ),
        NameCategory::Options => format!(
            "`{wanted}` stands in no value, and in some value with options between its words: write `command \"{wanted}\"`"
        ),
        NameCategory::NotAtStart => format!(
            "no value begins with `{wanted}`, and some value holds it further in: write `contains`, or for a command `command \"{wanted}\"`"
        ),
        NameCategory::NotAtEnd => format!("no value ends with `{wanted}`, and some value holds it: write `contains`"),
        NameCategory::Scheme => format!(
            "no address has `{wanted}`, and some address has it under the other of `http` and `https`: leave out the scheme"
        ),
        NameCategory::Percent => format!(
            "`{wanted}` is a share of 1, and some value beside it is above 1: write `{}` for a value from 0 to 100",
            percent_number(&wanted)
        ),
        NameCategory::Folder => {
            let deeper = deeper_glob(&found.wanted).unwrap_or_default();
            format!(
                "`{wanted}` matches no path, and `{other}` is further down: write `{}` for all files of a folder",
                one_line(&deeper)
            )
        }
        NameCategory::Rooted => format!(
            "`{wanted}` begins at the root and matches no path, and `{other}` is written without a root: leave out the folders that paths do not have"
        ),
        what => format!("no run has the {} `{wanted}`, and some run has `{other}`", what.as_str()),
    }
}

/// `95` of `95%`, `80` of `0.8`, `87.5` of `0.875`.
fn percent_number(share: &str) -> String {
    let Some(decimals) = share.strip_prefix("0.") else { return share.trim_end_matches('%').to_owned() };
    let (whole, part) = decimals.split_at_checked(2).unwrap_or((decimals, ""));
    let number = format!("{whole:0<2}.{part}");
    let number = number.trim_end_matches('0').trim_end_matches('.');
    let number = number.trim_start_matches('0');
    if number.starts_with('.') { format!("0{number}") } else { number.to_owned() }
}

pub(crate) fn one_line(text: &str) -> String {
    // What only looks like another letter, and what nobody sees, is written as its number.
    let is_plain = |letter: char| letter.is_ascii_graphic() || letter == ' ';
    let line = averment_base::diagnostic::render::one_line(text);
    let shown = line
        .chars()
        .take(KEY)
        .flat_map(|letter| if is_plain(letter) { vec![letter] } else { letter.escape_unicode().collect() });
    shown.collect()
}
