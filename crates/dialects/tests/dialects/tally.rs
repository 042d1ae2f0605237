//! Counts the vectors that agree.

use std::collections::BTreeMap;

/// The vectors of one file.
pub struct Tally {
    file: String,
    agreed: usize,
    decided: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
}

impl Tally {
    /// Starts counting for a file.
    pub fn of(file: &str) -> Self {
        Self { file: file.to_owned(), agreed: 0, decided: BTreeMap::new(), wrong: Vec::new() }
    }

    /// Counts a vector that agrees.
    pub fn agrees(&mut self) {
        self.agreed += 1;
    }

    /// Counts a vector that differs for a documented reason.
    pub fn decided(&mut self, reason: &'static str) {
        *self.decided.entry(reason).or_default() += 1;
    }

    /// Counts a vector that differs without a reason.
    pub fn wrong(&mut self, what: String) {
        self.wrong.push(what);
    }

    /// Asserts that the page of the system documents every reason.
    pub fn decided_in(self, page: &str) -> Self {
        for reason in self.decided.keys() {
            assert!(page.contains(reason), "the page does not decide: {reason}");
        }
        self
    }

    /// Prints the summary of the file; returns the number of vectors and the number that differ by decision. Panics if any vector is wrong.
    pub fn end(self) -> (usize, usize) {
        let decided: usize = self.decided.values().sum();
        let all = self.agreed + decided + self.wrong.len();
        println!(
            "{}: {} of {all} agree, {decided} differ by decision, {} are wrong",
            self.file,
            self.agreed,
            self.wrong.len()
        );
        for (reason, count) in &self.decided {
            println!("    {count} × {reason}");
        }
        let shown: Vec<&str> = self.wrong.iter().map(String::as_str).take(20).collect();
        assert!(shown.is_empty(), "{}: {} wrong\n{}", self.file, self.wrong.len(), shown.join("\n"));
        (all, decided)
    }
}

/// Asserts for all files of a dialect that at most 3 % of the vectors differ by decision.
pub fn few_decisions(dialect: &str, files: impl IntoIterator<Item = (usize, usize)>) {
    let (all, decided) = files.into_iter().fold((0, 0), |(all, decided), (one, of_it)| (all + one, decided + of_it));
    println!("{dialect}: {decided} of {all} vectors differ by decision");
    assert!(all > 0, "no vectors");
    assert!(decided * 32 <= all, "{dialect}: {decided} of {all} vectors differ by decision");
}
