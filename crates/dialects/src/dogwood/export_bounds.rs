//! Numbers and times in rules, and how policies differ from rules because of them.

use super::export_reasons::{BOUND, DUTY, Refusal};
use averment_syntax::ast::{
    ExprKind, NeverWindow, NumberUnit, PatternForm, StatementKind, StepPattern, TestKind, ValueTest, WithinBound,
};

/// Returns notes on where a policy decides differently from its rule, because requests are decided before later events are known.
pub(super) fn differences(kind: &StatementKind) -> Vec<&'static str> {
    let has_status = |step: &StepPattern| {
        alternatives(step).iter().any(|one| matches!(&one.kind, PatternForm::Atom(atom) if atom.status.is_some()))
    };
    let mut notes = Vec::new();
    let unbounded = match kind {
        StatementKind::Before { immediately, starts, step, within, .. } => {
            if *immediately {
                notes.push("the event just before counts, also that of a call that runs at the same time");
            }
            if !starts && !has_status(step) {
                notes.push("a call that failed opens no way");
            }
            if !starts && within.is_some() {
                notes.push("the time counts from the answer");
            }
            within.is_none()
        }
        StatementKind::Never { window: Some(NeverWindow::After { open, until }), within, .. } => {
            if has_status(open) {
                notes.push("the window opens with the answer");
            }
            if until.is_some() {
                notes.push("the window closes with an answer without an error");
            }
            within.is_none()
        }
        StatementKind::Count { .. } | StatementKind::Expression(_) => true,
        _ => false,
    };
    if unbounded {
        notes.push("it looks back over 24 hours");
    }
    notes
}

/// Returns the largest allowed number of a test such as `<= 3` or `< 4`.
pub(super) fn upper_limit(test: &ValueTest) -> Result<i64, Refusal> {
    let less = match (test.kind, test.negated) {
        (TestKind::LessOrEqual, false) => 0,
        (TestKind::Less, false) => 1,
        _ => return Err(DUTY),
    };
    match test.operand.as_ref().map(|operand| &operand.kind) {
        Some(ExprKind::Number(number)) if number.unit == NumberUnit::None => {
            let number: i64 = number.value.parse().map_err(|_| "its bound is no whole number")?;
            number.checked_sub(less).ok_or("its bound is no whole number")
        }
        _ => Err("its bound is no number that is written there"),
    }
}

/// Returns the time span that a rule looks back, such as `1h`.
pub(super) fn look_back(within: Option<&WithinBound>) -> Result<String, Refusal> {
    let Some(within) = within else { return Ok("24h".to_owned()) };
    if within.unit.is_some() {
        return Err(BOUND);
    }
    let time: u64 = within.number.value.parse().map_err(|_| "times there are whole seconds")?;
    let day = 86_400_000;
    match time {
        0 => Err("times there are whole seconds"),
        time if time > day => Err("there nothing looks back further than 24 hours"),
        time if time % 3_600_000 == 0 => Ok(format!("{}h", time / 3_600_000)),
        time if time % 60_000 == 0 => Ok(format!("{}m", time / 60_000)),
        time if time % 1_000 == 0 => Ok(format!("{}s", time / 1_000)),
        _ => Err("times there are whole seconds"),
    }
}

/// Returns the alternatives of a pattern.
pub(super) fn alternatives(step: &StepPattern) -> Vec<&StepPattern> {
    match &step.kind {
        PatternForm::Choice(all) => all.iter().flat_map(alternatives).collect(),
        _ => vec![step],
    }
}
