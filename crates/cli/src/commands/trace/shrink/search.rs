//! Finds parts of a trace that can be removed: tries whole groups first, and halves of a group if its removal changes the runs.

use super::placeholders::{Placeholders, ReplacedPart, code_shape, is_format_word, is_placeholder, pair_up, words_of};
use super::run_image::{ImageReader, ReadImage};
use super::trace_tree::{TraceTree, TreeText, tree_slots, without_slots, written};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of trial bytes that are read. A time limit would give different results on different machines.
const TRIED_BYTES: usize = 1 << 30;

/// Keys whose values show the kind of a record. They are kept, because without them a reading error could not be explained.
const TELLING_MEMBERS: [&str; 10] =
    ["type", "kind", "role", "event", "status", "object", "subtype", "state", "format", "span_kind"];

/// The property that a smaller trace must keep.
pub(super) enum ShrinkGoal {
    /// All runs, one by one.
    AllRuns(Vec<ReadImage>),
    /// At least one run with this image.
    OneRun(Box<ReadImage>),
}

pub(super) struct ShrinkSearch<'a> {
    pub documents: Vec<TraceTree>,
    pub names: Placeholders,
    pub reader: &'a ImageReader,
    pub goal: ShrinkGoal,
    /// Words that must stay in the trace.
    pub kept_words: &'a [String],
    tried: usize,
}

impl<'a> ShrinkSearch<'a> {
    pub(super) fn new(
        documents: Vec<TraceTree>,
        reader: &'a ImageReader,
        goal: ShrinkGoal,
        kept_words: &'a [String],
    ) -> Self {
        Self { documents, names: Placeholders::default(), reader, goal, kept_words, tried: 0 }
    }

    /// True if the search ended before everything was tried.
    pub(super) fn is_cut_short(&self) -> bool {
        self.tried >= TRIED_BYTES
    }

    /// True if the current trace still meets the goal.
    pub(super) fn holds(&mut self) -> bool {
        let text = written(&self.documents, &self.names);
        self.text_holds(&text)
    }

    fn text_holds(&mut self, text: &str) -> bool {
        if self.is_cut_short() {
            return false;
        }
        self.tried = self.tried.saturating_add(text.len());
        if !self.kept_words.iter().all(|word| text.contains(word.as_str())) {
            return false;
        }
        let images = self.reader.read_images(text);
        match &self.goal {
            ShrinkGoal::AllRuns(wanted) => images == *wanted,
            ShrinkGoal::OneRun(wanted) => images.contains(wanted),
        }
    }

    /// Replaces texts and names. With `smallest`, also removes unneeded parts and replaces the words of the format.
    pub(super) fn shrink(&mut self, smallest: bool) {
        if smallest {
            self.remove_parts();
        }
        let told: BTreeSet<String> = if smallest { BTreeSet::new() } else { self.telling_words() };
        let texts = self.distinct(|text| match text {
            TreeText::Value { text, .. } if !told.contains(text) => Some(text),
            _ => None,
        });
        self.replace_parts(ReplacedPart::Text, texts);
        let keys = self.distinct(|text| match text {
            TreeText::Key(key) if smallest || !is_format_word(key) => Some(key),
            _ => None,
        });
        self.replace_parts(ReplacedPart::Key, keys);
        self.replace_parts(ReplacedPart::Word, self.words_of_kept_texts(&told));
    }

    /// Removes parts from the top down, because the parts of a removed parent need no trial.
    fn remove_parts(&mut self) {
        let mut depth = 0;
        loop {
            let slots = tree_slots(&self.documents, depth);
            if slots.is_empty() {
                return;
            }
            let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            let mut single = Vec::new();
            for (number, slot) in slots.iter().enumerate() {
                if !slot.is_element {
                    members.entry(slot.pattern.as_str()).or_default().push(number);
                }
                single.push(vec![number]);
            }
            let groups: Vec<Vec<usize>> = members.into_values().collect();
            let mut dropped = BTreeSet::new();
            self.remove_slots(depth, &groups, &mut dropped);
            self.remove_slots(depth, &single, &mut dropped);
            self.documents = without_slots(&self.documents, depth, &dropped);
            depth = depth.saturating_add(1);
        }
    }

