//! What is wrong with a regular expression, at its place, and what to write instead.

use averment_base::diagnostic::{Diagnostic, Slug};
use averment_base::source::Span;
use averment_builtins::backtrack::{GroupReference, PatternError, PatternProblem, is_beyond_linear};
use averment_syntax::ast;
use regex_syntax::ast::{Error, ErrorKind, Span as Place};

/// A mistake of the pattern's syntax. `subject` is what the pattern is matched against, where that is written.
pub fn explain_syntax(regex: &ast::RegexLiteral, error: &Error, subject: Option<&str>) -> Diagnostic {
    if let Some(named) = named_reference(&regex.pattern, error) {
        let message = "back-references are not supported, because matching is linear";
        let help = "compare the two parts with separate tests, or write the alternatives out: `/aa|bb/`".to_owned();
        return Diagnostic::new(Slug::BadRegex, span_from(regex, named), message).with_help(or_backtrack(regex, help));
    }
    let place = span_of(regex, error.span());
    let text = match pattern_part(&regex.pattern, error.span()) {
        // An empty place stands in front of the character at fault.
        "" => regex
            .pattern
            .get(error.span().start.offset..)
            .and_then(|rest| rest.split_inclusive(|_| true).next())
            .unwrap_or(""),
        text => text,
    };
    let (message, help) = match error.kind() {
        ErrorKind::UnsupportedLookAround => look_around(regex, error.span(), subject),
        ErrorKind::UnsupportedBackreference if text == "\\0" => {
            ("`\\0` is no escape of regular expressions".to_owned(), "write `\\x00` for the character".to_owned())
        }
        ErrorKind::UnsupportedBackreference => back_reference(regex, error.span()),
        ErrorKind::FlagUnrecognized if matches!(text, ">" | "(") => {
            let what = if text == ">" { "a group that gives nothing back" } else { "a condition" };
            let help = "leave it out, or say the same with separate tests".to_owned();
            (format!("{what} is not supported, because matching is linear"), or_backtrack(regex, help))
        }
        ErrorKind::GroupUnclosed => (
            "this `(` of the regular expression is not closed".to_owned(),
            "add `)`, or write `\\(` for the character".to_owned(),
        ),
        ErrorKind::GroupUnopened => (
            "this `)` of the regular expression closes nothing".to_owned(),
            "add `(` in front of it, or write `\\)` for the character".to_owned(),
        ),
        ErrorKind::ClassUnclosed => (
            "this `[` of the regular expression is not closed".to_owned(),
            "add `]`, or write `\\[` for the character".to_owned(),
        ),
        ErrorKind::ClassRangeInvalid => explain_backwards(text),
        ErrorKind::RepetitionMissing => (
            "there is nothing to repeat here".to_owned(),
            format!("put what is repeated in front, or write `\\{text}` for the character"),
        ),
        ErrorKind::RepetitionCountInvalid => (
            format!("the repetition `{text}` is empty: its least number is the greater one"),
            "write the smaller number first".to_owned(),
        ),
        ErrorKind::EscapeUnrecognized => (
            format!("`{text}` is no escape of regular expressions"),
            format!("write `{}` for the character", text.trim_start_matches('\\')),
        ),
        ErrorKind::FlagUnrecognized => {
            (format!("`{text}` is no flag"), "the flags inside a pattern are i, m, s, x, u: `(?i:…)`".to_owned())
        }
        ErrorKind::NestLimitExceeded(limit) => (
            format!("the regular expression is nested deeper than {limit} groups"),
            "split it into several tests".to_owned(),
        ),
        other => (
            format!("the regular expression cannot be read: {other}"),
            "write it otherwise; the syntax is in the reference, section 4".to_owned(),
        ),
    };
    Diagnostic::new(Slug::BadRegex, place, message).with_help(help)
}

fn or_backtrack(regex: &ast::RegexLiteral, help: String) -> String {
    let possible = !regex.flags.contains('b')
        && is_beyond_linear(&regex.pattern, regex.flags.contains('x')).is_ok_and(|is_beyond| is_beyond);
    let (pattern, flags) = (&regex.pattern, &regex.flags);
    if possible { format!("{help}; or let it backtrack: `/{pattern}/{flags}b`") } else { help }
}

