//! Functions of other languages that do not exist here, and how the same is said.

use averment_base::diagnostic::Diagnostic;
use averment_base::source::Span;

/// A function of other languages.
#[derive(Debug, Clone, Copy)]
pub(super) struct MeantFunction {
    /// Names that it has elsewhere, in small letters and without `_`.
    names: &'static [&'static str],
    /// The function here that takes and gives the same.
    same: Option<&'static str>,
    help: &'static str,
}

const MEANT: [MeantFunction; 10] = [
    // A number in quotes may be meant as the number.
    MeantFunction { names: &["str"], same: None, help: "`text(…)` is a value as text, an object as JSON" },
    MeantFunction {
        names: &["string", "tostring", "totext", "stringify", "dumps", "jsondumps", "serialize", "tojson"],
        same: Some("text"),
        help: "`text(…)` is a value as text, an object as JSON",
    },
    MeantFunction {
        names: &["int", "integer", "float", "tonumber", "toint", "parseint", "parsefloat", "decimal", "num"],
        same: Some("number"),
        help: "`number(…)` is the number that a text spells",
    },
    MeantFunction {
        names: &["loads", "jsonloads", "parsejson", "fromjson", "jsonparse"],
        same: Some("json"),
        help: "`json(…)` is the value that a text of JSON holds",
    },
    MeantFunction {
        names: &["unnest", "flat", "flatmap"],
        same: Some("flatten"),
        help: "`flatten(…)` makes one list of a list of lists",
    },
    MeantFunction {
        names: &["dayofweek", "dow", "weekdayname"],
        same: Some("weekday"),
        help: "`weekday(…)` is a word such as `\"friday\"`",
    },
    MeantFunction {
        names: &["extractnumbers", "findnumbers", "amounts", "prices", "allnumbers"],
        same: Some("numbers"),
        help: "`numbers(…)` are the numbers of a text",
    },
    MeantFunction {
        names: &[
            "urls",
            "url",
            "links",
            "hrefs",
            "domains",
            "hosts",
            "extracturls",
            "findurls",
            "ids",
            "quotes",
            "citations",
        ],
        same: None,
        help: "`grounded(output, (result of any))` checks that every URL, number and id of the output occurs in the results",
    },
    MeantFunction {
        names: &[
            "captures",
            "captureall",
            "findall",
            "matchall",
            "allmatches",
            "findmatches",
            "scan",
            "extractall",
            "regexall",
        ],
        same: None,
        help: "`capture(…)` gives the first match alone; all numbers of a text are `numbers(…)`, and `grounded(output, (result of any))` asks where its numbers, URLs and ids come from",
    },
    MeantFunction {
        names: &["glob", "globmatch", "fnmatch", "matchesglob", "inside", "isinside", "isunder", "under"],
        same: None,
        help: "globs belong after `read` and `write`: `never write \"/etc/**\"`; a path below a folder is `path starts with \"/app/\"`",
    },
];

pub(super) fn find_meant(name: &str) -> Option<MeantFunction> {
    let name: String = name.chars().filter(|letter| *letter != '_').collect::<String>().to_ascii_lowercase();
    MEANT.into_iter().find(|one| one.names.contains(&name.as_str()))
}

impl MeantFunction {
    /// Says in a message what is meant.
    pub(super) fn offer(self, diagnostic: Diagnostic, place: Span) -> Diagnostic {
        let diagnostic = diagnostic.with_help(self.help);
        match self.same {
            Some(same) => diagnostic.with_fix(format!("replace with `{same}`"), place, same),
            None => diagnostic,
        }
    }
}
