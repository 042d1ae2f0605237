//! Where the words of a command are code: its program, and the scripts of shells and interpreters. Values of a run are arguments and nothing else.

/// A word that may not hold a value of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodePlace {
    /// It says which program is run.
    Program,
    /// It is a script, or the name of one.
    Script,
}

/// Programs that run another one, whose words follow behind their options.
const WRAPPERS: [&str; 21] = [
    "busybox", "chroot", "command", "doas", "env", "exec", "flock", "ionice", "nice", "nohup", "npx", "setsid",
    "stdbuf", "strace", "sudo", "taskset", "time", "timeout", "unshare", "uvx", "xargs",
];

/// The options of such programs behind which a value of theirs stands, in a word of its own.
const WITH_VALUE: [(&str, &[&str]); 11] = [
    ("chroot", &["--groups", "--userspec"]),
    ("doas", &["-C", "-u"]),
    ("env", &["-C", "-u", "--chdir", "--unset"]),
    ("ionice", &["-c", "-n", "-p"]),
    ("nice", &["-n", "--adjustment"]),
    ("npx", &["-p", "--package"]),
    ("stdbuf", &["-e", "-i", "-o"]),
    ("strace", &["-E", "-e", "-o", "-p", "-u"]),
    ("sudo", &["-C", "-D", "-R", "-T", "-U", "-g", "-h", "-p", "-r", "-t", "-u", "--group", "--host", "--user"]),
    ("timeout", &["-k", "-s", "--kill-after", "--signal"]),
    ("xargs", &["-E", "-I", "-L", "-P", "-a", "-d", "-n", "-s"]),
];
/// Those of them whose first word that is no option is a file, a folder or a number.
const WITH_PLACE: [&str; 3] = ["chroot", "flock", "taskset"];

/// Programs that take code as an argument, and files of it: shells and languages.
const INTERPRETERS: [&str; 25] = [
    "ash",
    "awk",
    "bash",
    "bun",
    "cmd",
    "csh",
    "dash",
    "deno",
    "fish",
    "gawk",
    "ksh",
    "lua",
    "mawk",
    "node",
    "nu",
    "osascript",
    "perl",
    "php",
    "powershell",
    "pwsh",
    "python",
    "ruby",
    "sh",
    "tcsh",
    "zsh",
];

/// Programs all of whose words are, or may become, words of a shell.
const ALL_CODE: [&str; 5] = ["eval", "parallel", "ssh", "su", "watch"];

/// Options of interpreters behind which a script stands.
const SCRIPT_OPTIONS: [&str; 9] = ["--command", "--eval", "--print", "-Command", "-E", "-c", "-e", "-p", "-r"];

/// Where values of the run stand as code in a command of these words; `mark` stands for each value.
pub(super) fn code_places(words: &[String], mark: char) -> Vec<CodePlace> {
    let Some(program) = program(words, mark) else {
        return if words.is_empty() { Vec::new() } else { vec![CodePlace::Program] };
    };
    // An interpreter may stand further behind, too: `docker exec box sh -c '…'`.
    let scripted = words.iter().enumerate().any(|(at, word)| {
        let rest = words.get(at.saturating_add(1)..).unwrap_or_default();
        let name = name(word);
        if ALL_CODE.contains(&name) && at == program {
            rest.iter().any(|word| word.contains(mark))
        } else {
            is_interpreter(name)
                && (at == program || rest.iter().any(|word| is_script_option(word)))
                && runs_value(rest, mark)
        }
    });
    if scripted { vec![CodePlace::Script] } else { Vec::new() }
}

