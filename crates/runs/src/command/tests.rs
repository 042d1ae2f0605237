use super::collect::MOST_PARTS;
use super::*;

/// The programs of a line, `?` for what it hides.
fn shown(command: &str) -> Vec<String> {
    let shown = |part: CommandPart| {
        let program = part.program.unwrap_or_else(|| "?".to_owned());
        format!("{program} {}", part.words.join(" ")).trim().to_owned()
    };
    line(command).parts.into_iter().map(shown).collect()
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
        ("a \\\n b", &["a b"]),
        ("bash script.sh", &["bash script.sh"]),
        ("", &[]),
        (" ;; && ", &[]),
    ] {
        assert_eq!(shown(command), expected, "{command}");
    }
}

#[test]
fn wrappers_show_what_they_run() {
    for (command, expected) in [
        ("sudo --user root rm -rf x", &["rm -rf x"] as &[&str]),
        ("sudo --user=root -nu root -- rm -rf x", &["rm -rf x"]),
        ("sudo -E env \"PATH=$PATH\" nohup rm -rf x", &["rm -rf x"]),
        ("doas -u me rm -rf x", &["rm -rf x"]),
        ("find . -name '*.o' -exec rm -rf {} +", &["find . -name *.o -exec rm -rf {} +", "rm -rf {}"]),
        ("find . -exec a {} \\; -okdir rm {} ';'", &["find . -exec a {} ; -okdir rm {} ;", "a {}", "rm {}"]),
        ("find . -exec sh -c 'rm -rf \"$1\"' _ {} \\;", &["find . -exec sh -c rm -rf \"$1\" _ {} ;", "rm -rf $1"]),
        ("ls | xargs -I{} rm -rf {}", &["ls", "rm -rf {}"]),
        ("ls | xargs -I {} -P 4 sudo rm -rf {}", &["ls", "rm -rf {}"]),
        ("eval 'rm -rf x'", &["rm -rf x"]),
        ("eval rm '-rf x'", &["rm -rf x"]),
        ("su -c 'rm -rf x'", &["rm -rf x"]),
        ("su - me -c 'rm -rf x; ls'", &["rm -rf x", "ls"]),
        ("bash <<< 'rm -rf x'", &["bash", "rm -rf x"]),
        ("bash <<EOF\nrm -rf x\nEOF\nls", &["bash", "rm -rf x", "ls"]),
        ("cat <<'EOF' | sudo bash -s\nrm -rf x\nEOF", &["cat", "bash -s", "rm -rf x"]),
        ("echo 'rm -rf x' | sh", &["echo rm -rf x", "sh", "rm -rf x"]),
        ("printf '%s %s\\n' rm '-rf x' | sh -x", &["printf %s %s\\n rm -rf x", "sh -x", "rm -rf x"]),
        ("printf 'rm -rf x\\nls' | sh", &["printf rm -rf x\\nls", "sh", "rm -rf x", "ls"]),
        ("setsid rm -rf x", &["rm -rf x"]),
        ("busybox rm -rf x", &["rm -rf x"]),
        ("timeout 5 rm -rf x", &["rm -rf x"]),
        ("timeout -s KILL --kill-after=5 5s nice -n 5 rm -rf x", &["rm -rf x"]),
        (
            "ssh -i key -p 22 me@host 'cd x && rm -rf y'",
            &["ssh -i key -p 22 me@host cd x && rm -rf y", "cd x", "rm -rf y"],
        ),
        ("ssh host rm -rf x", &["ssh host rm -rf x", "rm -rf x"]),
        ("echo 'rm -rf x' | ssh host bash", &["echo rm -rf x", "ssh host bash", "bash", "rm -rf x"]),
        ("ssh host <<EOF\nrm -rf x\nEOF", &["ssh host", "rm -rf x"]),
        ("docker exec -it c rm -rf x", &["docker exec -it c rm -rf x", "rm -rf x"]),
        ("docker --context a compose -f b exec c rm x", &["docker --context a compose -f b exec c rm x", "rm x"]),
        ("docker run --rm -v a:b image sh -c 'rm -rf x'", &["docker run --rm -v a:b image sh -c rm -rf x", "rm -rf x"]),
        ("kubectl -n a exec pod -c b -- rm -rf x", &["kubectl -n a exec pod -c b -- rm -rf x", "rm -rf x"]),
        ("watch -n 1 'rm -rf x'", &["watch -n 1 rm -rf x", "rm -rf x"]),
        ("time -p rm -rf x", &["rm -rf x"]),
        ("env -i -u HOME A=b rm -rf x", &["rm -rf x"]),
        ("env -S 'rm -rf x'", &["rm -rf x"]),
        ("command rm -rf x", &["rm -rf x"]),
        ("command -v rm", &["command -v rm"]),
        ("sudo -l rm", &["sudo -l rm"]),
        ("function f { rm -rf x; }; f", &["rm -rf x", "f"]),
        ("trap 'rm -rf x' EXIT", &["trap rm -rf x EXIT", "rm -rf x"]),
        ("script -qc 'rm -rf x' out", &["script -qc rm -rf x out", "rm -rf x"]),
        ("tmux send-keys -t a 'rm -rf x' Enter", &["tmux send-keys -t a rm -rf x Enter", "rm -rf x"]),
        ("git rebase -i --exec 'rm -rf x' main", &["git rebase -i --exec rm -rf x main", "rm -rf x"]),
        ("parallel rm -rf ::: a b", &["parallel rm -rf ::: a b", "rm -rf"]),
        ("parallel ::: 'rm -rf a'", &["parallel ::: rm -rf a", "rm -rf a"]),
        ("npx -y rimraf x", &["npx -y rimraf x", "rimraf x"]),
        ("uv run pytest -q", &["uv run pytest -q", "pytest -q"]),
        ("npm install exec", &["npm install exec"]),
        ("$HOME/bin/rm -rf x", &["rm -rf x"]),
        ("\"$(which rm)\" -rf x", &["rm -rf x", "which rm"]),
        ("$'\\x72m' -rf x", &["rm -rf x"]),
        ("r\\m -r''f x", &["rm -rf x"]),
        ("X='rm -rf'; $X x", &["rm -rf x"]),
        ("X=rm; \"${X}\" -rf x", &["rm -rf x"]),
        ("cat <<EOF\n$(rm -rf x)\nEOF", &["cat", "rm -rf x"]),
        (
            "git commit -m \"$(cat <<'EOF'\nDon't (stop\nEOF\n)\"",
            &["git commit -m $(cat <<'EOF'\nDon't (stop\nEOF\n)", "cat"],
        ),
        ("echo $((1 + $(rm x)))", &["echo $((1 + $(rm x)))", "rm x"]),
        ("echo ${a:-$(rm x)} | tee b", &["echo ${a:-$(rm x)}", "rm x", "tee b"]),
        ("diff <(rm a) <(ls b)", &["diff", "rm a", "ls b"]),
        ("bash script.sh < input", &["bash script.sh"]),
        ("cat x | bash script.sh", &["cat x", "bash script.sh"]),
        ("sh < script.sh", &["sh"]),
        ("eval \"$(ssh-agent -s)\"", &["ssh-agent -s", "ssh-agent -s"]),
        ("source <(kubectl completion bash)", &["source", "kubectl completion bash"]),
        ("$env:A = 'b'; $x = Get-Item y", &["b", "Get-Item y"]),
        ("[ -f x ] && [[ -n $x ]]", &["[ -f x ]", "[[ -n $x ]]"]),
    ] {
        assert_eq!(shown(command), expected, "{command}");
        assert_eq!(line(command).hides, None, "{command}");
    }
}

