//! Where rule files and the files they name come from: the disk, or texts held in memory (tests, embedded sources, editors).

#[cfg(feature = "files")]
mod disk;

#[cfg(feature = "files")]
pub use disk::Disk;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    /// The path with symbolic links resolved; identifies the file.
    pub key: PathBuf,
    /// Where its own relative paths start.
    pub folder: PathBuf,
    /// Its text.
    pub text: String,
}

/// Why a file cannot be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileError {
    /// There is none.
    NotFound,
    /// The path is absolute or names another machine.
    NotRelative,
    /// It leads out of the folder that it has to stay in.
    Outside,
    /// It lies in no folder that rules may read.
    NotPermitted,
    /// It is larger than this many bytes.
    TooLarge(usize),
    /// It is not UTF-8.
    NotText,
    /// Anything else, in words.
    Other(String),
}

impl FileError {
    /// The problem with the file at this path, for a message.
    #[must_use]
    pub fn describe_for(&self, path: &str) -> String {
        match self {
            Self::NotFound => format!("the file `{path}` does not exist"),
            Self::NotRelative => format!("`{path}` is not a path relative to this file"),
            Self::Outside => format!("`{path}` leads out of the folder of the rules"),
            Self::NotPermitted => format!("`{path}` leads out of the folders that these rules may read"),
            Self::TooLarge(limit) => format!("the file `{path}` is larger than {limit} bytes"),
            Self::NotText => format!("the file `{path}` is not UTF-8 text"),
            Self::Other(why) => format!("the file `{path}` cannot be read: {why}"),
        }
    }
}

/// Access to files. Paths are as the author wrote them, relative to `folder`.
pub trait Files {
    /// Reads a file; with `inside` only when it lies in that folder, symbolic links followed.
    ///
    /// # Errors
    /// Says why it cannot be had.
    fn read(&self, folder: &Path, path: &str, inside: Option<&Path>) -> Result<FoundFile, FileError>;

    /// The names in the folder that a path leads to, sorted; for suggestions.
    fn names(&self, folder: &Path, path: &str) -> Vec<String>;
}

fn relative_path(path: &str) -> Result<&Path, FileError> {
    let names_machine = path.contains("://") || path.starts_with("file:") || path.starts_with('\\');
    let drive = path.as_bytes().get(1) == Some(&b':');
    let as_path = Path::new(path);
    if names_machine || drive || path.starts_with('~') || as_path.has_root() || path.contains('\0') {
        return Err(FileError::NotRelative);
    }
    Ok(as_path)
}

/// The path without `.` and with `..` taken back, by its text alone.
#[must_use]
pub fn normalize_path(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(out.components().next_back(), Some(Component::Normal(_))) => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// Both paths are normalized; the empty folder is the starting point, and `..` leads out of it.
fn lies_in(path: &Path, folder: &Path) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_ok_and(|rest| !matches!(rest.components().next(), Some(Component::ParentDir)))
}

/// The name of a file for people: `path` as seen from the file called `from`.
#[must_use]
pub fn display_name(from: &str, path: &str) -> String {
    let folder = Path::new(from).parent().unwrap_or(Path::new(""));
    normalize_path(&folder.join(path)).to_string_lossy().replace('\\', "/")
}

/// Files held in memory, by normalized path.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    texts: BTreeMap<PathBuf, String>,
}

impl Memory {
    /// Files from their paths and texts.
    #[must_use]
    pub fn new<P: AsRef<Path>, T: Into<String>>(files: impl IntoIterator<Item = (P, T)>) -> Self {
        Self { texts: files.into_iter().map(|(path, text)| (normalize_path(path.as_ref()), text.into())).collect() }
    }
}

impl Files for Memory {
    fn read(&self, folder: &Path, path: &str, inside: Option<&Path>) -> Result<FoundFile, FileError> {
        let key = normalize_path(&folder.join(relative_path(path)?));
        if inside.is_some_and(|inside| !lies_in(&key, &normalize_path(inside))) {
            return Err(FileError::Outside);
        }
        let text = self.texts.get(&key).ok_or(FileError::NotFound)?.clone();
        Ok(FoundFile { folder: key.parent().unwrap_or(Path::new("")).to_path_buf(), key, text })
    }

