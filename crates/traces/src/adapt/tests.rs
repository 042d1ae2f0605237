//! Each key of a format stands in one table: the sources are looked through for others.

use averment_runs::normal::of_run;
use averment_runs::run::StepKind;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The macros that make tables.
const TABLES: [&str; 4] = ["key_table! {", "parts! {", "ways! {", "agents! {"];

/// A source file: its name, what stands outside of tables, its tables.
struct Source {
    name: String,
    outside: String,
    tables: Vec<String>,
}

/// All sources but tests, the words of statuses, which are no keys, and the keys of files that are no runs: of other things, of tables
/// of prices, of what is expected.
fn sources() -> Vec<Source> {
    let mut files = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    files.retain(|file| {
        let others = [
            "tests.rs",
            "projection/samples.rs",
            "build/status.rs",
            "adapt/near_miss.rs",
            "src/prices.rs",
            "src/expected.rs",
        ];
        !others.iter().any(|other| file.ends_with(other))
    });
    files.iter().map(|file| source(file)).collect()
}

pub(crate) fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path()) {
        match path.is_dir() {
            true => walk(&path, files),
            false => files.push(path),
        }
    }
}

fn source(file: &Path) -> Source {
    let text = std::fs::read_to_string(file).expect("a source file");
    let (mut outside, mut tables, mut inside) = (String::new(), Vec::new(), false);
    for line in text.split("#[cfg(test)]\nmod tests {").next().expect("a first part").lines() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        if TABLES.contains(&line) {
            inside = true;
            tables.push(String::new());
        }
        match tables.last_mut().filter(|_| inside) {
            Some(table) => table.push_str(&format!("{line}\n")),
            None => outside.push_str(&format!("{line}\n")),
        }
        inside &= line != "}";
    }
    Source { name: file.display().to_string(), outside, tables }
}

/// The name of a table of keys.
pub(crate) fn table_name(table: &str) -> &str {
    table.split(" {\n").nth(1).and_then(|head| head.split_whitespace().last()).unwrap_or_default()
}

/// The texts between quotes.
fn literals(text: &str) -> Vec<String> {
    let text = text.replace("b'\"'", "").replace("'\"'", "");
    let (mut found, mut open, mut characters) = (Vec::new(), None::<String>, text.chars());
    while let Some(character) = characters.next() {
        match (character, &mut open) {
            ('"', None) => open = Some(String::new()),
            ('"', Some(_)) => found.extend(open.take()),
            ('\\', Some(literal)) => literal.extend(characters.next()),
            (character, Some(literal)) => literal.push(character),
            _ => {}
        }
    }
    found
}

#[test]
fn no_key_of_a_format_stands_outside_of_its_table() {
    let sources = sources();
    let tables = || sources.iter().flat_map(|source| source.tables.iter().map(move |table| (source, table)));
    let with_name = |name: &str| tables().filter(|(_, table)| table_name(table) == name).count();
    let is_in_text = |rest: &str| rest.trim_start_matches(char::is_alphanumeric).starts_with(".is_in(");
    let is_looked_up = |source: &Source, name: &str| {
        source.outside.contains(&format!("{name}::from_key"))
            || source.outside.split(&format!("{name}::")).skip(1).any(is_in_text)
    };
    // Tables of words: rows are looked up by what an object says.
    let of_words = |(source, table): &(&Source, &String)| {
        let name = table_name(table);
        is_looked_up(source, name) || with_name(name) == 1 && sources.iter().any(|other| is_looked_up(other, name))
    };
    let is_of_paths = |(_, table): &(&Source, &String)| ["ways!", "agents!"].iter().any(|made| table.starts_with(made));
    let of_keys = tables().filter(|table| !of_words(table) && !is_of_paths(table));
    let mut known: BTreeSet<String> = of_keys.flat_map(|(_, table)| literals(table)).collect();
    assert!(known.contains("tool_use_id") && known.contains("toolCalls"), "{known:?}");
    let normal = StepKind::ALL.into_iter().flat_map(|kind| kind.field_names().iter().copied().chain([kind.list_key()]));
    known.extend(normal.chain(of_run::ALL).map(str::to_owned));
    let mut wrong = Vec::new();
    for source in &sources {
        // The last word of this message is a type; a feature of the crate has a name of its own.
        for line in source.outside.lines().filter(|line| !line.contains("wrong_type(") && !line.contains("feature = "))
        {
            wrong.extend(
                literals(line)
                    .into_iter()
                    .filter(|one| known.contains(one))
                    .map(|one| format!("{}: {one}", source.name)),
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A key with a mark sends its line to the full reader: the normal form would be read slowly for the sake of another.
#[test]
fn no_mark_is_a_key_of_the_normal_form_or_of_home_grown_runs() {
    // A line with `steps` is for the full reader whatever they are.
    // A `query` beside a `response` may be lists of messages, which nothing else marks: such lines are read in full, too.
    let shared = ["messages", "tool_calls", "steps", "query"];
    for format in super::registry::FORMATS {
        for mark in format.marks.iter().filter(|mark| !shared.contains(mark)) {
            assert!(!super::native::is_key(mark), "{}: `{mark}`", format.name);
            assert!(!crate::names::PartNames::known_names().is_of_run(mark), "{}: `{mark}`", format.name);
        }
    }
}

#[test]
fn the_page_tells_of_every_format() {
    let page = averment_fixtures::root().join("docs/reference/traces.md");
    let page = std::fs::read_to_string(page).unwrap().to_lowercase();
    let name = |format: &super::format::TraceFormat| match format.name.split(' ').next().unwrap_or_default() {
        "ACP" => "agent client protocol".to_owned(),
        first => first.to_lowercase(),
    };
    let missing: BTreeSet<String> =
        super::registry::FORMATS.iter().map(name).filter(|name| !page.contains(name)).collect();
    assert!(missing.is_empty(), "docs/reference/traces.md does not tell of {missing:?}");
}

#[test]
fn what_no_projection_reads_has_marks_that_keep_it_away() {
    for format in super::registry::FORMATS {
        let marked = !format.marks.is_empty() || matches!(format.projected, super::format::LineProjection::Calls);
        assert!(marked, "{}: a line of this format could be taken for another", format.name);
    }
}
