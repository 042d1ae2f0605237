//! Sets of numbers: unions of intervals.

/// One end of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntervalEnd {
    /// The number.
    pub at: f64,
    /// True if the number itself belongs to the interval.
    pub closed: bool,
}

/// An interval; an end that is `None` is open to infinity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: Option<IntervalEnd>,
    /// The upper end.
    pub high: Option<IntervalEnd>,
}

/// A set of numbers: disjoint, non-adjacent intervals in ascending order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NumberSet(pub Vec<Interval>);

/// Number of digits that a double preserves: two numbers with at most this many digits are equal as doubles only if they are equal.
const DIGITS: usize = 15;

/// Returns a number of the rules as a double, if it can be compared exactly.
#[must_use]
pub fn exact_number(text: &str) -> Option<f64> {
    let digits = text.split(['e', 'E']).next().unwrap_or("");
    let significant = digits.trim_start_matches(['-', '+', '0', '.']).chars().filter(char::is_ascii_digit).count();
    let number: f64 = text.parse().ok()?;
    // Excludes the extremes of the range of doubles, where adjacent numbers become equal.
    let tame = number == 0.0 || (1e-200..1e200).contains(&number.abs());
    (significant <= DIGITS && number.is_finite() && tame).then_some(number)
}

impl NumberSet {
    /// Returns the empty set.
    #[must_use]
    pub fn empty_set() -> Self {
        Self(Vec::new())
    }

    /// Returns the set of all numbers.
    #[must_use]
    pub fn full_set() -> Self {
        Self(vec![Interval { low: None, high: None }])
    }

    /// Returns the set of one number.
    #[must_use]
    pub fn single_number(at: f64) -> Self {
        let end = Some(IntervalEnd { at, closed: true });
        Self(vec![Interval { low: end, high: end }])
    }

    /// Returns the numbers between two ends.
    #[must_use]
    pub fn between(low: Option<IntervalEnd>, high: Option<IntervalEnd>) -> Self {
        let interval = Interval { low, high };
        if interval.is_empty() { Self::empty_set() } else { Self(vec![interval]) }
    }

    /// Returns true if the set has no number, or with `whole`, no whole number.
    #[must_use]
    pub fn is_empty(&self, whole: bool) -> bool {
        self.0.iter().all(|interval| if whole { interval.first_whole().is_none() } else { interval.is_empty() })
    }

    /// Returns the numbers in both sets.
    #[must_use]
    pub fn intersect_with(&self, other: &Self) -> Self {
        // Both lists are sorted, and the intervals of each are disjoint.
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::new();
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            let common = a.intersect_with(b);
            let ended = if a.ends_before(b) { &mut left } else { &mut right };
            ended.next();
            if !common.is_empty() {
                both.push(common);
            }
        }
        Self(both)
    }

    /// Returns the numbers in either set.
    #[must_use]
    pub fn union_with(&self, other: &Self) -> Self {
        // The union is the complement of the intersection of the complements.
        self.complement().intersect_with(&other.complement()).complement()
    }

    /// Returns all other numbers.
    #[must_use]
    pub fn complement(&self) -> Self {
        let turned = |end: IntervalEnd| IntervalEnd { at: end.at, closed: !end.closed };
        let mut gaps = Vec::new();
        let mut low = None;
        let mut open = true;
        for interval in &self.0 {
            if let Some(start) = interval.low {
                gaps.push(Interval { low, high: Some(turned(start)) });
            }
            match interval.high {
                Some(end) => low = Some(turned(end)),
                None => open = false,
            }
        }
        if open {
            gaps.push(Interval { low, high: None });
        }
        Self(gaps.into_iter().filter(|interval| !interval.is_empty()).collect())
    }

    /// Returns some number of the set near zero; a whole number if required or possible.
    #[must_use]
    pub fn pick_number(&self, whole: bool) -> Option<f64> {
        let whole_one = self.0.iter().filter_map(Interval::first_whole).min_by(|a, b| a.abs().total_cmp(&b.abs()));
        if whole || whole_one.is_some() {
            return whole_one;
        }
        self.0.iter().find_map(|interval| match (interval.low, interval.high) {
            (Some(low), _) if low.closed => Some(low.at),
            (_, Some(high)) if high.closed => Some(high.at),
            (Some(low), Some(high)) => Some(f64::midpoint(low.at, high.at)),
            _ => None,
        })
    }
}

impl Interval {
    fn is_empty(&self) -> bool {
        match (self.low, self.high) {
            (Some(low), Some(high)) => low.at > high.at || (low.at == high.at && !(low.closed && high.closed)),
            _ => false,
        }
    }

    fn intersect_with(&self, other: &Self) -> Self {
        let tighter = |a: Option<IntervalEnd>, b: Option<IntervalEnd>, upper: bool| match (a, b) {
            (Some(a), Some(b)) if a.at == b.at => Some(IntervalEnd { at: a.at, closed: a.closed && b.closed }),
            (Some(a), Some(b)) => Some(if (a.at < b.at) == upper { a } else { b }),
            (a, b) => a.or(b),
        };
        Self { low: tighter(self.low, other.low, false), high: tighter(self.high, other.high, true) }
    }

    fn ends_before(&self, other: &Self) -> bool {
        match (self.high, other.high) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(a), Some(b)) => a.at < b.at || a.at == b.at && !a.closed,
        }
    }

    fn first_whole(&self) -> Option<f64> {
        let lowest = self.low.map(|low| if low.closed { low.at.ceil() } else { low.at.floor() + 1.0 });
        let highest = self.high.map(|high| if high.closed { high.at.floor() } else { high.at.ceil() - 1.0 });
        let near = match (lowest, highest) {
            (Some(low), _) if low > 0.0 => low,
            (_, Some(high)) if high < 0.0 => high,
            _ => 0.0,
        };
        let fits = lowest.is_none_or(|low| low <= near) && highest.is_none_or(|high| near <= high);
        fits.then_some(near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn above(at: f64) -> NumberSet {
        NumberSet::between(Some(IntervalEnd { at, closed: false }), None)
    }

    fn at_most(at: f64) -> NumberSet {
        NumberSet::between(None, Some(IntervalEnd { at, closed: true }))
    }

    #[test]
    fn sets_of_numbers_behave_like_sets() {
        assert!(above(3.0).intersect_with(&at_most(3.0)).is_empty(false));
        assert!(!above(3.0).intersect_with(&at_most(3.5)).is_empty(false));
        assert!(above(3.0).intersect_with(&at_most(3.5)).is_empty(true));
        assert_eq!(above(3.0).complement(), at_most(3.0));
        assert_eq!(above(3.0).union_with(&at_most(3.0)), NumberSet::full_set());
        assert_eq!(NumberSet::full_set().complement(), NumberSet::empty_set());
        assert_eq!(NumberSet::empty_set().complement(), NumberSet::full_set());
        assert_eq!(NumberSet::single_number(1.0).complement().complement(), NumberSet::single_number(1.0));
        assert_eq!(above(2.0).pick_number(true), Some(3.0));
        assert_eq!(at_most(-2.5).pick_number(true), Some(-3.0));
        assert_eq!(above(2.0).intersect_with(&at_most(2.5)).pick_number(false), Some(2.5));
    }

    #[test]
    fn only_numbers_that_doubles_tell_apart_are_compared() {
        assert_eq!(exact_number("250"), Some(250.0));
        assert_eq!(exact_number("0.1"), Some(0.1));
        assert_eq!(exact_number("9007199254740993"), None);
        assert_eq!(exact_number("0.10000000000000000001"), None);
        assert_eq!(exact_number("1e400"), None);
    }
}
