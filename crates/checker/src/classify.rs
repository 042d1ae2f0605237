//! `classify "id" "Label" when message contains "…"`: the class that a failure has by its own message.

use super::Checker;
use crate::ir::{MessageClassifier, MessageTest};
use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_syntax::ast::{self, BodySetting, ItemKind};

impl<'a> Checker<'a> {
    pub(super) fn body_classifiers(&mut self, body: &'a [ast::SyntaxItem]) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        for item in body {
            let ItemKind::Setting(BodySetting::Classify { id, label, test }) = &item.kind else { continue };
            let id = self.plain_text(id);
            let label = label.as_ref().and_then(|label| self.plain_text(label));
            let (Some(id), Some(test)) = (id, self.message_test(test)) else { continue };
            if self.is_asked_above(&found, &test) {
                self.report_asked_above(item.span);
                continue;
            }
            found.push(super::to_number(self.module.classifiers.len()));
            self.module.classifiers.push(MessageClassifier { id, label, test });
        }
        found
    }

    fn message_test(&mut self, test: &'a ast::MessageTest) -> Option<MessageTest> {
        match test {
            ast::MessageTest::Matches(regex) => self.regex_number(regex, Some("message")).map(MessageTest::Matches),
            ast::MessageTest::Contains(text) => {
                let wanted = self.plain_text(text)?;
                if wanted.is_empty() {
                    let message = "every message contains the empty text";
                    let help = "write a part of the message; for the failures that are left, `class \"id\"` opens a rule, case or suite";
                    self.report_diagnostic(Diagnostic::new(Slug::Impossible, text.span, message).with_help(help));
                    return None;
                }
                Some(MessageTest::Contains(wanted))
            }
        }
    }

    fn is_asked_above(&self, above: &[u32], test: &MessageTest) -> bool {
        above.iter().any(|one| self.module.classifiers.get(*one as usize).is_some_and(|one| one.test == *test))
    }

    fn report_asked_above(&mut self, place: Span) {
        let message = "a `classify` above asks the same, and the first that fits wins";
        self.report_diagnostic(Diagnostic::new(Slug::Duplicate, place, message).with_help("keep one of them"));
    }
}
