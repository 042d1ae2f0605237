//! Assertion types about markup and SQL.
//!
//! `contains-html` counts HTML markers by regular expressions and is decided for every answer. `is-xml` requires a well-formed document, like `is
//! xml`. The other types use promptfoo's own parsers. They are decided only for answers on which all such parsers agree; for other answers, the
//! recorded verdict counts.

use super::asserted::{KindContext, PromptfooAssertion};
use super::recorded::{recorded_or_undecided, recorded_pass};
use super::text_kinds::LowerKind;
use super::values::script_text;
use crate::regex_flavour::translate_javascript;
use crate::yaml::{YamlNode, YamlValue};

pub(super) const MARKUP_KINDS: &[(&str, LowerKind)] = &[
    ("contains-html", contains_html),
    ("is-html", |one, _| Some(decide_some(one, IS_HTML, &[]))),
    ("is-xml", is_xml),
    ("contains-xml", contains_xml),
    ("is-sql", |one, context| sql_text(one, IS_SQL, context)),
    ("contains-sql", |one, context| sql_text(one, CONTAINS_SQL, context)),
];

/// The answers whose verdict is known without a parser.
struct KnownAnswers {
    /// JavaScript regular expressions. An answer that matches one of them fails.
    failing: &'static [&'static str],
    /// JavaScript regular expressions. An answer that matches one of them, and no failing expression, passes.
    passing: &'static [&'static str],
    /// Name of the parser that judges the other answers.
    judge: &'static str,
}

const IS_HTML: KnownAnswers = KnownAnswers {
    failing: &[
        // No tag at all, or an XML declaration.
        "^[^<]*$",
        "^\\s*<\\?[xX][mM][lL]",
        // Text before the first tag creates an implicit body, unless the body has a tag.
        "^\\s*[^\\s<\\x00](?![\\s\\S]*<[bB][oO][dD][yY])",
    ],
    passing: &[
        // A document whose body is written with a tag.
        "^\\s*(?:<![dD][oO][cC][tT][yY][pP][eE] [hH][tT][mM][lL]>\\s*)?(?:<html(?: lang=\"[A-Za-z-]*\")?>\\s*)?(?:<head>\\s*(?:<meta charset=\"[A-Za-z0-9-]*\">\\s*|<title>[^<]*</title>\\s*)*</head>\\s*)?<body>",
        // Only blocks that contain no other tags.
        "^(?:\\s*(?:<div>[^<]*</div>|<p>[^<]*</p>|<section>[^<]*</section>|<article>[^<]*</article>|<h1>[^<]*</h1>|<h2>[^<]*</h2>|<h3>[^<]*</h3>))+\\s*$",
        "^\\s*<(ul|ol)>(?:\\s*<li>[^<]*</li>)+\\s*</\\1>\\s*$",
    ],
    judge: "a parser of HTML",
};

/// One element with plain text that every parser reads in the same way.
const FLAT_ELEMENT: &str = "<([A-Za-z_]+)>[A-Za-z0-9 .,!?\\r\\n\\t-]*</\\1>";

/// Constructs that are left to promptfoo's parser: document types, and XML declarations of another version than 1.0.
const ODD_XML: &str = "<!DOCTYPE|<\\?xml(?! version=[\"']1\\.0[\"'](?: encoding=[\"'][A-Za-z0-9-]+[\"'])?\\s*\\?>)";
/// Matches markup other than element tags.
const OTHER_MARKS: &str = "<[!?]";

const IS_XML: KnownAnswers = KnownAnswers { failing: &[], passing: &[], judge: "a parser of XML" };

const CONTAINS_XML: KnownAnswers = KnownAnswers {
    // No closing tag and no self-closing tag.
    failing: &["^(?![\\s\\S]*</[^>]*>)(?![\\s\\S]*/\\s*>)"],
    passing: &["^[^<]*{flat}[^<]*$"],
    judge: "a parser of XML",
};

const IS_SQL: KnownAnswers = KnownAnswers {
    // Empty, or with an unclosed name in backticks.
    failing: &["^\\s*$", "^[^`]*`(?:[^`]*`[^`]*`)*[^`]*$"],
    passing: &[],
    judge: "a parser of SQL",
};

const CONTAINS_SQL: KnownAnswers = KnownAnswers { failing: &["^\\s*$"], passing: &[], judge: "a parser of SQL" };

/// Writes whether a JavaScript regular expression matches; returns `None` if it cannot be translated.
fn finds(subject: &str, pattern: &str) -> Option<String> {
    let literal = translate_javascript(&pattern.replace("{flat}", FLAT_ELEMENT), "").ok()?;
    Some(format!("{subject} matches {}", literal.text))
}

