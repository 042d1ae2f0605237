//! Functions and methods of other languages, translated by tables: `len(x)`, `output.includes("x")`, `expect(x).toBe(1)`.

use super::pattern::PatternMatch;
use super::table::meant;
use super::view::{StatementView, strip_quotes};

/// In these tables, a translation uses `{1}` and `{2}` for the arguments of the function, `{r1}` for an argument as a regular expression and `{t1}`
/// for one as a type.
impl PatternMatch<'_, '_, '_> {
    /// Fills in the translation of a name: `TABLE name first second`, where `name`, `first` and `second` are captures. Empty arguments are dropped.
    pub(super) fn fill_meaning(&self, written: &str) -> Option<String> {
        let mut names = written.split(' ');
        let (table, name) = (names.next()?, names.next()?);
        let name = self.fill_template(&format!("{{{name}}}"))?;
        let arguments: Vec<String> =
            names.map(|name| self.fill_template(&format!("{{{name}}}"))).collect::<Option<_>>()?;
        let arguments: Vec<String> = arguments.into_iter().filter(|argument| !argument.is_empty()).collect();
        let template = meant(table, &name).or_else(|| meant(table, &flat_name(&name)))?;
        let takes = if template.contains("2}") { 2 } else { 1 };
        (arguments.len() == takes).then(|| fill_arguments(template, &arguments))
    }
}

/// Returns the token after a name in the table, also if the name has two parts separated by a dot.
pub(super) fn behind_function(view: &StatementView<'_, '_>, at: usize, table: &str) -> Option<usize> {
    let is_known = |&end: &usize| {
        let name = view.written_text(at, end);
        end <= view.len()
            && (meant(table, name).is_some() || table == "ASSERTION" && meant(table, &flat_name(name)).is_some())
    };
    [at + 3, at + 1].into_iter().find(is_known).filter(|&end| view.touches_previous(end))
}

/// Returns a name in lowercase and without `_`.
fn flat_name(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "")
}

pub(super) fn to_regex(text: &str) -> String {
    let bare = text.trim_start_matches('r');
    let quoted = bare.len() >= 2 && bare.starts_with(['"', '\'']) && bare.ends_with(['"', '\'']);
    match bare.get(1..bare.len().saturating_sub(1)).filter(|_| quoted) {
        Some(inner) => format!("/{}/", inner.replace('/', "\\/")),
        None => text.to_owned(),
    }
}

fn fill_arguments(template: &str, arguments: &[String]) -> String {
    let mut text = template.to_owned();
    if let ("{1}[{2}]", [object, key]) = (template, arguments) {
        // A field with a plain name needs no brackets.
        let bare = strip_quotes(key);
        if crate::words::is_label(bare) && !bare.contains(['-', '.']) && bare.len() + 2 == key.len() {
            return format!("{object}.{bare}");
        }
    }
    for (number, argument) in (1..).zip(arguments) {
        text = text.replace(&format!("{{{number}}}"), argument);
        text = text.replace(&format!("{{r{number}}}"), &to_regex(argument));
        text = text.replace(&format!("{{t{number}}}"), type_word(argument));
    }
    text
}

/// Returns the name here of a type in another language.
pub(super) fn type_word(name: &str) -> &'static str {
    meant("TYPE", strip_quotes(name)).unwrap_or("object")
}
