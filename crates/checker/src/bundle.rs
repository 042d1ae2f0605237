//! References of a schema to other files: each file becomes a definition inside the schema, so that it stands alone from then on.
//! Nothing is fetched from a network, and no reference leads out of the folder of the rules.

use super::Checker;
use super::files::FileError;
use super::reading::DataFile;
use averment_base::source::FileId;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Files that one schema may consist of.
const FILES: usize = 100;

/// Keys whose values are data, not schemas.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];

struct SchemaBundle {
    /// All referenced files have to lie in this folder.
    inside: PathBuf,
    known: Vec<(PathBuf, String)>,
    definitions: Map<String, Value>,
    ids: BTreeSet<String>,
}

#[derive(Clone)]
struct ReferenceSite {
    folder: PathBuf,
    file: FileId,
    /// The definition that the document became; empty for the schema itself.
    definition: String,
}

impl Checker<'_> {
    /// The schema with referenced files inlined; an error names the reference that cannot be resolved.
    pub(super) fn bundle_schema(
        &mut self,
        mut schema: Value,
        folder: &Path,
        file: FileId,
        inside: PathBuf,
    ) -> Result<Value, String> {
        let mut bundle = SchemaBundle { inside, known: Vec::new(), definitions: Map::new(), ids: BTreeSet::new() };
        collect_ids(&schema, &mut bundle.ids);
        let from = ReferenceSite { folder: folder.to_path_buf(), file, definition: String::new() };
        self.resolve_references(&mut schema, &from, &mut bundle)?;
        if let (false, Some(root)) = (bundle.definitions.is_empty(), schema.as_object_mut()) {
            let all = root.entry("$defs").or_insert_with(|| Value::Object(Map::new()));
            if let Some(all) = all.as_object_mut() {
                all.extend(bundle.definitions);
            }
        }
        Ok(schema)
    }

    fn resolve_references(
        &mut self,
        value: &mut Value,
        from: &ReferenceSite,
        bundle: &mut SchemaBundle,
    ) -> Result<(), String> {
        match value {
            Value::Array(values) => {
                values.iter_mut().try_for_each(|value| self.resolve_references(value, from, bundle))
            }
            Value::Object(entries) => {
                for (key, value) in entries.iter_mut() {
                    match value {
                        Value::String(reference) if key == "$ref" => {
                            *reference = self.resolve_reference(reference, from, bundle)?;
                        }
                        _ if DATA.contains(&key.as_str()) => {}
                        _ => self.resolve_references(value, from, bundle)?,
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn resolve_reference(
        &mut self,
        reference: &str,
        from: &ReferenceSite,
        bundle: &mut SchemaBundle,
    ) -> Result<String, String> {
        let (path, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        if path.is_empty() {
            return Ok(if from.definition.is_empty() {
                reference.to_owned()
            } else {
                definition_pointer(&from.definition, fragment)
            });
        }
        if bundle.ids.contains(path) || path.contains("json-schema.org/") {
            return Ok(reference.to_owned());
        }
        let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned();
        let found = self
            .options
            .files
            .read(&from.folder, &path, Some(&bundle.inside))
            .map_err(|error| refused_reference(reference, &error))?;
        let definition = match bundle.known.iter().find(|(key, _)| *key == found.key) {
            Some((_, definition)) => definition.clone(),
            None => {
                let data = self.add_data(from.file, &path, found);
                self.embed_file(&path, data, bundle)?
            }
        };
        Ok(definition_pointer(&definition, fragment))
    }

    fn embed_file(&mut self, path: &str, data: DataFile, bundle: &mut SchemaBundle) -> Result<String, String> {
        if bundle.known.len() >= FILES {
            return Err(format!("it consists of more than {FILES} files"));
        }
        let name =
            Path::new(path).file_name().map_or_else(|| "file".to_owned(), |name| name.to_string_lossy().into_owned());
        let definition = format!("{name} {}", bundle.known.len().saturating_add(1));
        bundle.known.push((data.key.clone(), definition.clone()));
        let mut value: Value =
            serde_json::from_str(&data.text).map_err(|error| format!("`{path}` is not JSON: {error}"))?;
        if let Some(root) = value.as_object_mut() {
            for key in ["$id", "id", "$schema"] {
                if root.get(key).is_some_and(Value::is_string) {
                    root.remove(key);
                }
            }
        }
        let from = ReferenceSite { folder: data.folder, file: data.id, definition: definition.clone() };
        self.resolve_references(&mut value, &from, bundle)?;
        bundle.definitions.insert(definition.clone(), value);
        Ok(definition)
    }
}

fn definition_pointer(definition: &str, fragment: &str) -> String {
    let name = definition.replace('~', "~0").replace('/', "~1");
    let name = percent_encoding::utf8_percent_encode(&name, percent_encoding::NON_ALPHANUMERIC);
    match fragment {
        "" => format!("#/$defs/{name}"),
        anchor if !anchor.starts_with('/') => format!("#{anchor}"),
        inner => format!("#/$defs/{name}{inner}"),
    }
}

fn collect_ids(value: &Value, ids: &mut BTreeSet<String>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect_ids(value, ids)),
        Value::Object(entries) => {
            for (key, value) in entries {
                match value {
                    Value::String(id) if key == "$id" || key == "id" => {
                        ids.insert(id.trim_end_matches('#').to_owned());
                    }
                    _ => collect_ids(value, ids),
                }
            }
        }
        _ => {}
    }
}

fn refused_reference(reference: &str, error: &FileError) -> String {
    match error {
        FileError::NotFound => format!("the file of `\"$ref\": \"{reference}\"` does not exist"),
        FileError::NotRelative => format!(
            "`\"$ref\": \"{reference}\"` leads out of the folder of the rules: schemas are never downloaded: copy the file next to the rules"
        ),
        FileError::Outside => format!("`\"$ref\": \"{reference}\"` leads out of the folder of the rules"),
        FileError::NotPermitted => {
            format!("`\"$ref\": \"{reference}\"` leads out of the folders that these rules may read")
        }
        FileError::TooLarge(limit) => format!("the file of `\"$ref\": \"{reference}\"` is larger than {limit} bytes"),
        FileError::NotText => format!("the file of `\"$ref\": \"{reference}\"` is not UTF-8 text"),
        FileError::Other(why) => format!("the file of `\"$ref\": \"{reference}\"` cannot be read: {why}"),
    }
}
