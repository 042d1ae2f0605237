//! Lowers modifiers and settings (language reference, sections 7 and 8).

use super::{GrammarPair, NodeChildren, SyntaxLowering};
use crate::ast::{
    BodySetting, Expr, ExprKind, ItemKind, MessageTest, Modifier, ModifierKind, Name, NumberLiteral, SyntaxItem,
};
use crate::grammar::Rule;

impl SyntaxLowering<'_> {
    pub(super) fn lower_modifiers(&mut self, node: GrammarPair<'_>) -> Option<Vec<Modifier>> {
        NodeChildren::of_node(node).map(|child| self.lower_modifier(child)).collect()
    }

    fn lower_modifier(&mut self, node: GrammarPair<'_>) -> Option<Modifier> {
        let span = self.node_span(&node);
        let form = NodeChildren::of_node(node).next()?;
        let kind = self.modifier_kind(form)?;
        Some(Modifier { kind, span })
    }

    fn modifier_kind(&mut self, node: GrammarPair<'_>) -> Option<ModifierKind> {
        let rule = node.as_rule();
        let whole = node.clone();
        let mut children = NodeChildren::of_node(node);
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
            Rule::severity_modifier => ModifierKind::Severity(self.node_name(&children.next()?)),
            Rule::k_must => ModifierKind::Must,
            Rule::message_modifier => ModifierKind::Message(self.lower_text(children.next()?)?),
            Rule::as_modifier => ModifierKind::As(self.node_name(&children.next()?)),
            Rule::class_modifier => {
                let class = self.lower_text(children.next()?)?;
                let label = match children.next() {
                    Some(label) => Some(self.lower_text(label)?),
                    None => None,
                };
                ModifierKind::Class(class, label)
            }
            Rule::tags_modifier => ModifierKind::Tags(children.map(|tag| self.node_name(&tag)).collect()),
            Rule::deny_modifier => ModifierKind::Deny(children.map(|what| self.node_name(&what)).collect()),
            Rule::allow_modifier => ModifierKind::Allow(children.map(|what| self.node_name(&what)).collect()),
            Rule::when_modifier => ModifierKind::When(self.lower_expression(children.next()?)?),
            Rule::id_modifier => ModifierKind::Id(self.node_name(&children.next()?)),
            _ => {
                let why = children.find(|child| child.as_rule() == Rule::string);
                ModifierKind::ExpectFail(match why {
                    Some(why) => Some(self.lower_text(why)?),
                    None => None,
                })
            }
        })
    }

    /// Lowers a line of settings; each becomes an item.
    pub(super) fn setting_line(&mut self, node: GrammarPair<'_>) -> Option<Vec<SyntaxItem>> {
        let mut items = Vec::new();
        for child in NodeChildren::of_node(node) {
            let span = self.node_span(&child);
            let setting = match child.as_rule() {
                Rule::modifier => BodySetting::Modifier(self.lower_modifier(child)?),
                Rule::call_expectation => self.expectation_setting(child)?,
                Rule::classify_setting => self.classify_setting(child)?,
                _ => self.key_setting(child)?,
            };
            items.push(SyntaxItem { kind: ItemKind::Setting(setting), span, doc: None });
        }
        Some(items)
    }

    fn classify_setting(&mut self, node: GrammarPair<'_>) -> Option<BodySetting> {
        let parts: Vec<GrammarPair<'_>> = NodeChildren::of_node(node).collect();
        let mut texts = parts.iter().filter(|part| part.as_rule() == Rule::string);
        let id = self.lower_text(texts.next()?.clone())?;
        let label = match texts.next() {
            Some(label) => Some(self.lower_text(label.clone())?),
            None => None,
        };
        let asked = parts.into_iter().find(|part| part.as_rule() == Rule::message_test)?;
        let value = NodeChildren::of_node(asked).last()?;
        let test = match value.as_rule() {
            Rule::regex => MessageTest::Matches(self.lower_regex(value)?),
            _ => MessageTest::Contains(self.lower_text(value)?),
        };
        Some(BodySetting::Classify { id, label, test })
    }

    fn expectation_setting(&mut self, node: GrammarPair<'_>) -> Option<BodySetting> {
        let mut children = NodeChildren::of_node(node);
        let key = self.node_name(&children.next()?);
        let word = self.node_name(&children.next()?);
        let value = Some(Expr { kind: ExprKind::Name(word.text), span: word.span });
        Some(BodySetting::Key { key, value, timeout: None })
    }

    pub(super) fn key_setting(&mut self, node: GrammarPair<'_>) -> Option<BodySetting> {
        let mut children = NodeChildren::of_node(node);
        let key: Name = self.node_name(&children.next()?);
        let mut values = Vec::new();
        let mut timeout: Option<NumberLiteral> = None;
        for child in children {
            if child.as_rule() == Rule::own_timeout {
                let number = NodeChildren::of_node(child).find(|part| part.as_rule() == Rule::number)?;
                timeout = Some(self.lower_number(&number));
            } else {
                values.push(self.setting_value(child)?);
            }
        }
        let value = match (values.first(), values.last()) {
            (Some(first), Some(last)) if values.len() > 1 => {
                let span = first.span.cover_with(last.span);
                Some(Expr { kind: ExprKind::List(values), span })
            }
            _ => values.pop(),
        };
        Some(BodySetting::Key { key, value, timeout })
    }

    fn setting_value(&mut self, node: GrammarPair<'_>) -> Option<Expr> {
        let span = self.node_span(&node);
        let kind = match node.as_rule() {
            Rule::string => ExprKind::Text(self.lower_text(node)?),
            Rule::number => ExprKind::Number(self.lower_number(&node)),
            Rule::object => return self.lower_object(node),
            Rule::list => return self.lower_list(node),
            _ => ExprKind::Name(node.as_str().to_owned()),
        };
        Some(Expr { kind, span })
    }
}