    fn names(&self, folder: &Path, path: &str) -> Vec<String> {
        let wanted = normalize_path(&folder.join(path)).parent().map(Path::to_path_buf);
        self.texts
            .keys()
            .filter(|key| key.parent().map(Path::to_path_buf) == wanted)
            .filter_map(|key| Some(key.file_name()?.to_string_lossy().into_owned()))
            .collect()
    }
}

#[cfg(test)]
#[cfg(feature = "files")]
mod tests {
    use super::*;

    #[test]
    fn paths_that_leave_the_machine_or_the_root_are_refused() {
        let disk = Disk::anywhere(1_000);
        for path in ["/etc/passwd", "file:///etc/passwd", "https://example.org/a.json", "~/a", "C:\\a", "\\\\host\\a"] {
            assert_eq!(disk.read(Path::new("."), path, None), Err(FileError::NotRelative), "{path}");
        }
    }

    #[test]
    fn a_link_out_of_the_folder_is_refused_where_it_has_to_stay_inside() {
        let root = tempfile::tempdir().unwrap();
        let (inside, outside) = (root.path().join("in"), root.path().join("secret.json"));
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(&outside, "{}").unwrap();
        let disk = Disk::anywhere(1_000);
        assert_eq!(disk.read(&inside, "../secret.json", Some(&inside)), Err(FileError::Outside));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&outside, inside.join("link.json")).unwrap();
            assert_eq!(disk.read(&inside, "link.json", Some(&inside)), Err(FileError::Outside));
        }
        assert_eq!(disk.read(&inside, "../secret.json", None).unwrap().text, "{}");
        let confined = Disk::within([inside.clone()], 1_000);
        for path in ["../secret.json", "../none.json", "../in2/none.json"] {
            assert_eq!(confined.read(&inside, path, None), Err(FileError::NotPermitted), "{path}");
            assert!(confined.names(&inside, path).is_empty(), "{path}");
        }
        assert_eq!(Disk::within([inside.join("..")], 1_000).read(&inside, "../secret.json", None).unwrap().text, "{}");
    }

    #[test]
    #[cfg(unix)]
    fn a_pipe_or_a_device_is_no_file_and_nobody_waits_for_it() {
        let root = tempfile::tempdir().unwrap();
        let disk = Disk::anywhere(1_000);
        let no_file = Err(FileError::Other("it is not a file".to_owned()));
        std::os::unix::fs::symlink("/dev/zero", root.path().join("zero.assert")).unwrap();
        assert_eq!(disk.read(root.path(), "zero.assert", None), no_file);
        let made = std::process::Command::new("mkfifo").arg(root.path().join("pipe.assert")).status();
        if made.is_ok_and(|status| status.success()) {
            assert_eq!(disk.read(root.path(), "pipe.assert", None), no_file);
        }
    }

    #[test]
    fn memory_and_disk_give_the_same_names() {
        let memory = Memory::new([("rules/a.assert", ""), ("rules/lib/b.assert", "x")]);
        assert_eq!(memory.read(Path::new("rules"), "./lib/b.assert", None).unwrap().text, "x");
        assert_eq!(memory.names(Path::new("rules"), "./lib/c.assert"), ["b.assert"]);
        // Sources of rules that lay above the folder in which they were compiled.
        let above = Memory::new([("../rules/tools.json", "{}")]);
        assert_eq!(above.read(Path::new("../rules"), "./tools.json", None).unwrap().text, "{}");
        assert_eq!(
            above.read(Path::new("../rules"), "../x.json", Some(Path::new("../rules"))),
            Err(FileError::Outside)
        );
        // The folder in which names start, which has none itself.
        let here = Memory::new([("a.json", "{}"), ("../b.json", "{}")]);
        assert_eq!(here.read(Path::new(""), "./a.json", Some(Path::new(""))).unwrap().text, "{}");
        for path in ["../b.json", "../c.json", "x/../../b.json"] {
            assert_eq!(here.read(Path::new(""), path, Some(Path::new(""))), Err(FileError::Outside), "{path}");
        }
        assert_eq!(display_name("rules/a.assert", "./lib/b.assert"), "rules/lib/b.assert");
        assert_eq!(display_name("rules/lib/b.assert", "../a.assert"), "rules/a.assert");
    }
}
