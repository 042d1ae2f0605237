//! How often each kind of rule came out with each verdict, and how much of the runs was read for it.

use crate::cells::KINDS;
use averment_base::truth::Verdict;
use averment_bulk::judge::ReadCounts;
use std::collections::BTreeMap;

/// Counts of what was compared.
#[derive(Debug, Default)]
pub struct Coverage {
    rows: BTreeMap<String, Row>,
    /// Outputs that were compared, by how the rules stood in files and by the way.
    outputs: BTreeMap<(&'static str, &'static str), u64>,
}

/// Counts of one kind of rule, alone in its file.
#[derive(Debug, Default, Clone, Copy)]
struct Row {
    /// By [`VERDICTS`].
    verdicts: [u64; 6],
    /// How runs were read where counts are wanted, and where reasons are.
    reads: [ReadCounts; 2],
}

const VERDICTS: [Verdict; 6] =
    [Verdict::Pass, Verdict::Fail, Verdict::Vacuous, Verdict::Undecided, Verdict::Skipped, Verdict::Error];

impl Row {
    fn add(&mut self, other: &Row) {
        self.verdicts.iter_mut().zip(other.verdicts).for_each(|(all, more)| *all += more);
        self.reads.iter_mut().zip(other.reads).for_each(|(all, more)| all.add(more));
    }

    fn runs(&self) -> u64 {
        let reads = self.reads[1];
        reads.prefiltered + reads.projected + reads.full
    }
}

impl Coverage {
    /// Counts a verdict of a rule.
    pub fn verdict(&mut self, kind: &str, verdict: Verdict) {
        let row = self.rows.entry(kind.to_owned()).or_default();
        let place = VERDICTS.iter().position(|one| *one == verdict).unwrap();
        row.verdicts[place] += 1;
    }

    /// Counts an output that was compared.
    pub fn output(&mut self, arrangement: &'static str, way: &'static str) {
        *self.outputs.entry((arrangement, way)).or_default() += 1;
    }

    /// Counts how the runs were read for a rule, where counts or (`reasons`) more is wanted.
    pub fn reads(&mut self, kind: &str, reasons: bool, reads: ReadCounts) {
        self.rows.entry(kind.to_owned()).or_default().reads[usize::from(reasons)].add(reads);
    }

    /// Adds what another thread has counted.
    pub fn add(&mut self, other: &Coverage) {
        for (kind, row) in &other.rows {
            self.rows.entry(kind.clone()).or_default().add(row);
        }
        for (way, count) in &other.outputs {
            *self.outputs.entry(*way).or_default() += count;
        }
    }

    fn all(&self) -> Row {
        let mut all = Row::default();
        self.rows.values().for_each(|row| all.add(row));
        all
    }

    /// Pairs of a rule and a run on one line that were compared.
    pub fn pairs(&self) -> u64 {
        self.all().runs()
    }

    /// A line for each kind of rule.
    pub fn table(&self) -> String {
        let words: String = VERDICTS.iter().map(|verdict| format!("{:>10}", verdict.as_str())).collect();
        let mut out =
            format!("{:<28}{words} | counts: prefiltered  full | reasons: prefiltered  projected  full\n", "");
        let all = self.all();
        for (kind, row) in self.rows.iter().map(|(kind, row)| (kind.as_str(), row)).chain([("all", &all)]) {
            let verdicts: String = row.verdicts.iter().map(|count| format!("{count:>10}")).collect();
            let [counts, reasons] = row.reads;
            out.push_str(&format!(
                "{kind:<28}{verdicts} | {:>19} {:>5} | {:>20} {:>10} {:>5}\n",
                counts.prefiltered, counts.full, reasons.prefiltered, reasons.projected, reasons.full
            ));
        }
        for ((arrangement, way), count) in &self.outputs {
            out.push_str(&format!("{arrangement}, {way}: {count}\n"));
        }
        out.push_str(&format!("{} pairs, {} outputs compared\n", self.pairs(), self.outputs.values().sum::<u64>()));
        out
    }

    /// The comparison says something only where everything occurs in it: every kind of statement with every verdict that it can have, and
    /// enough pairs that the prefilter and the projection have settled.
    pub fn assert_enough(&self) {
        let mut missing: Vec<String> = Vec::new();
        for (kind, impossible) in KINDS {
            let row = self.rows.get(*kind).copied().unwrap_or_default();
            let possible = VERDICTS[..4].iter().zip(row.verdicts).filter(|(verdict, _)| !impossible.contains(verdict));
            let never = possible.filter(|(_, count)| *count == 0);
            missing.extend(never.map(|(verdict, _)| format!("`{kind}` was never {}", verdict.as_str())));
        }
        let all = self.all();
        let share = |count: u64| count as f64 / all.runs() as f64;
        let [counts, reasons] = all.reads;
        for (what, share, least) in [
            ("settled by the prefilter, where counts are wanted", share(counts.prefiltered), 0.25),
            ("settled by the prefilter, where reasons are wanted", share(reasons.prefiltered), 0.05),
            ("settled by a projection", share(reasons.projected), 0.05),
            ("read in full", share(reasons.full), 0.1),
        ] {
            if share < least {
                missing.push(format!("only {:.1} % of the pairs are {what}", 100.0 * share));
            }
        }
        assert!(missing.is_empty(), "{}\n{}", self.table(), missing.join("\n"));
    }
}
