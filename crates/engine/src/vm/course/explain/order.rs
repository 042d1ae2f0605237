//! Statements about order: `before`, `after`, `sequence`, `never` in a window.

use super::super::monitor::Why;
use super::super::timeline::Env;
use super::super::trail::{bound, measure};
use super::super::view::{Fit, Hit, View, merge, same_values};
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
    let wanted = view.wanted(source, hit, &hit.env, true);
    let since_words = since.map(|since| format!(" since {}", view.say(since))).unwrap_or_default();
    let reason = [&view.say(hit.step), " has no earlier ", &wanted, &within_words(within), &since_words].concat();
    let mut evidence = view.decisive(hit, ["this has no earlier ", &wanted].concat());
    let behind = |since| view.step_proof(since, hit.slot, Role::Opening, format!("{wanted} was needed behind this"));
    evidence.extend(since.map(behind));
    match view.too_far(hit, source, since, within) {
        Some(near) => evidence.push(near),
        None => evidence.extend(view.nearest(source, hit, &hit.env, true)),
    }
    why(reason, evidence)
}

impl View<'_, '_> {
    /// The nearest A of the same values that does not count: it is used up, too far away, or its distance is not known.
    fn too_far(&mut self, hit: &Hit, source: usize, since: Option<u32>, within: Option<Within>) -> Option<Evidence> {
        let near = self.fitting(source, hit, true)?;
        let label = match since.filter(|since| near.step <= *since) {
            Some(since) => format!("{} stands before {}", self.say(near.step), self.say(since)),
            None => self.distance(&near, (near.step, hit.step), within)?,
        };
        Some(self.step_proof(near.step, source, Role::NearMiss, label))
    }

    /// The nearest B of the same values that comes too late, or nobody knows when.
    fn too_late(&mut self, hit: &Hit, wanted: usize, within: Option<Within>) -> Option<Evidence> {
        let near = self.fitting(wanted, hit, false)?;
        let label = self.distance(&near, (hit.step, near.step), within)?;
        Some(self.step_proof(near.step, wanted, Role::NearMiss, label))
    }

    /// How far a step is away, when that is more than the bound or not known.
    fn distance(&self, near: &Hit, (from, to): (u32, u32), within: Option<Within>) -> Option<String> {
        let name = self.say(near.step);
        let of = |step: u32| self.step(step).and_then(|step| measure(within, step));
        match bound(within, of(from), of(to)) {
            Some(true) => None,
            Some(false) => {
                let away = of(to).zip(of(from)).map_or(0.0, |(to, from)| to - from);
                Some(format!("{name} is {} away", apart(within, away)))
            }
            None => Some(format!("the run does not record how far away {name} is")),
        }
    }
}

impl View<'_, '_> {
    /// What came nearest to closing the window that a step stands in: behind its opening, or too late.
    fn nearly_closing(&mut self, hit: &Hit, (edge, opening): (usize, u32), close: usize) -> Vec<Evidence> {
        let opened = |open: &Hit| open.step == opening && same_values(&open.env, &hit.env) == Fit::Yes;
        let open = self.hits_near(edge, hit.step, true).find(opened);
        let env = open.map_or_else(|| hit.env.clone(), |open| merge(&open.env, &hit.env));
        let inside = |one: &Evidence| one.step.is_none_or(|step| step > opening);
        let mut near = self.nearest(close, hit, &env, true);
        let others = near.len();
        near.retain(inside);
        if near.len() < others {
            // One from before the opening stood in front of it.
            near.splice(0..0, self.unmet(close, hit.step, true).filter(inside));
        }
        near
    }
}

