//! Where the words of a command are code: its program, and the scripts of shells and interpreters. Values of a run are arguments and nothing else.
//!
//! Programs that run others are known by the table of wrappers, interpreters by those of `programs`. An option of theirs that no table has hides nothing: the word behind it may be
//! its value or the program, and neither may be a value of a run.

mod programs;

use std::ops::Range;

use averment_runs::command::wrappers::{self, WrappedCommand, Wrapper};
use programs::{
    ALL_CODE, ASSIGNED_CODE, CODE_OPERANDS, INTERPRETERS, OF_GIT, ONE_SCRIPT, RUNNING_OPTIONS, SCRIPT_OPTIONS,
    SCRIPTS_ANYWHERE, SQL,
};

/// A word that may not contain a value of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CodePlace {
    Program,
    Script,
}

/// Where values of the run act as code in a command; `mark` stands for each value.
pub(super) fn code_places(words: &[String], mark: char) -> Vec<CodePlace> {
    if words.is_empty() {
        return Vec::new();
    }
    if runs_by_option(words, mark) || assigns_shell(words, mark) {
        return vec![CodePlace::Program];
    }
    let Some(programs) = program_words(words, mark) else { return vec![CodePlace::Program] };
    // An interpreter may stand further behind, too: `docker exec box sh -c '…'`.
    let scripted = words.iter().enumerate().any(|(at, word)| {
        let rest = words.get(at.saturating_add(1)..).unwrap_or_default();
        let (name, is_program) = (base_name(word), programs.contains(&at));
        if ALL_CODE.contains(&name) && is_program {
            rest.iter().any(|word| word.contains(mark))
        } else if let Some((_, operands, options)) = CODE_OPERANDS.iter().find(|(names, ..)| names.contains(&name)) {
            operand_holds(rest, operands, options, mark)
        } else {
            is_interpreter(name)
                && (is_program || rest.iter().any(|word| is_script_option(word)))
                && runs_value(name, rest, mark)
        }
    });
    if scripted { vec![CodePlace::Script] } else { Vec::new() }
}

/// Positions of words that may name the program, after wrappers; `None` if a value could be one.
fn program_words(words: &[String], mark: char) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    let (mut wrapper, mut places): (Option<&Wrapper>, usize) = (None, 0);
    // Whether the word before asks for a value, and whether it may do so.
    let (mut is_value, mut may_be_value) = (false, false);
    let mut words = words.iter().enumerate().peekable();
    while let Some((at, word)) = words.next() {
        if std::mem::take(&mut is_value) {
            continue;
        }
        if word.contains(mark) {
            // `env A=${output.a} make`: a value behind its own text is no program, unless the name says that it becomes one.
            if wrapper.is_some() && !word.starts_with('-') && assigns_data(word, mark) {
                continue;
            }
            return None;
        }
        let next = words.peek().map_or("", |(_, next)| next.as_str());
        if let Some(known) = wrapper_of(base_name(word), next) {
            (wrapper, places) = (Some(known), known.places);
            if !known.command.is_empty() {
                words.next();
            }
            continue;
        }
        let Some(known) = wrapper else { return Some(vec![at]) };
        if word.starts_with('-') {
            is_value = known.takes_next(word);
            may_be_value |= !is_value && !known.is_flag(word);
        } else if word.contains('=') {
        } else if places > 0 {
            places = places.saturating_sub(1);
        } else if !word.starts_with(|first: char| first.is_ascii_digit()) {
            found.push(at);
            if !std::mem::take(&mut may_be_value) {
                return Some(found);
            }
        }
    }
    // `env` alone, or `nice -n 5`: nothing is run.
    Some(if found.is_empty() { vec![0] } else { found })
}

/// The wrapper whose words go on with a program of their own, where a name and the word behind it are one.
fn wrapper_of(name: &str, next: &str) -> Option<&'static Wrapper> {
    let is_words = |known: &&Wrapper| known.inner == WrappedCommand::Words && !ALL_CODE.contains(&known.name);
    wrappers::of_name(name).filter(is_words).find(|known| known.command.is_empty() || known.command == next)
}

/// True if `NAME=…value…` sets a variable that no program uses as code or as a code location.
fn assigns_data(word: &str, mark: char) -> bool {
    let before = word.split(mark).next().unwrap_or_default();
    let Some((name, _)) = before.split_once('=') else { return false };
    let is_code = |known: &&str| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *known || known.strip_prefix('*').is_some_and(|end| name.ends_with(end)),
    };
    !ASSIGNED_CODE.iter().any(is_code)
}

