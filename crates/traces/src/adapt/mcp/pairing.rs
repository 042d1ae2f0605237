//! Which request a response answers. Client and server count their ids for themselves, so that both may have a request open under one
//! id: the way that a message went tells them apart, and where nobody wrote that down the shape of the answer. What is left open by
//! both is no result of a call.

use crate::adapt::fields::{FieldRecord, key_table};
use crate::adapt::run_builder::StepId;
use averment_base::value::{Node, Object};
use rustc_hash::{FxHashMap, FxHashSet};

key_table! {
    RpcResultKey {
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestTarget {
    Tool(StepId),
    Client,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ResponseShape {
    Tool,
    Client,
    Unknown,
}

pub(super) fn structured_result(result: Object<'_>) -> Option<Node<'_>> {
    result.field(RpcResultKey::Structured)
}

impl ResponseShape {
    pub(super) fn of_result(result: Option<Object<'_>>) -> Self {
        let Some(result) = result else { return Self::Unknown };
        let has = |fields: &[RpcResultKey]| fields.iter().any(|field| result.field(*field).is_some());
        if has(&[RpcResultKey::Role, RpcResultKey::Model, RpcResultKey::Action, RpcResultKey::Roots])
            || result.entries().is_empty()
        {
            return Self::Client;
        }
        if has(&[RpcResultKey::Content, RpcResultKey::Structured, RpcResultKey::Failed, RpcResultKey::Before]) {
            return Self::Tool;
        }
        Self::Unknown
    }

    fn fits_target(self, asked: RequestTarget) -> bool {
        matches!((self, asked), (Self::Tool, RequestTarget::Tool(_)) | (Self::Client, RequestTarget::Client))
    }
}

struct OpenRequest<'run> {
    asked: RequestTarget,
    direction: Option<&'run str>,
}

#[derive(Default)]
struct IdRequests<'run> {
    open: Vec<OpenRequest<'run>>,
    /// An answer came that may belong to any of them.
    in_doubt: bool,
}

pub(super) struct OpenRequests<'run> {
    by_id: FxHashMap<String, IdRequests<'run>>,
    /// Messages go both ways, and their direction is recorded.
    directed: bool,
}

impl<'run> OpenRequests<'run> {
    pub(super) fn new(directions: impl Iterator<Item = &'run str>) -> Self {
        let directions: FxHashSet<&str> = directions.collect();
        Self { by_id: FxHashMap::default(), directed: directions.len() > 1 }
    }

    pub(super) fn add_request(&mut self, id: Option<String>, asked: RequestTarget, direction: Option<&'run str>) {
        let Some(id) = id else { return };
        let of_id = self.by_id.entry(id).or_default();
        // The id comes again: nobody can tell any more what became of those before.
        if of_id.in_doubt {
            *of_id = IdRequests::default();
        }
        of_id.open.push(OpenRequest { asked, direction });
    }

    /// `None` if it answers something else, or that is unknown.
    pub(super) fn answer_request(
        &mut self,
        id: &str,
        answer: ResponseShape,
        direction: Option<&'run str>,
    ) -> Option<StepId> {
        let directed = self.directed;
        let of_id = self.by_id.get_mut(id)?;
        let opposite = |open: &OpenRequest<'_>| {
            !directed || open.direction.zip(direction).is_none_or(|(request, response)| request != response)
        };
        let mut places = (0..of_id.open.len()).filter(|place| of_id.open.get(*place).is_some_and(opposite));
        let first = places.next()?;
        let of = |place: usize| of_id.open.get(place).map(|open| open.asked);
        let is_tool = |place: usize| matches!(of(place), Some(RequestTarget::Tool(_)));
        let alike = !of_id.in_doubt && places.clone().all(|place| is_tool(place) == is_tool(first));
        let fitting =
            || std::iter::once(first).chain(places).find(|place| of(*place).is_some_and(|of| answer.fits_target(of)));
        let Some(place) = (if alike { Some(first) } else { fitting() }) else {
            of_id.in_doubt = true;
            return None;
        };
        match of_id.open.remove(place).asked {
            RequestTarget::Tool(call) => Some(call),
            RequestTarget::Client => None,
        }
    }
}
