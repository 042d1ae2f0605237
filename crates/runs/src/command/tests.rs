use super::*;

fn shown(command: &str) -> Vec<String> {
    command_parts(command)
        .into_iter()
        .map(|part| format!("{} {}", part.program, part.words.join(" ")).trim().to_owned())
        .collect()
}

#[test]
fn every_program_of_a_command_line_is_found() {
    for (command, expected) in [
        ("npm test", &["npm test"] as &[&str]),
        ("bash -lc \"cd app && npm ci\"", &["cd app", "npm ci"]),
        ("sh -c 'rm -rf /tmp/x'", &["rm -rf /tmp/x"]),
        ("sudo -u root env A=b C=d rm -rf /", &["rm -rf /"]),
        ("CI=1 npm test", &["npm test"]),
        ("timeout -k 5 30 cargo test", &["cargo test"]),
        ("cd a; ls | grep x || echo no & wait", &["cd a", "ls", "grep x", "echo no", "wait"]),
        ("echo \"$(rm -rf x)\" `date`", &["echo $(rm -rf x) `date`", "rm -rf x", "date"]),
        ("find . -name '*.rs' | xargs -n 1 rm -f", &["find . -name *.rs", "rm -f"]),
        ("/usr/bin/git push --force > log 2>&1", &["git push --force"]),
        ("make &> log", &["make"]),
        ("if true; then rm x; fi", &["true", "rm x"]),
        ("for f in a b; do rm $f; done", &["rm $f"]),
        ("(cd x && make)", &["cd x", "make"]),
        ("cat <<'EOF' > f\nrm -rf /\nEOF\nls", &["cat", "ls"]),
        ("ls # rm x", &["ls"]),
        ("echo a\\ b 'c d'", &["echo a b c d"]),
        ("echo 'never closed", &["echo never closed"]),
        ("a \\\n b", &["a b"]),
        ("bash script.sh", &["bash script.sh"]),
        ("", &[]),
        (" ;; && ", &[]),
    ] {
        assert_eq!(shown(command), expected, "{command}");
    }
}

#[test]
fn wrappers_inside_wrappers_end() {
    let script = (0..10).fold("rm x".to_owned(), |inner, _| format!("bash -c {}", shell_words::quote(&inner)));
    assert!(command_parts(&script).len() <= 1);
    assert!(command_parts(&"a;".repeat(10_000)).len() <= MOST_PARTS);
    assert!(command_parts(&"$(".repeat(10_000)).len() <= MOST_PARTS);
}

#[test]
fn flags_are_found_in_every_spelling() {
    let flags = |command: &str| flag_forms(&command_parts(command)[0]);
    assert_eq!(flags("rm -rf x"), ["-rf", "-r", "-f", "-R", "--recursive", "--force"]);
    assert_eq!(flags("pnpm --filter=unit --watch test"), ["--filter=unit", "--filter", "--watch"]);
    assert_eq!(flags("x -p80 - -- -y"), ["-p80"]);
    // Long and short forms are one flag where the table knows the program and its command.
    assert_eq!(flags("rm -R x"), ["-R", "-r", "--recursive"]);
    assert_eq!(flags("git -C dir clean --dry-run"), ["-C", "--dry-run", "-n"]);
    assert_eq!(flags("git log -f"), ["-f"]);
    assert_eq!(meant_flags("-rf"), ["-r", "-f"]);
    assert_eq!(meant_flags("-vvv"), ["-vvv"]);
    assert_eq!(meant_flags("--force"), ["--force"]);
}

#[test]
fn arguments_are_all_words_that_are_no_flags() {
    let part = &command_parts("npm --watch test - -- --runInBand")[0];
    assert_eq!(part_arguments(&part.words), ["test", "-", "--runInBand"]);
}

#[test]
fn long_lines_take_time_by_their_length() {
    let many = |word: &str| (0..100_000).map(|number| format!(" {word}{number}")).collect::<String>();
    let arena = bumpalo::Bump::new();
    for command in [format!("x{}", many("--o")), format!("x{}", many(";")), "'".repeat(200_000), "<<a\n".repeat(50_000)]
    {
        let mut fields = 0;
        set_fields(&command, &arena, |_, _| fields += 1);
        assert!(fields >= 3);
    }
}
