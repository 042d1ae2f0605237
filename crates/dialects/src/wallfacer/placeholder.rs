//! Placeholders in the arguments of a sequence, such as `{{steps.made.response.id}}` for part of an earlier step's response.

use super::PackLowering;
use super::names::PathRoots;
use crate::jsonpath::ForeignPath;
use crate::writer::object_key;
use crate::writer::quote_text;
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;

pub(super) struct EarlierStep {
    /// The name that the pack gives to the step.
    pub bind: Option<String>,
    /// The `let` variable that holds its call.
    pub variable: String,
}

pub(super) struct StepPlaceholder {
    /// The index of the step that it refers to.
    pub step: usize,
    /// The path after it, from `{input, response}` on.
    pub path: ForeignPath,
}

pub(super) enum ArgumentPiece<'s> {
    Text(&'s str),
    Placeholder(StepPlaceholder),
}

impl PackLowering<'_, '_> {
    /// Splits a text into pieces; reports an invalid placeholder.
    pub(super) fn split_pieces<'s>(
        &mut self,
        node: &YamlNode,
        text: &'s str,
        earlier: &[EarlierStep],
    ) -> Option<Vec<ArgumentPiece<'s>>> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            let Some((inside, after)) = behind.split_once("}}") else {
                let help = "end the placeholder with `}}`";
                self.lowering.sink.error(Slug::Unclosed, node.span, "a placeholder has no end", help);
                return None;
            };
            pieces.push(ArgumentPiece::Text(before));
            pieces.push(ArgumentPiece::Placeholder(self.read_placeholder(node, inside.trim(), earlier)?));
            rest = after;
        }
        pieces.push(ArgumentPiece::Text(rest));
        pieces.retain(|piece| !matches!(piece, ArgumentPiece::Text("")));
        Some(pieces)
    }

    fn read_placeholder(&mut self, node: &YamlNode, text: &str, earlier: &[EarlierStep]) -> Option<StepPlaceholder> {
        let said = &mut self.lowering.sink;
        let Some(named) = text.strip_prefix("steps.") else {
            let message = format!("a placeholder of a sequence begins with `steps.`: `{{{{{text}}}}}`");
            said.error(Slug::UnknownName, node.span, message, "write `{{steps.NAME.response.…}}`");
            return None;
        };
        let end = named.find(['.', '[']).unwrap_or(named.len());
        let (name, tail) = named.split_at_checked(end)?;
        let Some(step) = earlier.iter().rposition(|step| step.bind.as_deref() == Some(name)) else {
            let known: Vec<&str> = earlier.iter().filter_map(|step| step.bind.as_deref()).collect();
            let help = match averment_base::diagnostic::suggest::suggest_name(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write `bind: {name}` at the step that it refers to"),
            };
            said.error(Slug::UnknownName, node.span, format!("no step before this one is bound as `{name}`"), help);
            return None;
        };
        // A bracket may follow a dot: `.response.['a b']`.
        Some(StepPlaceholder { step, path: ForeignPath::behind_root(tail) })
    }

    /// Writes an argument; records the index and the expression of each earlier step that it uses.
    pub(super) fn argument_expression(
        &mut self,
        node: &YamlNode,
        earlier: &[EarlierStep],
        taken: &mut Vec<(usize, String)>,
    ) -> Option<String> {
        let is_plain = node.as_text().is_none_or(|text| !text.contains("{{"));
        if let Some(literal) = self.kept.scalar_literal(node).filter(|_| is_plain) {
            return Some(literal);
        }
        match &node.value {
            YamlValue::Text(text) => {
                let trimmed = text.trim();
                let pieces = self.split_pieces(
                    node,
                    if trimmed.starts_with("{{") && trimmed.ends_with("}}") { trimmed } else { text },
                    earlier,
                )?;
                if let [ArgumentPiece::Placeholder(one)] = pieces.as_slice() {
                    return self.placeholder_expression(one, earlier, taken);
                }
                if !pieces.iter().any(|piece| matches!(piece, ArgumentPiece::Placeholder(_))) {
                    return Some(quote_text(text));
                }
                // White space around several placeholders is significant.
                let pieces = self.split_pieces(node, text, earlier)?;
                let mut out = String::from("\"");
                for piece in &pieces {
                    match piece {
                        ArgumentPiece::Text(text) => {
                            let quoted = quote_text(text);
                            out.push_str(quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or(""));
                        }
                        ArgumentPiece::Placeholder(one) => {
                            out.push_str(&format!("${{{}}}", self.placeholder_expression(one, earlier, taken)?))
                        }
                    }
                }
                out.push('"');
                Some(out)
            }
            YamlValue::List(items) => {
                let items: Option<Vec<String>> =
                    items.iter().map(|item| self.argument_expression(item, earlier, taken)).collect();
                Some(format!("[{}]", items?.join(", ")))
            }
            YamlValue::Map(entries) if !entries.is_empty() => {
                let mut parts = Vec::new();
                for (key, value) in entries {
                    parts.push(format!(
                        "{}: {}",
                        object_key(&key.key_text()),
                        self.argument_expression(value, earlier, taken)?
                    ));
                }
                Some(format!("{{ {} }}", parts.join(", ")))
            }
            _ => Some(crate::writer::value_literal(node)),
        }
    }

    fn placeholder_expression(
        &mut self,
        one: &StepPlaceholder,
        earlier: &[EarlierStep],
        taken: &mut Vec<(usize, String)>,
    ) -> Option<String> {
        let step = earlier.get(one.step)?;
        let names = PathRoots::step_roots(&step.variable);
        let text = match one.path.steps.is_empty() && one.path.rest.is_empty() {
            true => {
                format!("{{ input: {}, response: {} }}", names.input, names.response)
            }
            false => {
                let text = names.first_value(&one.path);
                taken.push((one.step, text.clone()));
                text
            }
        };
        Some(text)
    }
}

/// Fills in the placeholders of a fixture; returns `None` if a placeholder has no value.
pub(super) fn fill_fixture(node: &YamlNode, pieces: &dyn Fn(&YamlNode, &str) -> Option<YamlValue>) -> Option<YamlNode> {
    let value = match &node.value {
        YamlValue::Text(text) => pieces(node, text)?,
        YamlValue::List(items) => {
            YamlValue::List(items.iter().map(|item| fill_fixture(item, pieces)).collect::<Option<_>>()?)
        }
        YamlValue::Map(entries) => {
            let entry = |(key, value): &(YamlNode, YamlNode)| Some((key.clone(), fill_fixture(value, pieces)?));
            YamlValue::Map(entries.iter().map(entry).collect::<Option<_>>()?)
        }
        other => other.clone(),
    };
    Some(YamlNode { value, span: node.span })
}
