//! JavaScript `RegExp` expressions, including the web extensions (Annex B of the standard) that apply without flag `u`.

mod escape;
mod halves;

use super::pattern::{
    DEEPEST, GroupPurpose, LineAnchor, RegexCursor, RegexNode, RegexWriter, escape_letter, outside_sets, set_node,
};
use super::{HalvesSeen, TranslatedRegex, UnusableRegex};

/// Translates a JavaScript `RegExp` expression for use with `test`. The flags `g`, `y` and `d` are ignored, because they only affect where a search
/// starts and what it records.
///
/// # Errors
/// If `RegExp` rejects the expression, or if it uses surrogate halves or sets of texts (flag `v`).
pub fn translate_javascript(pattern: &str, flags: &str) -> Result<TranslatedRegex, UnusableRegex> {
    let given = flags_of(flags, pattern.len())?;
    let (groups, names) = groups_of(pattern);
    let cursor = RegexCursor { pattern, at: 0 };
    let unicode = given.unicode || !names.is_empty();
    let mut reader = JsRegexReader { cursor, flags: given, groups, names, named: unicode, open: Vec::new(), count: 0 };
    let mut root = reader.read_choice(0)?;
    if !reader.cursor.rest_text().is_empty() {
        return reader.cursor.fail_here("this `)` closes nothing");
    }
    let halves = if given.unicode { HalvesSeen::Never } else { halves::settle_halves(&mut root) };
    let mut writer = RegexWriter::default();
    writer.write_node(&root, true, true);
    let letters = [('i', given.ignore_case), ('s', given.dot_all)];
    let letters = letters.into_iter().filter_map(|(letter, on)| on.then_some(letter)).collect();
    Ok(TranslatedRegex { halves, ..TranslatedRegex::new(&writer.text, letters, writer.backtracks) })
}

#[derive(Debug, Clone, Copy, Default)]
struct JsRegexFlags {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    unicode: bool,
}

/// Reads the flags. Errors are located after the last byte of the expression.
fn flags_of(flags: &str, end: usize) -> Result<JsRegexFlags, UnusableRegex> {
    let mut given = JsRegexFlags::default();
    for (at, letter) in flags.char_indices() {
        if flags.get(..at).is_some_and(|before| before.contains(letter)) {
            return Err(UnusableRegex::new(end, format!("the flag `{letter}` occurs twice")));
        }
        match letter {
            'i' => given.ignore_case = true,
            'm' => given.multi_line = true,
            's' => given.dot_all = true,
            'u' => given.unicode = true,
            'g' | 'y' | 'd' => {}
            'v' => {
                return Err(UnusableRegex::new(
                    end,
                    "the flag `v` (sets of texts) has no counterpart: write the expression with `u`",
                ));
            }
            other => return Err(UnusableRegex::new(end, format!("there is no flag `{other}`"))),
        }
    }
    Ok(given)
}

fn groups_of(pattern: &str) -> (u32, Vec<(String, u32)>) {
    let (mut count, mut names, mut in_set) = (0_u32, Vec::new(), false);
    let mut cursor = RegexCursor { pattern, at: 0 };
    while let Some(letter) = cursor.next() {
        match letter {
            '\\' => drop(cursor.next()),
            '[' => in_set = true,
            ']' => in_set = false,
            '(' if !in_set => {
                let named = cursor.rest_text().strip_prefix("?<").filter(|rest| !rest.starts_with(['=', '!']));
                if cursor.rest_text().starts_with('?') && named.is_none() {
                    continue;
                }
                count = count.saturating_add(1);
                if let Some((name, _)) = named.and_then(|rest| rest.split_once('>')) {
                    names.push((name.to_owned(), count));
                }
            }
            _ => {}
        }
    }
    (count, names)
}

struct JsRegexReader<'p> {
    cursor: RegexCursor<'p>,
    flags: JsRegexFlags,
    groups: u32,
    names: Vec<(String, u32)>,
    /// True if `\k` refers to a group.
    named: bool,
    open: Vec<u32>,
    count: u32,
}

