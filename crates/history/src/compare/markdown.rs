//! A comparison as a comment on a change.

use super::Comparison;
use super::human::{NAMED, measured, significance, word};
use averment_base::diagnostic::render::one_line;
use std::fmt::Write as _;

impl Comparison {
    /// For a comment.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("### {}\n\n", cell(&self.head()));
        text.push_str("| | base | new | change |\n|---|--:|--:|--:|\n");
        for one in self.measures.iter().filter(|one| one.base.is_some() || one.new.is_some()) {
            let [before, after, change] = measured(one);
            let _ = writeln!(text, "| {} | {before} | {after} | {change} |", word(one.name));
        }
        for gate in &self.gates {
            let mark = if gate.holds { "holds" } else { "**fails**" };
            let _ = write!(text, "\n- `{}` {mark}: {}", gate.gate, cell(&gate.why));
        }
        text.push_str(if self.gates.is_empty() { "" } else { "\n" });
        let rows = self.assertions.iter().map(|one| {
            let (base, new) = (one.base, one.new);
            let (id, said) = (code(&one.id), significance(one));
            format!("| {id} | {}/{} | {}/{} | {said} |", base.passed, base.total, new.passed, new.total)
        });
        table(&mut text, "| assertion | base | new | |\n|---|--:|--:|---|", rows);
        let rows = self.results.iter().map(|one| {
            let (id, run) = (code(&one.id), code(&one.run));
            format!("| {run} | {id} | {} | {} |", one.base.as_str(), one.new.as_str())
        });
        table(&mut text, "| run | assertion | base | new |\n|---|---|---|---|", rows);
        let rows = self.worse.iter().map(|one| {
            let block = one.block.as_deref().map(code).unwrap_or_default();
            format!("| {} | {block} | {} |", code(&one.run), one.regression.in_words())
        });
        table(&mut text, "| run | block | became worse |\n|---|---|---|", rows);
        text
    }
}

fn table(text: &mut String, head: &str, rows: impl ExactSizeIterator<Item = String>) {
    let count = rows.len();
    if count == 0 {
        return;
    }
    let _ = writeln!(text, "\n{head}");
    rows.take(NAMED).for_each(|row| {
        let _ = writeln!(text, "{row}");
    });
    if count > NAMED {
        let _ = writeln!(text, "\nand {} more", count - NAMED);
    }
}

/// Text that means nothing to Markdown.
fn cell(text: &str) -> String {
    let mut shown = String::new();
    for one in one_line(text).chars() {
        if "\\`*_[]<>|#~@!".contains(one) {
            shown.push('\\');
        }
        shown.push(one);
    }
    shown
}

/// Text as code, in a cell.
fn code(text: &str) -> String {
    format!("`{}`", one_line(text).replace('`', "'").replace('|', "\\|"))
}
