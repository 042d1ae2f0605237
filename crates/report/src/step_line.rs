//! One-line excerpts of a run, in the style of `aver trace show`: a step, or a value outside of the steps, with marks for the evidence.
//!
//! A trace is often one line of megabytes, and call arguments are JSON inside a string. So excerpts show the run as rules see it, shortened to the
//! width. Secrets are replaced before shortening, so that no part of one remains.

use super::redact::{self, REDACTED, WithheldTexts, redact};
use super::value::shorten_text;
use averment_base::diagnostic::render::printable;
use averment_base::limits::Limits;
use averment_base::value::json::{self, to_json, write_json};
use averment_base::value::{Node, Value, ValueText};
use averment_builtins::detect::{self, redacted_start};
use averment_runs::run::{Run, Step, StepKind};
use bumpalo::Bump;
use std::ops::Range;

#[derive(Debug, Clone, Copy)]
pub(super) struct WantedValue<'a> {
    /// The number of its mark; `None` if the value is only hidden.
    pub(super) number: Option<usize>,
    /// JSON pointer into the run.
    pub(super) path: &'a str,
    pub(super) hidden: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StepLine {
    pub(super) text: String,
    pub(super) marks: Vec<(usize, Range<usize>)>,
}

/// Maximum length of unrequested and of marked values, in characters.
const VALUE: usize = 32;
const MARKED: usize = 200;
/// Maximum number of entries shown beside a marked one.
const ENTRIES: usize = 8;
/// Maximum bytes of a line before it is cut.
const LONGEST: usize = 16_384;
const REST: &str = "…";

