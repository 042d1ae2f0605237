//! The entries of `hints.table`, and its lists of words and pairs. The head of the table documents its format.

use std::collections::BTreeMap;
use std::sync::LazyLock;

const TEXT: &str = include_str!("hints.table");

/// The heading of the lists of words and pairs, which end the table.
pub(super) const WORDS_HEADING: &str = "== words";

static WORDS: LazyLock<WordTables> = LazyLock::new(read_words);

#[derive(Default)]
struct WordTables {
    lists: BTreeMap<&'static str, Vec<&'static str>>,
    pairs: BTreeMap<&'static str, WordPairs>,
}

/// Pairs of a foreign word and its translation; an empty word matches any other word.
#[derive(Default)]
struct WordPairs {
    others: Vec<&'static str>,
    meant: Vec<&'static str>,
}

/// Returns the words of a list; `None` if there is no list with this name.
pub(super) fn find_list(name: &str) -> Option<&'static [&'static str]> {
    WORDS.lists.get(name).map(Vec::as_slice)
}

/// Returns the words of a list of the table.
pub(super) fn list(name: &str) -> &'static [&'static str] {
    find_list(name).unwrap_or_default()
}

/// Returns the foreign words of a named table of pairs.
pub(super) fn find_others(name: &str) -> Option<&'static [&'static str]> {
    WORDS.pairs.get(name).map(|pairs| pairs.others.as_slice())
}

/// Returns the pairs of foreign words and translations.
pub(super) fn pairs(name: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let all = WORDS.pairs.get(name);
    all.into_iter().flat_map(|pairs| pairs.others.iter().copied().zip(pairs.meant.iter().copied()))
}

/// Returns the translation of a word.
pub(super) fn meant(name: &str, word: &str) -> Option<&'static str> {
    pairs(name).find(|(other, _)| *other == word).map(|(_, meant)| meant)
}

/// Returns the lines with their numbers; an indented line belongs to the one above it. Comments and empty lines are skipped.
pub(super) fn entries() -> Vec<(usize, &'static str)> {
    let (mut entries, mut start, mut end, mut first) = (Vec::new(), 0, 0, 1);
    for (index, line) in TEXT.split_inclusive('\n').enumerate() {
        if !line.starts_with("    ") {
            entries.push((first, TEXT.get(start..end).unwrap_or("")));
            (start, first) = (end, index + 1);
        }
        end += line.len();
    }
    entries.push((first, TEXT.get(start..end).unwrap_or("")));
    let told = entries.into_iter().map(|(line, text)| (line, text.trim_end()));
    told.filter(|(_, text)| !text.is_empty() && !text.starts_with('#')).collect()
}

fn read_words() -> WordTables {
    let mut words = WordTables::default();
    let headed = entries().into_iter().skip_while(|(_, entry)| *entry != WORDS_HEADING).skip(1);
    for (_, entry) in headed {
        let (name, all) = entry.split_once(' ').unwrap_or((entry, ""));
        if name.ends_with(':') {
            read_lists(entry, &mut words.lists);
            continue;
        }
        let pairs = words.pairs.entry(name).or_default();
        let told = all.trim_start_matches("= ").split(" ;;");
        for (others, meant) in told.filter_map(|pair| pair.trim().rsplit_once(" => ")) {
            for other in others.split(", ") {
                pairs.others.push(if other == "*" { "" } else { other.trim_matches('\'') });
                pairs.meant.push(meant);
            }
        }
    }
    words
}

/// Reads lists; a line may contain several of them.
fn read_lists(entry: &'static str, lists: &mut BTreeMap<&'static str, Vec<&'static str>>) {
    let mut name = "";
    for word in entry.split_whitespace() {
        match word.strip_suffix(':').filter(|name| !name.is_empty()) {
            Some(next) => name = next,
            None => lists.entry(name).or_default().push(word),
        }
    }
}
