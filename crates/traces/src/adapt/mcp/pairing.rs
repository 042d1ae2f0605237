//! Which request a response answers. Client and server count their ids for themselves, so that both may have a request open under one
//! id: the way that a message went tells them apart, and where nobody wrote that down the shape of the answer. What is left open by
//! both is no result of a call.

use crate::adapt::draft::StepId;
use crate::adapt::fields::{Record, key_table};
use averment_base::value::{Node, Object};
use rustc_hash::{FxHashMap, FxHashSet};

key_table! {
    /// What tells the answers to different requests apart.
    OfAnswer {
        Content = "content",
        Structured = "structuredContent",
        Failed = "isError",
        Before = "toolResult",
        Role = "role",
        Model = "model",
        Action = "action",
        Roots = "roots",
    }
}

/// Whom a request asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// A tool of the server: it is this call.
    Tool(StepId),
    /// The client.
    Client,
}

/// What a response says by its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    OfTool,
    OfClient,
    /// An error, or anything else.
    Untold,
}

/// What a tool gave back as a value.
pub(super) fn structured(result: Object<'_>) -> Option<Node<'_>> {
    result.field(OfAnswer::Structured)
}

impl Answer {
    pub(super) fn of(result: Option<Object<'_>>) -> Self {
        let Some(result) = result else { return Self::Untold };
        let has = |fields: &[OfAnswer]| fields.iter().any(|field| result.field(*field).is_some());
        if has(&[OfAnswer::Role, OfAnswer::Model, OfAnswer::Action, OfAnswer::Roots]) || result.entries().is_empty() {
            return Self::OfClient;
        }
        if has(&[OfAnswer::Content, OfAnswer::Structured, OfAnswer::Failed, OfAnswer::Before]) {
            return Self::OfTool;
        }
        Self::Untold
    }

    fn fits(self, asked: Asked) -> bool {
        matches!((self, asked), (Self::OfTool, Asked::Tool(_)) | (Self::OfClient, Asked::Client))
    }
}

struct Open<'run> {
    asked: Asked,
    direction: Option<&'run str>,
}

/// The requests of one id that wait for an answer, the oldest first.
#[derive(Default)]
struct OfId<'run> {
    open: Vec<Open<'run>>,
    /// An answer came that may belong to any of them.
    in_doubt: bool,
}

/// The requests that wait for an answer, by their ids, which are texts or numbers.
pub(super) struct OpenRequests<'run> {
    by_id: FxHashMap<String, OfId<'run>>,
    /// Messages go both ways, and it is written down which.
    directed: bool,
}

impl<'run> OpenRequests<'run> {
    pub(super) fn new(directions: impl Iterator<Item = &'run str>) -> Self {
        let directions: FxHashSet<&str> = directions.collect();
        Self { by_id: FxHashMap::default(), directed: directions.len() > 1 }
    }

    pub(super) fn add(&mut self, id: Option<String>, asked: Asked, direction: Option<&'run str>) {
        let Some(id) = id else { return };
        let of_id = self.by_id.entry(id).or_default();
        // The id comes again: nobody can tell any more what became of those before.
        if of_id.in_doubt {
            *of_id = OfId::default();
        }
        of_id.open.push(Open { asked, direction });
    }

    /// The call that a response is the result of. `None` where it answers something else, or that cannot be told.
    pub(super) fn answer(&mut self, id: &str, answer: Answer, direction: Option<&'run str>) -> Option<StepId> {
        let directed = self.directed;
        let of_id = self.by_id.get_mut(id)?;
        let opposite = |open: &Open<'_>| {
            !directed || open.direction.zip(direction).is_none_or(|(request, response)| request != response)
        };
        let mut places = (0..of_id.open.len()).filter(|place| of_id.open.get(*place).is_some_and(opposite));
        let first = places.next()?;
        let of = |place: usize| of_id.open.get(place).map(|open| open.asked);
        let is_tool = |place: usize| matches!(of(place), Some(Asked::Tool(_)));
        let alike = !of_id.in_doubt && places.clone().all(|place| is_tool(place) == is_tool(first));
        let fitting =
            || std::iter::once(first).chain(places).find(|place| of(*place).is_some_and(|of| answer.fits(of)));
        let Some(place) = (if alike { Some(first) } else { fitting() }) else {
            of_id.in_doubt = true;
            return None;
        };
        match of_id.open.remove(place).asked {
            Asked::Tool(call) => Some(call),
            Asked::Client => None,
        }
    }
}
