//! Finds the input files of a command line: rule files and folders of them; traces by name, folder, pattern or standard input.

use super::exclude::{ExcludePatterns, FolderExclusions};
use super::exit::CommandError;
use super::rule_file_names::{has_ending, is_misnamed_rule_file, misnamed_warning};
use averment::stages::load;
use averment_base::diagnostic::render::one_line;
use averment_base::files;
use averment_base::limits::Limits;
pub use averment_bulk::feed::{TraceInput, suggest_path};
use averment_traces::expected::{self, ExpectedRows};
use averment_traces::names::PartNames;
use averment_traces::prices::PriceTable;
use averment_traces::read::{ENDINGS, is_named_like_a_trace};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Maximum folder depth.
const DEPTH: usize = 64;

/// Returns the rule files of the command line. A folder gives every `.assert` file in it, possibly none. Warns of files with misspelled extensions.
pub fn rule_inputs(given: &[PathBuf]) -> Result<Vec<TraceInput>, CommandError> {
    let (inputs, warnings) = find_rules(given)?;
    super::console::eprint_redacted(&warnings);
    Ok(inputs)
}

/// Like [`rule_inputs`], but requires at least one file.
///
/// # Errors
/// If there is no rule file.
pub fn some_rule_inputs(given: &[PathBuf]) -> Result<Vec<TraceInput>, CommandError> {
    let found = rule_inputs(given)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let message = match given {
        [path] => format!("there is no `.assert` file in `{}`", path.display()),
        _ => "there is no `.assert` file in these folders".to_owned(),
    };
    Err(CommandError::usage(message, "name a rule file or another folder"))
}

/// Like [`rule_inputs`], without warnings.
pub fn quiet_rule_inputs(given: &[PathBuf]) -> Result<Vec<TraceInput>, CommandError> {
    find_rules(given).map(|(inputs, _)| inputs)
}

fn find_rules(given: &[PathBuf]) -> Result<(Vec<TraceInput>, String), CommandError> {
    let mut warnings = String::new();
    let mut inputs = Vec::new();
    for path in given {
        if path.as_os_str() == "-" {
            inputs.push(TraceInput::Stdin);
        } else if path.is_dir() {
            for file in rule_files_inside(path)? {
                if has_ending(&file, "assert") {
                    check_inside(&file, path)?;
                    inputs.push(TraceInput::File(file));
                } else {
                    warnings.push_str(&misnamed_warning(&file));
                }
            }
        } else {
            check_exists(path, "rule file")?;
            inputs.push(TraceInput::File(path.clone()));
        }
    }
    Ok((inputs, warnings))
}

/// Returns an error if a link in a folder of rules leads out of the folders that its rules may read. Otherwise a foreign file could be shown in
/// diagnostics and overwritten.
pub fn check_inside(file: &Path, folder: &Path) -> Result<(), CommandError> {
    if !file.is_symlink() {
        return Ok(());
    }
    let readable = super::rules::readable_folders(&TraceInput::File(file.to_path_buf()), &[folder.to_path_buf()]);
    match files::resolve_path(file) {
        Ok(place) if files::lies_in(&place, readable) => Ok(()),
        Ok(_) => {
            let message = format!("`{}` is a link that leads out of the folder of the rules", file.display());
            Err(CommandError::usage(message, "name the file that it leads to"))
        }
        Err(error) => Err(CommandError::usage(
            format!("`{}` cannot be read: {}", file.display(), super::io_error_text(&error)),
            "remove the link",
        )),
    }
}

/// Returns the traces of the command line, in order.
pub fn trace_inputs(given: &[String], excluded: &ExcludePatterns) -> Result<Vec<TraceInput>, CommandError> {
    let NamedTraces { found, notes } = traces_by_name(given, excluded)?;
    super::console::eprint_redacted(&notes);
    Ok(found.into_iter().flat_map(|(_, found)| found).collect())
}

/// The inputs for the names on the command line.
pub struct NamedTraces<'a> {
    /// Each name with its files.
    pub found: Vec<(&'a str, Vec<TraceInput>)>,
    /// Notes about skipped files.
    pub notes: String,
}

/// Expands names: a file to itself, a folder to its trace files, a pattern to its matches.
pub fn traces_by_name<'a>(given: &'a [String], excluded: &ExcludePatterns) -> Result<NamedTraces<'a>, CommandError> {
    if given.iter().filter(|text| *text == "-").count() > 1 {
        return Err(CommandError::usage("standard input is named twice", "name `-` once"));
    }
    let mut notes = String::new();
    let found = given.iter().map(|text| Ok((text.as_str(), expand_trace(text, excluded, &mut notes)?)));
    Ok(NamedTraces { found: found.collect::<Result<_, CommandError>>()?, notes })
}

