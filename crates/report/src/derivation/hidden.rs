//! Values that a derivation must not show: secrets, the environment, and the values that a predicate of `no … in` found.

use crate::redact::{self, REDACTED, WithheldTexts, redact};
use crate::value::shorten_text;
use averment_base::diagnostic::render::one_line;
use averment_engine::vm::derivation::{Derivation, DerivationPart, PartResult, ShownValue};
use averment_runs::run::{EVERYTHING, Run};

/// Texts that must not be shown.
#[derive(Debug, Default)]
pub struct HiddenValues {
    /// Hidden values; they are removed from sentences, too.
    texts: WithheldTexts,
}

/// Minimum length of hidden texts, in characters. Shorter values may occur in sentences by chance.
const SHORTEST: usize = 4;
/// Maximum length of shown words, in characters.
const WORDS: usize = 2_000;

impl HiddenValues {
    /// Collects the hidden values of a run and its derivations, including those that predicates found.
    pub fn new<'a>(run: &Run<'_>, derivations: impl Iterator<Item = &'a Derivation>) -> Self {
        let mut texts = redact::withheld_values(run);
        for one in derivations {
            texts.extend(one.outcome.evidence.iter().filter_map(redact::found_text));
            one.parts.iter().for_each(|part| collect_secrets(part, &mut texts));
        }
        Self::of_texts(texts)
    }

    /// Collects the hidden values of a run and of one expression's result.
    pub fn of_part(run: &Run<'_>, part: &DerivationPart, shown: &ShownValue) -> Self {
        let mut texts = redact::withheld_values(run);
        collect_secrets(part, &mut texts);
        if is_secret(shown) {
            texts.push(shown_content(shown));
        }
        Self::of_texts(texts)
    }

    fn of_texts(mut texts: Vec<String>) -> Self {
        texts.retain(|text| text.chars().count() >= SHORTEST || text == EVERYTHING);
        Self { texts: WithheldTexts::of_texts(texts) }
    }

    /// True if the value must not be shown.
    pub fn is_secret(&self, shown: &ShownValue) -> bool {
        is_secret(shown)
    }

    /// Returns words on one line, without hidden values.
    pub fn hide_words(&self, words: &str) -> String {
        shorten_text(&self.clean_words(words), WORDS)
    }

    fn clean_words(&self, words: &str) -> String {
        one_line(&self.texts.remove_from(redact(words).into_owned())).into_owned()
    }

    /// Returns a value for display. `masked` hides all values except truth values.
    pub fn hide_value(&self, shown: &ShownValue, masked: bool) -> String {
        let plain =
            shown.truth.is_some() || matches!(shown.text.as_str(), "missing" | "not recorded" | "true" | "false");
        if !plain && (masked || is_secret(shown)) { REDACTED.to_owned() } else { self.clean_words(&shown.text) }
    }
}

/// True if the name marks a secret (`password`) or the value comes from the environment.
fn is_secret(shown: &ShownValue) -> bool {
    let name = shown.path.rsplit('/').next().unwrap_or("");
    let of_environment = shown.path == "/env" || shown.path.starts_with("/env/");
    of_environment
        || shown.text.starts_with('"') && !redact::find_secrets(&format!("\"{name}\": {}", shown.text)).is_empty()
}

/// Returns the content of a JSON string; if it was cut, the rest of it.
fn shown_content(shown: &ShownValue) -> String {
    serde_json::from_str(&shown.text).unwrap_or_else(|_| shown.text.trim_matches('"').to_owned())
}

fn collect_secrets(part: &DerivationPart, texts: &mut Vec<String>) {
    let mut open = vec![part];
    while let Some(part) = open.pop() {
        let temporal = part.temporal.iter().flat_map(|temporal| &temporal.patterns);
        let hits = temporal.clone().flat_map(|pattern| &pattern.hits);
        let own = match &part.found {
            PartResult::Value(shown) => Some(shown),
            _ => None,
        };
        let bound = part.bindings.iter().chain(hits.clone().flat_map(|hit| &hit.bindings)).map(|(_, shown)| shown);
        for shown in own.into_iter().chain(bound).filter(|shown| is_secret(shown)) {
            texts.push(shown_content(shown));
        }
        open.extend(&part.parts);
        open.extend(hits.filter_map(|hit| hit.condition.as_ref()));
        open.extend(temporal.flat_map(|pattern| &pattern.misses).filter_map(|miss| miss.condition.as_ref()));
    }
}
