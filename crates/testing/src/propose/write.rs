//! Writes proposals as a rule file: formatted, with a comment on how each rule was found.

use super::Topic;
use super::trial::{RuleProposal, compile_text};
use averment_syntax::fmt::{FormatOptions, format_text};
use std::collections::BTreeSet;

/// Returns the file for these proposals. `name` is the name of the file without its extension, `runs` the number of runs.
///
/// If two proposals together cause a lint finding, the later one is omitted.
#[must_use]
pub fn write_proposals(name: &str, proposals: &[RuleProposal], runs: u64) -> String {
    let whole = proposals_text(name, proposals, runs);
    if compile_text(&whole).is_some() {
        return whole;
    }
    let mut kept: Vec<RuleProposal> = Vec::new();
    for proposal in proposals {
        kept.push(proposal.clone());
        if compile_text(&proposals_text(name, &kept, runs)).is_none() {
            kept.pop();
        }
    }
    proposals_text(name, &kept, runs)
}

fn proposals_text(name: &str, proposals: &[RuleProposal], runs: u64) -> String {
    let mut text = file_header(name, proposals.len(), runs);
    let needs: BTreeSet<&str> = proposals.iter().map(|one| one.candidate.needs.as_str()).collect();
    let (uses, others) = needs.into_iter().partition::<Vec<_>, _>(|declaration| declaration.starts_with("use "));
    for declaration in uses.into_iter().chain(others).filter(|declaration| !declaration.is_empty()) {
        text.push_str(declaration);
        text.push_str("\n\n");
    }
    for topic in Topic::ALL {
        let own: Vec<&RuleProposal> = proposals.iter().filter(|one| one.candidate.topic == topic).collect();
        if own.is_empty() {
            continue;
        }
        let (id, sentence) = topic.rule_head();
        text.push_str(&format!("rule {id} \"{sentence}\" {{\ntags proposed\n"));
        for one in own {
            text.push_str(&format!("{}  # {}\n", one.candidate.text, exercise_words(one, runs)));
        }
        text.push_str("}\n");
    }
    // A text that cannot be formatted does not parse either, which the caller notices when compiling it.
    format_text(&text, &FormatOptions::default()).unwrap_or(text)
}

fn file_header(name: &str, rules: usize, runs: u64) -> String {
    let (from, all) = match runs {
        1 => ("1 recorded run".to_owned(), "this run"),
        _ => (format!("{runs} recorded runs"), "all of them"),
    };
    if rules == 0 {
        return format!(
            "# {name}.assert: nothing can be proposed from {from}: no rule held on {all} and was exercised.\n"
        );
    }
    format!(
        "# {name}.assert: proposed from {from}.\n#\n\
         # Every rule below held on {all}; the comment behind it says how many runs exercised it. Some of them hold by chance:\n\
         # read each rule, delete those that you do not mean, adjust the others, and remove the tag `proposed` from those that you keep.\n\n"
    )
}

fn exercise_words(one: &RuleProposal, runs: u64) -> String {
    let mut why = match one.support {
        1 if runs == 1 => "in the only run".to_owned(),
        support if support == runs => format!("in all {runs} runs"),
        support => format!("in {support} of {runs} runs"),
    };
    if !one.candidate.seen.is_empty() {
        why.push_str(", ");
        why.push_str(&one.candidate.seen);
    }
    why
}
