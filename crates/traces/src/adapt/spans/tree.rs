//! Spans as a tree: which encloses which, and which agent each belongs to.

use super::attributes::Fact;
use super::{SpanAct, TraceSpan};
use crate::adapt::nodes::node_text;
use averment_base::value::{Node, Value};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::cmp::Ordering;

pub(super) const MAIN: &str = "main";

pub(super) struct SpanTree<'run> {
    pub(super) spans: Vec<TraceSpan<'run>>,
    parents: Vec<Option<usize>>,
    order: Vec<usize>,
    /// Each span's agent; an agent is its own.
    agents: Vec<Option<usize>>,
    main: Option<usize>,
    names: Vec<Option<&'run str>>,
    /// Agents that took over, according to spans.
    successors: FxHashSet<&'run str>,
    /// Parent ids that no span has.
    pub(super) unknown_parents: usize,
}

impl<'run> SpanTree<'run> {
    pub(super) fn new(mut spans: Vec<TraceSpan<'run>>) -> Self {
        spans.sort_by(|a, b| match (a.start, b.start) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        });
        let mut by_id = FxHashMap::with_capacity_and_hasher(spans.len(), FxBuildHasher);
        for (number, span) in spans.iter().enumerate() {
            if let Some(id) = span.id {
                by_id.entry(id).or_insert(number);
            }
        }
        let mut unknown = FxHashSet::default();
        let parents = spans.iter().enumerate().map(|(number, span)| {
            let id = span.parent?;
            let parent = by_id.get(id).copied();
            if parent.is_none() {
                unknown.insert(id);
            }
            parent.filter(|parent| *parent != number)
        });
        let parents = break_cycles(parents.collect());
        let order = order_parents_first(&parents);
        let (agents, names) = (Vec::new(), Vec::new());
        let successors = spans.iter().filter_map(|span| span.facts.fact_text(Fact::HandoverTo)).collect();
        let mut tree =
            Self { spans, parents, order, agents, main: None, names, successors, unknown_parents: unknown.len() };
        tree.find_agents();
        tree
    }

    pub(super) fn parent_of(&self, span: usize) -> Option<usize> {
        self.parents.get(span).copied().flatten()
    }

    pub(super) fn act_of(&self, span: usize) -> SpanAct {
        self.spans.get(span).map_or(SpanAct::Other, |span| span.act)
    }

    /// Parents first.
    pub(super) fn outermost_first(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.order.iter().copied()
    }

    pub(super) fn fold_down<T: Copy>(&self, of_root: T, of_child: impl Fn(usize, T) -> T) -> Vec<T> {
        let mut values = vec![of_root; self.spans.len()];
        for span in &self.order {
            if let Some(parent) = self.parent_of(*span)
                && let Some(above) = values.get(parent).copied()
                && let Some(slot) = values.get_mut(*span)
            {
                *slot = of_child(parent, above);
            }
        }
        values
    }

    pub(super) fn agent_of(&self, span: usize) -> Option<usize> {
        self.agents.get(span).copied().flatten()
    }

    pub(super) fn agent_name(&self, span: usize) -> Option<&'run str> {
        self.names.get(self.agent_of(span)?).copied().flatten()
    }

    pub(super) fn is_of_main(&self, span: usize) -> bool {
        self.agent_name(span).is_none_or(|name| name == MAIN)
    }

    pub(super) fn has_agents(&self) -> bool {
        self.main.is_some()
    }

    /// True for output of the main agent or its successor.
    pub(super) fn may_answer(&self, span: usize) -> bool {
        self.is_of_main(span) || self.agent_of(span).is_some_and(|agent| self.takes_over(agent))
    }

    fn takes_over(&self, agent: usize) -> bool {
        let beside = self.main.is_some_and(|main| self.agent_around(agent) == self.agent_around(main));
        beside && self.own_name(agent).is_some_and(|name| self.successors.contains(name))
    }

    pub(super) fn is_name_of_main(&self, name: &str) -> bool {
        self.main.and_then(|main| self.own_name(main)) == Some(name)
    }

    fn own_name(&self, agent: usize) -> Option<&'run str> {
        let span = self.spans.get(agent)?;
        span.facts.fact_text(Fact::Agent).or_else(|| span.facts.fact_text(Fact::Entity)).or_else(|| plain_name(span))
    }

    /// Spans about the whole run: around the main agent, that agent (`at_end`: its last part), and roots.
    pub(super) fn whole_run(&self, at_end: bool) -> Vec<usize> {
        let around = |agent: usize| std::iter::successors(self.parent_of(agent), |span| self.parent_of(*span));
        let mut whole: Vec<usize> = self.main.map(|main| around(main).collect()).unwrap_or_default();
        whole.reverse();
        let again = |span: &usize| {
            let beside = self.main.is_some_and(|main| self.agent_around(*span) == self.agent_around(main));
            let is_main = || self.names.get(*span).copied().flatten() == Some(MAIN);
            self.act_of(*span) == SpanAct::Agent && beside && (is_main() || at_end && self.takes_over(*span))
        };
        let mut works: Vec<usize> = (0..self.spans.len()).filter(again).collect();
        if at_end {
            works.reverse();
        }
        whole.extend(works);
        let mut roots: Vec<usize> = (0..self.spans.len()).filter(|span| self.parent_of(*span).is_none()).collect();
        if at_end {
            roots.reverse();
        }
        whole.extend(roots);
        whole
    }

    fn agent_around(&self, agent: usize) -> Option<usize> {
        self.parent_of(agent).and_then(|parent| self.agent_of(parent))
    }

    /// The main agent is the outermost that acts itself: a mere wrapper is the same agent.
    fn find_agents(&mut self) {
        let of_parent = self.fold_down(
            None,
            |parent, above: Option<usize>| {
                if self.act_of(parent) == SpanAct::Agent { Some(parent) } else { above }
            },
        );
        let own = |span: usize| {
            if self.act_of(span) == SpanAct::Agent { Some(span) } else { of_parent.get(span).copied().flatten() }
        };
        self.agents = (0..self.spans.len()).map(own).collect();
        let depth = self.fold_down(0_usize, |parent, above| above + usize::from(self.act_of(parent) == SpanAct::Agent));
        let mut acts = vec![false; self.spans.len()];
        for (number, span) in self.spans.iter().enumerate() {
            if matches!(span.act, SpanAct::Inference | SpanAct::Tool)
                && let Some(slot) = self.agent_of(number).and_then(|agent| acts.get_mut(agent))
            {
                *slot = true;
            }
        }
        let agents = || (0..self.spans.len()).filter(|span| self.act_of(*span) == SpanAct::Agent);
        let deep = |span: &usize| depth.get(*span).copied();
        let acting = agents().filter(|span| acts.get(*span) == Some(&true)).min_by_key(deep);
        self.main = acting.or_else(|| agents().min_by_key(deep));
        self.name_agents();
    }

    /// The main agent and what encloses it are `main`.
    fn name_agents(&mut self) {
        let own = |agent: usize| self.own_name(agent);
        let Some(main) = self.main else { return };
        let is_main = |agent: usize| {
            agent == main || self.agent_around(agent) == self.agent_around(main) && own(agent) == own(main)
        };
        let mut names: Vec<Option<&'run str>> = (0..self.spans.len())
            .map(|span| {
                if self.act_of(span) != SpanAct::Agent {
                    None
                } else if is_main(span) {
                    Some(MAIN)
                } else {
                    own(span)
                }
            })
            .collect();
        for around in std::iter::successors(self.agent_around(main), |agent| self.agent_around(*agent)) {
            if let Some(slot) = names.get_mut(around) {
                *slot = Some(MAIN);
            }
        }
        self.names = names;
    }

    /// With `within`, agents and tools in between are excluded.
    pub(super) fn encloses_any(&self, is: impl Fn(&TraceSpan<'run>) -> bool, within: bool) -> Vec<bool> {
        let mut encloses = vec![false; self.spans.len()];
        for span in self.order.iter().rev() {
            let inside = encloses.get(*span).copied().unwrap_or(false);
            let goes_on = inside && !(within && matches!(self.act_of(*span), SpanAct::Agent | SpanAct::Tool));
            let own = self.spans.get(*span).is_some_and(&is);
            if (own || goes_on)
                && let Some(slot) = self.parent_of(*span).and_then(|parent| encloses.get_mut(parent))
            {
                *slot = true;
            }
        }
        encloses
    }
}