/// True if an option's value is run: `find . -exec ${output.x}`, `tar --to-command=${output.x}`.
fn runs_by_option(words: &[String], mark: char) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let (option, value) =
            word.split_once('=').map_or((word.as_str(), None), |(option, value)| (option, Some(value)));
        let next = || words.get(at.saturating_add(1)).map(String::as_str);
        let known =
            RUNNING_OPTIONS.iter().any(|(name, of)| *name == option && (of.is_empty() || has_program(words, of)));
        // `make -E${output.x}`, `psql -Atc ${output.x}`: letters in front, or the value behind them.
        let is_held = |(name, of): &(&str, &[&str])| {
            name.len() == 2 && word.len() > 2 && word.starts_with(name) && !of.is_empty() && has_program(words, of)
        };
        let holds = word.contains(mark) && RUNNING_OPTIONS.iter().any(is_held);
        let letters = word.strip_prefix('-').filter(|letters| letters.chars().all(|one| one.is_ascii_alphabetic()));
        let clustered = letters.is_some_and(|letters| letters.ends_with(['c', 'e'])) && has_program(words, SQL);
        let known = known || clustered;
        holds || known && value.or_else(next).is_some_and(|value| value.contains(mark))
    }) || sets_git(words, mark)
}

/// True if a value is a `git` setting: pagers, editors and others are programs.
fn sets_git(words: &[String], mark: char) -> bool {
    let Some(at) = words.iter().position(|word| base_name(word) == "git") else { return false };
    let mut options = words.iter().skip(at.saturating_add(1));
    while let Some(word) = options.next().filter(|word| word.starts_with('-')) {
        let (option, held) = word.split_once('=').map_or((word.as_str(), None), |(option, held)| (option, Some(held)));
        let Some((_, sets)) = OF_GIT.iter().find(|(known, _)| *known == option) else { continue };
        let value = held.or_else(|| options.next().map(String::as_str));
        if *sets && value.is_some_and(|value| value.contains(mark)) {
            return true;
        }
    }
    false
}

/// True if a `make` variable is a shell or flags: `make SHELL=${output.x}`.
fn assigns_shell(words: &[String], mark: char) -> bool {
    let takes_variables = has_program(words, &["make", "gmake", "bmake", "ninja"]);
    takes_variables
        && words.iter().any(|word| {
            word.contains(mark) && !word.starts_with('-') && word.contains('=') && !assigns_data(word, mark)
        })
}

fn has_program(words: &[String], programs: &[&str]) -> bool {
    words.iter().any(|word| programs.contains(&base_name(word)))
}

fn operand_holds(arguments: &[String], operands: &Range<usize>, options: &[(&str, usize)], mark: char) -> bool {
    let mut at = 0_usize;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word.starts_with('-') && word.len() > 1 {
            let own = options.iter().find(|(option, _)| option == word).map_or(0, |(_, values)| *values);
            words.by_ref().take(own).for_each(drop);
        } else {
            if word.contains(mark) && operands.contains(&at) {
                return true;
            }
            at = at.saturating_add(1);
        }
    }
    false
}

