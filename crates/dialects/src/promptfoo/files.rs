//! Reads the files that a config refers to: values, tests, configs. They have to be in the folder of the config.

use super::asserted::KindContext;
use super::values::{parse_json, text_node};
use crate::Lowering;
use crate::yaml::{self, YamlNode, YamlSchema, YamlValue};
use averment_base::diagnostic::Slug;
use averment_base::source::{FileId, SourceFile, Span};
use averment_base::value::glob::matches_wildcard;
use averment_checker::files::{FileError, display_name};

/// The content of a file that an assertion refers to.
pub(super) enum FileValue {
    Value(YamlNode),
    /// The file is a program, which is never executed.
    Code,
}

/// Maximum number of files that one pattern may match.
const MATCHES: usize = 1000;

/// A file after reading.
pub(crate) struct ReadFile {
    pub(crate) id: FileId,
    pub(crate) text: String,
}

fn ending(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or("")
}

/// True if a path refers to a program.
pub(crate) fn is_code(path: &str) -> bool {
    let path = path.rsplit_once(':').filter(|(path, _)| path.contains('.')).map_or(path, |(path, _)| path);
    ["js", "mjs", "cjs", "ts", "mts", "cts", "py", "rb", "go", "sh"].contains(&ending(path))
}

/// True if a path refers to an image, audio, video or document file, which promptfoo passes to the model as bytes.
pub(crate) fn is_media(path: &str) -> bool {
    const MEDIA: &[&str] = &[
        "avif", "bmp", "gif", "heic", "jpeg", "jpg", "mov", "mp3", "mp4", "ogg", "pdf", "png", "svg", "tif", "tiff",
        "wav", "webm", "webp",
    ];
    MEDIA.contains(&ending(path).to_lowercase().as_str())
}

/// Reads a file relative to the file that contains `place`.
pub(crate) fn read_beside(path: &str, place: Span, lowering: &mut Lowering<'_>) -> Result<ReadFile, FileError> {
    let from = lowering.sources.get(place.file).or_else(|| lowering.sources.get(lowering.root));
    let (name, folder) =
        from.map(|from| (display_name(&from.name, path), from.folder.clone().unwrap_or_default())).unwrap_or_default();
    let found = lowering.files.read(&folder, path, Some(&folder))?;
    let known = lowering.sources.iter().find(|(_, file)| file.name == name && *file.text == found.text);
    let known = known.map(|(id, _)| id);
    let text = found.text.clone();
    let id = known.unwrap_or_else(|| lowering.sources.add_file(SourceFile::new(name, Some(&found.folder), found.text)));
    Ok(ReadFile { id, text })
}

/// Reads the value of an assertion from a file.
pub(super) fn read_value(
    reference: &str,
    place: Span,
    context: &mut KindContext<'_, '_>,
) -> Result<FileValue, Option<String>> {
    let path = reference.strip_prefix("file://").unwrap_or(reference);
    if is_code(path) {
        return Ok(FileValue::Code);
    }
    let said = match read_beside(path, place, context.lowering) {
        Ok(file) => match document_of(path, &file) {
            Ok(mut value) => {
                if let YamlValue::Text(text) = &mut value.value {
                    *text = text.trim().to_owned();
                }
                return Ok(FileValue::Value(value));
            }
            Err(error) => (error.span, error.message.clone()),
        },
        Err(error) => (place, error.describe_for(path)),
    };
    Err(context.unusable(said.0, Slug::MissingFile, said.1, "paths are relative to the file that names them"))
}

/// Returns the value of a file: YAML and JSON are parsed, any other file is a text.
pub(crate) fn document_of(path: &str, file: &ReadFile) -> Result<YamlNode, Box<averment_base::diagnostic::Diagnostic>> {
    match ending(path) {
        "yaml" | "yml" => yaml::parse_document(&file.text, file.id, YamlSchema::Core),
        "json" => parse_json(&file.text, 0, file.id),
        _ => Ok(text_node(file.text.clone(), Span::new(file.id, 0, file.text.len()))),
    }
}

/// Returns the values of a JSON Lines file as a list.
pub(crate) fn lines_of(file: &ReadFile) -> Result<YamlNode, Box<averment_base::diagnostic::Diagnostic>> {
    let mut items = Vec::new();
    let mut at = 0_usize;
    for line in file.text.split_inclusive('\n') {
        if !line.trim().is_empty() {
            items.push(parse_json(line.trim_end(), at, file.id)?);
        }
        at = at.saturating_add(line.len());
    }
    Ok(YamlNode { value: YamlValue::List(items), span: Span::new(file.id, 0, file.text.len()) })
}

/// Returns the paths that match a path or a pattern, in the order of their names.
pub(crate) fn matching_paths(path: &str, place: Span, lowering: &Lowering<'_>) -> Vec<String> {
    if !path.contains(['*', '?', '[', '{']) {
        return vec![path.to_owned()];
    }
    let folder = lowering.sources.get(place.file).and_then(|from| from.folder.clone()).unwrap_or_default();
    let mut known = vec![String::new()];
    let parts: Vec<&str> = path.trim_start_matches("./").split('/').collect();
    for (at, part) in parts.iter().enumerate() {
        let is_last = at.saturating_add(1) == parts.len();
        let mut next = Vec::new();
        for before in &known {
            if *part == "**" {
                next.extend(folders_below(before, &folder, lowering));
            } else if part.contains(['*', '?']) {
                let names = lowering.files.names(&folder, &format!("{before}x"));
                let fitting = names.into_iter().filter(|name| !name.starts_with('.') && matches_wildcard(part, name));
                next.extend(fitting.map(|name| format!("{before}{name}{}", if is_last { "" } else { "/" })));
            } else {
                next.push(format!("{before}{part}{}", if is_last { "" } else { "/" }));
            }
        }
        next.truncate(MATCHES);
        known = next;
    }
    known
}

/// Returns a folder and the folders below it.
fn folders_below(before: &str, folder: &std::path::Path, lowering: &Lowering<'_>) -> Vec<String> {
    const DEEP: usize = 6;
    let mut found = vec![before.to_owned()];
    let mut level = vec![before.to_owned()];
    for _ in 0..DEEP {
        let mut below = Vec::new();
        for inside in &level {
            let names = lowering.files.names(folder, &format!("{inside}x"));
            // A name with an extension is taken for a file, because checking each name would be slow.
            let folders = names.into_iter().filter(|name| !name.contains('.') && name != "node_modules");
            below.extend(folders.map(|name| format!("{inside}{name}/")));
            if below.len() > MATCHES {
                return found;
            }
        }
        if below.is_empty() {
            break;
        }
        found.extend(below.iter().cloned());
        level = below;
    }
    found
}
