//! Operands: paths and values.

use super::PackLowering;
use super::names::PathRoots;
use crate::jsonpath::ForeignPath;
use crate::yaml::YamlNode;
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

pub(super) enum PackOperand {
    Path(Span, String),
    Value(YamlNode),
}
impl PackLowering<'_, '_> {
    pub(super) fn path_root<'n>(&mut self, node: &YamlNode, text: &'n str, names: &PathRoots) -> Option<&'n str> {
        if names.each_tool && text.contains("{{tool_name}}") {
            let help = "write `$.tool.name` into an operand of its own, or a path that holds for all tools";
            self.lowering.sink.error(
                Slug::BadJsonPath,
                node.span,
                "a path cannot depend on the name of the tool",
                help,
            );
            return None;
        }
        let behind = text.strip_prefix('$');
        if behind.is_none() {
            let help = format!("write `$.response.{}`", text.trim_start_matches(['.', '$']));
            self.lowering.sink.error(Slug::BadJsonPath, node.span, "a JSONPath begins with `$`", help);
        }
        behind
    }

    pub(super) fn value_at(&mut self, node: &YamlNode, names: &PathRoots) -> Option<(Span, String)> {
        let text = self.lowering.sink.as_text(node, "a path")?;
        let behind = self.path_root(node, text, names)?;
        Some((node.span, names.first_value(&ForeignPath::behind_root(behind))))
    }

    pub(super) fn read_operand(&mut self, node: &YamlNode, names: &PathRoots) -> Option<PackOperand> {
        if let Some(path) = node.get("path").filter(|path| path.as_text().is_some()) {
            self.ignored_keys(node, "path");
            return self.value_at(path, names).map(|(place, text)| PackOperand::Path(place, text));
        }
        if let Some(value) = node.get("value") {
            self.ignored_keys(node, "value");
            return Some(PackOperand::Value(value.clone()));
        }
        match node.as_text() {
            Some(text) if text.starts_with('$') => {
                self.value_at(node, names).map(|(place, text)| PackOperand::Path(place, text))
            }
            _ => Some(PackOperand::Value(node.clone())),
        }
    }

    /// Reports keys that have no effect.
    fn ignored_keys(&mut self, node: &YamlNode, counts: &str) {
        for (key, _) in node.entries().iter().filter(|(key, _)| key.as_text() != Some(counts)) {
            let message = format!("`{}` says nothing beside `{counts}`", key.key_text());
            self.lowering.sink.warning(Slug::UnknownField, key.span, message, "take it out");
        }
    }
}
