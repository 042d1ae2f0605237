//! Types of assertions that give a score, and those about what the provider said beside the answer.
//!
//! Where the formula of promptfoo is not had here, the answers for which it is known are decided: texts of the same words, and texts without a
//! common one. For all others the recorded score counts.

use super::asserted::{KindContext, PromptfooAssertion};
use super::recorded::recorded_score;
use super::text_kinds::LowerKind;
use super::values::plain_number;
use crate::regex_flavour::slash_literal;
use crate::writer::quote_text;
use crate::yaml::{YamlNode, YamlValue};
use averment_base::diagnostic::Slug;

pub(super) const SCORE_KINDS: &[(&str, LowerKind)] = &[
    ("rouge-n", rouge),
    ("bleu", |one, context| word_overlap(one, false, context)),
    ("gleu", |one, context| word_overlap(one, true, context)),
    ("perplexity", perplexity),
    ("perplexity-score", perplexity_score),
    ("guardrails", guardrails),
];

/// A score that some answers have, with the condition under which that is known.
struct PartialScore {
    /// Pairs of a condition and the score there.
    known: Vec<(String, String)>,
    threshold: f64,
}

impl PartialScore {
    /// The truth, whose comparison gives the assertion its score; for thresholds the score goes to the context.
    fn lower(self, one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> String {
        let threshold = plain_number(self.threshold);
        let reaches = match one.negated {
            false => format!(">= {threshold}"),
            true => format!("> 1 - {threshold}"),
        };
        let own = |score: &str| if one.negated { format!("1 - {score}") } else { score.to_owned() };
        let recorded = recorded_score(one.node);
        let why = quote_text(&format!("`{}` has a formula of its own, and the run records no score", one.kind));
        let mut truth = format!("(if {recorded} exists then score({recorded}) {reaches} else undecided({why}))");
        let mut score = format!("coalesce({recorded}, 0)");
        for (condition, value) in self.known.iter().rev() {
            let value = own(value);
            truth = format!("(if {condition} then score({value}) {reaches} else {truth})");
            score = format!("(if {condition} then {value} else {score})");
        }
        context.score = Some(score);
        truth
    }
}

fn threshold(
    one: &PromptfooAssertion<'_>,
    usual: Option<f64>,
    context: &mut KindContext<'_, '_>,
) -> Result<f64, Option<String>> {
    one.threshold(usual).ok_or_else(|| {
        let message = format!("the threshold of `{}` is no number", one.kind);
        context.unusable(one.key_span("threshold"), Slug::TypeMismatch, message, "write `threshold: 0.5`")
    })
}

/// The words of a text as all tokenizers have them: letters, digits and white space alone, and no word that is taken for two.
const PLAIN: &str = "^[A-Za-z0-9\\s]*$";
const DOUBLE: &str = "\\b(?:cannot|d'ye|gimme|gonna|gotta|lemme|wanna|whaddya|whatcha|tis|twas)\\b";

fn rouge(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    let Some(reference) = one.value.as_ref().and_then(YamlNode::as_text).map(str::to_owned) else {
        return context.wrong_value(one, "the text to compare with");
    };
    let threshold = match threshold(one, Some(0.75), context) {
        Ok(threshold) => threshold,
        Err(said) => return said,
    };
    let is_plain = reference.chars().all(|letter| letter.is_ascii_alphanumeric() || letter.is_ascii_whitespace());
    let doubles = ["cannot", "gimme", "gonna", "gotta", "lemme", "wanna", "whaddya", "whatcha", "tis", "twas"];
    let is_single = reference.split_whitespace().all(|word| !doubles.contains(&word.to_lowercase().as_str()));
    let text = &one.subject.text;
    let plain =
        format!("{text} matches {} and {text} not matches {}", slash_literal(PLAIN, ""), slash_literal(DOUBLE, "i"));
    let score = format!("rouge_n({text}, {}, 1)", quote_text(&reference));
    let known = if is_plain && is_single { vec![(plain, score)] } else { Vec::new() };
    Some(PartialScore { known, threshold }.lower(one, context))
}

/// The same words score 1. Without a common word BLEU is next to 0, and GLEU is 0.
fn word_overlap(one: &PromptfooAssertion<'_>, is_gleu: bool, context: &mut KindContext<'_, '_>) -> Option<String> {
    const WANTED: &str = "a text, or a list of texts,";
    let references: Option<Vec<&str>> = match one.value.as_ref().map(|value| &value.value) {
        Some(YamlValue::Text(text)) => Some(vec![text.as_str()]),
        Some(YamlValue::List(items)) => items.iter().map(YamlNode::as_text).collect(),
        _ => None,
    };
    let Some(references) = references.filter(|references| !references.is_empty()) else {
        return context.wrong_value(one, WANTED);
    };
    let words: Vec<Vec<String>> =
        references.iter().map(|text| text.to_lowercase().split_whitespace().map(quote_text).collect()).collect();
    let known_words: std::collections::BTreeSet<String> = references
        .iter()
        .flat_map(|text| text.to_lowercase().split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .map(|word| quote_text(if is_gleu { word.trim_end_matches('.') } else { &word }))
        .collect();
    let threshold = match threshold(one, Some(0.5), context) {
        Ok(threshold) => threshold,
        Err(said) => return said,
    };
    let answer = format!("words(lower({}))", one.subject.text);
    let lists = words.iter().map(|words| format!("[{}]", words.join(", "))).collect::<Vec<_>>().join(", ");
    let word = if is_gleu { "replace(w, /\\.+$/, \"\")" } else { "w" };
    let list = known_words.into_iter().collect::<Vec<_>>().join(", ");
    let common = format!("{answer} is not empty and not (any w in {answer}: {word} in [{list}])");
    // A threshold next to 0 is left to the formula.
    let known = match threshold > 1e-6 {
        true => vec![(format!("{answer} in [{lists}]"), "1".to_owned()), (common, "0".to_owned())],
        false => Vec::new(),
    };
    Some(PartialScore { known, threshold }.lower(one, context))
}

/// What the log probabilities of the answer's tokens are on average.
fn log_probability(test: &str) -> String {
    let why = quote_text("the result records no log probabilities");
    format!("(if meta.logProbs is not empty then {test} else undecided({why}))")
}

fn without_threshold(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    let message = format!("`{}` has no threshold, and promptfoo passes it whatever the value is", one.kind);
    context.unusable(one.node.span, Slug::TypeMismatch, message, "write `threshold: 5`")
}

fn perplexity(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    let Some(most) = one.threshold(None) else { return without_threshold(one, context) };
    // e to the power of -m is at most this where m is at least -ln of it.
    let test = match most > 0.0 {
        true => format!("avg(meta.logProbs) >= {}", signed_number(-most.ln())),
        false => "avg(meta.logProbs) is missing".to_owned(),
    };
    Some(log_probability(&one.signed(test)))
}

fn perplexity_score(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    let Some(least) = one.threshold(None) else { return without_threshold(one, context) };
    let test = match least {
        least if least <= 0.0 => "avg(meta.logProbs) exists".to_owned(),
        least if least >= 1.0 => "avg(meta.logProbs) is missing".to_owned(),
        least => format!("avg(meta.logProbs) >= {}", signed_number((least / (1.0 - least)).ln())),
    };
    context.score = Some(format!("coalesce({}, 0)", recorded_score(one.node)));
    Some(log_probability(&one.signed(test)))
}

fn signed_number(value: f64) -> String {
    if value < 0.0 { format!("(0 - {})", plain_number(value.abs())) } else { plain_number(value) }
}

fn guardrails(one: &PromptfooAssertion<'_>, _: &mut KindContext<'_, '_>) -> Option<String> {
    // promptfoo takes a result without guardrails for one that was not flagged.
    Some(match one.negated {
        false => "not (meta.guardrails.flagged == true)".to_owned(),
        true => "meta.guardrails.flagged == true".to_owned(),
    })
}
