//! Open parentheses after names, and pairs of brackets.

use super::{StatementPart, TokenWalk, closed_before, is_string, scan_bounded};
use averment_syntax::token::{Token, TokenKind};
use std::ops::Range;

/// An open parenthesis after a name: the location of the name, the name, and the number of commas.
pub(in crate::assist) struct OpenCall {
    pub name: Range<usize>,
    /// The end of the parenthesis sign.
    pub inside: usize,
    pub commas: usize,
    pub is_step: bool,
    pub is_piped: bool,
}

/// Returns the open parentheses after names at an offset, innermost first.
pub(in crate::assist) fn open_calls(text: &str, at: usize) -> Vec<OpenCall> {
    let scan = scan_bounded(text);
    let inside =
        scan.tokens.iter().find(|token| is_string(token) && token.start < at && !closed_before(text, token, at));
    if let Some(token) = inside
        && let Some(open) = text.get(token.start..at).and_then(|written| written.rfind("${"))
    {
        let base = token.start + open + 2;
        let inner = open_calls(text.get(base..at).unwrap_or(""), at - base);
        let moved = |call: OpenCall| OpenCall {
            name: call.name.start + base..call.name.end + base,
            inside: call.inside + base,
            ..call
        };
        return inner.into_iter().map(moved).collect();
    }
    let before = scan.tokens.iter().take_while(|token| token.end <= at).count();
    let mut walk = TokenWalk::new(text, scan.tokens.get(..before).unwrap_or(&[]));
    walk.run_to_end();
    let outer = walk.levels.iter();
    let pairs = outer.zip(walk.levels.iter().skip(1)).rev();
    pairs
        .take_while(|(_, level)| !matches!(level.begins, StatementPart::Start(_)))
        .filter(|(_, level)| level.open == "(")
        .filter_map(|(outer, level)| {
            let open = level.start.checked_sub(1)?;
            let name = open.checked_sub(1).filter(|_| walk.touches_previous(open))?;
            let token = walk.tokens.get(name).filter(|token| token.kind == TokenKind::Word)?;
            Some(OpenCall {
                name: token.start..token.end,
                inside: walk.tokens.get(open)?.end,
                commas: level.commas,
                is_step: outer.mode == StatementPart::Step,
                is_piped: name.checked_sub(1).is_some_and(|bar| walk.word_at(bar) == "|"),
            })
        })
        .collect()
}

/// Returns the pairs of brackets in a text, as byte ranges that include both brackets.
pub fn bracket_pairs(text: &str) -> Vec<Range<usize>> {
    let scan = scan_bounded(text);
    let mut open: Vec<&Token> = Vec::new();
    let mut found = Vec::new();
    for token in &scan.tokens {
        let closes = match text.get(token.start..token.end).unwrap_or("") {
            "(" | "[" | "{" => {
                open.push(token);
                continue;
            }
            ")" => "(",
            "]" => "[",
            "}" => "{",
            _ => continue,
        };
        let fits = |one: &&&Token| text.get(one.start..one.end) == Some(closes);
        if let Some(depth) = open.iter().rev().take(64).position(|one| fits(&one)) {
            open.truncate(open.len() - depth);
            found.extend(open.pop().map(|first| first.start..token.end));
        }
    }
    found.sort_by_key(|pair| pair.start);
    found
}
