//! The order of the steps: within a kind by starts, among kinds by `steps`, else by starts, else by turns.

use super::{GivenOrder, Lists, step};
use crate::error::Placed;
use averment_base::value::{Node, Value};
use averment_runs::normal::{of_step, role};
use averment_runs::run::{Kind, KindOrder};
use std::cmp::Ordering;

/// One step in the order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) kind: Kind,
    /// Its place in the recorded list of its kind.
    pub(super) recorded: usize,
    /// Its number among its kind, in order.
    pub(super) index: u32,
}

/// All steps in order.
pub(super) struct Ordered {
    pub(super) steps: Vec<Slot>,
    pub(super) kinds: KindOrder,
}

/// A step with all that its place depends on.
#[derive(Debug, Clone, Copy)]
struct Placing {
    slot: Slot,
    start: Option<f64>,
    turn: Option<u32>,
    /// Within one turn: 0 for user and system messages, 1 for assistant messages and thinking, 2 for all else.
    rank: u8,
}

/// Orders the steps; `given` is the order of `steps` or of the format, which settles everything.
pub(super) fn order(lists: &Lists<'_>, given: Option<GivenOrder>, of_format: bool) -> Result<Ordered, Placed> {
    if let Some(given) = given {
        return Ok(Ordered { steps: in_given_order(&given), kinds: KindOrder::ALL });
    }
    let mut lanes = Vec::new();
    for (kind, list) in Kind::ALL.into_iter().zip(lists) {
        if !list.items.is_empty() {
            lanes.push(lane(kind, &list.items, of_format)?);
        }
    }
    Ok(interleave(lanes))
}

fn in_given_order(given: &[(Kind, u32)]) -> Vec<Slot> {
    let mut counts = [0_u32; Kind::ALL.len()];
    let mut steps = Vec::with_capacity(given.len());
    for (kind, recorded) in given {
        if let Some(count) = counts.get_mut(*kind as usize) {
            steps.push(Slot { kind: *kind, recorded: *recorded as usize, index: *count });
            *count += 1;
        }
    }
    steps
}

/// The steps of one kind in their order.
struct Lane {
    kind: Kind,
    steps: Vec<Placing>,
    /// Every step has a start.
    by_start: bool,
    /// Every step has a turn, and the order of the kind does not contradict the turns.
    by_turn: bool,
}

