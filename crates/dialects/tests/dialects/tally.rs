//! How many vectors agree.

use std::collections::BTreeMap;

/// The vectors of one file.
pub struct Tally {
    file: String,
    agreed: usize,
    decided: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
}

impl Tally {
    /// Of a file.
    pub fn of(file: &str) -> Self {
        Self { file: file.to_owned(), agreed: 0, decided: BTreeMap::new(), wrong: Vec::new() }
    }

    /// A vector that agrees.
    pub fn agrees(&mut self) {
        self.agreed += 1;
    }

    /// A vector that differs for a reason that the pages give.
    pub fn decided(&mut self, reason: &'static str) {
        *self.decided.entry(reason).or_default() += 1;
    }

    /// A vector that differs for no reason.
    pub fn wrong(&mut self, what: String) {
        self.wrong.push(what);
    }

    /// Every reason stands in the page of the system.
    pub fn decided_in(self, page: &str) -> Self {
        for reason in self.decided.keys() {
            assert!(page.contains(reason), "the page does not decide: {reason}");
        }
        self
    }

    /// Prints the file's line, and gives how many vectors there were and how many differ by decision. None may be wrong.
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

/// All files of a dialect: at most three in a hundred vectors differ by decision.
pub fn few_decisions(dialect: &str, files: impl IntoIterator<Item = (usize, usize)>) {
    let (all, decided) = files.into_iter().fold((0, 0), |(all, decided), (one, of_it)| (all + one, decided + of_it));
    println!("{dialect}: {decided} of {all} vectors differ by decision");
    assert!(all > 0, "no vectors");
    assert!(decided * 32 <= all, "{dialect}: {decided} of {all} vectors differ by decision");
}
