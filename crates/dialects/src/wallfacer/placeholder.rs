//! Placeholders in the arguments of a sequence: `{{steps.made.response.id}}` stands for what an earlier step answered.

use super::Sentences;
use super::names::Names;
use crate::jsonpath::Path;
use crate::writer::object_key;
use crate::writer::quoted;
use crate::yaml::{Node, Value};
use averment_base::diagnostic::Slug;

/// A step in front of the one that is read.
pub(super) struct Earlier {
    /// Under which name the pack knows it.
    pub bind: Option<String>,
    /// The `let` that holds its call.
    pub variable: String,
}

/// A placeholder.
pub(super) struct Placeholder {
    /// The step that it names, by number.
    pub step: usize,
    /// The path behind it, from `{input, response}` on.
    pub path: Path,
}

/// A piece of an argument's text.
pub(super) enum Piece<'s> {
    Text(&'s str),
    Placeholder(Placeholder),
}

impl Sentences<'_, '_> {
    /// The pieces of a text; said where it holds what is no placeholder.
    pub(super) fn pieces<'s>(&mut self, node: &Node, text: &'s str, earlier: &[Earlier]) -> Option<Vec<Piece<'s>>> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            let Some((inside, after)) = behind.split_once("}}") else {
                let help = "end the placeholder with `}}`";
                self.lowering.said.error(Slug::Unclosed, node.span, "a placeholder has no end", help);
                return None;
            };
            pieces.push(Piece::Text(before));
            pieces.push(Piece::Placeholder(self.placeholder(node, inside.trim(), earlier)?));
            rest = after;
        }
        pieces.push(Piece::Text(rest));
        pieces.retain(|piece| !matches!(piece, Piece::Text("")));
        Some(pieces)
    }

    fn placeholder(&mut self, node: &Node, text: &str, earlier: &[Earlier]) -> Option<Placeholder> {
        let said = &mut self.lowering.said;
        let Some(named) = text.strip_prefix("steps.") else {
            let message = format!("a placeholder of a sequence begins with `steps.`: `{{{{{text}}}}}`");
            said.error(Slug::UnknownName, node.span, message, "write `{{steps.NAME.response.…}}`");
            return None;
        };
        let end = named.find(['.', '[']).unwrap_or(named.len());
        let (name, tail) = named.split_at_checked(end)?;
        let Some(step) = earlier.iter().rposition(|step| step.bind.as_deref() == Some(name)) else {
            let known: Vec<&str> = earlier.iter().filter_map(|step| step.bind.as_deref()).collect();
            let help = match averment_base::diagnostic::suggest::nearest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write `bind: {name}` at the step that it stands for"),
            };
            said.error(
                Slug::UnknownName,
                node.span,
                format!("no step in front of this one is bound as `{name}`"),
                help,
            );
            return None;
        };
        // Brackets may stand behind a dot: `.response.['a b']`.
        Some(Placeholder { step, path: Path::behind_root(tail) })
    }

    /// An argument as an expression. What it takes from earlier steps is noted: by number, with the expression.
    pub(super) fn argument(
        &mut self,
        node: &Node,
        earlier: &[Earlier],
        taken: &mut Vec<(usize, String)>,
    ) -> Option<String> {
        match &node.value {
            Value::Text(text) => {
                let trimmed = text.trim();
                let pieces = self.pieces(
                    node,
                    if trimmed.starts_with("{{") && trimmed.ends_with("}}") { trimmed } else { text },
                    earlier,
                )?;
                if let [Piece::Placeholder(one)] = pieces.as_slice() {
                    return self.reached(one, earlier, taken);
                }
                if !pieces.iter().any(|piece| matches!(piece, Piece::Placeholder(_))) {
                    return Some(quoted(text));
                }
                // Around several placeholders white space counts.
                let pieces = self.pieces(node, text, earlier)?;
                let mut out = String::from("\"");
                for piece in &pieces {
                    match piece {
                        Piece::Text(text) => {
                            let quoted = quoted(text);
                            out.push_str(quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or(""));
                        }
                        Piece::Placeholder(one) => {
                            out.push_str(&format!("${{{}}}", self.reached(one, earlier, taken)?))
                        }
                    }
                }
                out.push('"');
                Some(out)
            }
            Value::List(items) => {
                let items: Option<Vec<String>> = items.iter().map(|item| self.argument(item, earlier, taken)).collect();
                Some(format!("[{}]", items?.join(", ")))
            }
            Value::Map(entries) if !entries.is_empty() => {
                let mut parts = Vec::new();
                for (key, value) in entries {
                    parts.push(format!("{}: {}", object_key(&key.key()), self.argument(value, earlier, taken)?));
                }
                Some(format!("{{ {} }}", parts.join(", ")))
            }
            _ => Some(crate::writer::literal(node)),
        }
    }

    fn reached(&mut self, one: &Placeholder, earlier: &[Earlier], taken: &mut Vec<(usize, String)>) -> Option<String> {
        let step = earlier.get(one.step)?;
        let names = Names::of_step(&step.variable);
        let text = match one.path.steps.is_empty() && one.path.rest.is_empty() {
            true => {
                format!("{{ input: {}, response: {} }}", names.input, names.response)
            }
            false => {
                let text = names.value(&one.path);
                taken.push((one.step, text.clone()));
                text
            }
        };
        Some(text)
    }
}

/// What stands in a fixture in place of an argument; `None` where a placeholder leads nowhere.
pub(super) fn made(node: &Node, pieces: &dyn Fn(&Node, &str) -> Option<Value>) -> Option<Node> {
    let value = match &node.value {
        Value::Text(text) => pieces(node, text)?,
        Value::List(items) => Value::List(items.iter().map(|item| made(item, pieces)).collect::<Option<_>>()?),
        Value::Map(entries) => {
            let entry = |(key, value): &(Node, Node)| Some((key.clone(), made(value, pieces)?));
            Value::Map(entries.iter().map(entry).collect::<Option<_>>()?)
        }
        other => other.clone(),
    };
    Some(Node { value, span: node.span })
}
