//! Recognizes invariants that expect an error.

use super::{
    Assertion, BodySetting, Expr, ExprKind, InvariantCall, ItemKind, Name, StatementKind, SyntaxItem, TestKind,
};

impl InvariantCall {
    /// True if the item expects an error; `behind` are the items after it in the body.
    #[must_use]
    pub fn expects_error(&self, behind: &[SyntaxItem]) -> bool {
        let mut own = behind.iter().take_while(|item| !matches!(item.kind, ItemKind::Call(_)));
        self.expect.as_ref().is_some_and(|word| word.text == "error") || own.any(item_expects_error)
    }
}

/// Recognizes `expect error` and `envelope.isError == true`.
fn item_expects_error(item: &SyntaxItem) -> bool {
    match &item.kind {
        ItemKind::Setting(BodySetting::Key { key, value: Some(Expr { kind: ExprKind::Name(word), .. }), .. }) => {
            key.text == "expect" && word == "error"
        }
        ItemKind::Assertion(Assertion { statement, .. }) => match &statement.kind {
            StatementKind::Expression(Expr { kind: ExprKind::Test { subject, test }, .. }) => {
                let is_true = test.operand.as_ref().is_some_and(|operand| operand.kind == ExprKind::Boolean(true));
                let is_equal = matches!(test.kind, TestKind::Equal | TestKind::Identical) && !test.negated;
                is_true && is_equal && is_error_flag(subject)
            }
            _ => false,
        },
        _ => false,
    }
}

/// Recognizes `envelope.isError`, also inside of `required(…)`.
fn is_error_flag(path: &Expr) -> bool {
    match &path.kind {
        ExprKind::Call { name, arguments, .. } if name.text == "required" => {
            arguments.first().is_some_and(is_error_flag)
        }
        ExprKind::Field { base, name: Name { text, .. } } => {
            text == "isError" && matches!(&base.kind, ExprKind::Name(name) if name == "envelope")
        }
        _ => false,
    }
}
