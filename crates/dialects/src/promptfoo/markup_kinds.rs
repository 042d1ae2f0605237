//! Types of assertions about markup and SQL.
//!
//! `contains-html` counts marks of HTML in promptfoo, which are regular expressions, and is decided for every answer. `is-xml` asks for a
//! well-formed document, as `is xml` does. The others ask parsers of their own. They are decided for the answers of which every such parser says
//! the same; for all others the recorded verdict counts.

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

/// The answers of which a verdict is known without a parser.
struct KnownAnswers {
    /// Regular expressions of JavaScript: an answer that one of them finds something in fails.
    failing: &'static [&'static str],
    /// The same for answers that pass, where no failing expression finds anything.
    passing: &'static [&'static str],
    /// What judges the others.
    judge: &'static str,
}

const IS_HTML: KnownAnswers = KnownAnswers {
    failing: &[
        // Nothing, or no tag at all.
        "^[^<]*$",
        "^\\s*<\\?[xX][mM][lL]",
        // Text in front of the first tag makes a body of its own, unless the body has a tag.
        "^\\s*[^\\s<\\x00](?![\\s\\S]*<[bB][oO][dD][yY])",
    ],
    passing: &[
        // A document whose body has a tag.
        "^\\s*(?:<![dD][oO][cC][tT][yY][pP][eE] [hH][tT][mM][lL]>\\s*)?(?:<html(?: lang=\"[A-Za-z-]*\")?>\\s*)?(?:<head>\\s*(?:<meta charset=\"[A-Za-z0-9-]*\">\\s*|<title>[^<]*</title>\\s*)*</head>\\s*)?<body>",
        // Blocks without tags in them, and nothing else.
        "^(?:\\s*(?:<div>[^<]*</div>|<p>[^<]*</p>|<section>[^<]*</section>|<article>[^<]*</article>|<h1>[^<]*</h1>|<h2>[^<]*</h2>|<h3>[^<]*</h3>))+\\s*$",
        "^\\s*<(ul|ol)>(?:\\s*<li>[^<]*</li>)+\\s*</\\1>\\s*$",
    ],
    judge: "a parser of HTML",
};

/// One element with text, without what a parser could read otherwise.
const FLAT_ELEMENT: &str = "<([A-Za-z_]+)>[A-Za-z0-9 .,!?\\r\\n\\t-]*</\\1>";

/// What is left to the parser of promptfoo: document types, and declarations of another XML than version 1.0.
const ODD_XML: &str = "<!DOCTYPE|<\\?xml(?! version=[\"']1\\.0[\"'](?: encoding=[\"'][A-Za-z0-9-]+[\"'])?\\s*\\?>)";
/// A document in which every tag is that of an element.
const OTHER_MARKS: &str = "<[!?]";

const IS_XML: KnownAnswers = KnownAnswers { failing: &[], passing: &[], judge: "a parser of XML" };

const CONTAINS_XML: KnownAnswers = KnownAnswers {
    // No tag that ends an element.
    failing: &["^(?![\\s\\S]*</[^>]*>)(?![\\s\\S]*/\\s*>)"],
    passing: &["^[^<]*{flat}[^<]*$"],
    judge: "a parser of XML",
};

const IS_SQL: KnownAnswers = KnownAnswers {
    // Nothing, or a name in backticks that does not end.
    failing: &["^\\s*$", "^[^`]*`(?:[^`]*`[^`]*`)*[^`]*$"],
    passing: &[],
    judge: "a parser of SQL",
};

const CONTAINS_SQL: KnownAnswers = KnownAnswers { failing: &["^\\s*$"], passing: &[], judge: "a parser of SQL" };

/// Whether an expression of JavaScript finds something. One that cannot be translated would decide nothing.
fn finds(subject: &str, pattern: &str) -> Option<String> {
    let literal = translate_javascript(&pattern.replace("{flat}", FLAT_ELEMENT), "").ok()?;
    Some(format!("{subject} matches {}", literal.text))
}

/// The verdict where it is known, else the recorded one. Conditions beside the known expressions come with their verdicts, and are asked first.
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

/// Marks of HTML and how much each of them counts; two are enough.
const HTML_MARKS: &[(&str, u8)] = &[
    ("<[a-zA-Z][a-zA-Z0-9-]*(?:\\s[^>]*)?>", 1),
    ("</[a-zA-Z][a-zA-Z0-9-]*\\s*>", 1),
    ("<[a-zA-Z][a-zA-Z0-9-]*(?:\\s[^>]*)?/>", 1),
    ("&(?:[a-zA-Z]+|#[0-9]+|#x[0-9a-fA-F]+);", 1),
    ("<![dD][oO][cC][tT][yY][pP][eE]\\s+[hH][tT][mM][lL]", 2),
    ("<!--[^-]*(?:-[^-]+)*-->", 1),
    ("\\s[a-zA-Z-]+=\\s*[\"'][^\"']*[\"']", 1),
];

/// Elements that everybody knows: one of them is enough.
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

/// Whether elements are required: a text with commas, a list, or `{requiredElements: […]}`. With them only what fails anyway is decided. Of a
/// value of another shape, what is said.
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

/// The value is a mapping with the database and what is allowed.
fn sql_text(one: &PromptfooAssertion<'_>, known: KnownAnswers, context: &mut KindContext<'_, '_>) -> Option<String> {
    let is_nothing = |value: &YamlNode| value.is_null() || value.as_text() == Some("") || value.is_map();
    match one.value.as_ref() {
        Some(value) if !is_nothing(value) => context.wrong_value(one, "a mapping such as `{databaseType: MySQL}`"),
        _ => Some(decide_some(one, known, &[])),
    }
}
