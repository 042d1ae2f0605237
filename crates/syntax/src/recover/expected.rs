//! Describes in plain words what the grammar expected, for mistakes without a hint.

use crate::grammar::{self, Rule};
use crate::hints::StatementView;
use crate::near_keywords;
use averment_base::diagnostic::Diagnostic;

pub(super) fn expected_diagnostic(view: &StatementView<'_, '_>) -> Diagnostic {
    let at = view.failed;
    let unknown = view.is_word(at) && !grammar::is_keyword(view.token_text(at));
    let near = if unknown { near_keywords::near_words(view.token_text(at)).into_iter().next() } else { None };
    let help = match near {
        Some(near) => Some(format!("did you mean `{near}`? {}", expected_text(&view.expected).unwrap_or_default())),
        None => expected_text(&view.expected),
    };
    let diagnostic = if at >= view.len() {
        view.missing_at_end("the line ends too early")
    } else {
        view.syntax_error(at, at + 1, format!("`{}` cannot stand here", view.token_text(at)))
    };
    match help {
        Some(help) => diagnostic.with_help(help),
        None => diagnostic,
    }
}

pub(super) fn expected_text(rules: &[Rule]) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    let mut ranked: Vec<(u8, String)> = rules.iter().filter_map(|&rule| describe_rule(rule)).collect();
    ranked.sort();
    for (_, word) in ranked {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.truncate(6);
    let last = words.pop()?;
    Some(if words.is_empty() { format!("expected {last}") } else { format!("expected {} or {last}", words.join(", ")) })
}

/// Returns the description of a grammar rule and its rank; required parts come before optional ones.
fn describe_rule(rule: Rule) -> Option<(u8, String)> {
    let text = match rule {
        Rule::arrow => (0, "`->`"),
        Rule::colon => (0, "`:`"),
        Rule::equals => (0, "`=`"),
        Rule::close_paren => (0, "`)`"),
        Rule::close_bracket => (0, "`]`"),
        Rule::close_brace => (0, "`}`"),
        Rule::open_brace => (1, "`{`"),
        Rule::open_paren => (3, "`(`"),
        Rule::comma => (2, "`,`"),
        Rule::expression | Rule::logical | Rule::comparison | Rule::value | Rule::operand | Rule::primary => {
            (0, "a value or condition")
        }
        Rule::step | Rule::listed_step | Rule::atom | Rule::tool_glob | Rule::flow_choice | Rule::flow_sequence => {
            (0, "the name of a tool or another step")
        }
        Rule::string | Rule::quoted_tool => (1, "a text in quotes"),
        Rule::number => (1, "a number"),
        Rule::identifier | Rule::label | Rule::name => (1, "a name"),
        Rule::type_name => (1, "a type"),
        Rule::object => (1, "an object `{ … }`"),
        Rule::list => (1, "a list `[ … ]`"),
        Rule::regex => (1, "a regular expression `/…/`"),
        Rule::test | Rule::test_sign | Rule::count_test => (2, "a test such as `== 1`"),
        Rule::block => (1, "a body `{ … }`"),
        Rule::end | Rule::EOI => (5, "the end of the line"),
        Rule::modifier | Rule::modifier_word | Rule::header_modifier => (4, "a modifier such as `weight 2`"),
        Rule::within => (3, "`within`"),
        Rule::item => (1, "a statement"),
        _ => return keyword_text(rule),
    };
    Some((text.0, text.1.to_owned()))
}

/// Returns the text of a keyword rule, which is named after its word: `k_until`.
fn keyword_text(rule: Rule) -> Option<(u8, String)> {
    let name = format!("{rule:?}");
    let word = name.strip_prefix("k_")?;
    let rank = if matches!(word, "and" | "or" | "implies" | "where") { 4 } else { 1 };
    Some((rank, format!("`{word}`")))
}
