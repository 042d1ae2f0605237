//! Files of a folder that are not read: those that match `--exclude`, and those that a `.gitignore` in the folder ignores. Explicitly named files are
//! always read.

use super::exit::CommandError;
use averment_base::diagnostic::render::one_line;
use averment_base::files;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::Path;

const IGNORE: &str = ".gitignore";
/// Maximum size of one ignore file, in bytes.
const LARGEST: usize = 1 << 20;

/// The patterns of `--exclude`.
#[derive(Debug)]
pub struct ExcludePatterns(Gitignore);

impl Default for ExcludePatterns {
    fn default() -> Self {
        Self(Gitignore::empty())
    }
}

impl ExcludePatterns {
    /// Compiles the patterns of the command line. A pattern without a `/` matches a name in any folder.
    pub fn new(patterns: &[String]) -> Result<Self, CommandError> {
        let mut rules = GitignoreBuilder::new("");
        for pattern in patterns {
            let said = |why: &str| {
                let message = format!("`--exclude {}` is no pattern: {why}", one_line(pattern));
                CommandError::usage(message, "name files or folders, such as `package.json`, `drafts/` or `*.bak.json`")
            };
            let plain = pattern.trim_start_matches("./");
            if plain.trim_matches('/').is_empty() {
                return Err(said("it names nothing"));
            }
            let anywhere = if plain.starts_with('/') { plain.to_owned() } else { format!("**/{plain}") };
            rules.allow_unclosed_class(false).add_line(None, &anywhere).map_err(|error| said(&pattern_error(error)))?;
        }
        let rules =
            rules.build().map_err(|error| CommandError::usage(format!("`--exclude`: {}", pattern_error(error)), ""))?;
        Ok(Self(rules))
    }

    /// True if a file or folder is excluded, by its path as shown.
    pub fn leaves_out(&self, shown: &Path, folder: bool) -> bool {
        self.0.matched(shown, folder).is_ignore()
    }
}

/// Why a pattern is invalid, without quoting it.
fn pattern_error(error: ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } => err,
        other => other.to_string(),
    }
}

/// Returns the rules of a `.gitignore`. Invalid lines are skipped, as in git. With too many rules, none applies.
fn read_gitignore(file: &Path) -> Option<Gitignore> {
    let text = files::text_of(file, LARGEST).ok()?;
    let mut rules = GitignoreBuilder::new(file.parent()?);
    for line in text.lines() {
        // Braces are escaped, because the library treats them as patterns and git does not.
        let _ = rules.add_line(None, &line.replace('{', "\\{").replace('}', "\\}"));
    }
    rules.build().ok()
}

/// Exclusions within one folder while it is walked.
pub struct FolderExclusions<'a> {
    folder: &'a Path,
    excluded: &'a ExcludePatterns,
    /// Rules of the enclosing folders, outermost first; `None` if `.gitignore` is not used.
    rules: Option<Vec<Option<Gitignore>>>,
    by_exclude: ExcludedCount,
    by_ignore: ExcludedCount,
}

#[derive(Default)]
struct ExcludedCount {
    files: usize,
    folders: usize,
}

impl<'a> FolderExclusions<'a> {
    /// Starts at a named folder. Only its own `.gitignore` counts, since those above may ignore the folder as a whole.
    pub fn for_folder(folder: &'a Path, excluded: &'a ExcludePatterns) -> Self {
        Self { rules: Some(Vec::new()), ..Self::for_pattern(folder, excluded) }
    }

    /// Starts at the folder of a glob pattern. `.gitignore` is not used, since a pattern names its files explicitly.
    pub fn for_pattern(folder: &'a Path, excluded: &'a ExcludePatterns) -> Self {
        Self {
            folder,
            excluded,
            rules: None,
            by_exclude: ExcludedCount::default(),
            by_ignore: ExcludedCount::default(),
        }
    }

    /// Enters a folder, and reads its `.gitignore`.
    pub fn enter_folder(&mut self, folder: &Path) {
        if let Some(rules) = &mut self.rules {
            let file = folder.join(IGNORE);
            rules.push(if file.is_file() { read_gitignore(&file) } else { None });
        }
    }

    /// Leaves the folder entered last.
    pub fn leave_folder(&mut self) {
        if let Some(rules) = &mut self.rules {
            rules.pop();
        }
    }

    /// True if a file or folder is excluded; also counts it if `counts`.
    pub fn excludes_path(&mut self, path: &Path, folder: bool, counts: bool) -> bool {
        let plain = path.strip_prefix(".").unwrap_or(path);
        let count = if self.excluded.leaves_out(plain, folder) {
            &mut self.by_exclude
        } else if self.is_ignored(path, folder) {
            &mut self.by_ignore
        } else {
            return false;
        };
        count.files += usize::from(counts && !folder);
        count.folders += usize::from(counts && folder);
        true
    }

    /// True if `.gitignore` ignores the path. The file nearest to the path decides.
    fn is_ignored(&self, path: &Path, folder: bool) -> bool {
        let rules = self.rules.iter().flatten().rev().flatten();
        let said = rules.map(|rules| rules.matched(path, folder)).find(|said| !said.is_none());
        matches!(said, Some(Match::Ignore(_)))
    }

