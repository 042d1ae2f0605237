//! Everything unknown, answered in all ways.

/// Answers to everything unknown, found as they are asked for.
#[derive(Default)]
pub struct Answers {
    given: Vec<usize>,
    asked: Vec<(String, usize, usize)>,
}

impl Answers {
    /// One of `options`, the same one for the same question.
    pub fn ask(&mut self, question: String, options: usize) -> usize {
        if let Some((_, answer, _)) = self.asked.iter().find(|(asked, ..)| *asked == question) {
            return *answer;
        }
        let answer = self.given.get(self.asked.len()).copied().unwrap_or(0);
        self.asked.push((question, answer, options));
        answer
    }

    pub fn yes(&mut self, question: String) -> bool {
        self.ask(question, 2) == 1
    }

    /// How many questions have been asked.
    pub fn asked(&self) -> usize {
        self.asked.len()
    }

    /// The next combination of answers, if there is one.
    fn next(mut self) -> Option<Answers> {
        while let Some((_, answer, options)) = self.asked.pop() {
            if answer + 1 < options {
                let mut given: Vec<usize> = self.asked.iter().map(|(_, answer, _)| *answer).collect();
                given.push(answer + 1);
                return Some(Answers { given, asked: Vec::new() });
            }
        }
        None
    }
}

/// The one result of all answers; `None` when they differ. `Err` when there are too many to try.
pub fn settle<T: PartialEq>(mut judge: impl FnMut(&mut Answers) -> Result<T, TooMany>) -> Result<Option<T>, TooMany> {
    let mut answers = Answers::default();
    let mut first: Option<T> = None;
    for _ in 0..3000 {
        let result = judge(&mut answers)?;
        match &first {
            Some(known) if *known != result => return Ok(None),
            Some(_) => {}
            None => first = Some(result),
        }
        match answers.next() {
            Some(next) => answers = next,
            None => return Ok(first),
        }
    }
    Err(TooMany)
}

/// More unknowns than can be enumerated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany;
