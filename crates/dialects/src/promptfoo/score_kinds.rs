//! Assertion types with a score, and types about the provider's metadata.

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

/// A computed score, and the condition under which it is known.
struct ComputedScore {
    score: String,
    threshold: f64,
    /// Condition under which the score is known; for other answers the recorded score counts.
    known: Option<String>,
}

impl ComputedScore {
    /// Returns the condition. Its comparison gives the assertion its score; thresholds over several assertions take the score from the context.
    fn lower(self, one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> String {
        let threshold = plain_number(self.threshold);
        let reaches = match one.negated {
            false => format!(">= {threshold}"),
            true => format!("> 1 - {threshold}"),
        };
        let own = if one.negated { format!("1 - {}", self.score) } else { self.score };
        let truth = format!("score({own}) {reaches}");
        let Some(known) = self.known else {
            context.score = Some(format!("coalesce({own}, 0)"));
            return truth;
        };
        let recorded = recorded_score(one.node);
        let why = quote_text(&format!("`{}` has a formula of its own, and the run records no score", one.kind));
        context.score = Some(format!("(if {known} then {own} else coalesce({recorded}, 0))"));
        format!(
            "(if {known} then {truth} else if {recorded} exists then score({recorded}) {reaches} else undecided({why}))"
        )
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

/// Splits a lowercase text into words like promptfoo; the innermost replacement is promptfoo's first step. Quotes are words of their own. Since this
/// does not distinguish opening from closing quotes, texts with ambiguous quotes are left to promptfoo's recorded score.
pub(super) const ROUGE_WORDS: &str = r#"def with_marks(t) = replace(replace(replace(replace(replace(t, /''|"/, " '' "), /\.{3}/, " ... "), /([:,])(?!\p{Nd})/b, " $1 "), /([;@#$%&])/, " $1 "), /([^.])(?<!\b[A-Za-z]\.[A-Za-z])(\.)([\])}>'\s]*)$/b, "$1 $2$3 ")
def with_brackets(t) = replace(replace(replace(replace(t, /([?!])/, " $1 "), /([\]\[(){}<>])/, " $1 "), /--/, " -- "), /^|$/, " ")
def with_endings(t) = replace(replace(replace(t, /([^'])' /, "$1 ' "), /'([smd]) /, " '$1 "), /('ll|'re|'ve|n't) /, " $1 ")
def with_pairs(t) = replace(t, /(?<![\p{L}\p{N}\p{M}\p{Pc}])(can(?=not)|d(?='ye)|gim(?=me)|gon(?=na)|got(?=ta)|lem(?=me)|more(?='n)|wan(?=na )|'t(?=is)|'t(?=was))(not|'ye|me|na|ta|'n|is|was)(?![\p{L}\p{N}\p{M}\p{Pc}])/b, " $1 $2 ")
def rouge_words(t) = words(with_pairs(with_endings(with_brackets(with_marks(trim(replace(lower(t), /\s+/, " ")))))))"#;

/// Matches answers whose quotes promptfoo splits differently.
const ODD_QUOTES: &str = "``|[\\s(\\[{<][\"']+\\s*$";

fn rouge(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    let Some(reference) = one.value.as_ref().and_then(YamlNode::as_text).map(str::to_owned) else {
        return context.wrong_value(one, "the text to compare with");
    };
    let threshold = match threshold(one, Some(0.75), context) {
        Ok(threshold) => threshold,
        Err(said) => return said,
    };
    context.declared.asks_rouge = true;
    let answer = &one.subject.text;
    let shared = format!("f1(rouge_words({answer}), rouge_words({}))", quote_text(&reference));
    let score = match reference.trim().is_empty() {
        true => "0".to_owned(),
        false => format!("(if {answer} matches /\\S/ then {shared} else 0)"),
    };
    let has_quotes = ["\"", "``", "''"].iter().any(|quote| reference.contains(quote));
    let odd = if has_quotes { "[\"`]|''".to_owned() } else { ODD_QUOTES.to_owned() };
    let known = Some(format!("{answer} not matches {}", slash_literal(&odd, "")));
    Some(ComputedScore { score, threshold, known }.lower(one, context))
}

/// Writes BLEU or GLEU between the answer and the nearest reference.
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
    let threshold = match threshold(one, Some(0.5), context) {
        Ok(threshold) => threshold,
        Err(said) => return said,
    };
    let references = references.into_iter().map(quote_text).collect::<Vec<_>>().join(", ");
    let answer = &one.subject.text;
    let score = match is_gleu {
        true => format!("gleu({answer}, [{references}])"),
        false => format!("bleu({answer}, [{references}], 0.0000001)"),
    };
    let truth = ComputedScore { score, threshold, known: None }.lower(one, context);
    Some(match is_gleu {
        true => {
            format!("(if {answer} is empty then undecided(\"GLEU of an empty answer ends the test\") else {truth})")
        }
        false => truth,
    })
}

/// Writes a test on the mean log probability of the answer's tokens.
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
    // Perplexity is e^-m for a mean m, so it is at most `most` if m >= -ln(most).
    let test = match most > 0.0 {
        true => format!("avg(meta.logProbs) >= {}", signed_number(-most.ln())),
        false => "avg(meta.logProbs) is missing".to_owned(),
    };
    Some(log_probability(&one.signed(test)))
}

fn perplexity_score(one: &PromptfooAssertion<'_>, context: &mut KindContext<'_, '_>) -> Option<String> {
    let has_threshold = one.node.get("threshold").is_some_and(|threshold| !threshold.is_null());
    if !has_threshold && !one.negated {
        let message = "`perplexity-score` has no threshold: it gives a score, and fails no answer";
        context.lowering.sink.warning(Slug::AlwaysTrue, one.node.span, message, "write `threshold: 0.5`");
    }
    let usual = (!has_threshold && !one.negated).then_some(0.0);
    let Some(threshold) = one.threshold(usual) else { return without_threshold(one, context) };
    let computed = ComputedScore { score: "1 / (1 + exp(0 - avg(meta.logProbs)))".to_owned(), threshold, known: None };
    Some(log_probability(&computed.lower(one, context)))
}

fn signed_number(value: f64) -> String {
    if value < 0.0 { format!("(0 - {})", plain_number(value.abs())) } else { plain_number(value) }
}

fn guardrails(one: &PromptfooAssertion<'_>, _: &mut KindContext<'_, '_>) -> Option<String> {
    // promptfoo treats a result without guardrails as not flagged.
    Some(match one.negated {
        false => "not (meta.guardrails.flagged == true)".to_owned(),
        true => "meta.guardrails.flagged == true".to_owned(),
    })
}
