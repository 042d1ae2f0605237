//! Conversations that a recording holds one inside of the other, such as that of an agent and those of its helpers: a request goes on with one
//! of them, and repeats what was said in it.

use std::ops::Range;

/// Conversations that are compared with a request, the latest first.
const COMPARED: usize = 16;

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
    pub(super) fn go_further(&mut self, count_repeated: impl Fn(&[usize]) -> usize) -> Repeated {
        let mut places = self.conversations.last().cloned().unwrap_or_default();
        places.truncate(count_repeated(&places));
        Repeated { places, is_whole: true, has_others: false }
    }

    /// Goes on with the conversation that a request repeats furthest, or begins another one. `count_repeated` says how many of the places of a
    /// conversation a request repeats.
    pub(super) fn go_on(&mut self, count_repeated: impl Fn(&[usize]) -> usize) -> Repeated {
        let counts = self.conversations.iter().enumerate().rev().take(COMPARED);
        let counts = counts.map(|(place, conversation)| (place, count_repeated(conversation)));
        // Of several the latest one.
        let best = counts.reduce(|best, other| if other.1 > best.1 { other } else { best });
        let Some((place, count)) = best.filter(|(_, count)| *count > 0) else {
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
}
