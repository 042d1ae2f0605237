//! What the walk comes to at the cursor.

use super::walk::opens_step;
use super::{Body, Cursor, Mode, Walk};
use crate::assist::chain::Chain;
use averment_syntax::statements;
use averment_syntax::token::Kind;
use std::ops::Range;

impl<'t> Walk<'_, 't> {
    pub(super) fn cursor(mut self, range: Range<usize>, at: usize, in_comment: bool) -> Cursor<'t> {
        let text = self.text;
        let count = self.tokens.len();
        let before: Vec<&'t str> = (count.saturating_sub(3)..count).map(|index| self.word(index)).collect();
        let locals = self.locals();
        let in_invariant = self.levels.iter().any(|level| level.begins == Mode::Start(Body::Invariant));
        let chain = Chain::before(text, self.tokens, range.start);
        let last = count.saturating_sub(1);
        let Some(level) = self.levels.pop() else {
            let (mode, head, scope) = (Mode::Start(Body::File), String::new(), None);
            let prefix = text.get(range.start..at).unwrap_or("");
            let (in_text, behind_operand) = (false, false);
            return Cursor {
                text,
                range,
                prefix,
                mode,
                head,
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
        let head_only = last == level.start && level.mode == Mode::Step;
        let behind_operand = complete && !fresh && !head_only && !opens_step(self.word(last));
        let mode = match level.mode {
            Mode::Object(entry) if level.behind_colon => Mode::Object(entry.value_of(&level.key)),
            mode => mode,
        };
        let prefix = text.get(range.start..at).unwrap_or("");
        Cursor {
            text,
            range,
            prefix,
            mode,
            head: level.head,
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

    /// `x` of `any x in …`, the parameters of a `def`, and the bindings of the statement with those of the blocks around it.
    pub(super) fn locals(&self) -> Vec<String> {
        let statement = self.levels.iter().rposition(|level| matches!(level.begins, Mode::Start(_))).unwrap_or(0);
        let mut own = self.levels.get(statement).map_or(0, |level| level.start);
        for level in self.levels.get(..statement).unwrap_or(&[]).iter().rev() {
            if !statements::begins_block(&level.head) {
                break;
            }
            own = level.start;
        }
        let mut found: Vec<String> = Vec::new();
        for index in own..self.tokens.len() {
            let word = self.word(index);
            let quantified = matches!(word, "any" | "all" | "no" | "count") && self.word(index + 2) == "in";
            let name = match self.kind(index) {
                Kind::Binding => word,
                Kind::Word if quantified => self.word(index + 1),
                Kind::Word if self.is_parameter(index) => word,
                _ => continue,
            };
            if !found.iter().any(|known| known == name) {
                found.push(name.to_owned());
            }
        }
        found
    }

    /// A name between the parentheses behind `def NAME`.
    pub(super) fn is_parameter(&self, index: usize) -> bool {
        let open = (index.saturating_sub(16)..index).rev().find(|&at| self.word(at) == "(");
        let closed = open.is_some_and(|open| (open..index).any(|at| self.word(at) == ")"));
        let def = |open: usize| {
            let head = open.checked_sub(2);
            head.is_some_and(|head| {
                self.word(head) == "def" || self.word(head) == "step" && head > 0 && self.word(head - 1) == "def"
            })
        };
        !closed && open.is_some_and(def)
    }
}
