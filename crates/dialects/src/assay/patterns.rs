//! Regular expressions in JSON Schemas with lookaround or backreferences. Schemas of the rule language run in linear time, so these are asserted
//! separately.

use super::AssayLowering;
use super::schemas::synthetic_node;
use super::select::argument_path;
use super::sentence::AssayAssertion;
use crate::regex_flavour::{TranslatedRegex, translate_javascript};
use crate::writer::member_path;
use crate::yaml::{YamlNode, YamlValue};

/// A regular expression that needs backtracking, which a schema of the rule language rejects.
struct BacktrackingPattern {
    path: String,
    literal: TranslatedRegex,
    place: averment_base::source::Span,
}

impl AssayLowering<'_, '_> {
    pub(super) fn fits_schema(&mut self, tool: &str, name: &YamlNode, schema: &YamlNode) -> AssayAssertion {
        let mut beyond = Vec::new();
        let schema = &without_backtracking(schema, None, &mut beyond);
        let declared = self.schema_name(&format!("{} args", name.key_text()), schema);
        let place = name.span.cover_with(schema.span);
        let mut all = vec![AssayAssertion::new(place, format!("each {tool}: args is {declared}"))];
        all.extend(beyond.iter().map(|one| {
            let BacktrackingPattern { path, literal, place } = one;
            let text = format!("each {tool}: {path} is string implies {path} matches {}", literal.text);
            AssayAssertion::new(*place, text).allow_lint("backtracking")
        }));
        AssayAssertion::all_of(place, all)
    }
}

/// Moves patterns that need backtracking out of `properties`. In other places (`anyOf`, `items`) they stay and are rejected.
fn without_backtracking(schema: &YamlNode, path: Option<&str>, beyond: &mut Vec<BacktrackingPattern>) -> YamlNode {
    let YamlValue::Map(entries) = &schema.value else { return schema.clone() };
    let mut kept = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        let value = match (key.as_text(), path) {
            (Some("pattern"), Some(path)) => match backtracking_regex(value) {
                Some(literal) => {
                    beyond.push(BacktrackingPattern {
                        path: path.to_owned(),
                        literal,
                        place: key.span.cover_with(value.span),
                    });
                    continue;
                }
                None => value.clone(),
            },
            (Some("properties"), _) if value.is_map() => {
                let of = |(name, inner): &(YamlNode, YamlNode)| {
                    let name_text = name.key_text();
                    let path = path
                        .map_or_else(|| argument_path(&name_text), |path| format!("{path}{}", member_path(&name_text)));
                    (name.clone(), without_backtracking(inner, Some(&path), beyond))
                };
                synthetic_node(YamlValue::Map(value.entries().iter().map(of).collect()), value.span)
            }
            _ => value.clone(),
        };
        kept.push((key.clone(), value));
    }
    synthetic_node(YamlValue::Map(kept), schema.span)
}

/// Translates a pattern; returns `None` if it does not need backtracking.
fn backtracking_regex(pattern: &YamlNode) -> Option<TranslatedRegex> {
    let text = pattern.as_text()?;
    translate_javascript(text, "u")
        .or_else(|_| translate_javascript(text, ""))
        .ok()
        .filter(|literal| literal.backtracks)
}
