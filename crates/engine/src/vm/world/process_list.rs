//! The processes of this machine, as Linux lists them.
#![expect(clippy::disallowed_methods, reason = "the feature `world` is what looks at files, commands and variables")]

pub(super) struct ProcessStat {
    pub(super) pid: i32,
    pub(super) parent: i32,
    /// A zombie: ended but not yet waited for.
    pub(super) dead: bool,
}

impl ProcessStat {
    /// Parses `/proc/PID/stat`; state and parent follow the name, which may contain anything.
    pub(super) fn read_stat(pid: i32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let mut fields = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace();
        let dead = matches!(fields.next()?, "Z" | "X");
        let parent = fields.next()?.parse().ok()?;
        Some(Self { pid, parent, dead })
    }

    pub(super) fn has_mark(&self, mark: &str) -> bool {
        std::fs::read(format!("/proc/{}/environ", self.pid))
            .is_ok_and(|variables| variables.split(|byte| *byte == 0).any(|one| one == mark.as_bytes()))
    }
}

pub(super) fn all_processes() -> impl Iterator<Item = ProcessStat> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| ProcessStat::read_stat(entry.file_name().to_str()?.parse().ok()?))
}