    /// Returns one line for each reason of exclusion; empty if nothing was excluded.
    pub fn exclusion_notes(&self) -> String {
        let shown = self.folder.display().to_string();
        let shown = one_line(&shown);
        let note = |count: &ExcludedCount, by: &str| match (count.files, count.folders) {
            (0, 0) => String::new(),
            (files, folders) => {
                let parts = [(files, "file"), (folders, "folder")];
                let parts = parts.iter().filter(|(count, _)| *count > 0);
                let parts: Vec<String> = parts
                    .map(|(count, what)| if *count == 1 { format!("1 {what}") } else { format!("{count} {what}s") })
                    .collect();
                let are = if files + folders == 1 { "is" } else { "are" };
                format!("note: {} in `{shown}` {are} left out by {by}\n", parts.join(" and "))
            }
        };
        note(&self.by_exclude, "`--exclude`")
            + &note(&self.by_ignore, "`.gitignore`; a file that you name explicitly is read all the same")
    }
}

#[cfg(test)]
mod tests {
    use super::{ExcludePatterns, FolderExclusions, read_gitignore};
    use ignore::Match;
    use std::path::Path;

    #[test]
    fn lines_of_gitignore_mean_what_they_mean_to_git() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(".gitignore");
        let says = |lines: &str, path: &str, is_folder: bool| {
            std::fs::write(&file, lines).unwrap();
            match read_gitignore(&file).unwrap().matched(folder.path().join(path), is_folder) {
                Match::None => None,
                Match::Ignore(_) => Some(true),
                Match::Whitelist(_) => Some(false),
            }
        };
        for (lines, path, is_folder, said) in [
            ("*.json", "a.json", false, Some(true)),
            ("*.json", "b/c/a.json", false, Some(true)),
            ("/*.json", "b/a.json", false, None),
            ("b/*.json", "b/a.json", false, Some(true)),
            ("b/*.json", "c/b/a.json", false, None),
            ("b/*.json", "b/c/a.json", false, None),
            ("b/**", "b/c/a.json", false, Some(true)),
            ("**/b", "a/b", true, Some(true)),
            ("a/**/b", "a/b", true, Some(true)),
            ("old/", "old", false, None),
            ("old/", "x/old", true, Some(true)),
            ("*.json\n!keep.json", "keep.json", false, Some(false)),
            ("!keep.json\n*.json", "keep.json", false, Some(true)),
            ("# a.json\n\n", "a.json", false, None),
            ("\\#a.json", "#a.json", false, Some(true)),
            ("\\!a.json", "!a.json", false, Some(true)),
            ("a.json  \r", "a.json", false, Some(true)),
            ("a\\ ", "a ", false, Some(true)),
            ("{a,b}.json", "a.json", false, None),
            ("{a,b}.json", "{a,b}.json", false, Some(true)),
            ("[", "a.json", false, None),
            ("[\n[ab].json", "a.json", false, Some(true)),
            ("?.json", "ab.json", false, None),
        ] {
            assert_eq!(says(lines, path, is_folder), said, "{lines:?} {path}");
        }
    }

    #[test]
    fn excluded_names_stand_anywhere_and_paths_behind_any_folder() {
        let excludes = |pattern: &str, path: &str, folder: bool| {
            ExcludePatterns::new(&[pattern.to_owned()]).unwrap().leaves_out(Path::new(path), folder)
        };
        assert!(excludes("package.json", "runs/a/package.json", false));
        assert!(excludes("drafts/", "runs/drafts", true) && !excludes("drafts/", "runs/drafts", false));
        assert!(excludes("./runs/old/*.json", "runs/old/a.json", false));
        assert!(
            excludes("old/*.json", "/home/runs/old/a.json", false) && !excludes("old/*.json", "old/x/a.json", false)
        );
        assert!(excludes("/home/*/a.json", "/home/runs/a.json", false));
        assert!(ExcludePatterns::new(&["[".to_owned()]).is_err() && ExcludePatterns::new(&["./".to_owned()]).is_err());
    }

    #[test]
    fn the_nearest_file_decides() {
        let folder = tempfile::tempdir().unwrap();
        let (root, inner) = (folder.path(), folder.path().join("kept"));
        std::fs::create_dir(&inner).unwrap();
        std::fs::write(root.join(".gitignore"), "*.json\n").unwrap();
        std::fs::write(inner.join(".gitignore"), "!a.json\n").unwrap();
        let excluded = ExcludePatterns::default();
        let mut out = FolderExclusions::for_folder(root, &excluded);
        out.enter_folder(root);
        assert!(out.excludes_path(&root.join("a.json"), false, true));
        out.enter_folder(&inner);
        assert!(
            !out.excludes_path(&inner.join("a.json"), false, true)
                && out.excludes_path(&inner.join("b.json"), false, true)
        );
        out.leave_folder();
        assert!(out.exclusion_notes().starts_with("note: 2 files in "), "{}", out.exclusion_notes());
    }
}
