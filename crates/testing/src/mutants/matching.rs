//! Mutations of `calls match` and its clauses.

use super::edit::{EditFinder, MutantKind};
use averment_base::source::Span;

impl EditFinder<'_> {
    /// Drops each clause after the expected calls, which makes the statement stricter or weaker.
    pub(super) fn mutate_matching(&mut self, span: Span, behind: u32) {
        let clauses = [
            ("arguments named", "a test with a call that has a further argument"),
            ("arguments optional", "a test with a call that lacks an argument"),
            ("folded", "a test with a text in other letter case"),
            ("repeats ignored", "a test in which one call stands for two expected ones"),
            ("arguments accepted", "a test with an accepted value"),
            ("arguments ignored", "a test with another argument"),
        ];
        if let Some(place) = self.find_word(behind, span.end, "in any order") {
            let test = "a test with the expected calls in another order".to_owned();
            self.push_replacement(place, "in order", MutantKind::Swap, test);
        }
        for (words, test) in clauses {
            if let Some(place) = self.find_word(behind, span.end, words) {
                self.push_replacement(place, "", MutantKind::DropWord, test.to_owned());
            }
        }
        for (words, test) in [
            ("subset of", "a test without one of the expected calls"),
            ("superset of", "a test with a call that is not expected"),
        ] {
            if let Some(place) = self.find_word(span.start, behind, words) {
                self.push_replacement(place, "", MutantKind::DropWord, test.to_owned());
            }
        }
    }
}
