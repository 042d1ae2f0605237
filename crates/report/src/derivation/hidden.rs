//! What a derivation must not show: secrets, the environment, and what a predicate of `no … in` looks for.

use crate::redact::{self, REDACTED, Withheld, redact};
use crate::value::shortened;
use averment_base::diagnostic::render::one_line;
use averment_engine::vm::derivation::{Derivation, DerivationPart, PartResult, Shown};
use averment_runs::run::{EVERYTHING, Run};

/// Texts and places that are not shown.
#[derive(Debug, Default)]
pub struct HiddenValues {
    /// Values that were hidden where they stand; they are taken out of words, too.
    texts: Withheld,
}

/// Values shorter than this may stand in words by chance.
const SHORTEST: usize = 4;
/// Words are cut to this many characters.
const WORDS: usize = 2_000;

impl HiddenValues {
    /// What is to be hidden of a run and the derivations on it: also what predicates have found in it.
    pub fn new<'a>(run: &Run<'_>, derivations: impl Iterator<Item = &'a Derivation>) -> Self {
        let mut texts = redact::environment(run);
        for one in derivations {
            texts.extend(one.outcome.evidence.iter().filter_map(redact::found));
            one.parts.iter().for_each(|part| collect(part, &mut texts));
        }
        Self::of_texts(texts)
    }

    /// What is to be hidden of a run and the value of one expression on it.
    pub fn of_part(run: &Run<'_>, part: &DerivationPart, shown: &Shown) -> Self {
        let mut texts = redact::environment(run);
        collect(part, &mut texts);
        if is_secret(shown) {
            texts.push(content(shown));
        }
        Self::of_texts(texts)
    }

    fn of_texts(mut texts: Vec<String>) -> Self {
        texts.retain(|text| text.chars().count() >= SHORTEST || text == EVERYTHING);
        Self { texts: Withheld::of(texts) }
    }

    /// Whether a value is one that no report shows.
    pub fn is_secret(&self, shown: &Shown) -> bool {
        is_secret(shown)
    }

    /// Words on one line, without what is hidden.
    pub fn words(&self, words: &str) -> String {
        shortened(&self.clean(words), WORDS)
    }

    fn clean(&self, words: &str) -> String {
        one_line(&self.texts.without(redact(words).into_owned())).into_owned()
    }

    /// A value; `masked` hides every one that is no truth.
    pub fn value(&self, shown: &Shown, masked: bool) -> String {
        let plain =
            shown.truth.is_some() || matches!(shown.text.as_str(), "missing" | "not recorded" | "true" | "false");
        if !plain && (masked || is_secret(shown)) { REDACTED.to_owned() } else { self.clean(&shown.text) }
    }
}

/// True for a value that its name makes a secret (`password`), and for what comes from the environment.
fn is_secret(shown: &Shown) -> bool {
    let name = shown.path.rsplit('/').next().unwrap_or("");
    let of_environment = shown.path == "/env" || shown.path.starts_with("/env/");
    of_environment || shown.text.starts_with('"') && !redact::secrets(&format!("\"{name}\": {}", shown.text)).is_empty()
}

/// A text without its quotes and escapes; of one that was cut, what is left of it.
fn content(shown: &Shown) -> String {
    serde_json::from_str(&shown.text).unwrap_or_else(|_| shown.text.trim_matches('"').to_owned())
}

/// The texts of the values of a part that are secrets, without their quotes.
fn collect(part: &DerivationPart, texts: &mut Vec<String>) {
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
            texts.push(content(shown));
        }
        open.extend(&part.parts);
        open.extend(hits.filter_map(|hit| hit.condition.as_ref()));
        open.extend(temporal.flat_map(|pattern| &pattern.misses).filter_map(|miss| miss.condition.as_ref()));
    }
}