/// A distance in the unit of a bound: `7 calls`, `1 turn`, `6.5s`.
fn apart(within: Option<Within>, away: f64) -> String {
    let counted = |thing: &str| format!("{away} {thing}{}", if away == 1.0 { "" } else { "s" });
    match within {
        Some(Within::Turns(_)) => counted("turn"),
        Some(Within::Time(_)) if away >= 1000.0 => format!("{}s", away / 1000.0),
        Some(Within::Time(_)) => format!("{away}ms"),
        Some(Within::Calls(_)) | None => counted("call"),
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
    let thing = view.wanted(wanted, hit, &hit.env, false);
    let next = if each { view.hits_near(hit.slot, hit.step, false).find(|next| next.env == hit.env) } else { None };
    let before = next.as_ref().map(|next| format!(" before {}", view.say(next.step))).unwrap_or_default();
    let reason = [&view.say(hit.step), " has no later ", &thing, &within_words(within), &before].concat();
    let mut evidence = view.decisive(hit, ["this has no later ", &thing].concat());
    let first =
        |next: Hit| view.step_proof(next.step, hit.slot, Role::Closing, format!("this comes before any {thing}"));
    evidence.extend(next.map(first));
    match if each { None } else { view.too_late(hit, wanted, within) } {
        Some(late) => evidence.push(late),
        None => evidence.extend(view.nearest(wanted, hit, &hit.env, false)),
    }
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
    let within = within_words(view.within());
    let (reason, opening, closing) = match window {
        Window::After(edge) => (format!("{step} comes{within} after {}", view.say(edge)), edge, None),
        Window::Between(edge, close) => {
            (format!("{step} stands between {} and {}", view.say(edge), view.say(close)), edge, Some(close))
        }
        Window::Unclosed(edge) => {
            (format!("{step} comes after {}, and nothing closes that window", view.say(edge)), edge, None)
        }
    };
    let mut evidence = view.decisive(hit, String::new());
    evidence.push(view.step_proof(opening, slots.edge, Role::Opening, String::new()));
    let closing_slot = slots.close.unwrap_or(slots.edge);
    evidence.extend(closing.map(|close| view.step_proof(close, closing_slot, Role::Closing, String::new())));
    if let (Window::After(edge), Some(close)) = (window, slots.close) {
        evidence.extend(view.nearly_closing(hit, (slots.edge, edge), close));
    }
    why(reason, evidence)
}

/// `read_mail at call 1 comes before login at call 2`; `hit` is the first A, `earlier` the B before it.
pub(in super::super) fn before_first(view: &mut View<'_, '_>, hit: &Hit, slot: usize, earlier: u32) -> Why {
    let within = within_words(view.within());
    let reason = format!("{} comes{within} before {}", view.say(earlier), view.say(hit.step));
    let mut evidence = vec![view.step_proof(earlier, slot, Role::Decisive, String::new())];
    evidence.push(view.step_proof(hit.step, hit.slot, Role::Closing, String::new()));
    view.bound_values(hit, Role::Value, &mut evidence);
    why(reason, evidence)
}

/// Where a sequence was left off; `reached` are the last steps of the first beginnings by their length.
pub(in super::super) fn left_off(view: &mut View<'_, '_>, reached: &[Hit], within: Option<Within>) -> Why {
    let Some(last) = reached.last() else {
        let thing = view.pattern(0);
        let evidence = view.near_miss(0, &view.header.clone(), end(view), true).or_else(|| view.misspelt(0));
        return why(format!("there is no {thing}"), evidence.into_iter().collect());
    };
    let (before, env) = view.beginning(last);
    let wanted = view.wanted(reached.len(), last, &env, false);
    let reason = format!("{} has no later {wanted}{}", view.say(last.step), within_words(within));
    let mut evidence = Vec::new();
    for hit in &before {
        evidence.push(view.step_proof(hit.step, hit.slot, Role::Value, String::new()));
    }
    evidence.extend(view.decisive(last, "the sequence goes no further than this".to_owned()));
    match view.too_late(last, reached.len(), within) {
        Some(late) => evidence.push(late),
        None => evidence.extend(view.nearest(reached.len(), last, &env, false)),
    }
    why(reason, evidence)
}

/// A sequence that has come to its end.
pub(in super::super) fn in_order(view: &mut View<'_, '_>, reached: &[Hit]) -> Why {
    let Some(last) = reached.last() else { return Why::default() };
    let mut steps = view.beginning(last).0;
    steps.push(last.clone());
    let names: Vec<String> = steps.iter().map(|hit| view.say(hit.step)).collect();
    let proof = |hit: &Hit| view.step_proof(hit.step, hit.slot, Role::Decisive, String::new());
    let evidence = steps.iter().map(proof).collect();
    why(format!("{} come in this order", names.join(", ")), evidence)
}

impl View<'_, '_> {
    /// The steps of a sequence before its last one, and the values that they have: for each the nearest one that fits.
    fn beginning(&self, last: &Hit) -> (Vec<Hit>, Env) {
        let (mut hits, mut env, mut from) = (Vec::new(), last.env.clone(), last.step);
        for slot in (0..last.slot).rev() {
            let fits = |hit: &Hit| same_values(&hit.env, &env) == Fit::Yes;
            let Some(hit) = self.hits_near(slot, from, true).find(fits) else { break };
            (env, from) = (merge(&env, &hit.env), hit.step);
            hits.push(hit);
        }
        hits.reverse();
        (hits, env)
    }
}

/// The step behind the window.
pub(super) fn end(view: &View<'_, '_>) -> u32 {
    super::super::timeline::index(view.context.window.end)
}
