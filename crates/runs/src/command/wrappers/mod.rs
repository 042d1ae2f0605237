//! Programs that run another one: which of their options have a value, where what they run begins, and how it is written.

mod places;
mod processes;

/// The loader of the system, which has many names: `ld.so`, `ld-linux-x86-64.so.2`, `ld-musl-x86_64.so.1`.
const LOADER: &str = "ld.so";

/// The tables, each in the order of names.
const TABLES: [&[Wrapper]; 2] = [processes::PROCESSES, places::PLACES];

/// How what a wrapper runs is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrappedCommand {
    /// The program and its arguments are words of their own: `sudo rm -rf x`.
    Words,
    /// The words that are left are one line of a shell: `ssh host 'rm -rf x'`.
    Line,
    /// The next word is a line of a shell, and what follows is none: `trap 'rm -rf x' EXIT`.
    Text,
    /// A line stands behind an option alone: `script -c 'rm -rf x' out`.
    Option,
    /// The programs stand behind options, up to `;` or `+`: `find . -exec rm -rf {} +`.
    Actions,
}

/// A program that runs another one.
#[derive(Debug, Clone, Copy)]
pub struct Wrapper {
    /// Its name.
    pub name: &'static str,
    /// The word behind the name that makes it one, as `exec` of `docker`; empty where it always is one.
    pub command: &'static str,
    /// Its options behind which a value stands, in a word of its own.
    values: &'static str,
    /// Its options that take none, or hold theirs. Of the others nobody knows.
    flags: &'static str,
    /// Its options behind which a line of a shell stands; of [`WrappedCommand::Actions`] those behind which a program stands.
    scripts: &'static str,
    /// Its options with which it runs nothing.
    idle: &'static str,
    /// How many words stand between its options and what it runs: a host, a container, a time.
    pub places: usize,
    /// How what it runs is written.
    pub inner: WrappedCommand,
    /// Whether a line is about what it runs alone. Otherwise the wrapper itself is a program of the line, too.
    pub is_taken_off: bool,
    /// Whether it runs a shell where it names no program, which reads its input.
    pub is_shell: bool,
}

/// A wrapper that is taken off, whose options have values or do not; of other options nobody knows. Lists of options stand in one text.
const fn of(name: &'static str, values: &'static str, flags: &'static str) -> Wrapper {
    Wrapper {
        name,
        command: "",
        values,
        flags,
        scripts: "",
        idle: "",
        places: 0,
        inner: WrappedCommand::Words,
        is_taken_off: true,
        is_shell: false,
    }
}

impl Wrapper {
    /// The same behind a word of its own; it stays a program of the line.
    const fn behind(self, command: &'static str) -> Self {
        Self { command, ..self }.kept()
    }

    /// The same, which stays a program of the line.
    const fn kept(self) -> Self {
        Self { is_taken_off: false, ..self }
    }

    /// With words in front of what it runs.
    const fn places(self, places: usize) -> Self {
        Self { places, ..self }
    }

    /// With options behind which it has a line of a shell, or a program.
    const fn scripts(self, scripts: &'static str) -> Self {
        Self { scripts, ..self }
    }

    /// With options with which it runs nothing.
    const fn idle(self, idle: &'static str) -> Self {
        Self { idle, ..self }
    }

    /// With what it runs written in another way.
    const fn inner(self, inner: WrappedCommand) -> Self {
        Self { inner, ..self }
    }

    /// Which runs a shell where it names no program.
    const fn shell(self) -> Self {
        Self { is_shell: true, ..self }
    }

    /// Its options behind which a line of a shell, or a program, stands.
    pub(super) fn scripts_of(&self) -> std::str::SplitWhitespace<'static> {
        self.scripts.split_whitespace()
    }

    /// Whether nothing is run with an option.
    pub(super) fn is_idle(&self, option: &str) -> bool {
        holds(self.idle, option)
    }

    /// Whether an option is known to take no word of its own: `--name=value` holds it, `-oL` does where `-o` takes one.
    #[must_use]
    pub fn is_flag(&self, option: &str) -> bool {
        let held = |value: &str| value.len() == 2 && option.starts_with(value);
        option == "--"
            || option == "-"
            || option.contains('=')
            || holds(self.flags, option)
            || option.trim_start_matches('-').starts_with(|first: char| first.is_ascii_digit())
            || !option.starts_with("--") && self.values.split_whitespace().any(held)
            || self.cluster_end(option) == Some(false)
    }

    /// Whether the word behind an option is its value: `-u root`, `-nu root`.
    #[must_use]
    pub fn takes_next(&self, option: &str) -> bool {
        holds(self.values, option) || self.cluster_end(option) == Some(true)
    }

    /// Whether the last letter of `-nu` takes the next word, where all of its letters are known options.
    fn cluster_end(&self, option: &str) -> Option<bool> {
        let letters = option.strip_prefix('-').filter(|letters| letters.len() > 1 && !letters.starts_with('-'))?;
        let is_one_of = |options: &str, letter: char| {
            options.split_whitespace().any(|own| own.strip_prefix('-').is_some_and(|own| own.chars().eq([letter])))
        };
        let mut last_takes = false;
        for letter in letters.chars() {
            if last_takes {
                return None;
            }
            last_takes = is_one_of(self.values, letter);
            if !last_takes && !is_one_of(self.flags, letter) {
                return None;
            }
        }
        Some(last_takes)
    }
}

fn holds(options: &str, option: &str) -> bool {
    options.split_whitespace().any(|one| one == option)
}

/// The wrappers of this name, each with the word that has to stand behind it.
pub fn of_name(name: &str) -> impl Iterator<Item = &'static Wrapper> {
    let is_loader = name == LOADER || name.starts_with("ld-") && name.contains(".so");
    let name = if is_loader { LOADER } else { name };
    // Nearly every program of a line is looked up, and is none of these.
    TABLES.into_iter().flat_map(move |table| {
        let start = table.partition_point(|wrapper| wrapper.name < name);
        table.get(start..).unwrap_or_default().iter().take_while(move |wrapper| wrapper.name == name)
    })
}

#[cfg(test)]
mod tests {
    use super::TABLES;

    #[test]
    fn wrappers_stand_in_the_order_of_their_names() {
        for table in TABLES {
            assert!(table.is_sorted_by_key(|wrapper| wrapper.name));
        }
    }
}