fn expand_trace(text: &str, excluded: &ExcludePatterns, notes: &mut String) -> Result<Vec<TraceInput>, CommandError> {
    let path = Path::new(text);
    let files = |found: Vec<PathBuf>| found.into_iter().map(TraceInput::File).collect();
    match text {
        "-" => Ok(vec![TraceInput::Stdin]),
        _ if path.is_dir() => read_of_folder(path, excluded, notes).map(files),
        // A missing file is reported when it is read, so that the other traces are still judged.
        _ if path.exists() || !text.contains(['*', '?', '[']) => Ok(vec![TraceInput::File(path.to_path_buf())]),
        _ => matching_files(text, excluded, notes).map(files),
    }
}

/// Extensions of files that are often beside traces but are no traces.
const OTHERS: [&str; 5] = ["assert", "assertc", "md", "toml", "snap"];
/// Extensions of columnar files, which are traces only in builds that read them.
const COLUMNS: [&str; 4] = ["parquet", "arrow", "arrows", "feather"];

/// Returns the trace files of a folder, sorted, and notes the skipped files.
fn read_of_folder(folder: &Path, excluded: &ExcludePatterns, notes: &mut String) -> Result<Vec<PathBuf>, CommandError> {
    let (mut found, mut others, mut columns, mut linked) = (Vec::new(), 0_usize, 0_usize, 0_usize);
    let mut out = FolderExclusions::for_folder(folder, excluded);
    walk_folder(folder, DEPTH, &mut out, &mut |entry| match entry {
        FolderEntry::File(path) => {
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let hidden = name.starts_with('.');
            if is_named_like_a_trace(&name) {
                found.push(path.strip_prefix(".").unwrap_or(path).to_path_buf());
            } else if !hidden && COLUMNS.contains(&ending) {
                columns += 1;
            } else {
                others += usize::from(!hidden && !OTHERS.contains(&ending));
            }
        }
        FolderEntry::Linked => linked += 1,
    })?;
    notes.push_str(&others_note(folder, others));
    notes.push_str(&columns_note(folder, columns));
    notes.push_str(&linked_note(folder, linked));
    notes.push_str(&out.exclusion_notes());
    Ok(found)
}

fn others_note(folder: &Path, files: usize) -> String {
    if files == 0 {
        return String::new();
    }
    let shown = folder.display().to_string();
    let shown = one_line(&shown);
    let (files, are) = if files == 1 { ("1 file".to_owned(), "is") } else { (format!("{files} files"), "are") };
    let endings = ENDINGS.map(|ending| format!("`{ending}`")).join(", ");
    format!(
        "note: {files} in `{shown}` {are} skipped: only {endings} are read from a folder; name other files explicitly\n"
    )
}

fn columns_note(folder: &Path, files: usize) -> String {
    if files == 0 {
        return String::new();
    }
    let shown = folder.display().to_string();
    let shown = one_line(&shown);
    format!(
        "note: Parquet or Arrow files in `{shown}` are not read: {files} (this build does not read them; build it with `--features parquet`)\n"
    )
}

fn linked_note(folder: &Path, linked: usize) -> String {
    if linked == 0 {
        return String::new();
    }
    let (links, are) = if linked == 1 { ("1 link".to_owned(), "is") } else { (format!("{linked} links"), "are") };
    let shown = folder.display().to_string();
    let shown = one_line(&shown);
    format!("note: {links} to a folder in `{shown}` {are} not followed; name the folder to have it read\n")
}

/// Returns the rule files of a folder, and files with misspelled extensions.
fn rule_files_inside(folder: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let mut found = Vec::new();
    let everything = ExcludePatterns::default();
    walk_folder(folder, DEPTH, &mut FolderExclusions::for_pattern(folder, &everything), &mut |entry| {
        let FolderEntry::File(path) = entry else { return };
        if has_ending(path, "assert") || is_misnamed_rule_file(path) {
            found.push(path.strip_prefix(".").unwrap_or(path).to_path_buf());
        }
    })?;
    Ok(found)
}

