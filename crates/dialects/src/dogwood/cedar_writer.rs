//! Writes Cedar expressions in the rule language.

use super::lowering::{PolicyLowering, ReadKind, ReadValue, known, members};
use super::tree::{CedarExpr, PolicyRule, ScopeRoot, ScopeTest};
use crate::writer::{member_path, object_key, quote_text};

impl PolicyLowering<'_> {
    /// Returns the condition under which a policy applies to the current request.
    pub(super) fn policy_truth(&mut self, policy: &PolicyRule) -> Option<String> {
        let mut parts = Vec::new();
        for ScopeTest { root, test } in &policy.scope {
            let value = match root {
                ScopeRoot::Action => ReadValue::plain("now.tool"),
                root => self.scope_value("now", *root, &[]),
            };
            parts.push(self.entity_test(&value, Some(*root), test)?);
        }
        for condition in &policy.conditions {
            let text = self.truth(&condition.body)?;
            parts.push(if condition.negated { format!("not ({text})") } else { text });
        }
        Some(if parts.is_empty() { "true".to_owned() } else { parts.join(" and ") })
    }

    /// Writes an expression as a condition.
    fn truth(&mut self, expr: &CedarExpr) -> Option<String> {
        Some(match expr {
            CedarExpr::Binary(operator @ ("and" | "or"), left, right) => {
                format!("({} {operator} {})", self.truth(left)?, self.truth(right)?)
            }
            CedarExpr::Not(inner) => format!("not ({})", self.truth(inner)?),
            CedarExpr::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                format!("(if {} then {} else {})", self.truth(condition)?, self.truth(then)?, self.truth(otherwise)?)
            }
            CedarExpr::Temporal(condition) => self.past_truth(condition)?,
            CedarExpr::Literal(text) => text.clone(),
            CedarExpr::Binary(..)
            | CedarExpr::Has(..)
            | CedarExpr::Like(..)
            | CedarExpr::Test(..)
            | CedarExpr::Method { .. } => self.test(expr)?,
            other => {
                let value = self.value(other)?;
                known(&[&value], format!("{} == true", value.text))
            }
        })
    }

    fn test(&mut self, expr: &CedarExpr) -> Option<String> {
        Some(match expr {
            CedarExpr::Binary(operator, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.compare(operator, &left, &right)
            }
            CedarExpr::Has(on, path) => {
                let value = path.iter().fold((**on).clone(), |value, name| value.member(name.clone()));
                let value = self.value(&value)?;
                known(&[&value], format!("{} exists", value.text))
            }
            CedarExpr::Like(on, regex) => {
                let value = self.value(on)?;
                known(&[&value], format!("{} matches {regex}", value.text))
            }
            CedarExpr::Test(on, test) => {
                let value = self.value(on)?;
                let root = match &**on {
                    CedarExpr::Scope(root, path) if path.is_empty() => Some(*root),
                    _ => None,
                };
                self.entity_test(&value, root, test)?
            }
            CedarExpr::Method { on, name, arguments } => {
                let on = self.value(on)?;
                let arguments: Option<Vec<ReadValue>> = arguments.iter().map(|one| self.value(one)).collect();
                let arguments = arguments?;
                let argument = arguments.first().map_or("[]", |one| &one.text);
                let text = match *name {
                    "contains" => format!("{argument} in {}", on.text),
                    "containsAll" => format!("{} contains all {argument}", on.text),
                    "containsAny" => format!("{} contains any {argument}", on.text),
                    "hasTag" => format!("{}[{argument}] exists", on.text),
                    _ => format!("{} is empty", on.text),
                };
                let mut read = vec![&on];
                read.extend(&arguments);
                known(&read, text)
            }
            other => self.truth(other)?,
        })
    }

    /// Writes an expression as a value.
    fn value(&mut self, expr: &CedarExpr) -> Option<ReadValue> {
        Some(match expr {
            CedarExpr::Literal(text) => ReadValue::plain(text.as_str()),
            CedarExpr::Entity(name) => {
                let whole = format!("{}::\"{}\"", name.kind, name.id);
                ReadValue { text: quote_text(&whole), kind: ReadKind::Entity(name.clone()) }
            }
            CedarExpr::Scope(ScopeRoot::Action, path) => ReadValue::plain(format!("now.tool{}", members(path))),
            CedarExpr::Scope(root, path) => self.scope_value("now", *root, path),
            CedarExpr::Context(path) => self.field_of("now", path, true),
            CedarExpr::Provider { name, path } => self.provider_value(name, path),
            CedarExpr::Member(on, name) => {
                let on = self.value(on)?;
                ReadValue { text: format!("({}){}", on.text, member_path(name)), kind: on.kind }
            }
            CedarExpr::Binary(operator @ ("+" | "-" | "*"), left, right) => {
                ReadValue::plain(format!("({} {operator} {})", self.value(left)?.text, self.value(right)?.text))
            }
            CedarExpr::Negate(inner) => ReadValue::plain(format!("(0 - {})", self.value(inner)?.text)),
            CedarExpr::Set(parts) => {
                let parts: Option<Vec<ReadValue>> = parts.iter().map(|part| self.value(part)).collect();
                ReadValue::plain(format!(
                    "[{}]",
                    parts?.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(", ")
                ))
            }
            CedarExpr::Record(entries) => {
                let mut parts = Vec::new();
                for (key, value) in entries {
                    parts.push(format!("{}: {}", object_key(key), self.value(value)?.text));
                }
                ReadValue::plain(format!("{{ {} }}", parts.join(", ")))
            }
            CedarExpr::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                let condition = self.truth(condition)?;
                ReadValue::plain(format!(
                    "(if {condition} then {} else {})",
                    self.value(then)?.text,
                    self.value(otherwise)?.text
                ))
            }
            truth => ReadValue::plain(format!("({})", self.truth(truth)?)),
        })
    }
}
