//! Conversations that a recording holds one inside of the other, such as that of an agent and those of its helpers: a request goes on with one
//! of them, and repeats what was said in it.

use std::ops::Range;

/// Conversations that are compared with a request, the latest first.
const COMPARED: usize = 16;

/// The places of what each conversation said, in a list of all that was said. The last conversation goes on.
#[derive(Default)]
pub(super) struct Threads {
    threads: Vec<Vec<usize>>,
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

impl Threads {
    /// What was said up to here belongs to the conversation that goes on.
    pub(super) fn take_said(&mut self, end: usize) {
        let new: Range<usize> = self.placed..end;
        self.placed = end;
        match self.threads.last_mut() {
            Some(thread) => thread.extend(new),
            None if !new.is_empty() => self.threads.push(new.collect()),
            None => {}
        }
    }

    /// Goes on with the last conversation, whatever a request repeats of it.
    pub(super) fn go_further(&mut self, count_repeated: impl Fn(&[usize]) -> usize) -> Repeated {
        let mut places = self.threads.last().cloned().unwrap_or_default();
        places.truncate(count_repeated(&places));
        Repeated { places, is_whole: true, has_others: false }
    }

    /// Goes on with the conversation that a request repeats furthest, or begins another one. `count_repeated` says how many of the places of a
    /// conversation a request repeats.
    pub(super) fn go_on(&mut self, count_repeated: impl Fn(&[usize]) -> usize) -> Repeated {
        let counts = self.threads.iter().enumerate().rev().take(COMPARED);
        let counts = counts.map(|(place, thread)| (place, count_repeated(thread)));
        // Of several the latest one.
        let best = counts.reduce(|best, other| if other.1 > best.1 { other } else { best });
        let Some((place, count)) = best.filter(|(_, count)| *count > 0) else {
            let is_first = self.threads.is_empty();
            self.threads.push(Vec::new());
            return Repeated { places: Vec::new(), is_whole: is_first, has_others: !is_first };
        };
        let mut thread = self.threads.get(place).cloned().unwrap_or_default();
        let is_whole = count == thread.len();
        if is_whole {
            self.threads.remove(place);
        }
        thread.truncate(count);
        self.threads.push(thread.clone());
        Repeated { places: thread, is_whole, has_others: self.threads.len() > 1 }
    }
}