fn matching_files(pattern: &str, excluded: &ExcludePatterns, notes: &mut String) -> Result<Vec<PathBuf>, CommandError> {
    let glob = globset::GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| {
            CommandError::usage(
                format!("`{pattern}` is no pattern: {}", error.kind()),
                "name a file, or a pattern such as `runs/*.json`",
            )
        })?
        .compile_matcher();
    let fixed: PathBuf = Path::new(pattern)
        .components()
        .take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']))
        .collect();
    let start = if fixed.as_os_str().is_empty() { Path::new(".") } else { fixed.as_path() };
    let mut found = Vec::new();
    if start.is_dir() {
        let mut out = FolderExclusions::for_pattern(start, excluded);
        walk_folder(start, DEPTH, &mut out, &mut |entry| {
            let FolderEntry::File(path) = entry else { return };
            let plain = path.strip_prefix(".").unwrap_or(path);
            if glob.is_match(plain) || glob.is_match(path) {
                found.push(plain.to_path_buf());
            }
        })?;
        notes.push_str(&out.exclusion_notes());
    }
    Ok(found)
}

enum FolderEntry<'a> {
    /// Any entry except a folder; its type is checked when it is read.
    File(&'a Path),
    Linked,
}

/// Visits files in name order. Skips hidden folders and links (loops); too deep a folder is an error.
fn walk_folder(
    folder: &Path,
    depth: usize,
    out: &mut FolderExclusions<'_>,
    visit: &mut dyn FnMut(FolderEntry<'_>),
) -> Result<(), CommandError> {
    let unreadable = |error: std::io::Error| {
        CommandError::usage(
            format!("the folder `{}` cannot be read: {}", folder.display(), super::io_error_text(&error)),
            String::new(),
        )
    };
    let mut entries =
        std::fs::read_dir(folder).map_err(unreadable)?.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    out.enter_folder(folder);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        let counts = kind.is_dir() || is_named_like_a_trace(&entry.file_name().to_string_lossy());
        if (!kind.is_dir() || !hidden) && out.excludes_path(&path, kind.is_dir(), counts) {
            continue;
        }
        match (kind.is_dir(), depth.checked_sub(1)) {
            (true, _) if hidden => {}
            (true, Some(depth)) => walk_folder(&path, depth, out, visit)?,
            (true, None) => {
                let message = format!("`{}` lies more than {DEPTH} folders deep", path.display());
                return Err(CommandError::usage(message, "name the folder itself"));
            }
            (false, _) if kind.is_symlink() && path.is_dir() => visit(FolderEntry::Linked),
            (false, _) => visit(FolderEntry::File(&path)),
        }
    }
    out.leave_folder();
    Ok(())
}

fn check_exists(path: &Path, what: &str) -> Result<(), CommandError> {
    if path.exists() {
        return Ok(());
    }
    let help = match suggest_path(path) {
        none if none.is_empty() => "check the path, or name another file or folder".to_owned(),
        help => help,
    };
    Err(CommandError::usage(format!("there is no {what} `{}`", path.display()), help))
}

/// Maximum size of the files of `--map` and `--prices`, in bytes.
const LARGEST: usize = 1 << 20;

fn read_small_file<T>(
    path: Option<&Path>,
    largest: usize,
    read: impl Fn(&str) -> Result<T, CommandError>,
) -> Result<Option<Arc<T>>, CommandError> {
    let Some(path) = path else { return Ok(None) };
    let text = files::text_of(path, largest).map_err(|error| {
        CommandError::usage(
            format!("`{}` cannot be read: {}", path.display(), super::io_error_text(&error)),
            String::new(),
        )
    })?;
    read(&text).map(|read| Some(Arc::new(read)))
}

/// Reads the names in a `--map` file.
pub fn read_names(path: Option<&Path>) -> Result<Option<Arc<PartNames>>, CommandError> {
    read_small_file(path, LARGEST, |text| {
        PartNames::of_file(text).map_err(|problem| {
            let shown = path.unwrap_or(Path::new("")).display();
            let help = "write a line for each part, such as `calls = \"steps\"` or `tool = [\"action\", \"fn\"]`";
            CommandError::usage(format!("`{shown}` names no parts of a run: {problem}"), help)
        })
    })
}

/// Reads the table in a `--prices` file.
pub fn read_prices(path: Option<&Path>) -> Result<Option<Arc<PriceTable>>, CommandError> {
    read_small_file(path, LARGEST, |text| {
        PriceTable::of_file(text).map_err(|problem| {
            let shown = path.unwrap_or(Path::new("")).display();
            let help = "write a heading for each model, such as `[\"gpt-4o*\"]`, and below it `input = 2.5` and `output = 10` (USD for a million tokens)";
            CommandError::usage(format!("`{shown}` is no table of prices: {problem}"), help)
        })
    })
}