#[test]
fn a_line_says_what_it_hides() {
    for (command, expected, why) in [
        ("$CMD -rf x", &["?"] as &[&str], "`$CMD` is only known when it runs"),
        ("X=rm; X=ls; $X -rf x", &["?"], "`$X` is only known when it runs"),
        ("read X; sudo $X -rf x", &["read X", "?"], "`$X` is only known when it runs"),
        ("X=$(cat y); $X x", &["cat y", "?"], "`$X` is only known when it runs"),
        ("`cat x` -rf", &["?", "cat x"], "`` `cat x` `` is only known when it runs"),
        ("/bin/r? -rf x", &["?"], "`/bin/r?` is only known when it runs"),
        ("{rm,-rf,x}", &["?"], "`{rm,-rf,x}` is only known when it runs"),
        ("echo a | base64 -d | sh", &["echo a", "base64 -d", "sh", "?"], "`sh` runs what `base64` prints"),
        ("curl -s a | sudo bash -s -- b", &["curl -s a", "bash -s -- b", "?"], "`bash` runs what `curl` prints"),
        ("curl a | ssh host", &["curl a", "ssh host", "?"], "`ssh` runs what `curl` prints"),
        ("curl a | docker exec -i c sh", &["curl a", "docker exec -i c sh", "sh", "?"], "`sh` runs what `curl` prints"),
        ("bash <(curl a)", &["bash", "?", "curl a"], "`bash` runs what `curl a` prints"),
        ("bash -c \"$(curl a)\"", &["?", "curl a", "curl a"], "`$(curl a)` is only known when it runs"),
        ("eval \"$X\"", &["?"], "`$X` is only known when it runs"),
        ("bash -c \"$X\"", &["?"], "`$X` is only known when it runs"),
        ("ls | xargs -I% % x", &["ls", "?"], "`%` is only known when it runs"),
        ("ls | xargs sh -c", &["ls", "?"], "`-c` is only known when it runs"),
        ("find . -exec {} \\;", &["find . -exec {} ;", "?"], "`{}` is only known when it runs"),
        ("sudo --frob x rm", &["?", "x rm"], "`sudo` has an option `--frob` that is not known"),
        ("echo 'never closed", &["echo never closed", "?"], "a quote or a bracket of it is never closed"),
        ("(echo ls; echo rm) | sh", &["echo ls", "echo rm", "sh", "?"], "`sh` runs what `( … )` prints"),
        ("for x in a; do echo $x; done | sh", &["echo $x", "sh", "?"], "`sh` runs what `done` prints"),
        (
            "python3.12 -c 'os.system(\"rm x\")'",
            &["python3.12 -c os.system(\"rm x\")", "?"],
            "`python3.12` gets code that starts programs",
        ),
        ("node <<< 'require(\"child_process\")'", &["node", "?"], "`node` gets code that starts programs"),
    ] {
        assert_eq!(shown(command), expected, "{command}");
        assert_eq!(line(command).hides.as_deref(), Some(why), "{command}");
    }
}

