//! Files that rules name beside other rules: catalogues, schemas, recorded runs. Each becomes a source of its own, so that
//! compiled rules carry it and messages can point into it.

use super::Checker;
use super::files::display_name;
use super::load::cannot_read;
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::{FileId, SourceFile, Span};
use averment_syntax::ast;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that was read.
pub struct DataFile {
    /// Its number in the source map.
    pub id: FileId,
    /// Where its own relative paths start.
    pub folder: PathBuf,
    /// Canonical path; identifies the file.
    pub key: PathBuf,
    /// Its text.
    pub text: Arc<str>,
}

impl Checker<'_> {
    pub(super) fn read_named(&mut self, file: usize, name: &ast::Name) -> Option<DataFile> {
        let entry = self.loaded.get(file)?;
        let (folder, rules) = (entry.folder.clone(), entry.id);
        match self.options.files.read(&folder, &name.text, None) {
            Ok(found) => Some(self.add_data(rules, &name.text, found)),
            Err(error) => {
                let diagnostic = cannot_read(self.options.files, &folder, name, &error);
                self.report_diagnostic(diagnostic);
                None
            }
        }
    }

    pub(super) fn add_data(&mut self, from: FileId, path: &str, found: super::files::FoundFile) -> DataFile {
        let from = self.map.get(from).map(|file| file.name.clone()).unwrap_or_default();
        let name = display_name(&from, path);
        let known = self.map.iter().find(|(_, file)| file.name == name && *file.text == *found.text).map(|(id, _)| id);
        let id = known
            .unwrap_or_else(|| self.map.add_file(SourceFile::data_file(name, Some(&found.folder), found.text.clone())));
        DataFile { id, folder: found.folder, key: found.key, text: found.text.into() }
    }

    pub(super) fn parse_json(&mut self, data: &DataFile, name: &str, place: Span) -> Option<Value> {
        match serde_json::from_str(&data.text) {
            Ok(value) => Some(value),
            Err(error) => {
                let at = byte_offset(&data.text, error.line(), error.column());
                let (line, column) = (error.line(), error.column().max(1));
                self.report_diagnostic(
                    Diagnostic::new(
                        Slug::BadJson,
                        place,
                        format!("the file `{name}` is not JSON (line {line}, column {column})"),
                    )
                    .with_other(Span::new(data.id, at, at), json_reason(&error))
                    .with_help(
                        "correct the file: put every key in quotes, and remove the comma after the last element",
                    ),
                );
                None
            }
        }
    }

    /// Folder that schema references must stay in: the rules' own, or the schema's if it lies elsewhere.
    pub(super) fn schema_root(&self, file: usize, folder: &Path) -> PathBuf {
        let rules = self.loaded.get(file).map(|entry| entry.folder.clone()).unwrap_or_default();
        let inside = super::files::normalize_path(folder).starts_with(super::files::normalize_path(&rules));
        if inside { rules } else { folder.to_path_buf() }
    }
}

fn byte_offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let at = start.saturating_add(column.saturating_sub(1)).min(text.len());
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

fn json_reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(reason, _)| reason.to_owned())
}