/// Reads the rows in an `--expected` file.
pub fn read_expected(path: Option<&Path>) -> Result<Option<Arc<ExpectedRows>>, CommandError> {
    read_small_file(path, expected::LARGEST, |text| {
        ExpectedRows::of_text(text).map_err(|problem| {
            let shown = path.unwrap_or(Path::new("")).display();
            let help = "write CSV with a line of names, one of them `id`, or a JSON object with `id` on each line";
            CommandError::usage(format!("`{shown}` does not say what is expected of runs: {problem}"), help)
        })
    })
}

/// Returns an error if the rules are a trace, judged by the file extension and the first JSON character.
fn not_a_trace(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
    let opens = bytes.trim_ascii_start().first().is_some_and(|first| matches!(first, b'{' | b'['));
    let is_foreign =
        || std::str::from_utf8(bytes).is_ok_and(|text| load::may_be_foreign(&path.to_string_lossy(), text));
    if opens && ["json", "jsonl", "ndjson"].contains(&ending) && !is_foreign() {
        let message = format!("`{}` is a trace, and rules are expected here", path.display());
        return Err(CommandError::usage(
            message,
            "give a trace after the rules in `check` and `explain`, after `--on` in `repl` and `test`",
        ));
    }
    Ok(())
}

/// Reads the bytes of a file, at most one more than the limit, so that too large a file is detected without reading all of it.
pub fn read_input(input: &TraceInput, limits: Limits) -> Result<Vec<u8>, CommandError> {
    let failed = |error: std::io::Error| {
        CommandError::usage(
            format!("`{}` cannot be read: {}", input.display_name(), super::io_error_text(&error)),
            String::new(),
        )
    };
    let mut bytes = Vec::new();
    match input {
        TraceInput::File(path) => {
            bytes = load::read_limited(path, limits).map_err(failed)?;
            not_a_trace(path, &bytes)?;
        }
        TraceInput::Stdin => {
            averment_base::files::note_stdin();
            std::io::stdin().lock().take(load::size_limit(limits)).read_to_end(&mut bytes).map_err(failed)?;
        }
        TraceInput::Made { bytes: made, .. } => bytes.extend_from_slice(made),
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(inputs: &[TraceInput], root: &Path) -> Vec<String> {
        let relative = |input: &TraceInput| {
            Path::new(&input.display_name()).strip_prefix(root).unwrap().to_string_lossy().into_owned()
        };
        inputs.iter().map(relative).collect()
    }

    #[test]
    fn folders_and_patterns_are_sorted_and_hold_only_traces() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("b/deep")).unwrap();
        std::fs::create_dir_all(root.join(".git")).unwrap();
        for name in ["c.json", "a.jsonl", "b/x.json", "b/deep/y.json", "notes.txt", ".git/z.json", "r.assert"] {
            std::fs::write(root.join(name), "{}").unwrap();
        }
        let given = |text: &str| vec![root.join(text).to_string_lossy().into_owned()];
        assert_eq!(
            names(&trace_inputs(&given(""), &ExcludePatterns::default()).unwrap(), root),
            ["a.jsonl", "b/deep/y.json", "b/x.json", "c.json"]
        );
        assert_eq!(names(&trace_inputs(&given("*.json"), &ExcludePatterns::default()).unwrap(), root), ["c.json"]);
        assert_eq!(
            names(&trace_inputs(&given("**/*.json"), &ExcludePatterns::default()).unwrap(), root),
            ["b/deep/y.json", "b/x.json", "c.json"]
        );
        assert_eq!(trace_inputs(&given("none/*.json"), &ExcludePatterns::default()).unwrap(), []);
        assert_eq!(names(&rule_inputs(&[root.to_path_buf()]).unwrap(), root), ["r.assert"]);
    }

    #[test]
    fn a_file_beside_rules_that_is_nearly_named_like_one_is_told() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.assert", "b.asert"] {
            std::fs::write(folder.path().join(name), "never a").unwrap();
        }
        let (inputs, warnings) = find_rules(&[folder.path().to_path_buf()]).unwrap();
        assert_eq!(names(&inputs, folder.path()), ["a.assert"]);
        assert!(warnings.ends_with("b.asert` is skipped: rules in a folder are files that end in `.assert`\n"));
    }

    #[test]
    fn a_file_that_is_not_there_is_told_with_a_near_one() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("refunds.assert"), "").unwrap();
        let Err(CommandError::Usage { help, .. }) = rule_inputs(&[folder.path().join("refund.assert")]) else {
            panic!()
        };
        assert!(help.contains("refunds.assert"), "{help}");
        assert!(matches!(
            trace_inputs(&["-".to_owned(), "-".to_owned()], &ExcludePatterns::default()),
            Err(CommandError::Usage { .. })
        ));
    }
}
