//! How a value that holds several runs is cut into them: each format says it in a row, and the cutter of files follows it without reading
//! what is in between.

/// The path to the parts of runs. A run's text is the whole value without other runs' parts.
#[derive(Debug)]
pub(crate) struct RunCutting {
    /// Keys of enclosing objects, which runs do not keep.
    pub(crate) within: &'static [&'static str],
    /// Alternative list keys per level; a top-level list is entered first. Empty: list elements or lines are the parts.
    pub(crate) way: &'static [&'static [&'static str]],
    /// Alternative paths to the run id of a part. Empty: each part is a run.
    pub(crate) by: &'static [&'static [&'static str]],
    /// Entries beside the first list that each run keeps; below it all are kept. Identified parts are taken alone.
    pub(crate) keeps: &'static [&'static str],
    /// A list at the top of the value whose elements belong to parts by an id; `None` where there is none.
    pub(crate) joins: Option<JoinedRecords>,
}

/// Records of parts that stand in a list of their own, beside the parts: the run of a part holds both, in an object.
#[derive(Debug)]
pub(crate) struct JoinedRecords {
    /// The key of the list.
    pub(crate) list: &'static str,
    /// The key of the id, in a record and in a part.
    pub(crate) by: &'static str,
    /// What stands around the records of a run, in front of its part.
    pub(crate) before: &'static str,
    /// What stands between the records and the part.
    pub(crate) between: &'static str,
}

impl RunCutting {
    /// True if an object holds only parts: then a run is a list of them.
    pub(crate) fn takes_parts_alone(&self) -> bool {
        self.way.len() == 1 && !self.by.is_empty()
    }

    /// True if a value with parts of one run is cut too.
    pub(crate) fn is_for_one(&self) -> bool {
        self.takes_parts_alone() || !self.within.is_empty()
    }

    /// A value of this form (or its first element) has one of these keys.
    pub(crate) fn first_keys(&self) -> impl Iterator<Item = &'static str> {
        let ids = self.by.iter().filter(|_| self.way.is_empty()).filter_map(|way| way.first());
        let first = if self.within.is_empty() { self.way.first().copied().unwrap_or_default() } else { self.within };
        first.iter().chain(ids).copied()
    }
}