fn order_parents_first(parents: &[Option<usize>]) -> Vec<usize> {
    let mut done = vec![false; parents.len()];
    let (mut order, mut way) = (Vec::with_capacity(parents.len()), Vec::new());
    for start in 0..parents.len() {
        let mut at = Some(start);
        while let Some(here) = at
            && let Some(slot) = done.get_mut(here).filter(|done| !**done)
        {
            *slot = true;
            way.push(here);
            at = parents.get(here).copied().flatten();
        }
        order.extend(way.drain(..).rev());
    }
    order
}

/// Without the word for its operation.
pub(super) fn plain_name<'run>(span: &TraceSpan<'run>) -> Option<&'run str> {
    let name = span.name.and_then(node_text)?;
    let word = ["invoke_agent ", "execute_tool ", "running tool: ", "tools/call "]
        .into_iter()
        .find(|word| name.starts_with(word));
    word.and_then(|word| name.get(word.len()..)).or(Some(name))
}

pub(super) fn plain_name_node<'run>(span: &TraceSpan<'run>) -> Option<Node<'run>> {
    let (node, name) = (span.name?, plain_name(span)?);
    Some(Node::new(averment_base::value::Value::plain_text(name), node.origin))
}

/// Spans in a cycle become roots.
fn break_cycles(mut parents: Vec<Option<usize>>) -> Vec<Option<usize>> {
    let (mut state, mut way) = (vec![0_u8; parents.len()], Vec::new());
    for start in 0..parents.len() {
        let mut at = Some(start);
        while let Some(here) = at {
            match state.get(here) {
                Some(0) => {
                    if let Some(slot) = state.get_mut(here) {
                        *slot = 1;
                    }
                    way.push(here);
                    at = parents.get(here).copied().flatten();
                }
                Some(1) => {
                    if let Some(slot) = way.last().and_then(|last| parents.get_mut(*last)) {
                        *slot = None;
                    }
                    break;
                }
                _ => break,
            }
        }
        for passed in way.drain(..) {
            if let Some(slot) = state.get_mut(passed) {
                *slot = 2;
            }
        }
    }
    parents
}

/// The text of a tool's name: what the conventions say, else the name of the span. A name that is no text may be that of any tool: none.
pub(crate) fn tool_name<'run>(span: &TraceSpan<'run>) -> Option<Node<'run>> {
    let is_text = |node: &Node<'run>| node_text(*node).is_some_and(|name| !name.is_empty());
    let named = span.facts.fact_node(Fact::Tool).filter(|node| !matches!(node.value, Value::Null));
    if named.is_some_and(|node| node_text(node).is_none()) {
        return None;
    }
    named
        .filter(is_text)
        .or_else(|| span.facts.fact_node(Fact::Entity).filter(is_text))
        .or_else(|| plain_name_node(span).filter(is_text))
}
