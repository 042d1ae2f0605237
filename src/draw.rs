//! Drawing of an outcome as text for people.

use crate::outcome::Outcome;
use averment_base::diagnostic::render::TextStyle;
use averment_report::model::ReportDetail;
use averment_report::totals::RunTotals;
use averment_report::{Format, Options, Report, ReportEnding, open};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Returns the details of a run that drawings need.
pub(crate) fn picture_detail() -> ReportDetail {
    ReportDetail::of_pictures(TextStyle::PLAIN.width - GUTTER)
}

/// Columns for line numbers beside a line of the trace.
const GUTTER: usize = 8;

impl Outcome {
    /// Returns the text that `aver check` prints for this run: a drawing of each failure, the undecided and vacuous assertions, and a summary line.
    /// Drawings show trace locations if the rules were built with [`draw_failures`](crate::RulesBuilder::draw_failures). Outcomes of a batch show
    /// only locations in the rules.
    ///
    /// ```
    /// use averment::{Rules, TextStyle};
    ///
    /// let rules = Rules::builder().text("refunds.assert", "never refund(amount > 100)").draw_failures(true).build()?;
    /// let outcome = rules.check_one(r#"{"calls": [{"tool": "refund", "args": {"amount": 250}}]}"#)?;
    /// assert!(outcome.draw(TextStyle::PLAIN).contains("refund(amount: 250)"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn draw(&self, style: TextStyle) -> String {
        let shared = SharedText::default();
        let options = Options { style, policy: self.policy, ..Options::default() };
        let mut report = open(Format::Human, Box::new(shared.clone()), options);
        // Writing to memory cannot fail.
        let _ = self.write_report(&mut *report);
        let bytes = std::mem::take(&mut *shared.0.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn write_report(&self, report: &mut dyn Report) -> io::Result<()> {
        let (table, run) = (&*self.table, &self.report);
        let mut totals = RunTotals::default();
        totals.add_run(run);
        report.begin_report(table)?;
        match run.over_runs {
            true => report.add_over_runs(table, run)?,
            false => report.add_run(table, run)?,
        }
        let passed = run.passed();
        report.finish_report(table, &ReportEnding { totals: &totals, passed, exit: u8::from(!passed) })
    }
}

/// A text that the report writes and the caller reads.
#[derive(Clone, Default)]
struct SharedText(Arc<Mutex<Vec<u8>>>);

impl Write for SharedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
