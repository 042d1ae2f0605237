//! Files that a suite or a policy names.

use super::AssayLowering;
use crate::yaml::{self, YamlNode, YamlSchema};
use averment_base::diagnostic::Slug;
use averment_base::source::{SourceFile, Span};
use averment_checker::files::display_name;

impl AssayLowering<'_, '_> {
    /// Reads a document; `path` is relative to the file that names it.
    pub(super) fn read_document(&mut self, path: &str, place: Span) -> Option<YamlNode> {
        let from = self.low.sources.get(place.file)?;
        let (name, folder) = (display_name(&from.name, path), from.folder.clone().unwrap_or_default());
        let found = match self.low.files.read(&folder, path, None) {
            Ok(found) => found,
            Err(error) => {
                let help = "paths are relative to the file that names them";
                self.low.sink.error(Slug::MissingFile, place, error.describe_for(path), help);
                return None;
            }
        };
        let known = self.low.sources.iter().find(|(_, file)| file.name == name && *file.text == found.text);
        let known = known.map(|(id, _)| id);
        let text = found.text.clone();
        let new = || SourceFile::new(name, Some(&found.folder), found.text);
        let file = known.unwrap_or_else(|| self.low.sources.add_file(new()));
        match yaml::parse_document(&text, file, YamlSchema::Core) {
            Ok(document) => Some(document),
            Err(error) => {
                self.low.sink.diagnostics.0.push(*error);
                None
            }
        }
    }

    /// Resolves a reference such as `file.yaml#/definitions/id`, or a location in `root`.
    pub(super) fn resolve_reference(&mut self, node: &YamlNode, root: &YamlNode) -> Option<YamlNode> {
        let reference = self.low.sink.as_text(node, "`$ref`")?;
        let (path, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let document = if path.is_empty() { root.clone() } else { self.read_document(path, node.span)? };
        let mut found = Some(&document);
        for key in pointer.split('/').filter(|key| !key.is_empty()) {
            let key = key.replace("~1", "/").replace("~0", "~");
            found = found.and_then(|inside| inside.get(&key));
        }
        if found.is_none() {
            let message = format!("`{reference}` leads nowhere: there is no `{pointer}`");
            self.low.sink.error(Slug::MissingFile, node.span, message, "write `FILE#/definitions/NAME`");
        }
        found.cloned()
    }
}
