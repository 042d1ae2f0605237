//! Turns the state of the walk at the cursor into a cursor position.

use super::walk::opens_step;
use super::{ComparedWhole, CursorState, EnclosingBody, StatementPart, TokenWalk};
use crate::assist::chain::PathPrefix;
use averment_syntax::statements;
use averment_syntax::token::TokenKind;
use std::ops::Range;

impl<'t> TokenWalk<'_, 't> {
    pub(super) fn into_cursor(mut self, range: Range<usize>, at: usize, in_comment: bool) -> CursorState<'t> {
        let text = self.text;
        let count = self.tokens.len();
        let before: Vec<&'t str> = (count.saturating_sub(3)..count).map(|index| self.word_at(index)).collect();
        let locals = self.local_names();
        let in_invariant =
            self.levels.iter().any(|level| level.begins == StatementPart::Start(EnclosingBody::Invariant));
        let chain = PathPrefix::before_dot(text, self.tokens, range.start);
        let last = count.saturating_sub(1);
        let Some(level) = self.levels.pop() else {
            let (mode, head, scope) = (StatementPart::Start(EnclosingBody::File), String::new(), None);
            let prefix = text.get(range.start..at).unwrap_or("");
            let (in_text, behind_operand) = (false, false);
            return CursorState {
                text,
                range,
                prefix,
                mode,
                head,
                compared: ComparedWhole::default(),
                listed: String::new(),
                scope,
                chain,
                behind_operand,
                before,
                in_text,
                in_comment,
                locals,
                in_invariant,
            };
        };
        let fresh = level.start > last || count == 0;
        let complete = self.is_complete(last, &level.mode);
        let head_only = last == level.start && level.mode == StatementPart::Step;
        let behind_operand = complete && !fresh && !head_only && !opens_step(self.word_at(last));
        let mode = match level.mode {
            StatementPart::Object(entry) if level.behind_colon => StatementPart::Object(entry.value_at_key(&level.key)),
            mode => mode,
        };
        let prefix = text.get(range.start..at).unwrap_or("");
        let compared = self.compared_whole(level.start);
        CursorState {
            text,
            range,
            prefix,
            mode,
            head: level.head,
            compared,
            listed: level.listed,
            scope: level.scope,
            chain,
            behind_operand,
            before,
            in_text: false,
            in_comment,
            locals,
            in_invariant,
        }
    }

    /// Returns the last whole-value comparison of a statement so far, at the bracket level of the statement.
    fn compared_whole(&self, start: usize) -> ComparedWhole {
        let (mut compared, mut depth) = (ComparedWhole::Nothing, 0_usize);
        for index in start..self.tokens.len() {
            match self.word_at(index) {
                "(" | "[" | "{" => depth = depth.saturating_add(1),
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                "match" if depth == 0 && self.previous_word(index) == "calls" => compared = ComparedWhole::Calls,
                "like" if depth == 0 => compared = ComparedWhole::Part,
                "and" | "or" | "implies" if depth == 0 => compared = ComparedWhole::Nothing,
                _ => {}
            }
        }
        compared
    }

    /// Returns quantifier variables, `def` parameters, and the bindings of the statement and its enclosing blocks.
    pub(super) fn local_names(&self) -> Vec<String> {
        let statement =
            self.levels.iter().rposition(|level| matches!(level.begins, StatementPart::Start(_))).unwrap_or(0);
        let mut own = self.levels.get(statement).map_or(0, |level| level.start);
        for level in self.levels.get(..statement).unwrap_or(&[]).iter().rev() {
            if !statements::begins_block(&level.head) {
                break;
            }
            own = level.start;
        }
        let mut found: Vec<String> = Vec::new();
        for index in own..self.tokens.len() {
            let word = self.word_at(index);
            let quantified = matches!(word, "any" | "all" | "no" | "count") && self.word_at(index + 2) == "in";
            let name = match self.kind_at(index) {
                TokenKind::Binding => word,
                TokenKind::Word if quantified => self.word_at(index + 1),
                TokenKind::Word if self.is_parameter(index) => word,
                _ => continue,
            };
            if !found.iter().any(|known| known == name) {
                found.push(name.to_owned());
            }
        }
        found
    }

    pub(super) fn is_parameter(&self, index: usize) -> bool {
        let open = (index.saturating_sub(16)..index).rev().find(|&at| self.word_at(at) == "(");
        let closed = open.is_some_and(|open| (open..index).any(|at| self.word_at(at) == ")"));
        let def = |open: usize| {
            let head = open.checked_sub(2);
            head.is_some_and(|head| {
                self.word_at(head) == "def"
                    || self.word_at(head) == "step" && head > 0 && self.word_at(head - 1) == "def"
            })
        };
        !closed && open.is_some_and(def)
    }
}
