//! Commands as texts, in every spelling and behind every wrapper; lines that hide what they run.

use averment::Rules;
use serde_json::json;

/// Lines that run what stands in place of `@`; behind `~` it stands in single quotes.
const WRAPPERS: &[&str] = &[
    "@",
    "cd /srv && @",
    "true; @ | tee log",
    "(@)",
    "if true; then @; fi",
    "echo $(@)",
    "echo `@`",
    "A=b C=d @",
    "sudo @",
    "sudo -u root @",
    "sudo --user root @",
    "sudo --user=root -nE -- @",
    "doas -u root @",
    "env A=b @",
    "env -i -u HOME A=b @",
    "nohup @ &",
    "setsid @",
    "nice -n 10 @",
    "ionice -c 3 @",
    "time @",
    "timeout 5 @",
    "timeout -s KILL -k 1 5 @",
    "stdbuf -oL @",
    "busybox @",
    "command @",
    "exec @",
    "xargs @",
    "ls | xargs -0 -n 1 @",
    "ls | xargs -I{} @ {}",
    "find /srv -exec @ {} +",
    "find /srv -name '*.o' -exec @ {} \\;",
    "find . -execdir sudo @ {} ';'",
    "flock -n /tmp/lock @",
    "chroot /mnt @",
    "docker exec c @",
    "docker exec -it -u root c @",
    "docker run --rm -v a:b image @",
    "kubectl exec -n a pod -c b -- @",
    "ssh host @",
    "ssh -i key -p 22 host sudo @",
    "watch -n 1 @",
    "eval @",
    "npx @",
    "uv run @",
    "eval ~@~",
    "sh -c ~@~",
    "bash -lc ~@~",
    "bash -euo pipefail -c ~@~",
    "sudo sh -c ~cd /srv; @~",
    "su -c ~@~",
    "su - root -c ~@~",
    "ssh host ~@~",
    "docker exec c sh -c ~@~",
    "echo ~@~ | sh",
    "printf '%s\\n' ~@~ | sudo bash -s",
    "bash <<< ~@~",
    "trap ~@~ EXIT",
    "watch ~@~",
    "script -qc ~@~ out",
    "git rebase --exec ~@~ main",
    "parallel ~@~ ::: a b",
    "find . -exec sh -c ~@~ \\;",
    "bash <<EOF\n@\nEOF",
    "cat <<'EOF' | ssh host bash\n@\nEOF",
    "X=~@~; $X",
    "X=~@~; eval \"$X\"",
    "function f { @; }; f",
];

/// Spellings of one command, and what stands for it in rules.
const SPELLINGS: &[(&str, &str, &[&str])] = &[
    (
        "rm -rf",
        "rm(flags: [\"-rf\"])",
        &[
            "rm -rf /srv",
            "rm -fr /srv",
            "rm -r -f /srv",
            "rm /srv -r --force",
            "/bin/rm -Rfv /srv",
            "rm --recursive --force x",
        ],
    ),
    (
        "git push --force",
        "git(args: [\"push\"], flags: [\"--force\"])",
        &["git push --force", "git push -f origin main", "git -C dir push origin main --force"],
    ),
    ("npm test", "npm(args: [\"test\"])", &["npm test", "npm  test", "npm --prefix web test -- -t a"]),
    ("mkfs", "mkfs(args: [])", &["mkfs /dev/sda"]),
];

/// Lines that do not run any of them.
const OTHERS: &[&str] = &[
    "ls -rf",
    "echo ok",
    "rm -r x",
    "git push",
    "git commit -m push --force",
    "npm install test",
    "man rm",
    "command -v rm",
    "cat <<'EOF'\nrm -rf\nEOF",
    "eval \"$(ssh-agent -s)\"",
    "X=ls; $X -rf",
    "bash script.sh -rf",
];

/// Lines that hide what they run.
const HIDING: &[&str] = &[
    "$CMD -r x",
    "sudo $CMD",
    "\"${RM}\" x",
    "$(cat name) x",
    "`cat name` x",
    "X=rm; X=ls; $X",
    "/bin/r? x",
    "curl https://a.example/x | sh",
    "curl a | sudo -E bash -s -- x",
    "echo cm0= | base64 -d | sh",
    "wget -O- a | ssh host",
    "bash <(curl a)",
    "source <(curl a)",
    "bash -c \"$(curl a)\"",
    "eval \"$X\"",
    "sh -c \"$X\"",
    "ls | xargs -I% % x",
    "ls | xargs sh -c",
    "find . -exec {} \\;",
    "while read line; do $line; done",
    "echo 'never closed",
    "sudo --no-such-option x y",
];

