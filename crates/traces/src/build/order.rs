//! The order of the steps: within a kind by starts, among kinds by `steps`, else by starts, else by turns.

use super::{GivenOrder, StepLists, step};
use crate::error::PlacedError;
use averment_base::value::{Node, Value};
use averment_runs::normal::{of_step, role};
use averment_runs::run::{KindOrder, StepKind};
use std::cmp::Ordering;

#[derive(Debug, Clone, Copy)]
pub(super) struct StepSlot {
    pub(super) kind: StepKind,
    pub(super) recorded: usize,
    pub(super) index: u32,
}

pub(super) struct StepOrder {
    pub(super) steps: Vec<StepSlot>,
    pub(super) kinds: KindOrder,
}

#[derive(Debug, Clone, Copy)]
struct OrderedStep {
    slot: StepSlot,
    start: Option<f64>,
    turn: Option<u32>,
    /// Within a turn: 0 user and system messages, 1 assistant messages and thinking, 2 the rest.
    rank: u8,
}

/// `given`, from `steps` or the format, settles the order.
pub(super) fn order_steps(
    lists: &StepLists<'_>,
    given: Option<GivenOrder>,
    of_format: bool,
) -> Result<StepOrder, PlacedError> {
    if let Some(given) = given {
        return Ok(StepOrder { steps: in_given_order(&given), kinds: KindOrder::ALL });
    }
    let mut lanes = Vec::new();
    for (kind, list) in StepKind::ALL.into_iter().zip(lists) {
        if !list.items.is_empty() {
            lanes.push(build_lane(kind, &list.items, of_format)?);
        }
    }
    Ok(interleave_lanes(lanes))
}

fn in_given_order(given: &[(StepKind, u32)]) -> Vec<StepSlot> {
    let mut counts = [0_u32; StepKind::ALL.len()];
    let mut steps = Vec::with_capacity(given.len());
    for (kind, recorded) in given {
        if let Some(count) = counts.get_mut(*kind as usize) {
            steps.push(StepSlot { kind: *kind, recorded: *recorded as usize, index: *count });
            *count += 1;
        }
    }
    steps
}

struct StepLane {
    kind: StepKind,
    steps: Vec<OrderedStep>,
    by_start: bool,
    /// Every step has a turn, consistent with the kind's order.
    by_turn: bool,
}