/// True if the interpreter's script could be a value. Words after the script or its file name are data.
fn runs_value(interpreter: &str, arguments: &[String], mark: char) -> bool {
    let (only_one, anywhere) = (is_named(interpreter, &ONE_SCRIPT), is_named(interpreter, &SCRIPTS_ANYWHERE));
    // Whether the word before asks for a script, and whether there was one.
    let (mut awaited, mut given) = (false, false);
    for word in arguments {
        let is_option = word.starts_with('-') || !given && word.starts_with('+');
        if word.contains(mark) {
            let holds_script = is_option && SCRIPT_OPTIONS.iter().any(|option| word.starts_with(option));
            if !given || awaited || holds_script {
                return true;
            }
        // `bash -e -c …`: what an option asks for may be another option.
        } else if awaited && !is_option {
            (awaited, given) = (false, true);
            if only_one {
                return false;
            }
            continue;
        }
        if is_script_option(word) {
            awaited = true;
        } else if !is_option {
            if !anywhere {
                return false;
            }
            given = true;
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

fn base_name(word: &str) -> &str {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

fn is_interpreter(name: &str) -> bool {
    is_named(name, &INTERPRETERS)
}

fn is_named(name: &str, programs: &[&str]) -> bool {
    let plain = name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.' || last == '-');
    programs.contains(&name) || programs.contains(&plain)
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
        for command in [
            "@ x",
            "./@",
            "@",
            "env @ x",
            "sudo -u me @",
            "timeout 5 @",
            "env A=1 @",
            "nice -n 5 /bin/@",
            "xargs @",
            "env --split-string=@",
            "env -S @",
            "env '-S@ x'",
            "env LD_PRELOAD=@ make",
            "env PATH=/opt/@:/bin make",
            "env GIT_SSH_COMMAND=@ git fetch",
            "time -f %e @",
            "unshare -R dir @",
            "uvx --from pkg @",
            "sudo --new-option me @",
            "flock -c @",
            "flock -w 5 file @",
            "taskset 0x1 @",
            "valgrind --tool=none @",
            "setpriv --reuid me @",
            "chrt -f 5 @",
            "docker exec box @",
            "docker run --rm image @",
            "kubectl exec pod -- @",
            "uv run @",
            "npm exec @",
            "find . -exec @ ';'",
            "find . -name x -execdir @",
            "tar --to-command=@ -xf x",
            "tar -I @ -xf x",
            "rsync -e @ a b",
            "fd -x x --exec @",
            "systemd-run --user @",
            "xvfb-run -a @",
            "nice -n 5 time -f %e env -u HOME @",
            "make --eval=@",
            "make --eval @",
            "make -E @",
            "make SHELL=@",
            "make -E@",
            "sqlite3 -cmd @ x.db",
            "psql -c @",
            "psql base -c @",
            "psql -d base -Atc @",
            "mysql -e @",
            "psql -f @ base",
            "sqlite3 -init @ x.db",
            "clickhouse-client --query @",
            "sqlcmd -S host -Q @",
            "mongosh --eval @",
            "cqlsh -e @",
            "git -C dir -c @ log",
            "make MAKEFLAGS=@ all",
            "git -c @ status",
            "git -c core.pager=@ log",
            "git --config-env=@ log",
            "ld.so @",
            "/lib64/ld-linux-x86-64.so.2 @",
            "/lib/ld-linux-aarch64.so.1 --library-path lib @",
            "ld-musl-x86_64.so.1 --preload x.so @",
        ] {
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
            "time -f %e sh @",
            "sudo --new-option me sh @",
            "sed @ file",
            "sed -n -e s/@/x/ file",
            "script -c @ out",
            "expect -c @",
            "Rscript -e @",
            "vim -c @ x",
            "gdb -ex @",
            "runuser -u me -- sh -c @",
            "docker exec -it box bash -lc @",
            "uv run python @",
            "emacs --batch --eval @",
            "hyperfine @",
            "deno eval @",
            "node -e @",
            "node -p @",
            "bun -e @",
            "php -r @",
            "lua -e @",
            "osascript -e @",
            "R -e @",
            "julia -e @",
            "ghc -e @",
            "scala -e @",
            "clojure -e @",
            "erl -noshell -eval @",
            "elixir -e @",
            "/lib64/ld-linux-x86-64.so.2 /bin/sh -c @",
            "sqlite3 x.db @",
            "env A=1 duckdb -csv x.db @",
            "docker exec box sqlite3 x.db 'select @'",
            "sqlite3 -readonly x.db 'select 1' '.shell @'",
            "sqlite3 -separator , x.db @",
            "duckdb x.db @",
            "jq @ x.json",
            "jq -r --arg a b @",
            "jq '.[\"@\"]' x.json",
            "yq @ x.yaml",
            "m4 x.m4 -Dx=@",
            "m4 x.m4 @",
            "bc @",
            "dc -e @",
            "sed -e s/a/b/ -e @ file",
            "sed -e s/a/b/ file --expression=@",
            "sed s/a/b/ file -e@",
            "perl -e 1 -e @",
            "ruby -e 1 -e @",
            "vim file -c @",
            "gdb prog -ex @",
            "emacs file --eval @",
            "mlr put @ x.csv",
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
            "taskset 1 test -f @",
            "sudo -n -u me test -f @",
            "sudo -E cat @",
            "stdbuf -oL cat @",
            "strace -ff -o out cat @",
            "sed -i s/a/b/ @",
            "sed -e s/a/b/ @",
            "docker exec box test -f @",
            "docker run --rm -v /tmp:/tmp image cat @",
            "uv run pytest @",
            "find @ -name x",
            "find . -name @",
            "tar -xf @",
            "rsync -a @ there",
            "env -u HOME cat @",
            "timeout --foreground 5 cat @",
            "env FILE=@ make",
            "git log @",
            "git switch -c @",
            "psql -d @",
            "sqlite3 @ .tables",
            "git -c core.pager=cat log @",
            "make -f Makefile OUT=@ all",
            "ld.so /bin/cat @",
            "sqlite3 -separator , @ .tables",
            "jq . @",
            "jq --arg a @ .x",
            "jq --indent 2 .x @",
            "sh -c 'test \"$1\"' x -c @",
            "python3 -c 1 -c @",
            "node check.js -e @",
            "perl -e 1 @",
        ] {
            assert_eq!(places(command), [], "{command}");
        }
    }
}