pub(super) fn render_step(
    run: &Run<'_>,
    number: usize,
    wanted: &[WantedValue<'_>],
    hide: &WithheldTexts,
    width: usize,
) -> StepLine {
    render_step_with(run, number, wanted, hide, width, VALUE)
}

/// Returns the line of a step. `most` limits the characters of unrequested values.
pub(super) fn render_step_with(
    run: &Run<'_>,
    number: usize,
    wanted: &[WantedValue<'_>],
    hide: &WithheldTexts,
    width: usize,
    most: usize,
) -> StepLine {
    let Some(step) = run.steps.get(number) else { return StepLine { text: String::new(), marks: Vec::new() } };
    let at = ["/", step.kind.list_key(), "/", &step.index.to_string()].concat();
    let mut line = UncutLine { wanted, hide, most, text: String::new(), marks: Vec::new(), parts: Vec::new() };
    line.write_step(step, &at);
    line.cut_line(width)
}

pub(super) fn render_entry(
    run: &Run<'_>,
    entry: &str,
    wanted: &[WantedValue<'_>],
    hide: &WithheldTexts,
    width: usize,
) -> StepLine {
    let mut line = UncutLine { wanted, hide, most: VALUE, text: String::new(), marks: Vec::new(), parts: Vec::new() };
    line.text.push_str(&printable(entry));
    line.text.push_str(": ");
    line.write_value(entry, run.root_value(entry), &["/", &escape_key(entry)].concat());
    line.cut_line(width)
}

pub(super) fn escape_key(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

struct UncutLine<'a> {
    wanted: &'a [WantedValue<'a>],
    hide: &'a WithheldTexts,
    /// Maximum length of an unrequested value, in characters.
    most: usize,
    text: String,
    marks: Vec<(usize, Range<usize>)>,
    /// Arguments and entries that can be omitted, each with the preceding comma.
    parts: Vec<Range<usize>>,
}

impl UncutLine<'_> {
    fn write_step(&mut self, step: &Step<'_>, at: &str) {
        let name = self.write_name(step, at);
        let mut shown: Vec<&str> = vec![name];
        match step.kind {
            StepKind::Call => {
                self.write_arguments(step, at);
                shown.push("args");
            }
            StepKind::Message => {
                self.text.push(' ');
                self.write_field(step, "text", at);
                shown.push("text");
            }
            _ => {}
        }
        // Results and other fields are shown only if they are requested.
        for entry in step.object.entries().iter().filter(|entry| !shown.contains(&entry.key)) {
            let path = [at, "/", &escape_key(entry.key)].concat();
            if self.wanted.iter().any(|wanted| is_inside(wanted.path, &path)) {
                self.text.push_str("  ");
                self.text.push_str(&printable(entry.key));
                self.text.push_str(": ");
                self.write_value(entry.key, entry.node, &path);
            }
        }
    }

    /// Writes the name of a step, which stands for the whole step; returns the field that it comes from.
    fn write_name(&mut self, step: &Step<'_>, at: &str) -> &'static str {
        let field = match step.kind {
            StepKind::Call => "tool",
            StepKind::Message => "role",
            StepKind::Command => "command",
            StepKind::Read | StepKind::Write => "path",
            StepKind::Http => "url",
            StepKind::Skill | StepKind::Span => "name",
            StepKind::Handover => "to",
        };
        if let (StepKind::Http, Some(Value::Text(method))) =
            (step.kind, step.object.get("method").map(|node| node.value))
        {
            self.push_words(method.as_str());
            self.text.push(' ');
        }
        let start = self.text.len();
        let shown = redacted_start(step.name, MARKED);
        // The ellipsis tells the redaction below that the text was cut.
        let rest = if shown.len() < step.name.len() { REST } else { "" };
        self.push_words(&[&*shown, rest].concat());
        let of_field = [at, "/", field].concat();
        let range = start..self.text.len();
        let wanted = self.wanted;
        for one in wanted.iter().filter(|one| one.path == at || one.path == of_field) {
            self.marks.extend(one.number.map(|number| (number, range.clone())));
        }
        field
    }

    fn write_arguments(&mut self, step: &Step<'_>, at: &str) {
        self.text.push('(');
        let node = step.object.get("args");
        let path = [at, "/args"].concat();
        match node.map(|node| node.value) {
            _ if self.wanted.iter().any(|wanted| wanted.hidden && (wanted.path == at || wanted.path == path)) => {
                self.text.push_str(REDACTED);
            }
            Some(Value::Object(object)) => {
                let start = self.text.len();
                self.write_entries(object.entries().iter().map(|entry| (entry.key, entry.node)), &path, false);
                self.mark_wanted(&path, start);
            }
            Some(Value::Absent | Value::Missing) | None => {}
            Some(_) => self.write_field(step, "args", at),
        }
        self.text.push(')');
    }

    fn write_field(&mut self, step: &Step<'_>, field: &str, at: &str) {
        if let Some(node) = step.object.get(field) {
            self.write_value(field, node, &[at, "/", field].concat());
        }
    }

    /// Writes the entries of an object, each of which can be omitted. `quoted` writes keys as in JSON.
    fn write_entries<'n>(&mut self, entries: impl Iterator<Item = (&'n str, Node<'n>)>, at: &str, quoted: bool) {
        for (number, (key, node)) in entries.enumerate() {
            let path = [at, "/", &escape_key(key)].concat();
            if self.text.len() > LONGEST && !self.wanted.iter().any(|wanted| is_inside(wanted.path, &path)) {
                continue;
            }
            let start = self.text.len();
            self.text.push_str(if number == 0 {
                ""
            } else if quoted {
                ","
            } else {
                ", "
            });
            if quoted {
                self.push_words(&to_json(&Value::plain_text(key)));
                self.text.push(':');
            } else {
                self.push_words(key);
                self.text.push_str(": ");
            }
            self.write_value(key, node, &path);
            self.parts.push(start..self.text.len());
        }
    }

    /// Writes a value. Paths to a requested value are written in full, everything else is shortened.
    fn write_value(&mut self, key: &str, node: Node<'_>, at: &str) {
        let start = self.text.len();
        let asked = |wanted: &WantedValue<'_>| wanted.path == at;
        let is_hidden = self.wanted.iter().any(|wanted| asked(wanted) && wanted.hidden);
        let leads = self.wanted.iter().any(|wanted| !asked(wanted) && is_inside(wanted.path, at));
        let is_credential = || detect::names_credential(key.as_bytes(), false);
        match node.value {
            _ if is_hidden => self.text.push_str(REDACTED),
            Value::Text(_) if is_credential() => self.text.push_str(REDACTED),
            Value::Object(object) if leads => {
                self.text.push('{');
                self.write_entries(object.entries().iter().map(|entry| (entry.key, entry.node)), at, true);
                self.text.push('}');
            }
            Value::List(items) if leads => self.write_items(key, items, at),
            Value::Text(text) if leads => self.write_held(key, text, at),
            value => {
                let most = if self.wanted.iter().any(asked) { MARKED } else { self.most };
                let short = short_json(&value, most);
                self.push_words(&short);
            }
        }
        self.mark_wanted(at, start);
    }

    /// Writes the object or list inside a JSON string, around the requested value.
    fn write_held(&mut self, key: &str, text: ValueText<'_>, at: &str) {
        let (arena, limits) = (Bump::new(), Limits::default());
        match json::parse(text.as_str(), 0, &arena, &limits).map(|document| document.node) {
            Ok(node @ Node { value: Value::Object(_) | Value::List(_), .. }) => self.write_value(key, node, at),
            _ => self.push_words(&short_json(&Value::Text(text), self.most)),
        }
    }

    fn write_items(&mut self, key: &str, items: &[Node<'_>], at: &str) {
        self.text.push('[');
        let (mut written, mut left_out) = (false, false);
        for (index, item) in items.iter().enumerate() {
            let path = [at, "/", &index.to_string()].concat();
            if items.len() > ENTRIES && !self.wanted.iter().any(|wanted| is_inside(wanted.path, &path)) {
                left_out = true;
                continue;
            }
            self.text.push_str(if written { "," } else { "" });
            self.text.push_str(if left_out { "…," } else { "" });
            self.write_value(key, *item, &path);
            (written, left_out) = (true, false);
        }
        self.text.push_str(if left_out { ",…]" } else { "]" });
    }

    fn mark_wanted(&mut self, at: &str, start: usize) {
        let range = start..self.text.len();
        let numbers = self.wanted.iter().filter(|wanted| wanted.path == at).filter_map(|wanted| wanted.number);
        self.marks.extend(numbers.map(|number| (number, range.clone())));
    }

    /// Appends text without hidden values and terminal control characters.
    fn push_words(&mut self, words: &str) {
        let words = self.hide.remove_from(redact(words).into_owned());
        self.text.push_str(&printable(&self.hide.without_in_json(&words)).replace(['\n', '\r', '\t'], " "));
    }

    /// Shortens the line: drops unrequested arguments from the end, then cuts around the first mark.
    fn cut_line(mut self, width: usize) -> StepLine {
        self.marks.sort_by_key(|(number, range)| (range.start, range.end, *number));
        self.leave_out(width);
        self.without_secrets();
        if self.text.chars().count() <= width {
            return StepLine { text: self.text, marks: self.marks };
        }
        self.around_the_first_mark(width)
    }

    /// Redacts secrets that are only detectable in the whole line.
    fn without_secrets(&mut self) {
        for secret in redact::find_secrets(&self.text).into_iter().rev() {
            self.replace_range(secret, REDACTED);
        }
    }

    fn replace_range(&mut self, range: Range<usize>, words: &str) {
        let Some(old) = self.text.get(range.clone()) else { return };
        let shift = |at: usize| match at {
            at if at <= range.start => at,
            at if at >= range.end => at - old.len() + words.len(),
            _ => range.start + words.len(),
        };
        let moved = |place: &Range<usize>| shift(place.start).min(shift(place.end))..shift(place.end);
        self.marks.iter_mut().for_each(|(_, mark)| *mark = moved(mark));
        self.parts.iter_mut().for_each(|part| *part = moved(part));
        self.text.replace_range(range.clone(), words);
    }

    fn leave_out(&mut self, width: usize) {
        let is_marked = |line: &Self, part: &Range<usize>| {
            line.marks
                .iter()
                .any(|(_, mark)| mark.start < part.end && part.start < mark.end && part.contains(&mark.start))
        };
        let mut number = self.parts.len();
        while self.text.chars().count() > width && number > 0 {
            number -= 1;
            let Some(part) = self.parts.get(number).cloned().filter(|part| part.end <= self.text.len()) else {
                continue;
            };
            if part.is_empty() || is_marked(self, &part) {
                continue;
            }
            let own = self.text.get(part.start..).unwrap_or_default();
            let comma = [", ", ","].into_iter().find(|comma| own.starts_with(comma)).unwrap_or_default();
            // Adjacent omitted parts share one ellipsis.
            let behind = self.text.get(part.end..).unwrap_or_default();
            let joins = behind.trim_start_matches([',', ' ']).starts_with(REST) && behind.starts_with(',');
            let words = if joins { String::new() } else { [comma, REST].concat() };
            self.replace_range(part, &words);
        }
    }

    fn around_the_first_mark(self, width: usize) -> StepLine {
        let Some(first) = self.marks.first().map(|(_, mark)| mark.clone()) else {
            return StepLine { text: shorten_text(&self.text, width), marks: self.marks };
        };
        let chars = |range: Range<usize>| self.text.get(range).map_or(0, |text| text.chars().count());
        // The cut is placed so that the mark starts in the first half of the line.
        let before = chars(0..first.start);
        let skipped = if before < width / 2 { 0 } else { before - width / 4 };
        let at = |count: usize| self.text.char_indices().nth(count).map_or(self.text.len(), |(at, _)| at);
        let (from, to) = (at(skipped), at(skipped + width.saturating_sub(4)));
        let lead = if skipped > 0 { "… " } else { "" };
        let rest = if to < self.text.len() { " …" } else { "" };
        let text = [lead, self.text.get(from..to).unwrap_or_default(), rest].concat();
        let place = |byte: usize| byte.clamp(from, to) - from + lead.len();
        let seen = self.marks.iter().filter(|(_, mark)| mark.start < to && mark.end > from);
        let marks = seen.map(|(number, mark)| (*number, place(mark.start)..place(mark.end))).collect();
        StepLine { text, marks }
    }
}

pub(super) fn is_inside(pointer: &str, at: &str) -> bool {
    pointer.strip_prefix(at).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns a value as short JSON. Long texts are cut before they are written.
fn short_json(value: &Value<'_>, most: usize) -> String {
    let mut out = String::new();
    match value {
        Value::Text(text) if text.as_str().len() > most => {
            let start = redacted_start(text.as_str(), most);
            let cut = start.len() < text.as_str().len();
            write_json(&Value::plain_text(&start), &mut out);
            if cut {
                out.pop();
                out.push_str("…\"");
            }
            out
        }
        value => {
            write_json(value, &mut out);
            match out.char_indices().nth(most) {
                Some(_) => [&*redacted_start(&out, most), REST].concat(),
                None => out,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the line of the first call of a run, and a line with `^` below the marks.
    fn drawn(run: &str, wanted: &[(&str, bool)], width: usize) -> (String, String) {
        let arena = Bump::new();
        let run = averment_traces::read::read_str(run, &arena, &Limits::default()).unwrap();
        let wanted: Vec<WantedValue<'_>> = wanted
            .iter()
            .enumerate()
            .map(|(number, (path, hidden))| WantedValue { number: Some(number), path, hidden: *hidden })
            .collect();
        let line = render_step(&run, 0, &wanted, &WithheldTexts::default(), width);
        let mut carets = String::new();
        for (at, character) in line.text.char_indices() {
            let marked = line.marks.iter().any(|(_, mark)| mark.contains(&at));
            carets.push(if marked {
                '^'
            } else if character == '\t' {
                '\t'
            } else {
                ' '
            });
        }
        (line.text, carets.trim_end().to_owned())
    }

    const CALL: &str = r#"{"calls":[{"tool":"update_reservation","args":{"id":"OBUT9V","passengers":[{"name":"Ada"},{"name":"Grace"}],"note":"as agreed on the phone this morning, twice"},"result":{"status":"failed","code":7}}]}"#;

    #[test]
    fn an_argument_is_marked_and_the_others_are_left_out_where_there_is_no_room() {
        let (text, carets) = drawn(CALL, &[("/calls/0/args/id", false)], 44);
        assert_eq!(text, r#"update_reservation(id: "OBUT9V", …)"#);
        assert_eq!(carets, r#"                       ^^^^^^^^"#);
    }

    #[test]
    fn a_whole_step_is_marked_by_its_name_and_a_part_by_its_place() {
        let (text, carets) = drawn(CALL, &[("/calls/0", false), ("/calls/0/args/passengers/1/name", false)], 90);
        assert_eq!(text, r#"update_reservation(id: "OBUT9V", passengers: [{"name":"Ada"},{"name":"Grace"}], …)"#);
        let name = text.find("\"Grace\"").unwrap();
        assert_eq!(carets, format!("{}{}{}", "^".repeat(18), " ".repeat(name - 18), "^".repeat(7)));
    }

    #[test]
    fn a_result_is_shown_where_it_is_asked_for() {
        let (text, carets) = drawn(CALL, &[("/calls/0/result/status", false)], 200);
        assert!(text.ends_with(r#"  result: {"status":"failed","code":7}"#), "{text}");
        let place = text.chars().count() - r#""failed","code":7}"#.len();
        assert_eq!(carets, format!("{}{}", " ".repeat(carets.chars().count() - 8), "^".repeat(8)));
        assert_eq!(carets.chars().count(), place + 8, "{text}\n{carets}");
    }

    #[test]
    fn what_is_hidden_is_not_shown_and_what_steers_a_terminal_neither() {
        let run = r#"{"calls":[{"tool":"a","args":{"password":"pw1","id":"x\u001b[2J\u202e","key":7}}]}"#;
        let (text, _) = drawn(run, &[("/calls/0/args/key", true)], 80);
        assert!(text.contains("password: [redacted]") && text.contains("key: [redacted]"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
        assert_eq!(drawn(run, &[("/calls/0", true)], 80).0, "a([redacted])");
    }

    #[test]
    fn a_line_is_never_wider_than_its_room() {
        for width in 20..120 {
            for path in ["/calls/0", "/calls/0/args/note", "/calls/0/args/passengers/1", "/calls/0/result"] {
                let (text, carets) = drawn(CALL, &[(path, false)], width);
                assert!(text.chars().count() <= width, "{width} {path}: {text}");
                assert!(carets.contains('^'), "{width} {path}: {text}\n{carets}");
            }
        }
    }
}
