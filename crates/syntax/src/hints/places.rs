//! Conditions on a place in a statement that several hints ask for.

use super::table::list;
use super::view::StatementView;

/// True for brackets of another kind around the values of a list.
pub(super) fn is_list(view: &StatementView<'_, '_>, open: usize) -> bool {
    let call = view.touches_previous(open) && view.is_word(open - 1) && !view.token_is(open - 1, "in");
    let holds = |signs: &[&str]| {
        let mut inside = (open..view.behind_bracket(open)).filter(|&at| view.bracket_around(at) == Some(open));
        inside.any(|at| view.is_any(at, signs))
    };
    view.is_any(open, &["(", "{"]) && !call && holds(&[","]) && !holds(&[":", "->", "|"])
}

/// True for a word that is a modifier here: an operator behind it makes it a name.
pub(super) fn is_modifier(view: &StatementView<'_, '_>, at: usize) -> bool {
    let value = at == 0 && view.is_any(0, &["when", "as", "class"]) && view.len() > 3;
    can_stand(view, at) && view.failed <= at + 2 && !view.is_any(at + 1, list("BEHINDNAME")) && !value
}

/// True where a modifier or setting can stand: at the start, or behind a complete statement.
pub(super) fn can_stand(view: &StatementView<'_, '_>, at: usize) -> bool {
    at == 0 || view.failed <= at + 2 && view.ends_operand(at - 1)
}

/// True where a first word may claim what follows: that is no operator, and was not read.
pub(super) fn is_claim(view: &StatementView<'_, '_>, at: usize) -> bool {
    let name = view.is_any(at, &["==", "!=", ".", "<", ">", "<=", ">=", "in", "is"]);
    let outcome = view.token_is(0, "expect") && view.len() == 2;
    at < view.len() && view.failed <= at && !name && !outcome && !is_infix(view)
}

/// `A before B`: the first word is a step.
pub(super) fn is_infix(view: &StatementView<'_, '_>) -> bool {
    view.is_any(1, list("BETWEEN")) && view.find_word(1, "->").is_none()
}