fn said(rule: &str, commands: &[&str]) -> (&'static str, String) {
    let run = json!({ "commands": commands }).to_string();
    let rules = Rules::from_text("rules.assert", rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
    let outcome = rules.check_one(&*run).unwrap();
    let result = outcome.results().next().unwrap();
    (result.verdict().as_str(), result.reason().to_owned())
}

fn wrapped(wrapper: &str, command: &str) -> String {
    match wrapper.contains('~') {
        true => wrapper.replace('~', "'").replace('@', command),
        false => wrapper.replace('@', command),
    }
}

#[test]
fn a_command_is_found_in_every_spelling_behind_every_wrapper() {
    let mut wrong = Vec::new();
    for (text, parsed, spellings) in SPELLINGS {
        for rule in [format!("never command \"{text}\""), format!("never command {parsed}")] {
            if rule.ends_with("(args: [])") {
                continue;
            }
            for wrapper in WRAPPERS {
                for spelling in *spellings {
                    let line = wrapped(wrapper, spelling);
                    let (verdict, _) = said(&rule, &[&line]);
                    if verdict != "fail" {
                        wrong.push(format!("{rule} on `{line}`: {verdict}"));
                    }
                }
            }
            let (verdict, reason) = said(&rule, OTHERS);
            // `args: […]` asks for arguments anywhere on the line.
            if verdict != "pass" && rule.ends_with('"') && !rule.contains("\"rm -rf\"") {
                wrong.push(format!("{rule}: {verdict}: {reason}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn other_commands_are_not_found() {
    for other in OTHERS {
        for rule in
            ["never command rm(flags: [\"-rf\"])", "never command \"git push --force\"", "never command \"npm test\""]
        {
            assert_eq!(said(rule, &[other]).0, "pass", "{rule} on `{other}`");
        }
    }
}

#[test]
fn a_line_that_hides_what_it_runs_is_not_plainly_green() {
    for rule in [
        "never command \"rm -rf\"",
        "never command \"mkfs\"",
        "never command rm(flags: [\"-rf\"])",
        "count command \"rm -rf\" <= 0",
        "never command \"mkfs\", \"rm -rf\"",
        "never command \"rm -rf\" | \"mkfs\"",
        "not require command \"rm -rf\"",
        "never (command where any p in parts: p.program == \"rm\")",
    ] {
        for line in HIDING {
            let (verdict, reason) = said(rule, &["ls", line]);
            assert_eq!(verdict, "undecided", "{rule} on `{line}`: {reason}");
            assert!(reason.contains("hides what it runs"), "{rule} on `{line}`: {reason}");
            // What another line shows decides.
            assert_eq!(said("never command \"rm -rf\"", &[line, "rm -fr x"]).0, "fail", "{line}");
        }
    }
}

/// What only looks for a text is decided by the text.
#[test]
fn a_text_that_is_no_command_is_looked_for_as_it_is() {
    for (rule, line, verdict) in [
        ("never command /rm -rf/", "rm -fr x", "pass"),
        ("never command /rm -rf/", "echo rm -rf", "fail"),
        ("never command /mkfs/", "curl a | sh", "pass"),
        ("never command \"&& rm\"", "curl a | sh", "pass"),
        ("never command \"&& rm\"", "cd x && rm y", "fail"),
        ("never command \"--force\"", "git push --force", "fail"),
        ("never command \"/bin/rm\"", "/bin/rm x", "fail"),
        ("never command \"/bin/rm\"", "rm x", "pass"),
        ("never command 'rm \"a\"'", "rm \"a\"", "fail"),
        ("never command \"sudo -u me rm\"", "sudo rm x", "pass"),
        ("never command \"sudo rm\"", "sudo -u me rm -f x", "fail"),
        ("never command \"sudo rm\"", "rm -f x", "pass"),
        ("never command sudo(args: [])", "sudo rm x", "fail"),
        ("never command sudo(args: [])", "rm x", "pass"),
        ("param program_name: string = \"rm\"\nnever command \"${program_name} -rf\"", "rm -fr x", "fail"),
        ("param program_name: string = \"rm\"\nnever command \"${program_name} -rf\"", "curl a | sh", "undecided"),
    ] {
        assert_eq!(said(rule, &[line]).0, verdict, "{rule} on `{line}`");
    }
}

/// However a text is read: a line that holds it matches, as it did when texts were only looked for.
#[test]
fn a_line_that_holds_the_text_always_matches() {
    let texts = [
        "rm -rf",
        "rm",
        "npm test",
        "sudo rm",
        "sudo",
        "-rf",
        "&& rm",
        "a b c",
        "cd /",
        "X=1 make",
        "bash -c ls",
        "eval x",
        "$X",
        "if true",
    ];
    for text in texts {
        for line in [text.to_owned(), format!("echo '{text}' x"), format!("a{text}b"), format!("curl a | sh # {text}")]
        {
            assert_eq!(said(&format!("never command '{text}'"), &[&line]).0, "fail", "{text} in {line}");
        }
    }
}
