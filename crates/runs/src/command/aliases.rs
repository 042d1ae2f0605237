//! Flags that mean the same: short and long forms of well-known programs. What is not listed here means only what is written.

struct SameFlags {
    program: &'static str,
    /// The subcommand (`git push`); `None` for every use of the program.
    command: Option<&'static str>,
    forms: &'static [&'static [&'static str]],
}

const fn for_command(
    program: &'static str,
    command: &'static str,
    forms: &'static [&'static [&'static str]],
) -> SameFlags {
    SameFlags { program, command: Some(command), forms }
}

const fn for_program(program: &'static str, forms: &'static [&'static [&'static str]]) -> SameFlags {
    SameFlags { program, command: None, forms }
}

/// `docs/reference/traces.md` lists its programs.
const TABLE: &[SameFlags] = &[
    for_program("rm", &[&["-r", "-R", "--recursive"], &["-f", "--force"], &["-d", "--dir"], &["-v", "--verbose"]]),
    for_program(
        "cp",
        &[&["-r", "-R", "--recursive"], &["-f", "--force"], &["-a", "--archive"], &["-n", "--no-clobber"]],
    ),
    for_program("mv", &[&["-f", "--force"], &["-n", "--no-clobber"]]),
    for_program("ln", &[&["-s", "--symbolic"], &["-f", "--force"]]),
    for_program("mkdir", &[&["-p", "--parents"]]),
    for_program("chmod", &[&["-R", "--recursive"]]),
    for_program("chown", &[&["-R", "--recursive"]]),
    for_command(
        "git",
        "push",
        &[&["-f", "--force"], &["-d", "--delete"], &["-u", "--set-upstream"], &["-n", "--dry-run"]],
    ),
    for_command(
        "git",
        "commit",
        &[&["-n", "--no-verify"], &["-a", "--all"], &["-m", "--message"], &["-s", "--signoff"]],
    ),
    for_command("git", "reset", &[&["-q", "--quiet"], &["-p", "--patch"]]),
    for_command(
        "git",
        "clean",
        &[&["-f", "--force"], &["-n", "--dry-run"], &["-i", "--interactive"], &["-q", "--quiet"]],
    ),
    for_command("git", "checkout", &[&["-f", "--force"]]),
    for_command(
        "git",
        "switch",
        &[&["-f", "--force", "--discard-changes"], &["-c", "--create"], &["-C", "--force-create"]],
    ),
    for_command("git", "branch", &[&["-d", "--delete"], &["-f", "--force"], &["-m", "--move"]]),
    for_command("git", "tag", &[&["-d", "--delete"], &["-f", "--force"]]),
    for_command("git", "add", &[&["-f", "--force"], &["-A", "--all"], &["-n", "--dry-run"]]),
    for_command("git", "rm", &[&["-f", "--force"], &["-n", "--dry-run"]]),
    for_command("git", "fetch", &[&["-f", "--force"], &["-p", "--prune"]]),
    for_command("git", "pull", &[&["-r", "--rebase"], &["-f", "--force"]]),
    for_program(
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
    for_program("wget", &[&["-O", "--output-document"], &["-q", "--quiet"]]),
    for_command(
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
    for_command(
        "docker",
        "exec",
        &[&["-d", "--detach"], &["-e", "--env"], &["-u", "--user"], &["-i", "--interactive"], &["-t", "--tty"]],
    ),
    for_command("docker", "rm", &[&["-f", "--force"], &["-v", "--volumes"]]),
    for_command("docker", "rmi", &[&["-f", "--force"]]),
    for_command("docker", "build", &[&["-t", "--tag"], &["-f", "--file"]]),
    for_command("docker", "prune", &[&["-f", "--force"], &["-a", "--all"]]),
    for_program("npm", &[&["-g", "--global"], &["-f", "--force"], &["-y", "--yes"], &["-D", "--save-dev"]]),
    for_program("pip", &[&["-r", "--requirement"], &["-U", "--upgrade"], &["-e", "--editable"]]),
    for_program("pip3", &[&["-r", "--requirement"], &["-U", "--upgrade"], &["-e", "--editable"]]),
    for_program(
        "kubectl",
        &[&["-f", "--filename"], &["-n", "--namespace"], &["-A", "--all-namespaces"], &["-l", "--selector"]],
    ),
];

pub(super) fn command_of(program: &str, args: &[&str]) -> Option<&'static str> {
    let commands = || TABLE.iter().filter(|row| row.program == program).filter_map(|row| row.command);
    commands().next()?;
    args.iter().find_map(|word| commands().find(|command| command == word))
}

pub(super) fn other_forms(program: &str, command: Option<&str>, flag: &str) -> impl Iterator<Item = &'static str> {
    let rows =
        TABLE.iter().filter(move |row| row.program == program && (row.command.is_none() || row.command == command));
    let forms = rows.flat_map(|row| row.forms).filter(move |forms| forms.contains(&flag));
    forms.flat_map(|forms| forms.iter().copied()).filter(move |form| *form != flag)
}
