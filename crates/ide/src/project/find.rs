//! Finds the project file: in the starting folder or above it.

use averment_base::files::{lies_in, resolve_path};
use std::path::{Component, Path, PathBuf};

/// The name of the file.
pub const NAME: &str = "averment.toml";

/// Maximum parent folders searched.
const HEIGHT: usize = 64;

/// The result of the search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectSearch {
    /// No project file.
    Nothing,
    /// This one.
    File(PathBuf),
    /// It is above the starting folder and owned by another user, so it is not used.
    Foreign(PathBuf),
    /// It is a link to a file outside of its folder, so it is not used.
    Linked(PathBuf),
}

/// Returns the folders whose files the rules of a folder may read with `use` and `from`: that folder, and the folder of its project. The caller adds
/// its working folders.
#[must_use]
pub fn readable_folders(rules: &Path) -> Vec<PathBuf> {
    let mut folders = vec![rules.to_path_buf()];
    if let ProjectSearch::File(file) = find_project(rules) {
        folders.push(file.parent().map(Path::to_path_buf).unwrap_or_default());
    }
    folders
}

/// Finds the project of rule files, from the folder of the first file, or from the working directory if there are none.
#[must_use]
pub fn find_for(rules: &[PathBuf]) -> ProjectSearch {
    let first = rules.iter().find(|path| path.as_os_str() != "-");
    find_project(&first.map_or_else(PathBuf::new, |path| match path.is_dir() {
        true => path.clone(),
        false => path.parent().map(Path::to_path_buf).unwrap_or_default(),
    }))
}

/// Searches for `averment.toml` in a folder (empty: the working directory) and above it. The search ends at the folder that contains `.git`, and
/// before the home folder and the root.
#[must_use]
pub fn find_project(start: &Path) -> ProjectSearch {
    let here = std::env::current_dir().unwrap_or_default();
    let start = normalize_path(&here.join(start));
    let home = std::env::home_dir().map(|home| normalize_path(&home));
    for (height, folder) in start.ancestors().take(HEIGHT).enumerate() {
        if height > 0 && (home.as_deref() == Some(folder) || folder.parent().is_none()) {
            break;
        }
        let file = folder.join(NAME);
        if file.is_file() {
            let shown = seen_from(&here, &file);
            if !resolve_path(&file).is_ok_and(|place| lies_in(&place, [folder])) {
                return ProjectSearch::Linked(shown);
            }
            return if height > 0 && is_foreign(&file) {
                ProjectSearch::Foreign(shown)
            } else {
                ProjectSearch::File(shown)
            };
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    ProjectSearch::Nothing
}

/// Returns the path relative to a folder if one contains the other; otherwise unchanged.
fn seen_from(here: &Path, file: &Path) -> PathBuf {
    if let Ok(inside) = file.strip_prefix(here) {
        return inside.to_path_buf();
    }
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return file.to_path_buf() };
    match here.strip_prefix(folder) {
        Ok(down) => down.components().map(|_| Path::new("..")).collect::<PathBuf>().join(name),
        Err(_) => file.to_path_buf(),
    }
}

/// Resolves `.` and `..` lexically.
fn normalize_path(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(unix)]
fn is_foreign(file: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let own = rustix::process::geteuid().as_raw();
    std::fs::metadata(file).is_ok_and(|metadata| metadata.uid() != own && metadata.uid() != 0)
}

/// Without Unix file owners, no file counts as foreign.
#[cfg(not(unix))]
fn is_foreign(_file: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_from_the_working_directory() {
        let shown = |here: &str, file: &str| seen_from(Path::new(here), Path::new(file)).to_string_lossy().into_owned();
        assert_eq!(shown("/a/b", "/a/b/averment.toml"), "averment.toml");
        assert_eq!(shown("/a/b/c", "/a/averment.toml"), "../../averment.toml");
        assert_eq!(shown("/a", "/a/rules/averment.toml"), "rules/averment.toml");
        assert_eq!(shown("/a", "/b/averment.toml"), "/b/averment.toml");
    }

    #[test]
    fn the_search_goes_up_to_the_folder_of_the_repository_and_no_further() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("repository/rules/deep");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(root.path().join(NAME), "").unwrap();
        assert_eq!(find_project(&deep), ProjectSearch::File(root.path().join(NAME)));
        std::fs::create_dir(root.path().join("repository/.git")).unwrap();
        assert_eq!(find_project(&deep), ProjectSearch::Nothing);
        std::fs::write(root.path().join("repository").join(NAME), "").unwrap();
        assert_eq!(find_project(&deep), ProjectSearch::File(root.path().join("repository").join(NAME)));
    }
}