/// A mistake of a pattern with flag `b`.
pub fn explain_mistake(regex: &ast::RegexLiteral, mistake: &PatternError, subject: Option<&str>) -> Diagnostic {
    let help = match &mistake.problem {
        PatternProblem::Syntax(error) => return explain_syntax(regex, error, subject),
        PatternProblem::Meaning(error) => return explain_meaning(regex, error),
        PatternProblem::NoGroup(GroupReference::Number(_)) => {
            "groups are counted by their opening parentheses, from 1; `(?:…)` is none".to_owned()
        }
        PatternProblem::NoGroup(GroupReference::Name(name)) => format!("name one: `(?<{name}>…)`"),
        PatternProblem::OpenGroup => "refer to it after its `)`".to_owned(),
        PatternProblem::ManyBranches => "put alternatives into a group: `(?(1)(?:a|b)|c)`".to_owned(),
        PatternProblem::RepeatedTwice => "put what is repeated into a group: `(?:a+)*`".to_owned(),
        PatternProblem::TooLarge => return explain_built(regex, mistake),
        PatternProblem::Unreadable => "write it otherwise; the syntax is in the reference, section 4".to_owned(),
    };
    let start = regex.pattern_span.start as usize;
    let (from, to) = (start.saturating_add(mistake.range.start), start.saturating_add(mistake.range.end));
    Diagnostic::new(Slug::BadRegex, Span::new(regex.span.file, from, to), mistake.to_string()).with_help(help)
}

/// A pattern with flag `b` that was read and is refused.
pub fn explain_built(regex: &ast::RegexLiteral, mistake: &PatternError) -> Diagnostic {
    Diagnostic::new(Slug::BadRegex, regex.span, format!("the regular expression cannot be used: {mistake}"))
        .with_help("use smaller repetitions, such as `{1,100}` instead of `{1,10000}`")
}

/// A pattern that the library refuses to build.
pub fn explain_build(regex: &ast::RegexLiteral, error: &regex::Error) -> Diagnostic {
    match error {
        regex::Error::CompiledTooBig(limit) => Diagnostic::new(
            Slug::BadRegex,
            regex.span,
            format!("the regular expression takes more than {limit} bytes when it is compiled"),
        )
        .with_help("use smaller repetitions, such as `{1,100}` instead of `{1,10000}`"),
        regex::Error::Syntax(text) => {
            if let Some(diagnostic) = explain_translation(regex) {
                return diagnostic;
            }
            let why = text.lines().rev().find_map(|line| line.strip_prefix("error: ")).unwrap_or("it has no meaning");
            Diagnostic::new(Slug::BadRegex, regex.pattern_span, format!("the regular expression cannot be used: {why}"))
                .with_help("write it otherwise; the syntax is in the reference, section 4")
        }
        other => Diagnostic::new(Slug::BadRegex, regex.span, format!("the regular expression cannot be used: {other}")),
    }
}

fn explain_translation(regex: &ast::RegexLiteral) -> Option<Diagnostic> {
    let spaced = regex.flags.contains('x');
    let parsed = regex_syntax::ParserBuilder::new().ignore_whitespace(spaced).build().parse(&regex.pattern);
    let Err(regex_syntax::Error::Translate(error)) = parsed else { return None };
    Some(explain_meaning(regex, &error))
}

fn explain_meaning(regex: &ast::RegexLiteral, error: &regex_syntax::hir::Error) -> Diagnostic {
    use regex_syntax::hir::ErrorKind as Kind;
    let text = pattern_part(&regex.pattern, error.span());
    let (message, help) = match error.kind() {
        Kind::UnicodePropertyNotFound | Kind::UnicodePropertyValueNotFound => (
            format!("`{text}` names no class of characters"),
            "the classes are those of Unicode: `\\p{L}` letters, `\\p{Lu}` capitals, `\\p{N}` numbers, `\\p{Greek}` a script".to_owned(),
        ),
        other => (format!("the regular expression cannot be used: {other}"), "write it otherwise; the syntax is in the reference, section 4".to_owned()),
    };
    Diagnostic::new(Slug::BadRegex, span_of(regex, error.span()), message).with_help(help)
}

/// The offset of `(?P=name)` or `\\k<name>` if that caused the error.
fn named_reference(pattern: &str, error: &Error) -> Option<usize> {
    let at = error.span().start.offset;
    match error.kind() {
        ErrorKind::FlagUnrecognized if pattern.get(at..)?.starts_with("P=") => at.checked_sub(2),
        ErrorKind::EscapeUnrecognized if pattern.get(at..)?.starts_with("\\k") => Some(at),
        _ => None,
    }
}

fn span_from(regex: &ast::RegexLiteral, offset: usize) -> Span {
    let start = (regex.pattern_span.start as usize).saturating_add(offset);
    Span::new(regex.span.file, start, regex.pattern_span.end as usize)
}