/// Writes the known verdict where there is one, and the recorded verdict otherwise. The conditions in `asked`, each with its verdict, are tested
/// first.
fn decide_some(one: &PromptfooAssertion<'_>, known: KnownAnswers, asked: &[(String, bool)]) -> String {
    let subject = &one.subject.text;
    let any = |patterns: &[&str]| -> Option<String> {
        let tests: Vec<String> = patterns.iter().filter_map(|pattern| finds(subject, pattern)).collect();
        (!tests.is_empty()).then(|| tests.join(" or "))
    };
    let verdict = |holds: bool| format!("{subject} {}", if holds != one.negated { "exists" } else { "is missing" });
    let why = format!("`{}` needs {}", one.kind, known.judge);
    let mut truth = recorded_or_undecided(&recorded_pass(one.node), &why);
    for (condition, holds) in [(any(known.passing), true), (any(known.failing), false)] {
        if let Some(condition) = condition {
            truth = format!("(if {condition} then {} else {truth})", verdict(holds));
        }
    }
    for (condition, holds) in asked {
        truth = format!("(if {condition} then {} else {truth})", verdict(*holds));
    }
    truth
}

/// HTML markers with their points; two points are enough.
const HTML_MARKS: &[(&str, u8)] = &[
    ("<[a-zA-Z][a-zA-Z0-9-]*(?:\\s[^>]*)?>", 1),
    ("</[a-zA-Z][a-zA-Z0-9-]*\\s*>", 1),
    ("<[a-zA-Z][a-zA-Z0-9-]*(?:\\s[^>]*)?/>", 1),
    ("&(?:[a-zA-Z]+|#[0-9]+|#x[0-9a-fA-F]+);", 1),
    ("<![dD][oO][cC][tT][yY][pP][eE]\\s+[hH][tT][mM][lL]", 2),
    ("<!--[^-]*(?:-[^-]+)*-->", 1),
    ("\\s[a-zA-Z-]+=\\s*[\"'][^\"']*[\"']", 1),
];

/// Common elements; a single one is enough.
const COMMON_TAG: &str = "<(?:html|head|body|div|span|p|a|img|h[1-6]|ul|ol|li|table|tr|td|th|form|input|button|script|style|link|meta|br|hr)\\b";

fn contains_html(one: &PromptfooAssertion<'_>, _: &mut KindContext<'_, '_>) -> Option<String> {
    let subject = &one.subject.text;
    let mut counted = Vec::new();
    for (pattern, count) in HTML_MARKS {
        counted.push(format!("(if {} then {count} else 0)", finds(subject, pattern)?));
    }
    let common = translate_javascript(COMMON_TAG, "i").ok()?;
    counted.push(format!("(if {subject} matches {} then 2 else 0)", common.text));
    let sign = if one.negated { "<" } else { ">=" };
    Some(format!("{} {sign} 2", counted.join(" + ")))
}

fn is_xml(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    let is_required = match requires_elements(one, context) {
        Ok(is_required) => is_required,
        Err(said) => return said,
    };
    let subject = &one.subject.text;
    let plain = format!("not ({})", finds(subject, ODD_XML)?);
    let mut asked = vec![(format!("{plain} and {subject} is not xml"), false)];
    if !is_required {
        asked.push((format!("{plain} and {subject} is xml"), true));
    }
    Some(decide_some(one, IS_XML, &asked))
}

fn contains_xml(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    match requires_elements(one, context) {
        Ok(true) => return Some(decide_some(one, KnownAnswers { passing: &[], ..CONTAINS_XML }, &[])),
        Ok(false) => {}
        Err(said) => return said,
    }
    let subject = &one.subject.text;
    let whole = format!("not ({}) and {subject} is xml", finds(subject, OTHER_MARKS)?);
    Some(decide_some(one, CONTAINS_XML, &[(whole, true)]))
}

/// Returns whether elements are required: a comma-separated text, a list, or `{requiredElements: […]}`. If so, only answers that fail anyway are
/// decided. A value of another shape is an error.
fn requires_elements(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Result<bool, Option<String>> {
    const WANTED: &str = "names of elements as a list, or with commas between them,";
    match one.value.as_ref().map(|value| &value.value) {
        None | Some(YamlValue::Null) => Ok(false),
        Some(YamlValue::Text(_)) => Ok(true),
        Some(YamlValue::List(items)) => Ok(!items.is_empty()),
        Some(YamlValue::Map(entries)) if entries.is_empty() => Ok(false),
        Some(YamlValue::Map(entries)) => {
            let names = entries.iter().find(|(key, _)| script_text(key) == "requiredElements");
            if names.is_some_and(|(_, names)| names.is_list()) {
                return Ok(true);
            }
            Err(context.wrong_value(one, WANTED))
        }
        Some(YamlValue::Bool(_) | YamlValue::Number(_)) => Err(context.wrong_value(one, WANTED)),
    }
}

/// Lowers an SQL assertion. A value with a database type or a list of allowed operations is left to promptfoo's recorded verdict.
fn sql_text(one: &PromptfooAssertion<'_>, known: KnownAnswers, context: &mut KindContext<'_, '_>) -> Option<String> {
    let is_nothing = |value: &YamlNode| value.is_null() || value.as_text() == Some("") || value.is_map();
    match one.value.as_ref() {
        Some(value) if !is_nothing(value) => context.wrong_value(one, "a mapping such as `{databaseType: MySQL}`"),
        _ => Some(decide_some(one, known, &[])),
    }
}