impl JsRegexReader<'_> {
    fn read_choice(&mut self, depth: usize) -> Result<RegexNode, UnusableRegex> {
        if depth > DEEPEST {
            return self.cursor.fail_here("the groups are nested too deep");
        }
        let mut parts = vec![self.read_sequence(depth)?];
        while self.cursor.take_text("|") {
            parts.push(self.read_sequence(depth)?);
        }
        Ok(if parts.len() == 1 { parts.pop().unwrap_or(RegexNode::Empty) } else { RegexNode::Choice(parts) })
    }

    fn read_sequence(&mut self, depth: usize) -> Result<RegexNode, UnusableRegex> {
        let mut parts: Vec<RegexNode> = Vec::new();
        let mut repeatable = false;
        loop {
            let at = self.cursor.at;
            match self.cursor.peek() {
                None | Some('|' | ')') => return Ok(RegexNode::Sequence(parts)),
                Some('*' | '+' | '?' | '{') => {
                    let Some((sign, least, most)) = self.read_repetition(at)? else {
                        if self.flags.unicode {
                            return Err(UnusableRegex::new(
                                at,
                                "this `{` counts nothing: write `\\{` for the character",
                            ));
                        }
                        self.cursor.next();
                        parts.push(RegexNode::Written(escape_letter('{'), 1));
                        repeatable = true;
                        continue;
                    };
                    let Some(inside) = parts.pop().filter(|_| repeatable) else {
                        return Err(UnusableRegex::new(at, "there is nothing to repeat here"));
                    };
                    repeatable = false;
                    parts.push(RegexNode::Repeat { inside: Box::new(inside), sign, least, most, keeps: false });
                }
                Some(_) => {
                    let node = self.read_atom(depth)?;
                    repeatable = match &node {
                        RegexNode::Place(_) | RegexNode::Written(_, 0) | RegexNode::Group(GroupPurpose::Behind, ..) => {
                            false
                        }
                        RegexNode::Group(GroupPurpose::Ahead, ..) => !self.flags.unicode,
                        _ => true,
                    };
                    parts.push(node);
                }
            }
        }
    }

    /// Reads a repetition; returns it as written and its bounds, or `None` for a literal brace.
    fn read_repetition(&mut self, at: usize) -> Result<Option<(String, u32, Option<u32>)>, UnusableRegex> {
        let mut ahead = self.cursor;
        let (mut sign, least, most) = match ahead.next() {
            Some('*') => ("*".to_owned(), 0, None),
            Some('+') => ("+".to_owned(), 1, None),
            Some('?') => ("?".to_owned(), 0, Some(1)),
            _ => {
                let digit = |letter: char| letter.is_ascii_digit();
                let least = ahead.take_while(usize::MAX, digit);
                let most = ahead.take_text(",").then(|| ahead.take_while(usize::MAX, digit));
                if least.is_empty() || !ahead.take_text("}") {
                    return Ok(None);
                }
                let number =
                    |text: &str| text.parse::<u32>().map_err(|_| UnusableRegex::new(at, "the number is too large"));
                let low = number(least)?;
                match most {
                    None => (format!("{{{low}}}"), low, Some(low)),
                    Some("") => (format!("{{{low},}}"), low, None),
                    Some(most) => {
                        let high = number(most)?;
                        if high < low {
                            return Err(UnusableRegex::new(at, "the least number is greater than the most"));
                        }
                        (format!("{{{low},{high}}}"), low, Some(high))
                    }
                }
            }
        };
        if ahead.take_text("?") {
            sign.push('?');
        }
        self.cursor.at = ahead.at;
        Ok(Some((sign, least, most)))
    }

    fn read_atom(&mut self, depth: usize) -> Result<RegexNode, UnusableRegex> {
        let start = self.cursor.at;
        let Some(letter) = self.cursor.next() else { return Ok(RegexNode::Empty) };
        match letter {
            '\\' => self.read_escape(start),
            '[' => self.read_set(start),
            '(' => self.read_group(depth, start),
            '.' if self.flags.dot_all => Ok(RegexNode::Written(".".to_owned(), 1)),
            '.' => Ok(set_node(true, r"\n\r\u{2028}\u{2029}")),
            '^' if self.flags.multi_line => Ok(RegexNode::Place(LineAnchor::LineStart)),
            '^' => Ok(RegexNode::Written("^".to_owned(), 0)),
            '$' if self.flags.multi_line => Ok(RegexNode::Place(LineAnchor::LineEnd)),
            '$' => Ok(RegexNode::Written("$".to_owned(), 0)),
            ']' | '}' if self.flags.unicode => {
                Err(UnusableRegex::new(start, format!("write `\\{letter}` for the character")))
            }
            other => Ok(RegexNode::Written(outside_sets(other), 1)),
        }
    }

    fn read_group(&mut self, depth: usize, start: usize) -> Result<RegexNode, UnusableRegex> {
        let (group, opening) = match self.cursor.rest_text() {
            rest if rest.starts_with("?:") => (GroupPurpose::Plain, "(?:"),
            rest if rest.starts_with("?=") => (GroupPurpose::Ahead, "(?="),
            rest if rest.starts_with("?!") => (GroupPurpose::Ahead, "(?!"),
            rest if rest.starts_with("?<=") => (GroupPurpose::Behind, "(?<="),
            rest if rest.starts_with("?<!") => (GroupPurpose::Behind, "(?<!"),
            rest if rest.starts_with("?<") => return self.read_named_group(depth, start),
            rest if rest.starts_with('?') => return Err(UnusableRegex::new(start, "there is no such group")),
            _ => return self.read_capture("(".to_owned(), depth, start),
        };
        self.cursor.take_text(opening.get(1..).unwrap_or(""));
        let inside = self.close_group(depth, start)?;
        Ok(RegexNode::Group(group, opening.to_owned(), Box::new(inside)))
    }

    fn close_group(&mut self, depth: usize, start: usize) -> Result<RegexNode, UnusableRegex> {
        let inside = self.read_choice(depth.saturating_add(1))?;
        if self.cursor.take_text(")") { Ok(inside) } else { Err(UnusableRegex::new(start, "this `(` is not closed")) }
    }

    fn read_capture(&mut self, opening: String, depth: usize, start: usize) -> Result<RegexNode, UnusableRegex> {
        self.count = self.count.saturating_add(1);
        self.open.push(self.count);
        let inside = self.close_group(depth, start)?;
        self.open.pop();
        Ok(RegexNode::Group(GroupPurpose::Plain, opening, Box::new(inside)))
    }

    fn read_named_group(&mut self, depth: usize, start: usize) -> Result<RegexNode, UnusableRegex> {
        self.cursor.take_text("?<");
        let name = self.cursor.take_while(usize::MAX, |letter| letter != '>');
        let mut letters = name.chars();
        let begins = letters.next().is_some_and(|first| matches!(first, '_' | '$') || first.is_alphabetic());
        if !begins || !letters.all(|letter| matches!(letter, '_' | '$') || letter.is_alphanumeric()) {
            return Err(UnusableRegex::new(start, "the name of a group and `>` must follow `(?<`"));
        }
        if self.names.iter().any(|(known, number)| known == name && *number <= self.count) {
            return Err(UnusableRegex::new(start, format!("there are two groups `{name}`")));
        }
        // The rule language does not allow `$` in a group name. Groups are referenced by number, so the name is dropped.
        let opening = if name.contains('$') { "(".to_owned() } else { format!("(?<{name}>") };
        if !self.cursor.take_text(">") {
            return Err(UnusableRegex::new(start, "the name of a group and `>` must follow `(?<`"));
        }
        self.read_capture(opening, depth, start)
    }
}