fn span_of(regex: &ast::RegexLiteral, place: &Place) -> Span {
    let start = regex.pattern_span.start as usize;
    let (from, to) = (place.start.offset, place.end.offset);
    Span::new(regex.span.file, start.saturating_add(from), start.saturating_add(to.max(from)))
}

fn pattern_part<'p>(pattern: &'p str, place: &Place) -> &'p str {
    pattern.get(place.start.offset..place.end.offset).unwrap_or("")
}

/// `[z-a]`.
fn explain_backwards(text: &str) -> (String, String) {
    let turned = text.split_once('-').map_or_else(|| text.to_owned(), |(low, high)| format!("{high}-{low}"));
    (format!("the range `{text}` is backwards"), format!("write `{turned}`"))
}

/// `(?=x)`, `(?!x)`, `(?<=x)`, `(?<!x)`.
fn look_around(regex: &ast::RegexLiteral, place: &Place, subject: Option<&str>) -> (String, String) {
    let opening = pattern_part(&regex.pattern, place);
    let behind = opening.contains('<');
    let name = if behind { "look-behind" } else { "look-ahead" };
    let message = format!("{name} is not supported, because matching is linear");
    let help = look_around_split(regex, place, subject).unwrap_or_else(|| {
        "write two tests joined by `and`: one for what must be there, and a negated one for what must not".to_owned()
    });
    (message, or_backtrack(regex, help))
}

fn look_around_split(regex: &ast::RegexLiteral, place: &Place, subject: Option<&str>) -> Option<String> {
    let pattern = &regex.pattern;
    let opening = pattern_part(pattern, place);
    let front = pattern.get(..place.start.offset)?;
    let behind = pattern.get(place.end.offset..)?;
    let close = closing_paren(behind)?;
    let (inside, rest) = (behind.get(..close)?, behind.get(close.saturating_add(1)..)?);
    let subject = subject.unwrap_or("output");
    let flags = &regex.flags;
    let whole = format!("/{front}{inside}{rest}/{flags}");
    if !opening.contains('!') {
        return Some(format!("write `{subject} matches {whole}`"));
    }
    // `^(?!.*x)` says no more than that x does not occur.
    let without = format!("{front}{rest}");
    if matches!(without.as_str(), "" | "^" | "^.*" | "^.*$" | ".*") {
        let unwanted = inside.trim_start_matches(".*");
        return Some(format!("write `{subject} not matches /{unwanted}/{flags}`"));
    }
    Some(format!("write `{subject} matches /{without}/{flags} and {subject} not matches {whole}`"))
}

fn closing_paren(text: &str) -> Option<usize> {
    let (mut depth, mut escaped, mut class) = (0_u32, false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => {
                escaped = false;
                continue;
            }
            '\\' => escaped = true,
            '[' => class = true,
            ']' => class = false,
            '(' if !class => depth = depth.saturating_add(1),
            ')' if !class && depth == 0 => return Some(at),
            ')' if !class => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// `(a|b)\1`.
fn back_reference(regex: &ast::RegexLiteral, place: &Place) -> (String, String) {
    let message = "back-references are not supported, because matching is linear".to_owned();
    let help = match written_out(&regex.pattern, place) {
        Some(pattern) => format!("write the alternatives out: `/{pattern}/{}`", regex.flags),
        None => "compare the two parts with separate tests, or write the alternatives out: `/aa|bb/`".to_owned(),
    };
    (message, or_backtrack(regex, help))
}

/// The pattern with the group's alternatives written out twice; only for a leading group of plain alternatives.
fn written_out(pattern: &str, place: &Place) -> Option<String> {
    if pattern_part(pattern, place) != "\\1" {
        return None;
    }
    let open = pattern.find('(')?;
    let inner = pattern.get(open.saturating_add(1)..)?;
    let close = closing_paren(inner)?;
    let group = inner.get(..close)?;
    let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '|' | '_' | '-' | ' ' | '"' | '\'');
    if group.is_empty() || !group.chars().all(plain) {
        return None;
    }
    let front = pattern.get(..open)?;
    let close = open.saturating_add(1).saturating_add(close).saturating_add(1);
    let middle = pattern.get(close..place.start.offset)?;
    let rest = pattern.get(place.end.offset..)?;
    let all: Vec<String> = group.split('|').map(|one| format!("{one}{middle}{one}")).collect();
    if front.is_empty() && rest.is_empty() {
        return Some(all.join("|"));
    }
    Some(format!("{front}({}){rest}", all.join("|")))
}
