//! JSONPath: read when the rules are checked, so that a wrong path never waits for a run.

use super::Checker;
use super::expr::CheckedExpr;
use averment_base::diagnostic::{Diagnostic, Slug};

impl Checker<'_> {
    pub(super) fn check_jsonpath(&mut self, arguments: &[CheckedExpr]) {
        let Some(path) = arguments.get(1) else { return };
        if path.is_broken() {
            return;
        }
        let constant = self.constant_value(&path.expr);
        let Some(crate::ir::Constant::Text(text)) = constant else {
            let diagnostic = Diagnostic::new(Slug::BadJsonPath, path.expr.span, "the path is not known before the run")
                .with_help("write it as plain text: `\"$.items[0]\"`");
            self.report_diagnostic(diagnostic);
            return;
        };
        if let Some(why) = averment_builtins::json::too_much(&text) {
            let diagnostic =
                Diagnostic::new(Slug::BadJsonPath, path.expr.span, format!("this JSONPath is too much: {why}"))
                    .with_help("take a part of it with one path, and look into that with another");
            self.report_diagnostic(diagnostic);
            return;
        }
        if let Err(error) = serde_json_path::JsonPath::parse(&text) {
            let (message, help) = explain_error(&text, &error);
            self.report_diagnostic(Diagnostic::new(Slug::BadJsonPath, path.expr.span, message).with_help(help));
        }
    }
}

fn explain_error(text: &str, error: &serde_json_path::ParseError) -> (String, String) {
    if !text.starts_with('$') {
        let rest = text.trim_start_matches('.');
        let dot = if rest.starts_with('[') { "" } else { "." };
        return ("a JSONPath starts with `$`".to_owned(), format!("write `\"${dot}{rest}\"`"));
    }
    if let Some(missing) = missing_close(text) {
        return (format!("this JSONPath does not end: `{missing}` is missing"), format!("add `{missing}`"));
    }
    let at = error.position();
    let rest: String = text.chars().skip(at).take(20).collect();
    let place = if rest.is_empty() { "at its end".to_owned() } else { format!("at `{rest}`") };
    (
        format!("this JSONPath cannot be read {place}"),
        "RFC 9535 has `.name`, `['name']`, `[0]`, `[*]`, `..name` and filters `[?@.price > 10]`".to_owned(),
    )
}

fn missing_close(text: &str) -> Option<char> {
    let (mut open, mut quote, mut escaped) = (Vec::new(), None, false);
    for letter in text.chars() {
        match (letter, quote) {
            _ if escaped => escaped = false,
            ('\\', Some(_)) => escaped = true,
            (_, Some(mark)) if letter == mark => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(letter),
            ('[', None) => open.push(']'),
            ('(', None) => open.push(')'),
            (']' | ')', None) if open.last() == Some(&letter) => {
                open.pop();
            }
            _ => {}
        }
    }
    quote.or_else(|| open.pop())
}
