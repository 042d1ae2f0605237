//! Operands: paths and values.

use super::Sentences;
use super::names::Names;
use crate::jsonpath::Path;
use crate::yaml::Node;
use averment_base::diagnostic::Slug;
use averment_base::source::Span;

/// What stands on a side of a comparison.
pub(super) enum Operand {
    Path(Span, String),
    Value(Node),
}
impl Sentences<'_, '_> {
    /// What stands behind `$` in a path.
    pub(super) fn root<'n>(&mut self, node: &Node, text: &'n str, names: &Names) -> Option<&'n str> {
        if names.each_tool && text.contains("{{tool_name}}") {
            let help = "write `$.tool.name` into an operand of its own, or a path that holds for all tools";
            self.lowering.said.error(
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
            self.lowering.said.error(Slug::BadJsonPath, node.span, "a JSONPath begins with `$`", help);
        }
        behind
    }

    /// The expression of a path.
    pub(super) fn value_at(&mut self, node: &Node, names: &Names) -> Option<(Span, String)> {
        let text = self.lowering.said.as_text(node, "a path")?;
        let behind = self.root(node, text, names)?;
        Some((node.span, names.value(&Path::behind_root(behind))))
    }

    /// An operand: a path, or a value.
    pub(super) fn operand(&mut self, node: &Node, names: &Names) -> Option<Operand> {
        if let Some(path) = node.get("path").filter(|path| path.text().is_some()) {
            self.beside(node, "path");
            return self.value_at(path, names).map(|(place, text)| Operand::Path(place, text));
        }
        if let Some(value) = node.get("value") {
            self.beside(node, "value");
            return Some(Operand::Value(value.clone()));
        }
        match node.text() {
            Some(text) if text.starts_with('$') => {
                self.value_at(node, names).map(|(place, text)| Operand::Path(place, text))
            }
            _ => Some(Operand::Value(node.clone())),
        }
    }

    /// Says which keys of an operand mean nothing.
    fn beside(&mut self, node: &Node, counts: &str) {
        for (key, _) in node.entries().iter().filter(|(key, _)| key.text() != Some(counts)) {
            let message = format!("`{}` says nothing beside `{counts}`", key.key());
            self.lowering.said.warning(Slug::UnknownField, key.span, message, "take it out");
        }
    }
}