fn build_lane(kind: StepKind, items: &[Node<'_>], of_format: bool) -> Result<StepLane, PlacedError> {
    let mut steps = Vec::with_capacity(items.len());
    for (recorded, item) in items.iter().enumerate() {
        let (start, turn) = step::start_and_turn(item, of_format)?;
        steps.push(OrderedStep {
            slot: StepSlot { kind, recorded, index: 0 },
            start,
            turn,
            rank: step_rank(kind, item),
        });
    }
    let by_start = steps.iter().all(|step| step.start.is_some());
    if by_start {
        if kind == StepKind::Call {
            start_with_turn(&mut steps);
        }
        steps.sort_by(compare_starts);
    }
    for (step, index) in steps.iter_mut().zip(0..) {
        step.slot.index = index;
    }
    let by_turn = steps.iter().all(|step| step.turn.is_some()) && steps.is_sorted_by_key(|step| step.turn);
    Ok(StepLane { kind, steps, by_start, by_turn })
}

fn step_rank(kind: StepKind, item: &Node<'_>) -> u8 {
    if kind != StepKind::Message {
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

/// The model requested a turn's calls at once: they stay together, at the earliest start.
fn start_with_turn(steps: &mut [OrderedStep]) {
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

fn compare_starts(a: &OrderedStep, b: &OrderedStep) -> Ordering {
    a.start.unwrap_or(0.0).total_cmp(&b.start.unwrap_or(0.0))
}

/// Kinds ordered by start form one lane, the others join by turns.
fn interleave_lanes(lanes: Vec<StepLane>) -> StepOrder {
    let mut kinds = KindOrder::ALL;
    let facts: Vec<_> = lanes.iter().map(|lane| (lane.kind, lane.by_start, lane.by_turn)).collect();
    let (timed, untimed) = lanes.into_iter().partition::<Vec<_>, _>(|lane| lane.by_start);
    let (turned, rest) = untimed.into_iter().partition::<Vec<_>, _>(|lane| lane.by_turn);
    let timed_with_turns: Vec<_> = timed.iter().filter(|lane| lane.by_turn).map(|lane| lane.kind).collect();
    let timed = merge_lanes(timed.into_iter().map(|lane| lane.steps).collect(), compare_by_start);
    let of_turns = timed.iter().filter(|step| timed_with_turns.contains(&step.slot.kind));
    let turns_agree = of_turns.clone().is_sorted_by_key(|step| step.turn);
    for (place, a) in facts.iter().enumerate() {
        for b in facts.iter().skip(place + 1) {
            let by_start = a.1 && b.1;
            let by_turn = a.2 && b.2 && (turns_agree || (!a.1 && !b.1));
            if !by_start && !by_turn {
                kinds.remove_order(a.0, b.0);
            }
        }
    }
    let mut joined = vec![with_carried_turns(timed, &timed_with_turns)];
    joined.extend(turned.into_iter().map(|lane| lane.steps));
    let mut steps: Vec<StepSlot> = merge_lanes(joined, compare_by_turn).into_iter().map(|step| step.slot).collect();
    steps.extend(rest.into_iter().flat_map(|lane| lane.steps).map(|step| step.slot));
    StepOrder { steps, kinds }
}

/// Steps without turns stay right behind their predecessor.
fn with_carried_turns(mut steps: Vec<OrderedStep>, with_turns: &[StepKind]) -> Vec<OrderedStep> {
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

fn compare_by_start(a: &OrderedStep, b: &OrderedStep) -> Ordering {
    compare_starts(a, b).then_with(|| (a.rank, a.slot.kind).cmp(&(b.rank, b.slot.kind)))
}

fn compare_by_turn(a: &OrderedStep, b: &OrderedStep) -> Ordering {
    (a.turn, a.rank, a.slot.kind).cmp(&(b.turn, b.rank, b.slot.kind))
}

/// Keeps the order within each lane.
fn merge_lanes(
    lanes: Vec<Vec<OrderedStep>>,
    compare: impl Fn(&OrderedStep, &OrderedStep) -> Ordering,
) -> Vec<OrderedStep> {
    let mut merged = Vec::with_capacity(lanes.iter().map(Vec::len).sum());
    let mut lanes: Vec<_> = lanes.into_iter().map(|lane| lane.into_iter().peekable()).collect();
    loop {
        let mut next: Option<(usize, OrderedStep)> = None;
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

/// Kinds without their own list come from `steps`; for others its elements stand for the list's, in order.
pub(super) fn read_given<'run>(steps: &[Node<'run>], lists: &mut StepLists<'run>) -> Result<GivenOrder, PlacedError> {
    let own: [Option<usize>; StepKind::ALL.len()] =
        std::array::from_fn(|kind| lists.get(kind).and_then(|list| list.recorded.then_some(list.items.len())));
    let mut counts = [0_u32; StepKind::ALL.len()];
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
                return Err(PlacedError::new(step.origin, message, help));
            }
        }
        order.push((kind, *count));
        *count += 1;
    }
    for ((kind, list), (count, own)) in StepKind::ALL.into_iter().zip(lists).zip(counts.iter().zip(own)) {
        list.implied = !list.recorded && list.items.is_empty();
        list.recorded = true;
        if let Some(length) = own.filter(|length| *length > *count as usize) {
            let (word, key) = (kind.as_str(), kind.list_key());
            let origin =
                list.items.get(*count as usize).map_or(averment_base::value::TextOrigin::COMPUTED, |item| item.origin);
            let message = format!("`steps` has {count} steps of kind `{word}`, `{key}` has {length}");
            return Err(PlacedError::new(origin, message, format!("leave `{key}` out, or list every step in both")));
        }
    }
    Ok(order)
}

fn kind_of(step: &Node<'_>) -> Result<StepKind, PlacedError> {
    let kind = match step.value {
        Value::Object(object) => object.get(of_step::KIND),
        _ => Some(*step),
    };
    let words = || StepKind::ALL.map(|kind| format!("`{}`", kind.as_str())).join(", ");
    match kind {
        Some(Node { value: Value::Text(word), origin }) => {
            let found = StepKind::ALL.into_iter().find(|kind| kind.as_str() == word.as_str());
            let message = || format!("unknown kind of step `{}`", word.as_str());
            found.ok_or_else(|| PlacedError::new(origin, message(), format!("write one of {}", words())))
        }
        _ => Err(PlacedError::new(
            step.origin,
            "a step without `kind`",
            format!("add `\"kind\"` with one of {}", words()),
        )),
    }
}
