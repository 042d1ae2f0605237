//! Flags that mean the same: short and long forms of well-known programs. What is not listed here means only what is written.

/// Forms of flags that mean the same, of a program or of one of its commands.
struct SameFlags {
    program: &'static str,
    /// The command of the program (`git push`); none for every use of it.
    command: Option<&'static str>,
    /// Each row is one flag in all its forms.
    forms: &'static [&'static [&'static str]],
}

const fn of(program: &'static str, command: &'static str, forms: &'static [&'static [&'static str]]) -> SameFlags {
    SameFlags { program, command: Some(command), forms }
}

const fn any(program: &'static str, forms: &'static [&'static [&'static str]]) -> SameFlags {
    SameFlags { program, command: None, forms }
}

/// The one table: `docs/reference/traces.md` lists its programs.
const TABLE: &[SameFlags] = &[
    any("rm", &[&["-r", "-R", "--recursive"], &["-f", "--force"], &["-d", "--dir"], &["-v", "--verbose"]]),
    any("cp", &[&["-r", "-R", "--recursive"], &["-f", "--force"], &["-a", "--archive"], &["-n", "--no-clobber"]]),
    any("mv", &[&["-f", "--force"], &["-n", "--no-clobber"]]),
    any("ln", &[&["-s", "--symbolic"], &["-f", "--force"]]),
    any("mkdir", &[&["-p", "--parents"]]),
    any("chmod", &[&["-R", "--recursive"]]),
    any("chown", &[&["-R", "--recursive"]]),
    of("git", "push", &[&["-f", "--force"], &["-d", "--delete"], &["-u", "--set-upstream"], &["-n", "--dry-run"]]),
    of("git", "commit", &[&["-n", "--no-verify"], &["-a", "--all"], &["-m", "--message"], &["-s", "--signoff"]]),
    of("git", "reset", &[&["-q", "--quiet"], &["-p", "--patch"]]),
    of("git", "clean", &[&["-f", "--force"], &["-n", "--dry-run"], &["-i", "--interactive"], &["-q", "--quiet"]]),
    of("git", "checkout", &[&["-f", "--force"]]),
    of("git", "switch", &[&["-f", "--force", "--discard-changes"], &["-c", "--create"], &["-C", "--force-create"]]),
    of("git", "branch", &[&["-d", "--delete"], &["-f", "--force"], &["-m", "--move"]]),
    of("git", "tag", &[&["-d", "--delete"], &["-f", "--force"]]),
    of("git", "add", &[&["-f", "--force"], &["-A", "--all"], &["-n", "--dry-run"]]),
    of("git", "rm", &[&["-f", "--force"], &["-n", "--dry-run"]]),
    of("git", "fetch", &[&["-f", "--force"], &["-p", "--prune"]]),
    of("git", "pull", &[&["-r", "--rebase"], &["-f", "--force"]]),
    any(
        "curl",
        &[
            &["-X", "--request"],
            &["-d", "--data"],
            &["-H", "--header"],
            &["-o", "--output"],
            &["-L", "--location"],
            &["-k", "--insecure"],
            &["-u", "--user"],
            &["-F", "--form"],
            &["-T", "--upload-file"],
            &["-I", "--head"],
            &["-s", "--silent"],
        ],
    ),
    any("wget", &[&["-O", "--output-document"], &["-q", "--quiet"]]),
    of(
        "docker",
        "run",
        &[
            &["-d", "--detach"],
            &["-v", "--volume"],
            &["-p", "--publish"],
            &["-e", "--env"],
            &["-u", "--user"],
            &["-i", "--interactive"],
            &["-t", "--tty"],
        ],
    ),
    of(
        "docker",
        "exec",
        &[&["-d", "--detach"], &["-e", "--env"], &["-u", "--user"], &["-i", "--interactive"], &["-t", "--tty"]],
    ),
    of("docker", "rm", &[&["-f", "--force"], &["-v", "--volumes"]]),
    of("docker", "rmi", &[&["-f", "--force"]]),
    of("docker", "build", &[&["-t", "--tag"], &["-f", "--file"]]),
    of("docker", "prune", &[&["-f", "--force"], &["-a", "--all"]]),
    any("npm", &[&["-g", "--global"], &["-f", "--force"], &["-y", "--yes"], &["-D", "--save-dev"]]),
    any("pip", &[&["-r", "--requirement"], &["-U", "--upgrade"], &["-e", "--editable"]]),
    any("pip3", &[&["-r", "--requirement"], &["-U", "--upgrade"], &["-e", "--editable"]]),
    any(
        "kubectl",
        &[&["-f", "--filename"], &["-n", "--namespace"], &["-A", "--all-namespaces"], &["-l", "--selector"]],
    ),
];

/// The command of a program that is used: the first of its arguments that the table has as one.
pub(super) fn command_of(program: &str, args: &[&str]) -> Option<&'static str> {
    let commands = || TABLE.iter().filter(|row| row.program == program).filter_map(|row| row.command);
    commands().next()?;
    args.iter().find_map(|word| commands().find(|command| command == word))
}

/// The other forms of a flag of a program and its command.
pub(super) fn other_forms(program: &str, command: Option<&str>, flag: &str) -> impl Iterator<Item = &'static str> {
    let rows =
        TABLE.iter().filter(move |row| row.program == program && (row.command.is_none() || row.command == command));
    let forms = rows.flat_map(|row| row.forms).filter(move |forms| forms.contains(&flag));
    forms.flat_map(|forms| forms.iter().copied()).filter(move |form| *form != flag)
}