fn lane(kind: Kind, items: &[Node<'_>], of_format: bool) -> Result<Lane, Placed> {
    let mut steps = Vec::with_capacity(items.len());
    for (recorded, item) in items.iter().enumerate() {
        let (start, turn) = step::start_and_turn(item, of_format)?;
        steps.push(Placing { slot: Slot { kind, recorded, index: 0 }, start, turn, rank: rank(kind, item) });
    }
    let by_start = steps.iter().all(|step| step.start.is_some());
    if by_start {
        if kind == Kind::Call {
            start_with_turn(&mut steps);
        }
        steps.sort_by(compare_starts);
    }
    for (step, index) in steps.iter_mut().zip(0..) {
        step.slot.index = index;
    }
    let by_turn = steps.iter().all(|step| step.turn.is_some()) && steps.is_sorted_by_key(|step| step.turn);
    Ok(Lane { kind, steps, by_start, by_turn })
}

fn rank(kind: Kind, item: &Node<'_>) -> u8 {
    if kind != Kind::Message {
        return 2;
    }
    let Value::Object(object) = item.value else { return 2 };
    match object.get(of_step::ROLE).map(|role| role.value) {
        Some(Value::Text(role)) => match role.as_str() {
            asks if role::OF_OTHERS.contains(&asks) => 0,
            answers if role::OF_ASSISTANT.contains(&answers) || role::OF_THOUGHTS.contains(&answers) => 1,
            _ => 2,
        },
        _ => 2,
    }
}

/// The calls of one turn stand together, where the earliest of them starts: the model asked for them at once.
fn start_with_turn(steps: &mut [Placing]) {
    let mut earliest = rustc_hash::FxHashMap::default();
    for step in &*steps {
        if let (Some(turn), Some(start)) = (step.turn, step.start) {
            let first = earliest.entry(turn).or_insert(start);
            *first = start.min(*first);
        }
    }
    for step in steps {
        if let Some(start) = step.turn.and_then(|turn| earliest.get(&turn)) {
            step.start = Some(*start);
        }
    }
}

fn compare_starts(a: &Placing, b: &Placing) -> Ordering {
    a.start.unwrap_or(0.0).total_cmp(&b.start.unwrap_or(0.0))
}

/// Puts the kinds together. Those that are ordered by starts come first into one lane, the others join it by turns.
fn interleave(lanes: Vec<Lane>) -> Ordered {
    let mut kinds = KindOrder::ALL;
    let facts: Vec<_> = lanes.iter().map(|lane| (lane.kind, lane.by_start, lane.by_turn)).collect();
    let (timed, untimed) = lanes.into_iter().partition::<Vec<_>, _>(|lane| lane.by_start);
    let (turned, rest) = untimed.into_iter().partition::<Vec<_>, _>(|lane| lane.by_turn);
    let timed_with_turns: Vec<_> = timed.iter().filter(|lane| lane.by_turn).map(|lane| lane.kind).collect();
    let timed = merge(timed.into_iter().map(|lane| lane.steps).collect(), compare_by_start);
    let of_turns = timed.iter().filter(|step| timed_with_turns.contains(&step.slot.kind));
    let turns_agree = of_turns.clone().is_sorted_by_key(|step| step.turn);
    for (place, a) in facts.iter().enumerate() {
        for b in facts.iter().skip(place + 1) {
            let by_start = a.1 && b.1;
            let by_turn = a.2 && b.2 && (turns_agree || (!a.1 && !b.1));
            if !by_start && !by_turn {
                kinds.forget(a.0, b.0);
            }
        }
    }
    let mut joined = vec![with_carried_turns(timed, &timed_with_turns)];
    joined.extend(turned.into_iter().map(|lane| lane.steps));
    let mut steps: Vec<Slot> = merge(joined, compare_by_turn).into_iter().map(|step| step.slot).collect();
    steps.extend(rest.into_iter().flat_map(|lane| lane.steps).map(|step| step.slot));
    Ordered { steps, kinds }
}

/// Steps of kinds without turns stand right behind the step before them.
fn with_carried_turns(mut steps: Vec<Placing>, with_turns: &[Kind]) -> Vec<Placing> {
    let mut turn = Some(0);
    for step in &mut steps {
        if with_turns.contains(&step.slot.kind) {
            turn = step.turn.max(turn);
            step.turn = turn;
        } else {
            (step.turn, step.rank) = (turn, 0);
        }
    }
    steps
}

fn compare_by_start(a: &Placing, b: &Placing) -> Ordering {
    compare_starts(a, b).then_with(|| (a.rank, a.slot.kind).cmp(&(b.rank, b.slot.kind)))
}

fn compare_by_turn(a: &Placing, b: &Placing) -> Ordering {
    (a.turn, a.rank, a.slot.kind).cmp(&(b.turn, b.rank, b.slot.kind))
}

/// Merges lanes; the order within each is kept.
fn merge(lanes: Vec<Vec<Placing>>, compare: impl Fn(&Placing, &Placing) -> Ordering) -> Vec<Placing> {
    let mut merged = Vec::with_capacity(lanes.iter().map(Vec::len).sum());
    let mut lanes: Vec<_> = lanes.into_iter().map(|lane| lane.into_iter().peekable()).collect();
    loop {
        let mut next: Option<(usize, Placing)> = None;
        for (place, lane) in lanes.iter_mut().enumerate() {
            if let Some(head) = lane.peek()
                && next.as_ref().is_none_or(|(_, best)| compare(head, best).is_lt())
            {
                next = Some((place, *head));
            }
        }
        let Some((place, step)) = next else { return merged };
        merged.push(step);
        if let Some(lane) = lanes.get_mut(place) {
            lane.next();
        }
    }
}

/// The order that `steps` gives. Kinds without a list of their own get it from `steps`; where a kind has one, the elements of `steps`
/// stand for those of the list, one after the other.
pub(super) fn given<'run>(steps: &[Node<'run>], lists: &mut Lists<'run>) -> Result<GivenOrder, Placed> {
    let own: [Option<usize>; Kind::ALL.len()] =
        std::array::from_fn(|kind| lists.get(kind).and_then(|list| list.recorded.then_some(list.items.len())));
    let mut counts = [0_u32; Kind::ALL.len()];
    let mut order = Vec::with_capacity(steps.len());
    for step in steps {
        let kind = kind_of(step)?;
        let (Some(count), Some(own), Some(list)) =
            (counts.get_mut(kind as usize), own.get(kind as usize), lists.get_mut(kind as usize))
        else {
            continue;
        };
        match own {
            None => list.items.push(*step),
            Some(length) if (*count as usize) < *length => {}
            Some(length) => {
                let (word, key) = (kind.as_str(), kind.list_key());
                let message = format!("`steps` has more steps of kind `{word}` than the {length} in `{key}`");
                let help = format!("leave `{key}` out, or list every step in both");
                return Err(Placed::new(step.origin, message, help));
            }
        }
        order.push((kind, *count));
        *count += 1;
    }
    for ((kind, list), (count, own)) in Kind::ALL.into_iter().zip(lists).zip(counts.iter().zip(own)) {
        list.recorded = true;
        if let Some(length) = own.filter(|length| *length > *count as usize) {
            let (word, key) = (kind.as_str(), kind.list_key());
            let origin =
                list.items.get(*count as usize).map_or(averment_base::value::Origin::COMPUTED, |item| item.origin);
            let message = format!("`steps` has {count} steps of kind `{word}`, `{key}` has {length}");
            return Err(Placed::new(origin, message, format!("leave `{key}` out, or list every step in both")));
        }
    }
    Ok(order)
}

fn kind_of(step: &Node<'_>) -> Result<Kind, Placed> {
    let kind = match step.value {
        Value::Object(object) => object.get(of_step::KIND),
        _ => Some(*step),
    };
    let words = || Kind::ALL.map(|kind| format!("`{}`", kind.as_str())).join(", ");
    match kind {
        Some(Node { value: Value::Text(word), origin }) => {
            let found = Kind::ALL.into_iter().find(|kind| kind.as_str() == word.as_str());
            let message = || format!("unknown kind of step `{}`", word.as_str());
            found.ok_or_else(|| Placed::new(origin, message(), format!("write one of {}", words())))
        }
        _ => Err(Placed::new(step.origin, "a step without `kind`", format!("add `\"kind\"` with one of {}", words()))),
    }
}