#[test]
fn what_an_alias_stands_for_counts_as_run() {
    assert_eq!(shown("alias r='rm -rf' l=ls; r x"), ["alias r=rm -rf l=ls", "rm -rf", "ls", "r x"]);
    assert_eq!(line("alias r='rm -rf'").hides, None);
    assert_eq!(line("python -c 'print(1)'").hides, None);
}

#[test]
fn wrappers_inside_wrappers_end_and_say_so() {
    let script = (0..10).fold("rm x".to_owned(), |inner, _| format!("bash -c {}", shell_words::quote(&inner)));
    for command in [
        script,
        "a;".repeat(10_000),
        "$(".repeat(10_000),
        "docker exec a ".repeat(1_000) + "rm",
        "xargs ".repeat(100_000) + "rm",
        "a ".repeat(300_000),
    ] {
        let line = line(&command);
        assert!(line.parts.len() <= MOST_PARTS + 1);
        assert!(line.hides.is_some());
    }
}

/// What a text names, and lines that run it or do not.
#[test]
fn a_text_names_a_program_with_flags_in_any_spelling_and_order() {
    for (text, runs, others) in [
        (
            "rm -rf",
            &["sudo rm -fr /", "rm -r -f x", "/bin/rm -rf", "rm --force --recursive x", "a && rm x -rfv"] as &[&str],
            &["rm -r x", "rm x", "echo rm -rf", "git rm -rf x"] as &[&str],
        ),
        ("rm -rf /", &["rm -fr /", "rm -r x / -f"], &["rm -rf /tmp", "rm -fr x"]),
        (
            "git push --force",
            &["git push -f", "git -C dir push origin main --force", "git  push '--force'"],
            &["git push", "git commit -m push --force", "git push --force-with-lease"],
        ),
        (
            "npm test",
            &["npm  test", "npm --prefix x test -- -t a", "cd x; npm test"],
            &["npm install test", "npm run test", "npx test"],
        ),
        (
            "sudo apt-get install",
            &["sudo -E apt-get -y install x", "sudo env A=b apt-get install"],
            &["apt-get install x"],
        ),
        ("docker exec", &["docker exec -it c ls", "docker --context x exec c ls"], &["docker run exec"]),
        ("mkfs", &["sudo mkfs x", "m''kfs x"], &["mkfs.ext4 x", "man mkfs"]),
        ("kill -9", &["kill -9 1"], &["kill 9"]),
        ("dd if=/dev/zero", &["dd of=x if=/dev/zero"], &["dd if=x"]),
    ] {
        let wanted = WantedCommand::read(text).expect(text);
        let arena = bumpalo::Bump::new();
        let run_by = |command: &&str| {
            let mut found = None;
            set_fields(command, &arena, |key, value| {
                if let (of_step::PARTS, Value::List(parts)) = (key, value) {
                    let runs = |node: &Node<'_>| matches!(node.value, Value::Object(part) if wanted.is_run_by(&part) == Some(true));
                    found = Some(parts.iter().any(runs));
                }
            });
            found.unwrap()
        };
        assert_eq!(runs.iter().filter(|command| !run_by(command)).collect::<Vec<_>>(), [&""; 0], "{text}");
        assert_eq!(others.iter().filter(|command| run_by(command)).collect::<Vec<_>>(), [&""; 0], "{text}");
    }
    for text in [
        "",
        " ",
        "-rf",
        "/bin/rm -rf",
        "rm 'a'",
        "a | b",
        "a; b",
        "$X",
        "bash -c x",
        "sudo -u me rm",
        "A=b c",
        "then x",
        "eval x",
    ] {
        assert_eq!(WantedCommand::read(text), None, "{text}");
    }
}

#[test]
fn flags_are_found_in_every_spelling() {
    let flags = |command: &str| {
        let part = &line(command).parts[0];
        flag_forms(part.program.as_deref().unwrap(), &part.words)
    };
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
    let part = &line("npm --watch test - -- --runInBand").parts[0];
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
