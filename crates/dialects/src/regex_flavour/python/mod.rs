//! Expressions of Python's module `re` on `str` texts.

mod escape;
mod group;

use super::pattern::{DEEPEST, LineAnchor, RegexCursor, RegexNode, RegexWriter, outside_sets};
use super::{TranslatedRegex, UnusableRegex};

/// The flags that an expression is compiled with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PyRegexFlags {
    /// `re.IGNORECASE`.
    pub ignore_case: bool,
    /// `re.MULTILINE`.
    pub multi_line: bool,
    /// `re.DOTALL`.
    pub dot_all: bool,
    /// `re.VERBOSE`.
    pub verbose: bool,
    /// `re.ASCII`.
    pub ascii: bool,
}

/// Translates an expression of Python's module `re`.
///
/// # Errors
/// If `re` rejects the expression.
pub fn translate_python(pattern: &str, mut flags: PyRegexFlags) -> Result<TranslatedRegex, UnusableRegex> {
    let mut cursor = RegexCursor { pattern, at: 0 };
    global_flags(&mut cursor, &mut flags)?;
    let mut reader = PyRegexReader {
        cursor,
        ascii: flags.ascii,
        unicode: false,
        groups: Vec::new(),
        names: Vec::new(),
        asked: Vec::new(),
    };
    let root = reader.read_choice(flags, 0)?;
    if !reader.cursor.rest_text().is_empty() {
        return reader.cursor.fail_here("this `)` closes nothing");
    }
    if let Some((at, group)) = reader.asked.iter().find(|(_, group)| *group as usize > reader.groups.len()) {
        return Err(UnusableRegex::new(*at, format!("there is no group {group}")));
    }
    let mut writer = RegexWriter::default();
    writer.write_node(&root, true, true);
    let on = [
        ('i', flags.ignore_case),
        ('m', flags.multi_line),
        ('s', flags.dot_all),
        ('u', reader.unicode && !flags.ascii),
    ];
    let letters = on.into_iter().filter_map(|(letter, on)| on.then_some(letter)).collect();
    Ok(TranslatedRegex::new(&writer.text, letters, writer.backtracks))
}

/// Reads global flags such as `(?im)` at the start.
fn global_flags(cursor: &mut RegexCursor<'_>, flags: &mut PyRegexFlags) -> Result<(), UnusableRegex> {
    loop {
        if flags.verbose {
            skip_blank(cursor);
        }
        let mut ahead = *cursor;
        if !ahead.take_text("(?") {
            return Ok(());
        }
        let letters = ahead.take_while(usize::MAX, |letter| letter.is_ascii_alphabetic());
        if letters.is_empty() || letters.starts_with('P') || !ahead.take_text(")") {
            return Ok(());
        }
        for letter in letters.chars() {
            set_flag(flags, letter, true).map_err(|why| UnusableRegex::new(cursor.at, why))?;
        }
        if letters.contains('a') && letters.contains('u') {
            return cursor.fail_here("the flags `a` and `u` exclude each other");
        }
        *cursor = ahead;
    }
}

fn set_flag(flags: &mut PyRegexFlags, letter: char, on: bool) -> Result<(), String> {
    match letter {
        'i' => flags.ignore_case = on,
        'm' => flags.multi_line = on,
        's' => flags.dot_all = on,
        'x' => flags.verbose = on,
        'a' if on => flags.ascii = true,
        'u' if on => flags.ascii = false,
        'L' => return Err("the flag `L` is for bytes alone".to_owned()),
        'a' | 'u' => return Err(format!("the flag `{letter}` cannot be turned off")),
        other => return Err(format!("there is no flag `{other}`")),
    }
    Ok(())
}

