//! The statements that speak of order: `before`, `after`, `sequence`, `never` in a window, `flow`.

use crate::matching::Env;
use crate::model::{Adjacency, Flow, Pattern, SequenceMode, Within};
use crate::run::Kind;
use crate::statement::{Hit, Judge, Judged, is_same, safety};

impl Judge<'_, '_> {
    /// Every B has an A before it.
    pub fn before(&mut self, adjacency: Adjacency, a: &Pattern, targets: &[Pattern], within: Option<Within>) -> Judged {
        let mut holds = true;
        for b in targets {
            for hit in self.every(b) {
                holds &= self.has_earlier(adjacency, a, b, &hit, within);
            }
        }
        let vacuous = !targets.iter().any(|b| self.occurs(b));
        safety(holds, vacuous)
    }

    fn has_earlier(
        &mut self,
        adjacency: Adjacency,
        a: &Pattern,
        b: &Pattern,
        hit: &Hit,
        within: Option<Within>,
    ) -> bool {
        let s = hit.step;
        let mut earlier: Vec<usize> = self.world.steps.iter().copied().filter(|t| *t < s).collect();
        if adjacency == Adjacency::Immediately {
            let place = self.calls.iter().position(|call| *call == s);
            earlier = place.and_then(|place| place.checked_sub(1)).map(|place| self.calls[place]).into_iter().collect();
        }
        earlier.into_iter().any(|t| {
            let again = |r: &usize| t <= *r && *r < s;
            let each = matches!(adjacency, Adjacency::Each | Adjacency::StartsEach);
            let starts = matches!(adjacency, Adjacency::Starts | Adjacency::StartsEach);
            let taken = each
                && self
                    .world
                    .steps
                    .iter()
                    .copied()
                    .filter(again)
                    .any(|r| self.base(b, r).iter().any(|other| is_same(other, &hit.bound)));
            !taken && (starts || self.known(t, s)) && self.pair(b, hit, a, t) && self.bound(t, s, within)
        })
    }

    /// Whether an earlier step is known at a later one.
    fn known(&self, t: usize, s: usize) -> bool {
        let (a, b) = (self.world.step(t), self.world.step(s));
        if a.kind != Kind::Call || b.kind != Kind::Call || a.is_parent_of(b) {
            return true;
        }
        match (a.end, b.start, a.turn, b.turn) {
            (Some(end), Some(start), ..) => end <= start,
            (.., Some(one), Some(other)) => one != other,
            _ => true,
        }
    }

    /// Every A has a B behind it.
    pub fn after(&mut self, adjacency: Adjacency, a: &Pattern, targets: &[Pattern], within: Option<Within>) -> Judged {
        let (mut holds, mut for_good) = (true, false);
        let found = self.every(a);
        for b in targets {
            for hit in &found {
                if !self.has_later(adjacency, a, b, hit, within) {
                    holds = false;
                    for_good |= self.too_late(adjacency, &found, hit, within);
                }
            }
        }
        match (holds, found.is_empty()) {
            (false, _) => Judged::Fail { for_good },
            (true, true) => Judged::Vacuous,
            (true, false) => Judged::Pass { for_good: false },
        }
    }

    fn has_later(&mut self, adjacency: Adjacency, a: &Pattern, b: &Pattern, hit: &Hit, within: Option<Within>) -> bool {
        let t = hit.step;
        let mut later: Vec<usize> = self.world.steps.iter().copied().filter(|s| *s > t).collect();
        if adjacency == Adjacency::Immediately {
            let place = self.calls.iter().position(|call| *call == t);
            later = place.and_then(|place| self.calls.get(place + 1)).copied().into_iter().collect();
        }
        later.into_iter().any(|s| {
            let again = |r: &usize| t < *r && *r <= s;
            let taken = adjacency == Adjacency::Each
                && self
                    .world
                    .steps
                    .iter()
                    .copied()
                    .filter(again)
                    .any(|r| self.base(a, r).iter().any(|other| is_same(other, &hit.bound)));
            !taken && self.pair(a, hit, b, s) && self.bound(t, s, within)
        })
    }

    /// This A has no B yet; can a further step still be one?
    fn too_late(&mut self, adjacency: Adjacency, found: &[Hit], hit: &Hit, within: Option<Within>) -> bool {
        let next_came = match adjacency {
            Adjacency::Plain | Adjacency::Starts | Adjacency::StartsEach => false,
            Adjacency::Each => found.iter().any(|other| other.step > hit.step && is_same(&other.bound, &hit.bound)),
            Adjacency::Immediately => self.calls.last() != Some(&hit.step),
        };
        next_came || (adjacency != Adjacency::Immediately && self.bound_has_passed(hit.step, within))
    }