/// The number of the word that names the program, behind those that only run it; `None` where a value could be it.
fn program(words: &[String], mark: char) -> Option<usize> {
    let (mut wrapped, mut values, mut places) = (false, [].as_slice(), 0_usize);
    let mut is_value = false;
    for (at, word) in words.iter().enumerate() {
        if std::mem::take(&mut is_value) {
            continue;
        }
        if word.contains(mark) {
            // `env A=${output.a} make`, `timeout ${output.seconds} make`: a value behind its own text is no program.
            if wrapped && word.split(mark).next().is_some_and(|before| before.contains('=')) {
                continue;
            }
            return None;
        }
        let skipped =
            word.starts_with('-') || word.contains('=') || word.starts_with(|first: char| first.is_ascii_digit());
        let own = name(word);
        if WRAPPERS.contains(&own) {
            wrapped = true;
            values = WITH_VALUE.iter().find(|(name, _)| *name == own).map_or(&[], |(_, values)| *values);
            places = usize::from(WITH_PLACE.contains(&own));
        } else if wrapped && values.contains(&word.as_str()) {
            is_value = true;
        } else if wrapped && !skipped && places > 0 {
            places = places.saturating_sub(1);
        } else if !(wrapped && skipped) {
            return Some(at);
        }
    }
    // `env` alone, or `nice -n 5`: nothing is run.
    Some(0)
}

/// Whether the script of an interpreter with these arguments could be a value: what follows a script, or the name of its file, is data.
fn runs_value(arguments: &[String], mark: char) -> bool {
    let mut awaited = false;
    for word in arguments {
        if word.contains(mark) {
            return true;
        }
        // `bash -e -c …`: what an option asks for may be another option.
        if awaited && !word.starts_with('-') {
            return false;
        }
        if is_script_option(word) {
            awaited = true;
        } else if !word.starts_with('-') && !word.starts_with('+') {
            return false;
        }
    }
    false
}

/// `-c`, `-lc`, `--eval`, `/c`.
fn is_script_option(word: &str) -> bool {
    let cluster = word.strip_prefix('-').filter(|letters| letters.chars().all(|letter| letter.is_ascii_alphabetic()));
    SCRIPT_OPTIONS.contains(&word)
        || word.eq_ignore_ascii_case("/c")
        || cluster.is_some_and(|letters| letters.len() <= 6 && letters.ends_with(['c', 'e', 'E']))
}

/// The name of a program without its folder.
fn name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Whether a program takes code: `python3.12` does as `python`.
fn is_interpreter(name: &str) -> bool {
    let plain = name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.' || last == '-');
    INTERPRETERS.contains(&name) || INTERPRETERS.contains(&plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places of a command in which `@` stands for a value.
    fn places(command: &str) -> Vec<CodePlace> {
        code_places(&shell_words::split(command).unwrap(), '@')
    }

    #[test]
    fn a_value_is_never_a_program() {
        for command in
            ["@ x", "./@", "@", "env @ x", "sudo -u me @", "timeout 5 @", "env A=1 @", "nice -n 5 /bin/@", "xargs @"]
        {
            assert_eq!(places(command), [CodePlace::Program], "{command}");
        }
    }

    #[test]
    fn a_value_is_never_part_of_a_script_nor_its_name() {
        for command in [
            "sh -c 'echo @; true'",
            "/bin/bash -lc @",
            "bash -e -c 'x @'",
            "sh @",
            "python3 -c 'print(@)'",
            "python3.12 @",
            "perl -ne 'print @' x",
            "node --eval @",
            "env -i sh -c 'echo @'",
            "sudo bash -c 'echo @'",
            "docker exec box sh -c 'cat @'",
            "awk '/@/' x",
            "ssh host cat @",
            "cmd.exe /c @",
            "timeout 5 sh -c 'echo @'",
            "sh -x @",
            "python3 -u @ x",
        ] {
            assert_eq!(places(command), [CodePlace::Script], "{command}");
        }
    }

    #[test]
    fn a_value_is_an_argument_of_anything() {
        for command in [
            "python3 validate.py @",
            "python3 -m pytest @",
            "sh -c 'test -f \"$1\"' sh @",
            "sh check.sh @ --fast",
            "test -f @",
            "cat a@b",
            "grep -c @ file",
            "env A=@ make",
            "make OUT=@",
            "node check.js @",
            "awk '/x/' @",
            "timeout 5 test -f @",
            "true",
            "grep sh @",
        ] {
            assert_eq!(places(command), [], "{command}");
        }
    }
}
