//! Test helper: a temporary folder in which `aver` is run.

#![allow(dead_code, reason = "not every test program uses all of it")]

use assert_cmd::Command;
use std::path::Path;
use tempfile::TempDir;

/// A temporary folder with files.
pub struct Folder(TempDir);

impl Folder {
    /// Creates a folder with these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(name, text)| folder.write(name, text.as_bytes()));
        folder
    }

    /// Writes a file, with its folders.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// The text of a file.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs `aver` with a command line.
    pub fn aver(&self, line: &str) -> Ran {
        self.aver_with(line, "")
    }

    /// Runs `aver` with text on standard input.
    pub fn aver_with(&self, line: &str, input: &str) -> Ran {
        self.aver_in(line, input, 80)
    }

    /// Runs `aver` with text on standard input, and with this terminal width.
    pub fn aver_in(&self, line: &str, input: &str, columns: usize) -> Ran {
        let words = shell_words::split(line).unwrap();
        let mut command = Command::cargo_bin("aver").unwrap();
        command.current_dir(self.path()).env("COLUMNS", columns.to_string()).args(words);
        let output = command.write_stdin(input).output().unwrap();
        Ran {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The exit code and output of a command.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Asserts a usage error: exit code 2, empty standard output, and an error message with all of these parts.
    #[track_caller]
    pub fn refused(&self, said: &[&str]) {
        assert_eq!((self.code, self.out.as_str()), (2, ""), "{self:?}");
        said.iter().for_each(|part| assert!(self.err.contains(part), "{part:?} is not said: {}", self.err));
    }

    /// Parses standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Compares with a snapshot in `tests/golden/testing`.
#[track_caller]
pub fn golden(name: &str, text: &str) {
    let _scope = averment_fixtures::snapshots_in("tests/golden/testing");
    insta::assert_snapshot!(name, text);
}
