//! Conversations that a recording holds one inside of the other, such as that of an agent and those of its helpers: a request goes on with one
//! of them, and repeats what was said in it.

use rustc_hash::FxHashMap;
use std::ops::Range;

/// Conversations that are compared with a request, the latest first.
const COMPARED: usize = 16;

/// Messages that a request has to repeat of the end of a conversation to go on with it: one alone may be said in any.
const ENOUGH_SAID: usize = 2;

/// The places of calls and results by the ids of the calls, in a list of all that was said: with all of it each would be compared.
#[derive(Default)]
pub(super) struct CallPlaces<'run> {
    by_id: FxHashMap<&'run str, Vec<usize>>,
    seen: usize,
}

impl<'run> CallPlaces<'run> {
    /// What stands at a place has this id now.
    pub(super) fn add_place(&mut self, id: Option<&'run str>, place: usize) {
        if let Some(id) = id.filter(|id| !id.is_empty()) {
            self.by_id.entry(id).or_default().push(place);
        }
    }

    /// Adds what came since the last time; the list ends here.
    pub(super) fn add_up_to(&mut self, end: usize, id_at: impl Fn(usize) -> Option<&'run str>) {
        (self.seen..end).for_each(|place| self.add_place(id_at(place), place));
        self.seen = end;
    }

    /// What stands from here on was taken away.
    pub(super) fn end_at(&mut self, end: usize) {
        self.seen = self.seen.min(end);
    }

    /// Where something with this id stands, or stood.
    pub(super) fn places_of(&self, id: Option<&'run str>) -> &[usize] {
        id.and_then(|id| self.by_id.get(id)).map_or(&[], Vec::as_slice)
    }
}

/// The places of what each conversation said, in a list of all that was said. The last conversation goes on.
#[derive(Default)]
pub(super) struct NestedConversations {
    conversations: Vec<Vec<usize>>,
    placed: usize,
}

/// How far a request repeats a conversation: so many places of it.
pub(super) struct Repeated {
    /// The places of the conversation.
    pub(super) places: Vec<usize>,
    /// The request goes on where the conversation ended.
    pub(super) is_whole: bool,
    /// There are others, in which what is new may have been said.
    pub(super) has_others: bool,
}

/// How many places of a conversation a request repeats, and how many of these say something.
pub(super) struct RepeatedPart {
    places: usize,
    said: usize,
}

impl RepeatedPart {
    /// Counts up to the first message that differs. Each is told by its place in the conversation, which has so many of them.
    pub(super) fn count_repeated(length: usize, messages: impl Iterator<Item = (usize, bool)>) -> Self {
        let mut said = 0;
        for (place, is_same) in messages {
            if !is_same {
                return Self { places: if said == 0 { 0 } else { place }, said };
            }
            said += 1;
        }
        Self { places: length, said }
    }

    fn is_end_of(&self, conversation: &[usize]) -> bool {
        self.places == conversation.len() && self.said >= ENOUGH_SAID
    }
}

impl NestedConversations {
    /// What was said up to here belongs to the conversation that goes on.
    pub(super) fn take_said(&mut self, end: usize) {
        let new: Range<usize> = self.placed..end;
        self.placed = end;
        match self.conversations.last_mut() {
            Some(conversation) => conversation.extend(new),
            None if !new.is_empty() => self.conversations.push(new.collect()),
            None => {}
        }
    }

    /// Goes on with the last conversation, whatever a request repeats of it.
    pub(super) fn go_further(&mut self, count_repeated: impl Fn(&[usize]) -> RepeatedPart) -> Repeated {
        let mut places = self.conversations.last().cloned().unwrap_or_default();
        places.truncate(count_repeated(&places).places);
        Repeated { places, is_whole: true, has_others: false }
    }

    /// Goes on with the conversation that a request repeats furthest, or begins another one. `count_repeated` says how many of the places of a
    /// conversation a request repeats, which holds so many messages.
    pub(super) fn go_on(&mut self, messages: usize, count_repeated: impl Fn(&[usize]) -> RepeatedPart) -> Repeated {
        let counts = self.conversations.iter().enumerate().rev().take(COMPARED);
        let counts = counts.map(|(place, conversation)| (place, count_repeated(conversation).places));
        // Of several the latest one.
        let best = counts.reduce(|best, other| if other.1 > best.1 { other } else { best });
        let Some((place, count)) = best.filter(|(_, count)| *count > 0) else {
            if let Some(repeated) = self.go_on_behind(messages, count_repeated) {
                return repeated;
            }
            let is_first = self.conversations.is_empty();
            self.conversations.push(Vec::new());
            return Repeated { places: Vec::new(), is_whole: is_first, has_others: !is_first };
        };
        let mut conversation = self.conversations.get(place).cloned().unwrap_or_default();
        let is_whole = count == conversation.len();
        if is_whole {
            self.conversations.remove(place);
        }
        conversation.truncate(count);
        self.conversations.push(conversation.clone());
        Repeated { places: conversation, is_whole, has_others: self.conversations.len() > 1 }
    }

    /// Goes on with the latest conversation whose end a request begins with: a program sends only the last messages of a long one.
    fn go_on_behind(&mut self, messages: usize, count_repeated: impl Fn(&[usize]) -> RepeatedPart) -> Option<Repeated> {
        let is_end = |rest: &[usize]| count_repeated(rest).is_end_of(rest);
        // What says nothing need not be repeated.
        let most = messages.saturating_mul(2).saturating_add(COMPARED);
        let end_of = |conversation: &[usize]| {
            let first = conversation.len().saturating_sub(most).max(1);
            let mut ends = (first..conversation.len()).filter_map(|start| conversation.get(start..));
            ends.find(|rest| is_end(rest)).map(<[usize]>::to_vec)
        };
        let latest = self.conversations.iter().enumerate().rev().take(COMPARED);
        let (place, places) = latest.filter_map(|(place, conversation)| Some((place, end_of(conversation)?))).next()?;
        let conversation = self.conversations.remove(place);
        self.conversations.push(conversation);
        Some(Repeated { places, is_whole: true, has_others: self.conversations.len() > 1 })
    }
}
