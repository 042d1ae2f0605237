//! The word lists of the language: reserved words, and candidates for misspelled words.

use averment_base::diagnostic::suggest::suggest_name;

/// Returns true for a label: ASCII letters, digits, `_`, single `-` and `.` between them, no leading digit.
#[must_use]
pub fn is_label(text: &str) -> bool {
    !text.starts_with(|first: char| first.is_ascii_digit()) && is_joined_words(text)
}

/// Returns true for words of ASCII letters, digits and `_`, with a single `-` or `.` between them.
#[must_use]
pub fn is_joined_words(text: &str) -> bool {
    let is_word =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    text.split(['-', '.']).all(is_word)
}

/// Words that begin a temporal statement or a check of the world.
pub const STATEMENTS: &[&str] = crate::statements::WORDS;

/// Words that begin a declaration.
pub const DECLARATIONS: &[&str] = &[
    "use",
    "param",
    "let",
    "def",
    "schema",
    "tools",
    "tool",
    "rule",
    "suite",
    "case",
    "workspace",
    "runner",
    "pre",
    "post",
    "test",
    "invariant",
    "call",
    "for",
];

/// The modifiers of section 7, in its order.
pub const MODIFIERS: &[&str] = &[
    "weight",
    "severity",
    "must",
    "threshold",
    "message",
    "as",
    "class",
    "tags",
    "when",
    "id",
    "expect",
    "deny",
    "allow",
];

/// The conditions that `deny` and `allow` take.
pub const GATED: &[&str] = &["vacuous", "undecided", "unjudged", "unexercised"];

/// Settings that are not modifiers.
pub const SETTINGS: &[&str] = &[
    "prompt",
    "timeout",
    "template",
    "bootstrap",
    "model",
    "agent",
    "command",
    "env",
    "classify",
    "cwd",
    "max_steps",
    "parallel",
    "repeat",
    "retries",
    "schedule",
    "select",
    "snapshots",
];

/// Operator words between and before expressions.
pub const OPERATORS: &[&str] = &[
    "and",
    "or",
    "not",
    "in",
    "is",
    "if",
    "then",
    "else",
    "implies",
    "contains",
    "icontains",
    "mentions",
    "matches",
    "exists",
];

/// Comparison signs and the first words of tests.
pub(crate) const TESTS: &[&str] = &[
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "contains",
    "icontains",
    "mentions",
    "matches",
    "in",
    "is",
    "exists",
    "starts",
    "ends",
];

/// Literals.
pub const LITERALS: &[&str] = &["true", "false", "null"];

/// Root names that a run and its steps offer to expressions (section 4).
pub const ROOTS: &[&str] = &[
    "inputs",
    "prompt",
    "output",
    "calls",
    "steps",
    "messages",
    "commands",
    "reads",
    "writes",
    "skills",
    "http",
    "spans",
    "handovers",
    "usage",
    "cost",
    "duration",
    "turns",
    "error",
    "meta",
    "env",
    "tools",
    "files",
    "response",
    "run",
];

/// The verdicts that a test may expect.
pub const VERDICTS: &[&str] = &["pass", "fail", "vacuous", "undecided", "error"];

/// Returns true for a word that a `let`, `param` or `def` must not declare.
#[must_use]
pub fn is_reserved(word: &str) -> bool {
    [STATEMENTS, DECLARATIONS, OPERATORS, LITERALS, ROOTS].iter().any(|words| words.contains(&word))
}

/// Returns the verdict that another word probably means.
#[must_use]
pub fn meant_verdict(word: &str) -> Option<&'static str> {
    match word {
        "success" | "ok" | "passed" | "passes" | "true" | "succeed" => Some("pass"),
        "failure" | "failed" | "fails" | "false" => Some("fail"),
        "unknown" | "undefined" => Some("undecided"),
        "empty" | "vacuously" => Some("vacuous"),
        "errors" | "exception" => Some("error"),
        _ => suggest_name(word, VERDICTS.iter().copied()),
    }
}

/// True for a word that joins the parts on both sides, so no value ends with it.
pub fn is_joining(word: &str) -> bool {
    OPERATORS.contains(&word) && !is_ending_word(word) || matches!(word, "starts" | "ends" | "does" | "with")
}

/// Operator words that may end an expression: `a exists`, `a is json`.
pub(crate) fn is_ending_word(word: &str) -> bool {
    matches!(word, "exists" | "json" | "empty" | "missing")
}

/// True for a word that may follow a step or a value inside parentheses without a comma.
pub fn goes_on_a_step(word: &str) -> bool {
    matches!(word, "where" | "ok" | "failed" | "exists" | "all" | "any" | "none" | "json" | "empty" | "missing")
}

/// Returns an example for a keyword. Words that are also fields or roots have none.
pub(crate) fn example_of(word: &str) -> Option<&'static str> {
    let statement = crate::statements::find_head(word).map(|head| head.alone).filter(|example| !example.is_empty());
    statement.or_else(|| EXAMPLES.iter().find(|(known, _)| *known == word).map(|(_, example)| *example))
}

const EXAMPLES: &[(&str, &str)] = &[
    ("use", "use std.secrets"),
    ("let", "let limit = 100"),
    ("param", "param limit: number = 100"),
    ("def", "def is_large(amount) = amount > 100"),
    ("schema", "schema Refund from \"refund.schema.json\""),
    ("rule", "rule approval { before approve -> refund }"),
    ("suite", "suite \"nightly\" { … }"),
    ("case", "case find { prompt \"…\"; require search }"),
    ("runner", "runner codex { timeout 5m }"),
    ("workspace", "workspace isolated { template \"./app\" }"),
    ("pre", "pre { env API_KEY is set }"),
    ("post", "post { file \"out.txt\" exists }"),
    ("test", "test \"name\" expect fail { calls: [] }"),
    ("invariant", "invariant adds { call add { a: 1, b: 2 } }"),
    ("weight", "weight 2"),
    ("severity", "severity warn"),
    ("threshold", "threshold 0.8"),
    ("tags", "tags smoke, nightly"),
    ("as", "as metric_name"),
    ("expect", "expect fail \"why\""),
    ("timeout", "timeout 60s"),
];

/// Words that name a kind of step (section 2).
pub const KINDS: &[&str] =
    &["command", "read", "write", "skill", "http", "user", "assistant", "thinking", "message", "span", "handover"];
