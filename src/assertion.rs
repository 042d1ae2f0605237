//! The assertions of rules, independent of any run.

use averment_checker::ir::Severity;
use averment_engine::vm::online_use::OnlineUse;
use averment_report::table::{Location, ReportItem, ReportTable};

/// An assertion of the rules, independent of any run.
#[derive(Debug, Clone, Copy)]
pub struct Assertion<'r> {
    table: &'r ReportTable,
    item: &'r ReportItem,
}

impl<'r> Assertion<'r> {
    pub(crate) fn new(table: &'r ReportTable, item: &'r ReportItem) -> Self {
        Self { table, item }
    }

    /// Returns its id. The id is given explicitly, or is that of its rule with a number (`approval.1`), or is made of file and text.
    #[must_use]
    pub fn id(&self) -> &'r str {
        &self.item.id
    }

    /// Returns the id of its rule; `None` for an assertion outside of rules.
    #[must_use]
    pub fn rule(&self) -> Option<&'r str> {
        self.table.rule_of(self.item).map(|rule| rule.id.as_str())
    }

    /// Returns the sentence of its rule, if it has one.
    #[must_use]
    pub fn sentence(&self) -> Option<&'r str> {
        self.table.rule_of(self.item)?.sentence.as_deref()
    }

    /// Returns its text on one line.
    #[must_use]
    pub fn text(&self) -> &'r str {
        &self.item.text
    }

    /// Returns its location in the rules.
    #[must_use]
    pub fn place(&self) -> &'r Location {
        &self.item.location
    }

    /// Returns its severity, which decides what a failure means for the run.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.item.severity
    }

    /// Returns true if a failure on an unfinished run (`complete: false`) is final, because no later step can fix it. Verdicts on finished runs do
    /// not
    /// depend on this.
    ///
    /// ```
    /// let rules = averment::Rules::from_text("r.assert", "never delete\nlength(calls) >= 3\nlength(calls) <= 9")?;
    /// let final_ones: Vec<bool> = rules.assertions().map(|one| one.fails_for_good()).collect();
    /// assert_eq!(final_ones, [true, false, true]);
    /// # Ok::<(), averment::RulesError>(())
    /// ```
    #[must_use]
    pub fn fails_for_good(&self) -> bool {
        self.item.online.fails_for_good
    }

    /// Returns how a guard uses it while a run goes on: it can deny a breaking call in advance, it can miss something when the run stops, or neither.
    /// In the last case, it only reports breaches afterward.
    ///
    /// ```
    /// let rules = averment::Rules::from_text("r.assert", "never delete\nafter pay -> tell\nnever pay failed")?;
    /// let words: Vec<&str> = rules.assertions().map(|one| one.online_use().word()).collect();
    /// assert_eq!(words, ["denies", "owed", "reports"]);
    /// # Ok::<(), averment::RulesError>(())
    /// ```
    #[must_use]
    pub fn online_use(&self) -> OnlineUse {
        self.item.online
    }

    /// Returns its weight in scores.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.item.weight
    }

    /// Returns its tags.
    #[must_use]
    pub fn tags(&self) -> &'r [String] {
        &self.item.tags
    }

    /// Returns the class of its failures: its id and its label.
    #[must_use]
    pub fn class(&self) -> Option<(&'r str, Option<&'r str>)> {
        self.item.class.as_ref().map(|class| (class.id.as_str(), class.label.as_deref()))
    }
}
