//! What models were given as one plain text: a program puts instructions, templates and earlier messages into such a text, too. It is the
//! user's where the run was asked the same.

use super::SpanAct;
use super::attributes::Fact;
use super::exchange::SpanMessage;
use super::span_messages::read_node;
use super::tree::SpanTree;
use crate::adapt::nodes::node_text;
use crate::adapt::run_builder::RunBuilder;
use averment_base::value::{Node, Value};
use averment_runs::normal::role;
use rustc_hash::FxHashSet;

/// Questions do not stand deeper in what a run was asked.
const DEEP: usize = 6;

/// The texts in what the run was asked, by what stands around its models; `None` where nothing says that.
pub(super) fn asked_texts<'run>(
    tree: &SpanTree<'run>,
    input: Option<Node<'run>>,
    builder: &RunBuilder<'run, '_>,
) -> Option<FxHashSet<&'run str>> {
    let outer = tree.whole_run(false);
    let works = outer.iter().filter_map(|span| tree.spans.get(*span));
    let works = works.filter(|span| !matches!(span.act, SpanAct::Inference | SpanAct::Tool));
    let given = works.filter_map(|span| {
        [Fact::Input, Fact::MessagesIn, Fact::Messages].into_iter().find_map(|fact| span.facts.fact_node(fact))
    });
    let mut open: Vec<(Node<'run>, usize)> = input.into_iter().chain(given).map(|node| (node, 0)).collect();
    if open.is_empty() {
        return None;
    }
    let mut texts = FxHashSet::default();
    while let Some((node, depth)) = open.pop() {
        if depth == DEEP {
            continue;
        }
        let value = read_node(node, builder);
        texts.extend(node_text(value).map(str::trim));
        match value.value {
            Value::List(items) => open.extend(items.iter().map(|item| (*item, depth + 1))),
            Value::Object(object) => open.extend(object.entries().iter().map(|entry| (entry.node, depth + 1))),
            _ => {}
        }
    }
    Some(texts)
}

/// Whether a message is one plain text, which says nothing of its speaker.
pub(super) fn is_plain(said: &SpanMessage<'_>) -> bool {
    said.place.and_then(node_text).is_some()
}

/// In bytes, how much text is looked through for other texts. Behind that, what models were asked counts as written by the program.
const MOST_COMPARED: usize = 64 << 20;

/// Whether models were asked in the name of a user, but for nothing that the run was asked for: the program wrote all of it.
pub(super) fn are_of_program<'t, 'run: 't>(
    given: impl Iterator<Item = &'t SpanMessage<'run>>,
    asked: &FxHashSet<&'run str>,
) -> bool {
    let is_of_user = |said: &&SpanMessage<'run>| said.role == Some(role::USER);
    let mut words =
        given.filter(is_of_user).flat_map(|said| &said.texts).filter_map(|text| node_text(*text)).peekable();
    let mut left = MOST_COMPARED;
    let mut is_same = |words: &str, asked: &str| {
        let (long, short) = if words.len() < asked.len() { (asked, words) } else { (words, asked) };
        left = left.saturating_sub(long.len());
        left > 0 && !short.is_empty() && long.contains(short)
    };
    let mut is_asked = |words: &str| asked.contains(words) || asked.iter().any(|asked| is_same(words, asked));
    words.peek().is_some() && !words.any(|words| is_asked(words.trim()))
}
