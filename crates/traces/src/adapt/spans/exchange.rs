//! What goes in and comes out of a model: messages, calls that are asked for, results that are told.

use super::text_of_node;
use averment_base::value::Node;
use averment_runs::normal::role;

/// A message.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said<'run> {
    pub(crate) role: Option<&'run str>,
    pub(crate) texts: Vec<Node<'run>>,
    pub(crate) thoughts: Vec<Node<'run>>,
    pub(crate) calls: Vec<Asked<'run>>,
    pub(crate) results: Vec<Told<'run>>,
    pub(crate) place: Option<Node<'run>>,
}

/// A call that a model asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'run> {
    pub(crate) id: Option<Node<'run>>,
    pub(crate) tool: Node<'run>,
    pub(crate) args: Option<Node<'run>>,
    pub(crate) place: Node<'run>,
}

impl<'run> Asked<'run> {
    /// Its id; an empty one is none.
    pub(super) fn id(&self) -> Option<&'run str> {
        self.id.and_then(text_of_node).filter(|id| !id.is_empty())
    }
}

/// A result that a model was told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told<'run> {
    pub(crate) id: Option<Node<'run>>,
    pub(crate) tool: Option<&'run str>,
    pub(crate) result: Node<'run>,
    /// Whether it says that the call went wrong.
    pub(crate) failed: Option<bool>,
}

/// What went in and came out of a model.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exchange<'run> {
    pub(crate) given: Vec<Said<'run>>,
    pub(crate) said: Vec<Said<'run>>,
    /// Something of what came out was recorded.
    pub(crate) tells: bool,
    /// What went in and is not read: only results of calls count of it, and nobody has asked for one so far,
    /// nor is there one without a result.
    pub(super) unread: Option<Node<'run>>,
}

impl<'run> Exchange<'run> {
    /// Takes in from another one of the same request what is not known here.
    pub(super) fn complete(&mut self, other: Self) {
        if self.given.is_empty() && self.unread.is_none() {
            (self.given, self.unread) = (other.given, other.unread);
        }
        if self.said.is_empty() {
            self.said = other.said;
            self.tells |= other.tells;
        }
    }

    /// Whether what came out asks for calls.
    pub(super) fn asks(&self) -> bool {
        self.said.iter().any(|said| !said.calls.is_empty())
    }

    pub(super) fn heard(&self) -> Heard<'_, 'run> {
        Heard { given: &self.given, said: &self.said, tells: self.tells }
    }
}

/// What went in and came out of a model, by what one of its spans or another says.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Heard<'t, 'run> {
    pub(super) given: &'t [Said<'run>],
    pub(super) said: &'t [Said<'run>],
    pub(super) tells: bool,
}

impl Heard<'_, '_> {
    /// With what is not known here, and there.
    pub(super) fn or(self, outer: Self) -> Self {
        let given = if self.given.is_empty() { outer.given } else { self.given };
        match self.said.is_empty() {
            true => Self { given, said: outer.said, tells: self.tells || outer.tells },
            false => Self { given, ..self },
        }
    }
}

impl Said<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.calls.is_empty() && self.results.is_empty() && self.thoughts.is_empty()
    }

    pub(crate) fn is_of_assistant(&self) -> bool {
        self.role.is_some_and(|role| role::OF_ASSISTANT.contains(&role))
    }
}
