//! Expressions of JavaScript's `RegExp`, with what the annex of its standard allows beside the rest where there is no flag `u`.

mod escape;

use super::pattern::{Cursor, DEEPEST, Group, Node, Place, Writer, literal, outside_sets, set};
use super::{Literal, Unusable};

/// An expression of JavaScript's `RegExp`, as `test` asks for it: `g`, `y` and `d` say where a search begins and what it remembers, and
/// count for nothing.
///
/// # Errors
/// Where `RegExp` refuses it, and where it speaks of halves of characters or of sets of texts (flag `v`).
pub fn javascript(pattern: &str, flags: &str) -> Result<Literal, Unusable> {
    let given = flags_of(flags, pattern.len())?;
    let (groups, names) = groups_of(pattern);
    let cursor = Cursor { pattern, at: 0 };
    let unicode = given.unicode || !names.is_empty();
    let mut reader = Reader { cursor, flags: given, groups, names, named: unicode, open: Vec::new(), count: 0 };
    let root = reader.choice(0)?;
    if !reader.cursor.rest().is_empty() {
        return reader.cursor.error("this `)` closes nothing");
    }
    let mut writer = Writer::default();
    writer.node(&root, true, true);
    let letters = [('i', given.ignore_case), ('s', given.dot_all)];
    let letters = letters.into_iter().filter_map(|(letter, on)| on.then_some(letter)).collect();
    Ok(Literal::new(&writer.text, letters, writer.backtracks))
}

#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
    unicode: bool,
}

/// Flags are told behind the last byte of the expression.
fn flags_of(flags: &str, end: usize) -> Result<Flags, Unusable> {
    let mut given = Flags::default();
    for (at, letter) in flags.char_indices() {
        if flags.get(..at).is_some_and(|before| before.contains(letter)) {
            return Err(Unusable::new(end, format!("the flag `{letter}` stands twice")));
        }
        match letter {
            'i' => given.ignore_case = true,
            'm' => given.multi_line = true,
            's' => given.dot_all = true,
            'u' => given.unicode = true,
            'g' | 'y' | 'd' => {}
            'v' => {
                return Err(Unusable::new(
                    end,
                    "the flag `v` (sets of texts) has no counterpart: write the expression with `u`",
                ));
            }
            other => return Err(Unusable::new(end, format!("there is no flag `{other}`"))),
        }
    }
    Ok(given)
}

