//! The assertions of rules, whatever the run.

use averment_checker::ir::Severity;
use averment_engine::vm::online_use::OnlineUse;
use averment_report::table::{Location, ReportItem, ReportTable};

/// An assertion of the rules, whatever the run.
#[derive(Debug, Clone, Copy)]
pub struct Assertion<'r> {
    table: &'r ReportTable,
    item: &'r ReportItem,
}

impl<'r> Assertion<'r> {
    pub(crate) fn new(table: &'r ReportTable, item: &'r ReportItem) -> Self {
        Self { table, item }
    }

    /// Its id: that of its rule with a number, `approval.1`, the one it was given, or one made of file and text.
    #[must_use]
    pub fn id(&self) -> &'r str {
        &self.item.id
    }

    /// The id of its rule; `None` for an assertion outside of rules.
    #[must_use]
    pub fn rule(&self) -> Option<&'r str> {
        self.table.rule_of(self.item).map(|rule| rule.id.as_str())
    }

    /// The sentence of its rule, where it has one.
    #[must_use]
    pub fn sentence(&self) -> Option<&'r str> {
        self.table.rule_of(self.item)?.sentence.as_deref()
    }

    /// Its text on one line.
    #[must_use]
    pub fn text(&self) -> &'r str {
        &self.item.text
    }

    /// Where it stands in the rules.
    #[must_use]
    pub fn place(&self) -> &'r Location {
        &self.item.location
    }

    /// What its failure means for the run.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.item.severity
    }

    /// Whether no step to come can mend its failure on a run that goes on (`complete: false`). What it says of a run that is over does not
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

    /// What it does while a run goes on, as a guard judges it: whether a call that breaks it is denied before it is made, and whether it may
    /// want something that is missing when the run stops. With neither it only reports, afterwards.
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

    /// How much it counts in scores.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.item.weight
    }

    /// Its tags.
    #[must_use]
    pub fn tags(&self) -> &'r [String] {
        &self.item.tags
    }

    /// The class of its failures: its id and its label.
    #[must_use]
    pub fn class(&self) -> Option<(&'r str, Option<&'r str>)> {
        self.item.class.as_ref().map(|class| (class.id.as_str(), class.label.as_deref()))
    }
}
