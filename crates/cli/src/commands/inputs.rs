//! Which files a command line means: rule files and folders of them, traces by name, folder, pattern or standard input.

use super::exit::Stop;
use averment_base::diagnostic::render::one_line;
use averment_base::files;
pub use averment_bulk::feed::{Input, instead};
use averment_traces::names::Names;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Folders inside each other that are looked through.
const DEPTH: usize = 64;

/// The rule files of the command line: a file stands for itself, a folder for every `.assert` file in it.
/// A folder without one gives none.
pub fn rules(given: &[PathBuf]) -> Result<Vec<Input>, Stop> {
    let mut inputs = Vec::new();
    for path in given {
        if path.as_os_str() == "-" {
            inputs.push(Input::Stdin);
        } else if path.is_dir() {
            for file in inside(path, &["assert"])? {
                stays(&file, path)?;
                inputs.push(Input::File(file));
            }
        } else {
            exists(path, "rule file")?;
            inputs.push(Input::File(path.clone()));
        }
    }
    Ok(inputs)
}

/// A link in a folder of rules leads to rules of its project: anything else would be shown with what is wrong with it, and written over.
pub fn stays(file: &Path, folder: &Path) -> Result<(), Stop> {
    if !file.is_symlink() {
        return Ok(());
    }
    let readable = super::rules::readable(&Input::File(file.to_path_buf()), &[folder.to_path_buf()]);
    match files::resolve(file) {
        Ok(place) if files::lies_in(&place, readable) => Ok(()),
        Ok(_) => {
            let message = format!("`{}` is a link that leads out of the folder of the rules", file.display());
            Err(Stop::usage(message, "name the file that it leads to"))
        }
        Err(error) => {
            Err(Stop::usage(format!("`{}` cannot be read: {}", file.display(), super::said(&error)), "remove the link"))
        }
    }
}

/// The traces of the command line, in order.
pub fn traces(given: &[String]) -> Result<Vec<Input>, Stop> {
    Ok(traces_by_name(given)?.into_iter().flat_map(|(_, found)| found).collect())
}

/// What each name of the command line stands for: a file for itself, a folder for every `.json` and `.jsonl` file in it, a pattern for
/// what it matches.
pub fn traces_by_name(given: &[String]) -> Result<Vec<(&str, Vec<Input>)>, Stop> {
    if given.iter().filter(|text| *text == "-").count() > 1 {
        return Err(Stop::usage("standard input is named twice", "name `-` once"));
    }
    given.iter().map(|text| Ok((text.as_str(), trace(text)?))).collect()
}

/// What one name stands for; nothing for a folder without a trace and for a pattern that matches nothing.
fn trace(text: &str) -> Result<Vec<Input>, Stop> {
    let path = Path::new(text);
    let files = |found: Vec<PathBuf>| found.into_iter().map(Input::File).collect();
    match text {
        "-" => Ok(vec![Input::Stdin]),
        _ if path.is_dir() => {
            let found = inside(path, &TRACES)?;
            tell_of_others(path)?;
            Ok(files(found))
        }
        // One that is not there is told when its turn comes: the others are judged all the same.
        _ if path.exists() || !text.contains(['*', '?', '[']) => Ok(vec![Input::File(path.to_path_buf())]),
        _ => matching(text).map(files),
    }
}

/// The endings of traces in folders.
const TRACES: [&str; 2] = ["json", "jsonl"];
/// The endings of what stands beside traces and is none.
const OTHERS: [&str; 5] = ["assert", "assertc", "md", "toml", "snap"];

/// Says how much of a folder is passed over: what a folder holds is not checked because it lies there.
fn tell_of_others(folder: &Path) -> Result<(), Stop> {
    let (mut files, mut linked) = (0_usize, 0_usize);
    walk(folder, DEPTH, &mut |entry| match entry {
        Entry::File(path) => {
            let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
            let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            files += usize::from(!hidden && !TRACES.contains(&ending) && !OTHERS.contains(&ending));
        }
        Entry::Linked => linked += 1,
    })?;
    let shown = folder.display().to_string();
    let shown = one_line(&shown);
    if files > 0 {
        let (files, are) = if files == 1 { ("1 file".to_owned(), "is") } else { (format!("{files} files"), "are") };
        super::console::say(&format!(
            "note: {files} in `{shown}` {are} passed over: of a folder, `.json` and `.jsonl` are read; name others to have them read\n"
        ));
    }
    tell_of_linked(folder, linked);
    Ok(())
}

/// Says how many links to folders are not followed.
fn tell_of_linked(folder: &Path, linked: usize) {
    if linked > 0 {
        let (links, are) = if linked == 1 { ("1 link", "is") } else { ("links", "are") };
        let links = if linked == 1 { links.to_owned() } else { format!("{linked} {links}") };
        let shown = folder.display().to_string();
        let shown = one_line(&shown);
        super::console::say(&format!(
            "note: {links} to a folder in `{shown}` {are} not followed; name the folder to have it read\n"
        ));
    }
}

