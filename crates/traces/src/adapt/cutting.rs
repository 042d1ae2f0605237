//! How a value that holds several runs is cut into them: each format says it in a row, and the cutter of files follows it without reading
//! what is in between.

/// The way from a value to the parts of its runs. The text of a run is that of the whole value without the parts of other runs, so that
/// a format finds what is around its own in its place.
#[derive(Debug)]
pub(crate) struct RunCutting {
    /// The keys of the objects around the value that the way begins in. Where there are some, a run does not keep them.
    pub(crate) within: &'static [&'static str],
    /// The keys of the lists on the way, the names that one may have at each level. A value that is a list is gone through first. No
    /// level: the elements of such a list, or the lines of a file, are the parts.
    pub(crate) way: &'static [&'static [&'static str]],
    /// Where a part says which run it belongs to: ways of keys, the first that is there counts. None: each part is a run of its own.
    pub(crate) by: &'static [&'static [&'static str]],
    /// The entries beside the first list that every run keeps. Below it, all are kept. Of one list of parts with ids, the parts are taken
    /// alone.
    pub(crate) keeps: &'static [&'static str],
}

impl RunCutting {
    /// Whether the parts are all that their object holds: then a run is a list of them.
    pub(crate) fn takes_parts_alone(&self) -> bool {
        self.way.len() == 1 && !self.by.is_empty()
    }

    /// Whether also a value with the parts of one run is cut.
    pub(crate) fn is_for_one(&self) -> bool {
        self.takes_parts_alone() || !self.within.is_empty()
    }

    /// Of these keys a value of this form has one: the value itself, or where it is a list its first element.
    pub(crate) fn first_keys(&self) -> impl Iterator<Item = &'static str> {
        let ids = self.by.iter().filter(|_| self.way.is_empty()).filter_map(|way| way.first());
        let first = if self.within.is_empty() { self.way.first().copied().unwrap_or_default() } else { self.within };
        first.iter().chain(ids).copied()
    }
}
