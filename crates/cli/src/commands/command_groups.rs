//! `aver --help`: the commands, grouped by what they are for.

use clap::Command;
use std::fmt::Write as _;

/// Groups of commands in the order of the help, each with its heading. Builds without some features lack some of the commands.
const COMMAND_GROUPS: &[(&str, &[&str])] = &[
    ("Check runs", &["check", "explain", "trace"]),
    ("Author rules", &["init", "new", "lint", "test", "fmt", "repl", "docs", "import", "export", "compile", "disasm"]),
    ("Work with live agents and servers", &["guard", "probe", "run", "inputs"]),
    ("Results over time", &["trust", "compare"]),
    ("Editors and shells", &["lsp", "completions", "man"]),
];

/// The width of the column with the names.
const NAME_WIDTH: usize = 13;

/// Gives a command a help text that lists its commands in groups; clap itself only has one list.
pub fn group_commands(command: Command) -> Command {
    let mut template = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (heading, names) in COMMAND_GROUPS {
        let _ = writeln!(template, "\n{heading}:");
        for one in names.iter().filter_map(|name| command.find_subcommand(name)) {
            let about = one.get_about().map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(template, "  {:NAME_WIDTH$}{about}", one.get_name());
        }
    }
    template.push_str("\nOptions:\n{options}{after-help}");
    command.help_template(template)
}

#[cfg(test)]
mod tests {
    use super::COMMAND_GROUPS;
    use clap::CommandFactory as _;
    use std::collections::BTreeSet;

    #[test]
    fn every_command_belongs_to_one_group() {
        let command = crate::commands::CliArgs::command();
        let shown: BTreeSet<&str> =
            command.get_subcommands().filter(|one| !one.is_hide_set()).map(clap::Command::get_name).collect();
        let mut grouped = BTreeSet::new();
        for name in COMMAND_GROUPS.iter().flat_map(|(_, names)| names.iter().copied()) {
            assert!(grouped.insert(name), "`{name}` is in two groups");
        }
        let missing: Vec<&&str> = shown.iter().filter(|name| !grouped.contains(*name)).collect();
        assert!(missing.is_empty(), "no group of `aver --help` has {missing:?}");
    }
}
