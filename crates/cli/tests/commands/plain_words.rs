//! Checks the style of the documents: short sentences, table cells and paragraphs.

use super::documents::documents;
use regex::Regex;
use std::fmt::Write as _;

/// Maximum number of words in a sentence.
const SENTENCE_WORDS: usize = 30;
/// Maximum share of longer sentences in a page, in percent.
const LONG_SENTENCES: usize = 3;
/// Maximum number of characters in a table cell.
const CELL_LENGTH: usize = 200;
/// Maximum number of characters in a paragraph.
const PARAGRAPH_LENGTH: usize = 600;

/// Other pages for readers. The changelog is excluded, because its entries are lists of names.
const OTHER_PAGES: [&str; 10] = [
    "CONTRIBUTING.md",
    "SECURITY.md",
    "ARCHITECTURE.md",
    "CODE_OF_CONDUCT.md",
    "benches/README.md",
    "crates/syntax/grammar/README.md",
    "bindings/python/README.md",
    "bindings/javascript/README.md",
    "editors/vscode/README.md",
    "editors/tree-sitter-assert/README.md",
];

/// The texts of a page that are too long.
#[derive(Default)]
struct PageCount {
    sentences: usize,
    long: Vec<String>,
    cells: Vec<String>,
    paragraphs: Vec<String>,
}

impl PageCount {
    fn count_cells(&mut self, row: &str) {
        let cells = row.split('|').filter(|cell| cell.chars().count() > CELL_LENGTH);
        self.cells.extend(cells.map(str::to_owned));
    }

    fn count_paragraph(&mut self, text: &str) {
        if text.chars().count() > PARAGRAPH_LENGTH {
            self.paragraphs.push(text.to_owned());
        }
        let plain = Regex::new(r"[`*_#>\[\]]|\([^)]*\)").unwrap().replace_all(text, "").into_owned();
        // A sentence ends at a punctuation mark followed by a space.
        let ends = Regex::new(r"[.!?:] ").unwrap();
        let mut start = 0;
        let ends = ends.find_iter(&plain).map(|end| end.end()).chain([plain.len()]);
        for end in ends {
            let sentence = &plain[start..end];
            let words = sentence.split_whitespace().count();
            start = end;
            // A few words before a colon are no sentence.
            self.sentences += usize::from(words > 3);
            if words > SENTENCE_WORDS {
                self.long.push(sentence.to_owned());
            }
        }
    }

    /// Returns the complaint about the page; `None` if it is short enough.
    fn complaint(&self) -> Option<String> {
        let too_long = self.long.len() * 100 >= self.sentences.max(1) * LONG_SENTENCES && !self.long.is_empty();
        if !too_long && self.cells.is_empty() && self.paragraphs.is_empty() {
            return None;
        }
        let mut text = format!("{} of {} sentences are long\n", self.long.len(), self.sentences);
        let parts = [("sentence", &self.long), ("cell", &self.cells), ("paragraph", &self.paragraphs)];
        for (what, found) in parts {
            found.iter().for_each(|one| _ = writeln!(text, "  {what}: {one}"));
        }
        Some(text)
    }
}

/// Counts the sentences of a page, without its code blocks. Paragraphs and list items are counted as a browser shows them.
fn count_page(page: &str) -> PageCount {
    let point = Regex::new(r"^\s*([-*]|\d+\.) ").unwrap();
    let (mut count, mut paragraph, mut code) = (PageCount::default(), String::new(), false);
    for line in page.lines().chain([""]) {
        let fence = line.starts_with("```");
        code ^= fence;
        if code && !fence {
            continue;
        }
        let apart = fence || line.trim().is_empty() || line.starts_with(['|', '#']) || line.starts_with("<!--");
        if (apart || point.is_match(line)) && !paragraph.is_empty() {
            count.count_paragraph(&std::mem::take(&mut paragraph));
        }
        if line.starts_with('|') {
            count.count_cells(line);
        } else if !apart {
            let space = if paragraph.is_empty() { "" } else { " " };
            paragraph.push_str(&format!("{space}{}", line.trim()));
        }
    }
    count
}

#[test]
fn long_texts_are_counted() {
    let long = "word ".repeat(31);
    let cell = "x".repeat(CELL_LENGTH + 1);
    let paragraph = "A short sentence of words. ".repeat(30);
    assert!(count_page("A short sentence. Another one that is short.\n").complaint().is_none());
    assert_eq!(count_page(&format!("{long}\n")).long.len(), 1);
    // A sentence continues over line ends, may be in a list item, and is not in a code block.
    assert_eq!(count_page(&format!("{}\n{}\n", &long[..80], &long[80..])).long.len(), 1);
    assert_eq!(count_page(&format!("- {long}\n- {long}\n")).long.len(), 2);
    assert_eq!(count_page(&format!("```\n{long}\n```\n")).long.len(), 0);
    assert_eq!(count_page(&format!("| a | {cell} |\n")).cells.len(), 1);
    assert_eq!(count_page(&paragraph).paragraphs.len(), 1);
}

#[test]
fn the_pages_have_short_sentences_cells_and_paragraphs() {
    let root = averment_fixtures::root();
    let others = OTHER_PAGES.iter().map(|name| root.join(name)).collect::<Vec<_>>();
    assert!(others.iter().all(|path| path.exists()), "{others:?}");
    let mut wrong = String::new();
    for path in documents().into_iter().chain(others) {
        let text = std::fs::read_to_string(&path).expect("a readable page");
        if let Some(complaint) = count_page(&text).complaint() {
            let _ = writeln!(wrong, "{}: {complaint}", path.strip_prefix(root).unwrap_or(&path).display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The README must stay short, because it is the first page for new users.
#[test]
fn the_first_page_is_short() {
    let page = std::fs::read_to_string(averment_fixtures::root().join("README.md")).expect("the README");
    assert!(page.lines().count() <= 150, "{} lines", page.lines().count());
}