/// Skips white space and comments under flag `x`.
fn skip_blank(cursor: &mut RegexCursor<'_>) {
    loop {
        cursor.take_while(usize::MAX, |letter| matches!(letter, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c'));
        if cursor.peek() != Some('#') {
            return;
        }
        cursor.take_while(usize::MAX, |letter| letter != '\n');
    }
}

struct PyRegexReader<'p> {
    cursor: RegexCursor<'p>,
    ascii: bool,
    /// True if the meaning depends on flag `u` of the rule language.
    unicode: bool,
    /// Minimum and maximum lengths of groups; `None` while a group is open.
    groups: Vec<Option<(u64, Option<u64>)>>,
    names: Vec<(String, u32)>,
    asked: Vec<(usize, u32)>,
}

impl PyRegexReader<'_> {
    fn read_choice(&mut self, flags: PyRegexFlags, depth: usize) -> Result<RegexNode, UnusableRegex> {
        if depth > DEEPEST {
            return self.cursor.fail_here("the groups are nested too deep");
        }
        let mut parts = vec![self.read_sequence(flags, depth)?];
        while self.cursor.take_text("|") {
            parts.push(self.read_sequence(flags, depth)?);
        }
        Ok(if parts.len() == 1 { parts.pop().unwrap_or(RegexNode::Empty) } else { RegexNode::Choice(parts) })
    }

    fn read_sequence(&mut self, flags: PyRegexFlags, depth: usize) -> Result<RegexNode, UnusableRegex> {
        let mut parts: Vec<RegexNode> = Vec::new();
        let mut repeatable = false;
        loop {
            if flags.verbose {
                skip_blank(&mut self.cursor);
            }
            let at = self.cursor.at;
            match self.cursor.peek() {
                None | Some('|' | ')') => return Ok(RegexNode::Sequence(parts)),
                Some('*' | '+' | '?') => self.read_repeat(&mut parts, &mut repeatable, at)?,
                Some('{') if self.peek_count().is_some() => self.read_repeat(&mut parts, &mut repeatable, at)?,
                Some(_) => {
                    let Some(node) = self.read_atom(flags, depth)? else { continue };
                    repeatable = !is_anchor(&node);
                    parts.push(node);
                }
            }
        }
    }

    /// Reads `{2}`, `{2,}`, `{,2}`, `{2,3}` or `{,}`; any other brace is literal.
    fn peek_count(&self) -> Option<(RegexCursor<'_>, &str, Option<&str>)> {
        let mut ahead = self.cursor;
        if !ahead.take_text("{") || ahead.peek() == Some('}') {
            return None;
        }
        let digit = |letter: char| letter.is_ascii_digit();
        let least = ahead.take_while(usize::MAX, digit);
        let most = ahead.take_text(",").then(|| ahead.take_while(usize::MAX, digit));
        ahead.take_text("}").then_some((ahead, least, most))
    }

    fn read_repeat(
        &mut self,
        parts: &mut Vec<RegexNode>,
        repeatable: &mut bool,
        at: usize,
    ) -> Result<(), UnusableRegex> {
        let (mut sign, least, most) = match self.cursor.peek() {
            Some('{') => {
                let Some((ahead, least, most)) = self.peek_count() else { return Ok(()) };
                let end = ahead.at;
                let number =
                    |text: &str| text.parse::<u32>().map_err(|_| UnusableRegex::new(at, "the number is too large"));
                let low = if least.is_empty() { 0 } else { number(least)? };
                let high = match most {
                    None => Some(low),
                    Some("") => None,
                    Some(most) => Some(number(most)?),
                };
                if high.is_some_and(|high| high < low) {
                    return Err(UnusableRegex::new(at, "the least number is greater than the most"));
                }
                let sign = match high {
                    Some(high) if high == low => format!("{{{low}}}"),
                    Some(high) => format!("{{{low},{high}}}"),
                    None => format!("{{{low},}}"),
                };
                self.cursor.at = end;
                (sign, low, high)
            }
            sign => {
                self.cursor.next();
                match sign {
                    Some('*') => ("*".to_owned(), 0, None),
                    Some('+') => ("+".to_owned(), 1, None),
                    _ => ("?".to_owned(), 0, Some(1)),
                }
            }
        };
        if matches!(parts.last(), Some(RegexNode::Repeat { .. })) {
            return Err(UnusableRegex::new(at, "what is repeated here is repeated already"));
        }
        let Some(inside) = parts.pop().filter(|_| *repeatable) else {
            return Err(UnusableRegex::new(at, "there is nothing to repeat here"));
        };
        let keeps = !self.cursor.rest_text().starts_with('?') && self.cursor.rest_text().starts_with('+');
        if let Some(more) = self.cursor.peek().filter(|more| matches!(more, '?' | '+')) {
            self.cursor.next();
            sign.push(more);
        }
        parts.push(RegexNode::Repeat { inside: Box::new(inside), sign, least, most, keeps });
        Ok(())
    }

    /// Reads an atom; returns `None` for an empty element, which a repetition skips.
    fn read_atom(&mut self, flags: PyRegexFlags, depth: usize) -> Result<Option<RegexNode>, UnusableRegex> {
        let start = self.cursor.at;
        let Some(letter) = self.cursor.next() else { return Ok(None) };
        Ok(Some(match letter {
            '\\' => self.read_escape(flags, start)?,
            '[' => self.read_set(flags, start)?,
            '(' => return self.read_group(flags, depth, start),
            '.' => RegexNode::Written(".".to_owned(), 1),
            '^' => RegexNode::Written("^".to_owned(), 0),
            '$' if flags.multi_line => RegexNode::Written("$".to_owned(), 0),
            '$' => RegexNode::Place(LineAnchor::LastLine),
            other => RegexNode::Written(outside_sets(other), 1),
        }))
    }
}

fn is_anchor(node: &RegexNode) -> bool {
    matches!(node, RegexNode::Place(_) | RegexNode::Written(_, 0))
}
