//! Checks the parts of the documentation that cover all systems together.

use averment::Verdict;
use averment_dialects::{DIALECTS, Dialect};

/// Returns the table row of a verdict: its word in each system, and its score if it has one.
fn row(verdict: Verdict, columns: &[&Dialect]) -> String {
    let own = |dialect: &&Dialect| {
        let own = dialect.verdicts.word_for(verdict).expect("a verdict");
        own.score.map_or_else(|| format!("`{}`", own.word), |score| format!("`{}`, {score}", own.word))
    };
    format!("| {} | {} |", verdict.as_str(), columns.iter().map(own).collect::<Vec<_>>().join(" | "))
}

#[test]
fn the_page_has_the_verdicts_of_every_system() {
    let page = include_str!("../../../../docs/reference/dialects.md");
    let head = page.lines().find(|line| line.starts_with("| verdict |")).expect("a table of verdicts");
    let named = |name: &str| DIALECTS.iter().find(|dialect| dialect.name() == name).unwrap_or_else(|| panic!("{name}"));
    let columns: Vec<&Dialect> = head.trim_matches(['|', ' ']).split(" | ").skip(1).map(named).collect();
    assert_eq!(columns.len(), DIALECTS.len());
    for verdict in [Verdict::Pass, Verdict::Fail, Verdict::Vacuous, Verdict::Undecided, Verdict::Error] {
        let row = row(verdict, &columns);
        assert!(page.contains(&row), "the page lacks `{row}`");
    }
}