    /// The bound has passed in calls and turns; in time once a later step starts behind it.
    fn bound_has_passed(&self, t: usize, within: Option<Within>) -> bool {
        let from = self.world.step(t);
        let later = || self.world.steps.iter().filter(|s| **s > t).map(|s| self.world.step(*s));
        match within {
            None => false,
            Some(Within::Calls(most)) => {
                let next = self.world.steps.iter().map(|s| self.world.step(*s));
                let next = next.map(|step| step.position + i64::from(step.executed)).max().unwrap_or(0);
                next - from.position > most
            }
            Some(Within::Turns(most)) => {
                later().any(|step| step.turn.zip(from.turn).is_some_and(|(b, a)| b - a > most))
            }
            Some(Within::Milliseconds(most)) => {
                later().any(|step| step.start.zip(from.start).is_some_and(|(b, a)| b - a > most as f64))
            }
        }
    }

    pub fn sequence(&mut self, mode: SequenceMode, patterns: &[Pattern], within: Option<Within>) -> Judged {
        if mode == SequenceMode::Gaps {
            let envs = self.world.environments(&patterns.iter().collect::<Vec<_>>());
            let holds = envs.iter().any(|env| self.chain(patterns, None, env, within));
            return if holds { Judged::Pass { for_good: true } } else { Judged::Fail { for_good: false } };
        }
        let found = match mode {
            SequenceMode::Exactly => self.calls.clone(),
            _ => self.steps_of_any(patterns),
        };
        let fits = found.len() <= patterns.len() && self.prefix_fits(patterns, &found, within);
        match fits {
            true if found.len() == patterns.len() => Judged::Pass { for_good: false },
            fits => Judged::Fail { for_good: !fits },
        }
    }

    /// The patterns one behind the other, gaps allowed, behind a step.
    fn chain(&mut self, patterns: &[Pattern], behind: Option<usize>, env: &Env, within: Option<Within>) -> bool {
        let Some((first, rest)) = patterns.split_first() else { return true };
        let steps: Vec<usize> = self.world.steps.iter().copied().filter(|s| behind.is_none_or(|t| *s > t)).collect();
        steps.into_iter().any(|s| {
            self.matches(first, s, env)
                && behind.is_none_or(|t| self.bound(t, s, within))
                && self.chain(rest, Some(s), env, within)
        })
    }

    fn steps_of_any(&mut self, patterns: &[Pattern]) -> Vec<usize> {
        let envs = self.world.environments(&patterns.iter().collect::<Vec<_>>());
        let matched = |judge: &mut Self, s: usize| {
            patterns.iter().any(|pattern| envs.iter().any(|env| judge.matches(pattern, s, env)))
        };
        self.world.steps.clone().into_iter().filter(|s| matched(self, *s)).collect()
    }

    fn prefix_fits(&mut self, patterns: &[Pattern], found: &[usize], within: Option<Within>) -> bool {
        let envs = self.world.environments(&patterns.iter().collect::<Vec<_>>());
        let near = found.windows(2).all(|pair| self.bound(pair[0], pair[1], within));
        near && envs.iter().any(|env| found.iter().zip(patterns).all(|(s, pattern)| self.matches(pattern, *s, env)))
    }

    /// Each B stands alone.
    pub fn never_after(
        &mut self,
        all: &[Pattern],
        a: &Pattern,
        until: Option<&Pattern>,
        within: Option<Within>,
    ) -> Judged {
        let found = all.iter().any(|b| self.caught_after(b, a, until, within));
        safety(!found, !self.occurs(a))
    }

    fn caught_after(&mut self, b: &Pattern, a: &Pattern, until: Option<&Pattern>, within: Option<Within>) -> bool {
        let (steps, envs) = (self.world.steps.clone(), self.world.environments(&[b, a]));
        envs.iter().any(|env| {
            pairs(&steps).into_iter().any(|(t, s)| {
                self.matches(a, t, env)
                    && self.matches(b, s, env)
                    && !until.is_some_and(|c| steps.iter().any(|r| t < *r && *r <= s && self.closes(c, *r, env)))
                    && self.bound(t, s, within)
            })
        })
    }

    /// A closing step: what it alone binds may have any value.
    pub fn closes(&mut self, c: &Pattern, index: usize, env: &Env) -> bool {
        let envs = self.world.environments(&[c]);
        envs.into_iter().any(|mut own| {
            own.extend(env.clone());
            self.matches(c, index, &own)
        })
    }