    fn remove_slots(&mut self, depth: usize, groups: &[Vec<usize>], dropped: &mut BTreeSet<usize>) {
        let mut attempt = |groups: &[Vec<usize>]| {
            let fresh: BTreeSet<usize> =
                groups.iter().flatten().copied().filter(|number| !dropped.contains(number)).collect();
            if fresh.is_empty() {
                return true;
            }
            dropped.extend(&fresh);
            let text = written(&without_slots(&self.documents, depth, dropped), &self.names);
            let holds = self.text_holds(&text);
            if !holds {
                dropped.retain(|number| !fresh.contains(number));
            }
            holds
        };
        give_up(groups, &mut attempt);
    }

    /// Replaces parts with placeholders. Texts of one shape, such as dates and ids, are replaced together or not at all, because formats detect them
    /// by their shape.
    fn replace_parts(&mut self, part: ReplacedPart, found: Vec<String>) {
        let documents = self.documents.clone();
        let mut taken = BTreeSet::new();
        documents.iter().for_each(|document| document.visit_texts("", &mut |text| taken.extend([text.as_str()])));
        let mut units: Vec<Vec<(String, String)>> = Vec::new();
        let mut shapes: BTreeMap<String, usize> = BTreeMap::new();
        let fresh = found.iter().map(String::as_str).filter(|text| !is_placeholder(part, text)).collect();
        for pair in pair_up(part, fresh, &taken) {
            let at = code_shape(&pair.0).map(|shape| *shapes.entry(shape).or_insert(units.len()));
            match at.and_then(|at| units.get_mut(at)) {
                Some(unit) => unit.push(pair),
                None => units.push(vec![pair]),
            }
        }
        give_up(&units, &mut |units| {
            units.iter().for_each(|pairs| self.names.replace(part, pairs));
            let holds = self.holds();
            if !holds {
                units.iter().for_each(|pairs| self.names.restore(part, pairs));
            }
            holds
        });
    }

    /// Returns the texts and keys that `choose` selects, each once, in the order of their first occurrence.
    fn distinct(&self, choose: impl Fn(TreeText<'_>) -> Option<&str>) -> Vec<String> {
        let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
        for document in &self.documents {
            document.visit_texts("", &mut |text| {
                if let Some(text) = choose(text).filter(|text| !text.is_empty())
                    && seen.insert(text.to_owned())
                {
                    found.push(text.to_owned());
                }
            });
        }
        found
    }

    fn telling_words(&self) -> BTreeSet<String> {
        let words = self.distinct(|text| match text {
            TreeText::Value { text, member } if TELLING_MEMBERS.contains(&member) && is_format_word(text) => Some(text),
            _ => None,
        });
        words.into_iter().collect()
    }

    fn kept(&self) -> Vec<String> {
        self.distinct(|text| match text {
            TreeText::Value { text, .. } if !self.names.is_replaced_text(text) => Some(text),
            _ => None,
        })
    }

    fn words_of_kept_texts(&self, told: &BTreeSet<String>) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let is_code = |text: &str| code_shape(text).is_some() || is_placeholder(ReplacedPart::Text, text);
        let texts: Vec<String> =
            self.kept().into_iter().filter(|text| !told.contains(text) && !is_code(text)).collect();
        let words = texts.iter().flat_map(|text| words_of(text)).filter(|word| seen.insert(*word));
        words.map(str::to_owned).collect()
    }

    /// Returns the texts that are kept in full or in part, without dates.
    pub(super) fn kept_texts(&self) -> Vec<String> {
        let now = self.kept().into_iter().filter(|text| code_shape(text).is_none());
        let now = now.map(|text| self.names.text_of(&text).into_owned());
        let is_left = |text: &String| words_of(text).any(|word| !is_placeholder(ReplacedPart::Word, word));
        now.filter(|text| is_left(text) && !is_placeholder(ReplacedPart::Text, text)).collect()
    }
}

/// Calls `attempt` with all items, and with halves of them after each failure, to remove as many as possible.
fn give_up<T>(items: &[T], attempt: &mut impl FnMut(&[T]) -> bool) {
    if items.is_empty() || attempt(items) || items.len() == 1 {
        return;
    }
    let (first, second) = items.split_at(items.len() / 2);
    give_up(first, attempt);
    give_up(second, attempt);
}
