//! Modifiers and settings (language reference, sections 7 and 8).

use super::{Children, Lower, Node};
use crate::ast::{Expr, ExprKind, Item, ItemKind, MessageTest, Modifier, ModifierKind, Name, Number, Setting};
use crate::grammar::Rule;

impl Lower<'_> {
    /// The modifiers behind an assertion or the name of a rule.
    pub(super) fn modifiers(&mut self, node: Node<'_>) -> Option<Vec<Modifier>> {
        Children::of(node).map(|child| self.modifier(child)).collect()
    }

    fn modifier(&mut self, node: Node<'_>) -> Option<Modifier> {
        let span = self.span(&node);
        let form = Children::of(node).next()?;
        let kind = self.modifier_kind(form)?;
        Some(Modifier { kind, span })
    }

    fn modifier_kind(&mut self, node: Node<'_>) -> Option<ModifierKind> {
        let rule = node.as_rule();
        let whole = node.clone();
        let mut children = Children::of(node);
        children.next();
        Some(match rule {
            Rule::weight_modifier => {
                let help = "write `weight 0` to record an assertion without scoring it";
                ModifierKind::Weight(self.not_negative(whole, "a weight", help)?)
            }
            Rule::threshold_modifier => {
                let help = "a threshold lies between 0 and 1: write `threshold 0.8` or `threshold 80%`";
                ModifierKind::Threshold(self.not_negative(whole, "a threshold", help)?)
            }
            Rule::severity_modifier => ModifierKind::Severity(self.name(&children.next()?)),
            Rule::k_must => ModifierKind::Must,
            Rule::message_modifier => ModifierKind::Message(self.text(children.next()?)?),
            Rule::as_modifier => ModifierKind::As(self.name(&children.next()?)),
            Rule::class_modifier => {
                let class = self.text(children.next()?)?;
                let label = match children.next() {
                    Some(label) => Some(self.text(label)?),
                    None => None,
                };
                ModifierKind::Class(class, label)
            }
            Rule::tags_modifier => ModifierKind::Tags(children.map(|tag| self.name(&tag)).collect()),
            Rule::deny_modifier => ModifierKind::Deny(children.map(|what| self.name(&what)).collect()),
            Rule::allow_modifier => ModifierKind::Allow(children.map(|what| self.name(&what)).collect()),
            Rule::when_modifier => ModifierKind::When(self.expression(children.next()?)?),
            Rule::id_modifier => ModifierKind::Id(self.name(&children.next()?)),
            _ => {
                let why = children.find(|child| child.as_rule() == Rule::string);
                ModifierKind::ExpectFail(match why {
                    Some(why) => Some(self.text(why)?),
                    None => None,
                })
            }
        })
    }

    /// A line of settings: one item each.
    pub(super) fn setting_line(&mut self, node: Node<'_>) -> Option<Vec<Item>> {
        let mut items = Vec::new();
        for child in Children::of(node) {
            let span = self.span(&child);
            let setting = match child.as_rule() {
                Rule::modifier => Setting::Modifier(self.modifier(child)?),
                Rule::call_expectation => self.expectation_setting(child)?,
                Rule::classify_setting => self.classify_setting(child)?,
                _ => self.key_setting(child)?,
            };
            items.push(Item { kind: ItemKind::Setting(setting), span, doc: None });
        }
        Some(items)
    }

    fn classify_setting(&mut self, node: Node<'_>) -> Option<Setting> {
        let parts: Vec<Node<'_>> = Children::of(node).collect();
        let mut texts = parts.iter().filter(|part| part.as_rule() == Rule::string);
        let id = self.text(texts.next()?.clone())?;
        let label = match texts.next() {
            Some(label) => Some(self.text(label.clone())?),
            None => None,
        };
        let asked = parts.into_iter().find(|part| part.as_rule() == Rule::message_test)?;
        let value = Children::of(asked).last()?;
        let test = match value.as_rule() {
            Rule::regex => MessageTest::Matches(self.regex(value)?),
            _ => MessageTest::Contains(self.text(value)?),
        };
        Some(Setting::Classify { id, label, test })
    }

    fn expectation_setting(&mut self, node: Node<'_>) -> Option<Setting> {
        let mut children = Children::of(node);
        let key = self.name(&children.next()?);
        let word = self.name(&children.next()?);
        let value = Some(Expr { kind: ExprKind::Name(word.text), span: word.span });
        Some(Setting::Key { key, value, timeout: None })
    }

    /// `prompt "…"`, `timeout 120s` and every line of a workspace or runner.
    pub(super) fn key_setting(&mut self, node: Node<'_>) -> Option<Setting> {
        let mut children = Children::of(node);
        let key: Name = self.name(&children.next()?);
        let mut values = Vec::new();
        let mut timeout: Option<Number> = None;
        for child in children {
            if child.as_rule() == Rule::own_timeout {
                let number = Children::of(child).find(|part| part.as_rule() == Rule::number)?;
                timeout = Some(self.number(&number));
            } else {
                values.push(self.setting_value(child)?);
            }
        }
        let value = match (values.first(), values.last()) {
            (Some(first), Some(last)) if values.len() > 1 => {
                let span = first.span.to(last.span);
                Some(Expr { kind: ExprKind::List(values), span })
            }
            _ => values.pop(),
        };
        Some(Setting::Key { key, value, timeout })
    }

    fn setting_value(&mut self, node: Node<'_>) -> Option<Expr> {
        let span = self.span(&node);
        let kind = match node.as_rule() {
            Rule::string => ExprKind::Text(self.text(node)?),
            Rule::number => ExprKind::Number(self.number(&node)),
            Rule::object => return self.object(node),
            Rule::list => return self.list(node),
            _ => ExprKind::Name(node.as_str().to_owned()),
        };
        Some(Expr { kind, span })
    }
}
