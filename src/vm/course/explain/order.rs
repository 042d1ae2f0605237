//! Statements about order: `before`, `after`, `sequence`, `never` in a window.

use super::super::monitor::Why;
use super::super::trail::{bound, measure};
use super::super::view::{Fit, Hit, View, same_values};
use super::super::window::Slots;
use super::{why, within_words};
use crate::ir::Within;
use crate::vm::outcome::{Evidence, Role};

/// `refund at call 3 has no earlier approve with id "o-1"`.
pub(in super::super) fn no_earlier(
    view: &mut View<'_, '_>,
    hit: &Hit,
    source: usize,
    since: Option<u32>,
    within: Option<Within>,
) -> Why {
    let wanted = view.thing(source, &hit.env);
    let since_words = since.map(|since| format!(" since {}", view.say(since))).unwrap_or_default();
    let reason = format!("{} has no earlier {wanted}{}{since_words}", view.say(hit.step), within_words(within));
    let mut evidence = view.decisive(hit, format!("this has no earlier {wanted}"));
    evidence.extend(since.map(|since| view.step_proof(since, hit.slot, Role::Opening, String::new())));
    let near = view.too_far(hit, source, since, within);
    let near = near.or_else(|| view.near_miss(source, &hit.env, hit.step, true));
    evidence.extend(near);
    why(reason, evidence)
}

impl View<'_, '_> {
    /// The nearest A of the same values that does not count: it is used up, too far away, or its distance is not known.
    fn too_far(&self, hit: &Hit, source: usize, since: Option<u32>, within: Option<Within>) -> Option<Evidence> {
        let fits = |near: &Hit| same_values(&near.env, &hit.env) == Fit::Yes;
        let near = self.hits_near(source, hit.step, true).into_iter().find(fits)?;
        let name = self.say(near.step);
        let of = |step: u32| self.step(step).and_then(|step| measure(within, step));
        let label = match since.filter(|since| near.step <= *since) {
            Some(since) => format!("{name} stands before {}", self.say(since)),
            None => match bound(within, of(near.step), of(hit.step)) {
                Some(true) => return None,
                Some(false) => format!("{name} is too far away"),
                None => format!("the run does not record how far away {name} is"),
            },
        };
        Some(self.step_proof(near.step, source, Role::NearMiss, label))
    }
}

/// `lock at call 1 has no later unlock with id "o-1"`.
pub(in super::super) fn no_later(
    view: &mut View<'_, '_>,
    hit: &Hit,
    wanted: usize,
    each: bool,
    within: Option<Within>,
) -> Why {
    let thing = view.thing(wanted, &hit.env);
    let next = if each {
        view.hits_near(hit.slot, hit.step, false).into_iter().find(|next| next.env == hit.env)
    } else {
        None
    };
    let before = next.as_ref().map(|next| format!(" before {}", view.say(next.step))).unwrap_or_default();
    let reason = format!("{} has no later {thing}{}{before}", view.say(hit.step), within_words(within));
    let mut evidence = view.decisive(hit, format!("this has no later {thing}"));
    evidence.extend(next.map(|next| view.step_proof(next.step, hit.slot, Role::Closing, String::new())));
    evidence.extend(view.near_miss(wanted, &hit.env, hit.step, false));
    why(reason, evidence)
}

/// The window in which a step must not stand.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum Window {
    /// Behind this step.
    After(u32),
    /// Between these.
    Between(u32, u32),
    /// Behind this step, in a window that never closes.
    Unclosed(u32),
}

/// `refund at call 3 comes after cancel at call 1`.
pub(in super::super) fn in_window(view: &mut View<'_, '_>, hit: &Hit, slots: Slots, window: Window) -> Why {
    let step = view.say(hit.step);
    let (reason, opening, closing) = match window {
        Window::After(edge) => (format!("{step} comes after {}", view.say(edge)), edge, None),
        Window::Between(edge, close) => {
            (format!("{step} stands between {} and {}", view.say(edge), view.say(close)), edge, Some(close))
        }
        Window::Unclosed(edge) => {
            (format!("{step} comes after {}, and the window never closes", view.say(edge)), edge, None)
        }
    };
    let mut evidence = view.decisive(hit, String::new());
    evidence.push(view.step_proof(opening, slots.edge, Role::Opening, String::new()));
    let closing_slot = slots.close.unwrap_or(slots.edge);
    evidence.extend(closing.map(|close| view.step_proof(close, closing_slot, Role::Closing, String::new())));
    why(reason, evidence)
}

/// `read_mail at call 1 comes before login at call 2`; `hit` is the first A, `earlier` the B before it.
pub(in super::super) fn before_first(view: &mut View<'_, '_>, hit: &Hit, slot: usize, earlier: u32) -> Why {
    let reason = format!("{} comes before {}", view.say(earlier), view.say(hit.step));
    let mut evidence = vec![view.step_proof(earlier, slot, Role::Decisive, String::new())];
    evidence.push(view.step_proof(hit.step, hit.slot, Role::Closing, String::new()));
    evidence.extend(view.bound_values(hit, Role::Value));
    why(reason, evidence)
}

/// Where a sequence was left off; `reached` are the last steps of the first beginnings by their length.
pub(in super::super) fn left_off(view: &mut View<'_, '_>, reached: &[Hit], within: Option<Within>) -> Why {
    let Some(last) = reached.last() else {
        let thing = view.pattern(0);
        let evidence = view.near_miss(0, &view.header.clone(), end(view), true);
        return why(format!("there is no {thing}"), evidence.into_iter().collect());
    };
    let wanted = view.thing(reached.len(), &last.env);
    let reason = format!("{} has no later {wanted}{}", view.say(last.step), within_words(within));
    let mut evidence = Vec::new();
    for hit in reached.iter().take(reached.len() - 1) {
        evidence.push(view.step_proof(hit.step, hit.slot, Role::Value, String::new()));
    }
    evidence.extend(view.decisive(last, format!("the sequence goes no further: no later {wanted}")));
    evidence.extend(view.near_miss(reached.len(), &last.env, last.step, false));
    why(reason, evidence)
}

/// The step behind the window.
fn end(view: &View<'_, '_>) -> u32 {
    super::super::timeline::index(view.context.window.end)
}