    pub fn never_before(&mut self, all: &[Pattern], a: &Pattern, within: Option<Within>) -> Judged {
        let steps = self.world.steps.clone();
        let mut found = false;
        for b in all {
            for env in &self.world.environments(&[b, a]) {
                let Some(t) = steps.iter().copied().find(|t| self.matches(a, *t, env)) else { continue };
                for s in steps.iter().copied().filter(|s| *s < t) {
                    found |= self.matches(b, s, env) && self.bound(s, t, within);
                }
            }
        }
        safety(!found, !self.occurs(a))
    }

    pub fn never_between(&mut self, all: &[Pattern], a: &Pattern, c: &Pattern) -> Judged {
        let steps = self.world.steps.clone();
        let (mut inside, mut unclosed, mut closed) = (false, false, false);
        for b in all {
            for env in &self.world.environments(&[b, a]) {
                let opens: Vec<usize> = steps.iter().copied().filter(|t| self.matches(a, *t, env)).collect();
                for t in opens {
                    let end = steps.iter().copied().find(|r| *r > t && self.closes(c, *r, env));
                    let until = end.unwrap_or(usize::MAX);
                    let within = steps.iter().copied().filter(|s| t < *s && *s < until);
                    let some_b = within.into_iter().any(|s| self.matches(b, s, env));
                    inside |= end.is_some() && some_b;
                    unclosed |= end.is_none() && some_b;
                }
            }
        }
        for env in &self.world.environments(&[a, c]) {
            closed |= pairs(&steps).into_iter().any(|(t, r)| self.matches(a, t, env) && self.matches(c, r, env));
        }
        match () {
            () if inside => Judged::Fail { for_good: true },
            () if unclosed => Judged::Undecided,
            () => safety(true, !closed),
        }
    }

    pub fn flow(&mut self, flow: &Flow) -> Judged {
        // A name without a value: no step of the word binds it, and tests on it are left aside.
        let (calls, envs) = (self.calls.clone(), self.world.partial_environments(&flow.patterns()));
        let (mut word, mut can_become_one) = (false, false);
        for env in &envs {
            let mut rest = Some(flow.clone());
            for call in &calls {
                rest = rest.and_then(|flow| self.derive(&flow, *call, env));
            }
            can_become_one |= rest.is_some();
            word |= rest.is_some_and(|rest| takes_nothing(&rest));
        }
        if word { Judged::Pass { for_good: false } } else { Judged::Fail { for_good: !can_become_one } }
    }

    /// What is left of a flow behind one call; `None`: nothing can follow.
    fn derive(&mut self, flow: &Flow, call: usize, env: &Env) -> Option<Flow> {
        match flow {
            Flow::Pattern(pattern) => self.matches(pattern, call, env).then(|| Flow::Sequence(Vec::new())),
            Flow::Choice(parts) => {
                let rests: Vec<Flow> = parts.iter().filter_map(|part| self.derive(part, call, env)).collect();
                (!rests.is_empty()).then_some(Flow::Choice(rests))
            }
            Flow::Sequence(parts) => {
                let mut rests = Vec::new();
                for (place, part) in parts.iter().enumerate() {
                    if let Some(rest) = self.derive(part, call, env) {
                        rests.push(Flow::Sequence([&[rest], &parts[place + 1..]].concat()));
                    }
                    if !takes_nothing(part) {
                        break;
                    }
                }
                (!rests.is_empty()).then_some(Flow::Choice(rests))
            }
            Flow::Repeat(_, _, Some(0)) => None,
            Flow::Repeat(inner, least, most) => {
                let rest = self.derive(inner, call, env)?;
                let again = Flow::Repeat(inner.clone(), least.saturating_sub(1), most.map(|most| most - 1));
                Some(Flow::Sequence(vec![rest, again]))
            }
        }
    }
}

/// Whether the empty list of calls is a word.
fn takes_nothing(flow: &Flow) -> bool {
    match flow {
        Flow::Pattern(_) => false,
        Flow::Sequence(parts) => parts.iter().all(takes_nothing),
        Flow::Choice(parts) => parts.iter().any(takes_nothing),
        Flow::Repeat(inner, least, _) => *least == 0 || takes_nothing(inner),
    }
}

fn pairs(steps: &[usize]) -> Vec<(usize, usize)> {
    let all = steps.iter().flat_map(|t| steps.iter().map(move |s| (*t, *s)));
    all.filter(|(t, s)| t < s).collect()
}