/// Every file with one of the endings in a folder and its folders, sorted.
fn inside(folder: &Path, endings: &[&str]) -> Result<Vec<PathBuf>, Stop> {
    let mut found = Vec::new();
    walk(folder, DEPTH, &mut |entry| {
        let Entry::File(path) = entry else { return };
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
        if endings.contains(&ending) {
            found.push(path.strip_prefix(".").unwrap_or(path).to_path_buf());
        }
    })?;
    Ok(found)
}

/// The files that a pattern matches, sorted.
fn matching(pattern: &str) -> Result<Vec<PathBuf>, Stop> {
    let glob = globset::GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|error| {
            Stop::usage(
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
        walk(start, DEPTH, &mut |entry| {
            let Entry::File(path) = entry else { return };
            let plain = path.strip_prefix(".").unwrap_or(path);
            if glob.is_match(plain) || glob.is_match(path) {
                found.push(plain.to_path_buf());
            }
        })?;
    }
    Ok(found)
}

/// What a folder holds, as far as it is looked through.
enum Entry<'a> {
    /// Anything but a folder; what it is shows when it is read.
    File(&'a Path),
    /// A link to a folder.
    Linked,
}

/// Visits every file below a folder, in the order of names. Hidden folders and links to folders are left out: a loop of links would never end.
/// A folder that lies too deep is an error: what is in it would be missing without a word.
fn walk(folder: &Path, depth: usize, visit: &mut dyn FnMut(Entry<'_>)) -> Result<(), Stop> {
    let unreadable = |error: std::io::Error| {
        Stop::usage(format!("the folder `{}` cannot be read: {}", folder.display(), super::said(&error)), String::new())
    };
    let mut entries =
        std::fs::read_dir(folder).map_err(unreadable)?.collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type().map_err(unreadable)?);
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        match (kind.is_dir(), depth.checked_sub(1)) {
            (true, _) if hidden => {}
            (true, Some(depth)) => walk(&path, depth, visit)?,
            (true, None) => {
                let message = format!("`{}` lies more than {DEPTH} folders deep", path.display());
                return Err(Stop::usage(message, "name the folder itself"));
            }
            (false, _) if kind.is_symlink() && path.is_dir() => visit(Entry::Linked),
            (false, _) => visit(Entry::File(&path)),
        }
    }
    Ok(())
}

fn exists(path: &Path, what: &str) -> Result<(), Stop> {
    if path.exists() {
        return Ok(());
    }
    Err(Stop::usage(format!("there is no {what} `{}`", path.display()), instead(path)))
}

/// Bytes of the largest file of names.
const NAMES: usize = 1 << 20;

/// The names in a file of `--map`.
pub fn names(path: Option<&Path>) -> Result<Option<Arc<Names>>, Stop> {
    let Some(path) = path else { return Ok(None) };
    let shown = path.display();
    let read = files::text_of(path, NAMES)
        .map_err(|error| Stop::usage(format!("`{shown}` cannot be read: {}", super::said(&error)), String::new()))?;
    let names = Names::of_file(&read).map_err(|problem| {
        let help = "write a line for each part, such as `calls = \"steps\"` or `tool = [\"action\", \"fn\"]`";
        Stop::usage(format!("`{shown}` names no parts of a run: {problem}"), help)
    })?;
    Ok(Some(Arc::new(names)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(inputs: &[Input], root: &Path) -> Vec<String> {
        let relative =
            |input: &Input| Path::new(&input.name()).strip_prefix(root).unwrap().to_string_lossy().into_owned();
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
        assert_eq!(names(&traces(&given("")).unwrap(), root), ["a.jsonl", "b/deep/y.json", "b/x.json", "c.json"]);
        assert_eq!(names(&traces(&given("*.json")).unwrap(), root), ["c.json"]);
        assert_eq!(names(&traces(&given("**/*.json")).unwrap(), root), ["b/deep/y.json", "b/x.json", "c.json"]);
        assert_eq!(traces(&given("none/*.json")).unwrap(), []);
        assert_eq!(names(&rules(&[root.to_path_buf()]).unwrap(), root), ["r.assert"]);
    }

    #[test]
    fn a_file_that_is_not_there_is_told_with_a_near_one() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("refunds.assert"), "").unwrap();
        let Err(Stop::Usage { help, .. }) = rules(&[folder.path().join("refund.assert")]) else { panic!() };
        assert!(help.contains("refunds.assert"), "{help}");
        assert!(matches!(traces(&["-".to_owned(), "-".to_owned()]), Err(Stop::Usage { .. })));
    }
}
