//! Requests as they were sent, each with its answer: an agent that takes over is told otherwise what the one before it did, so that its
//! requests repeat their own kind and not the whole conversation.

use super::GeminiPart;

/// Requests that are remembered.
const KEPT: usize = 8;

#[derive(Default)]
pub(super) struct SentRequests<'run>(Vec<Vec<GeminiPart<'run>>>);

impl<'run> SentRequests<'run> {
    pub(super) fn add_request(&mut self, parts: Vec<GeminiPart<'run>>) {
        if self.0.len() == KEPT {
            self.0.remove(0);
        }
        self.0.push(parts);
    }

    /// The answer to the last request.
    pub(super) fn add_answer(&mut self, parts: &[GeminiPart<'run>]) {
        let compared = parts.iter().filter(|part| part.is_compared());
        self.0.last_mut().into_iter().for_each(|request| request.extend(compared.clone().copied()));
    }

    /// How much of a request is that of an earlier one with its answer.
    pub(super) fn repeated_parts(&self, new: &[&GeminiPart<'run>]) -> Option<usize> {
        let repeats = |sent: &&Vec<GeminiPart<'run>>| {
            sent.len() <= new.len() && sent.iter().zip(new).all(|(known, part)| known.repeats_part(part))
        };
        self.0.iter().filter(repeats).map(Vec::len).max().filter(|parts| *parts > 0)
    }
}