/// How many groups there are, and the names of those that have one, with their numbers.
fn groups_of(pattern: &str) -> (u32, Vec<(String, u32)>) {
    let (mut count, mut names, mut in_set) = (0_u32, Vec::new(), false);
    let mut cursor = Cursor { pattern, at: 0 };
    while let Some(letter) = cursor.next() {
        match letter {
            '\\' => drop(cursor.next()),
            '[' => in_set = true,
            ']' => in_set = false,
            '(' if !in_set => {
                let named = cursor.rest().strip_prefix("?<").filter(|rest| !rest.starts_with(['=', '!']));
                if cursor.rest().starts_with('?') && named.is_none() {
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

struct Reader<'p> {
    cursor: Cursor<'p>,
    flags: Flags,
    /// How many groups the whole expression has.
    groups: u32,
    names: Vec<(String, u32)>,
    /// Whether `\k` refers to a group.
    named: bool,
    /// Groups around the place that is read.
    open: Vec<u32>,
    /// Groups that began before it.
    count: u32,
}

impl Reader<'_> {
    fn choice(&mut self, depth: usize) -> Result<Node, Unusable> {
        if depth > DEEPEST {
            return self.cursor.error("the groups are nested too deep");
        }
        let mut parts = vec![self.sequence(depth)?];
        while self.cursor.take("|") {
            parts.push(self.sequence(depth)?);
        }
        Ok(if parts.len() == 1 { parts.pop().unwrap_or(Node::Empty) } else { Node::Choice(parts) })
    }

    fn sequence(&mut self, depth: usize) -> Result<Node, Unusable> {
        let mut parts: Vec<Node> = Vec::new();
        let mut repeatable = false;
        loop {
            let at = self.cursor.at;
            match self.cursor.peek() {
                None | Some('|' | ')') => return Ok(Node::Sequence(parts)),
                Some('*' | '+' | '?' | '{') => {
                    let Some((sign, least, most)) = self.sign(at)? else {
                        if self.flags.unicode {
                            return Err(Unusable::new(at, "this `{` counts nothing: write `\\{` for the character"));
                        }
                        self.cursor.next();
                        parts.push(Node::Written(literal('{'), 1));
                        repeatable = true;
                        continue;
                    };
                    let Some(inside) = parts.pop().filter(|_| repeatable) else {
                        return Err(Unusable::new(at, "there is nothing to repeat here"));
                    };
                    repeatable = false;
                    parts.push(Node::Repeat { inside: Box::new(inside), sign, least, most, keeps: false });
                }
                Some(_) => {
                    let node = self.atom(depth)?;
                    repeatable = match &node {
                        Node::Place(_) | Node::Written(_, 0) | Node::Group(Group::Behind, ..) => false,
                        Node::Group(Group::Ahead, ..) => !self.flags.unicode,
                        _ => true,
                    };
                    parts.push(node);
                }
            }
        }
    }

    /// A repetition: how it is written, and its numbers; `None` for a brace that counts nothing.
    fn sign(&mut self, at: usize) -> Result<Option<(String, u32, Option<u32>)>, Unusable> {
        let mut ahead = self.cursor;
        let (mut sign, least, most) = match ahead.next() {
            Some('*') => ("*".to_owned(), 0, None),
            Some('+') => ("+".to_owned(), 1, None),
            Some('?') => ("?".to_owned(), 0, Some(1)),
            _ => {
                let digit = |letter: char| letter.is_ascii_digit();
                let least = ahead.take_while(usize::MAX, digit);
                let most = ahead.take(",").then(|| ahead.take_while(usize::MAX, digit));
                if least.is_empty() || !ahead.take("}") {
                    return Ok(None);
                }
                let number = |text: &str| text.parse::<u32>().map_err(|_| Unusable::new(at, "the number is too large"));
                let low = number(least)?;
                match most {
                    None => (format!("{{{low}}}"), low, Some(low)),
                    Some("") => (format!("{{{low},}}"), low, None),
                    Some(most) => {
                        let high = number(most)?;
                        if high < low {
                            return Err(Unusable::new(at, "the least number is greater than the most"));
                        }
                        (format!("{{{low},{high}}}"), low, Some(high))
                    }
                }
            }
        };
        if ahead.take("?") {
            sign.push('?');
        }
        self.cursor.at = ahead.at;
        Ok(Some((sign, least, most)))
    }

    fn atom(&mut self, depth: usize) -> Result<Node, Unusable> {
        let start = self.cursor.at;
        let Some(letter) = self.cursor.next() else { return Ok(Node::Empty) };
        match letter {
            '\\' => self.escape(start),
            '[' => self.set(start),
            '(' => self.group(depth, start),
            '.' if self.flags.dot_all => Ok(Node::Written(".".to_owned(), 1)),
            '.' => Ok(set(true, r"\n\r\u{2028}\u{2029}")),
            '^' if self.flags.multi_line => Ok(Node::Place(Place::LineStart)),
            '^' => Ok(Node::Written("^".to_owned(), 0)),
            '$' if self.flags.multi_line => Ok(Node::Place(Place::LineEnd)),
            '$' => Ok(Node::Written("$".to_owned(), 0)),
            ']' | '}' if self.flags.unicode => {
                Err(Unusable::new(start, format!("write `\\{letter}` for the character")))
            }
            other => Ok(Node::Written(outside_sets(other), 1)),
        }
    }

    fn group(&mut self, depth: usize, start: usize) -> Result<Node, Unusable> {
        let (group, opening) = match self.cursor.rest() {
            rest if rest.starts_with("?:") => (Group::Plain, "(?:"),
            rest if rest.starts_with("?=") => (Group::Ahead, "(?="),
            rest if rest.starts_with("?!") => (Group::Ahead, "(?!"),
            rest if rest.starts_with("?<=") => (Group::Behind, "(?<="),
            rest if rest.starts_with("?<!") => (Group::Behind, "(?<!"),
            rest if rest.starts_with("?<") => return self.named(depth, start),
            rest if rest.starts_with('?') => return Err(Unusable::new(start, "there is no such group")),
            _ => return self.capture("(".to_owned(), depth, start),
        };
        self.cursor.take(opening.get(1..).unwrap_or(""));
        let inside = self.closed(depth, start)?;
        Ok(Node::Group(group, opening.to_owned(), Box::new(inside)))
    }

    fn closed(&mut self, depth: usize, start: usize) -> Result<Node, Unusable> {
        let inside = self.choice(depth.saturating_add(1))?;
        if self.cursor.take(")") { Ok(inside) } else { Err(Unusable::new(start, "this `(` is not closed")) }
    }

    fn capture(&mut self, opening: String, depth: usize, start: usize) -> Result<Node, Unusable> {
        self.count = self.count.saturating_add(1);
        self.open.push(self.count);
        let inside = self.closed(depth, start)?;
        self.open.pop();
        Ok(Node::Group(Group::Plain, opening, Box::new(inside)))
    }

    fn named(&mut self, depth: usize, start: usize) -> Result<Node, Unusable> {
        self.cursor.take("?<");
        let name = self.cursor.take_while(usize::MAX, |letter| letter != '>');
        let mut letters = name.chars();
        let begins = letters.next().is_some_and(|first| matches!(first, '_' | '$') || first.is_alphabetic());
        if !begins || !letters.all(|letter| matches!(letter, '_' | '$') || letter.is_alphanumeric()) {
            return Err(Unusable::new(start, "behind `(?<` stands the name of a group and `>`"));
        }
        if self.names.iter().any(|(known, number)| known == name && *number <= self.count) {
            return Err(Unusable::new(start, format!("there are two groups `{name}`")));
        }
        // A name may have a `$`, which the language knows not: groups are referred to by their numbers.
        let opening = if name.contains('$') { "(".to_owned() } else { format!("(?<{name}>") };
        if !self.cursor.take(">") {
            return Err(Unusable::new(start, "behind `(?<` stands the name of a group and `>`"));
        }
        self.capture(opening, depth, start)
    }
}
