//! A comparison as a comment on a pull request.

use super::Comparison;
use super::human::{NAMED, measure_cells, measure_word, significance_text};
use averment_base::diagnostic::render::one_line;
use std::fmt::Write as _;

impl Comparison {
    /// Returns the comparison as Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!("### {}\n\n", escape_cell(&self.heading_line()));
        text.push_str("| | base | new | change |\n|---|--:|--:|--:|\n");
        for one in self.measures.iter().filter(|one| one.base.is_some() || one.new.is_some()) {
            let [before, after, change] = measure_cells(one);
            let _ = writeln!(text, "| {} | {before} | {after} | {change} |", measure_word(one.name));
        }
        for gate in &self.gates {
            let mark = if gate.holds { "holds" } else { "**fails**" };
            let _ = write!(text, "\n- `{}` {mark}: {}", gate.gate, escape_cell(&gate.why));
        }
        text.push_str(if self.gates.is_empty() { "" } else { "\n" });
        let rows = self.assertions.iter().map(|one| {
            let (base, new) = (one.base, one.new);
            let (id, said) = (code_cell(&one.id), significance_text(one));
            format!("| {id} | {}/{} | {}/{} | {said} |", base.passed, base.total, new.passed, new.total)
        });
        write_table(&mut text, "| assertion | base | new | |\n|---|--:|--:|---|", rows);
        let rows = self.results.iter().map(|one| {
            let (id, run) = (code_cell(&one.id), code_cell(&one.run));
            format!("| {run} | {id} | {} | {} |", one.base.as_str(), one.new.as_str())
        });
        write_table(&mut text, "| run | assertion | base | new |\n|---|---|---|---|", rows);
        let rows = self.worse.iter().map(|one| {
            let block = one.block.as_deref().map(code_cell).unwrap_or_default();
            format!("| {} | {block} | {} |", code_cell(&one.run), one.regression.in_words())
        });
        write_table(&mut text, "| run | block | became worse |\n|---|---|---|", rows);
        text
    }
}

fn write_table(text: &mut String, head: &str, rows: impl ExactSizeIterator<Item = String>) {
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

fn escape_cell(text: &str) -> String {
    let mut shown = String::new();
    for one in one_line(text).chars() {
        if "\\`*_[]<>|#~@!".contains(one) {
            shown.push('\\');
        }
        shown.push(one);
    }
    shown
}

fn code_cell(text: &str) -> String {
    format!("`{}`", one_line(text).replace('`', "'").replace('|', "\\|"))
}
