//! What is known of programs that run others, or code.

use std::ops::Range;

pub(super) struct WrapperProgram {
    pub(super) name: &'static str,
    pub(super) values: &'static [&'static str],
    /// Options without a value, or with it in the same word. Other options are unknown.
    flags: &'static [&'static str],
}

impl WrapperProgram {
    /// True if an option takes no further word: `--name=value`, or `-oL` where `-o` takes one.
    pub(super) fn is_flag(&self, option: &str) -> bool {
        let held = |value: &&str| value.len() == 2 && option.starts_with(*value);
        option == "--"
            || option == "-"
            || option.contains('=')
            || self.flags.contains(&option)
            || option.trim_start_matches('-').starts_with(|first: char| first.is_ascii_digit())
            || !option.starts_with("--") && self.values.iter().any(held)
            || is_cluster(option, self.flags)
    }
}

fn is_cluster(option: &str, flags: &[&str]) -> bool {
    let Some(letters) = option.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else { return false };
    letters
        .chars()
        .all(|letter| flags.iter().any(|flag| flag.strip_prefix('-').is_some_and(|own| own.chars().eq([letter]))))
}

const fn wrapper_of(
    name: &'static str,
    values: &'static [&'static str],
    flags: &'static [&'static str],
) -> WrapperProgram {
    WrapperProgram { name, values, flags }
}

/// The system loader, which has many names: `ld.so`, `ld-linux-x86-64.so.2`, `ld-musl-x86_64.so.1`.
pub(super) const LOADER: &str = "ld.so";

pub(super) const WRAPPERS: [WrapperProgram; 50] = [
    wrapper_of(
        LOADER,
        &["--argv0", "--audit", "--inhibit-rpath", "--library-path", "--preload"],
        &["--inhibit-cache", "--list", "--verify"],
    ),
    wrapper_of("bunx", &[], &["--bun", "-y"]),
    wrapper_of("busybox", &[], &[]),
    wrapper_of("bwrap", &[], &[]),
    wrapper_of("caffeinate", &["-t", "-w"], &["-d", "-i", "-m", "-s", "-u"]),
    wrapper_of("catchsegv", &[], &[]),
    wrapper_of("chroot", &["--groups", "--userspec"], &["--skip-chdir"]),
    wrapper_of("chrt", &["-T", "-P", "-D"], &["-a", "-b", "-d", "-f", "-i", "-o", "-r", "-v"]),
    wrapper_of("command", &[], &["-p", "-v", "-V"]),
    wrapper_of("doas", &["-C", "-u"], &["-L", "-n", "-s"]),
    wrapper_of("eatmydata", &[], &[]),
    wrapper_of(
        "env",
        &["-C", "-u", "--chdir", "--unset"],
        &["-0", "-i", "-v", "--debug", "--ignore-environment", "--null"],
    ),
    wrapper_of("exec", &["-a"], &["-c", "-l"]),
    wrapper_of("fakeroot", &["-b", "-i", "-l", "-s"], &["-u"]),
    wrapper_of("firejail", &[], &["--quiet"]),
    wrapper_of(
        "flock",
        &["-E", "-w", "--timeout", "--wait"],
        &["-F", "-e", "-n", "-o", "-s", "-u", "-v", "-x", "--nonblock"],
    ),
    wrapper_of(
        "gtimeout",
        &["-k", "-s", "--kill-after", "--signal"],
        &["-f", "-p", "-v", "--foreground", "--preserve-status"],
    ),
    wrapper_of("ionice", &["-P", "-c", "-n", "-p", "-u"], &["-t"]),
    wrapper_of(
        "ltrace",
        &["-a", "-e", "-l", "-n", "-o", "-p", "-s", "-u", "-x"],
        &["-C", "-S", "-c", "-f", "-i", "-r", "-t", "-T"],
    ),
    wrapper_of("nice", &["-n", "--adjustment"], &[]),
    wrapper_of("nohup", &[], &[]),
    wrapper_of("npx", &["-p", "--package"], &["-q", "-y", "--no", "--no-install", "--quiet", "--yes"]),
    wrapper_of(
        "nsenter",
        &["-S", "-G", "-t"],
        &["-C", "-F", "-U", "-Z", "-a", "-i", "-m", "-n", "-p", "-r", "-u", "-w"],
    ),
    wrapper_of("numactl", &["-C", "-N", "-i", "-m", "-p"], &["-l"]),
    wrapper_of("pkexec", &["--user"], &["--disable-internal-agent", "--keep-cwd"]),
    wrapper_of("prlimit", &["-p"], &[]),
    wrapper_of("proxychains", &["-f"], &["-q"]),
    wrapper_of("proxychains4", &["-f"], &["-q"]),
    wrapper_of("rlwrap", &[], &[]),
    wrapper_of("runcon", &["-l", "-r", "-t", "-u"], &["-c"]),
    wrapper_of("runuser", &["-G", "-g", "-s", "-u", "-w"], &["-P", "-T", "-f", "-l", "-m", "-p"]),
    wrapper_of("setarch", &["-p"], &["-3", "-B", "-F", "-I", "-L", "-R", "-S", "-T", "-X", "-Z", "-v"]),
    wrapper_of("setpriv", &[], &["-d", "--clear-groups", "--init-groups", "--keep-groups", "--nnp", "--no-new-privs"]),
    wrapper_of("setsid", &[], &["-c", "-f", "-w", "--ctty", "--fork", "--wait"]),
    wrapper_of("stdbuf", &["-e", "-i", "-o"], &[]),
    wrapper_of(
        "strace",
        &["-E", "-I", "-O", "-P", "-S", "-a", "-b", "-e", "-o", "-p", "-s", "-u", "-X"],
        &["-C", "-D", "-F", "-T", "-c", "-d", "-f", "-i", "-k", "-q", "-r", "-t", "-v", "-w", "-x", "-y", "-z", "-Z"],
    ),
    wrapper_of(
        "sudo",
        &["-C", "-D", "-R", "-T", "-U", "-g", "-h", "-p", "-r", "-t", "-u", "--group", "--host", "--user"],
        &[
            "-A",
            "-B",
            "-E",
            "-H",
            "-K",
            "-N",
            "-P",
            "-S",
            "-b",
            "-i",
            "-k",
            "-n",
            "-s",
            "--non-interactive",
            "--preserve-env",
            "--stdin",
        ],
    ),
    wrapper_of(
        "systemd-run",
        &["-E", "-G", "-H", "-M", "-p", "-u", "--uid", "--gid", "--unit", "--property"],
        &["-P", "-S", "-d", "-q", "-r", "-t", "--pipe", "--pty", "--quiet", "--scope", "--user", "--wait"],
    ),
    wrapper_of("taskset", &[], &["-a", "-c", "-p"]),
    wrapper_of("time", &["-f", "-o", "--format", "--output"], &["-a", "-p", "-q", "-v"]),
    wrapper_of(
        "timeout",
        &["-k", "-s", "--kill-after", "--signal"],
        &["-f", "-p", "-v", "--foreground", "--preserve-status", "--verbose"],
    ),
    wrapper_of("torify", &[], &[]),
    wrapper_of("torsocks", &["-P", "-a", "-p", "-u"], &["-d", "-i", "-q"]),
    wrapper_of("tsocks", &[], &[]),
    wrapper_of("unbuffer", &[], &["-p"]),
    wrapper_of(
        "unshare",
        &["-G", "-R", "-S", "-w"],
        &["-C", "-T", "-U", "-c", "-f", "-i", "-m", "-n", "-p", "-r", "-u"],
    ),
    wrapper_of("uvx", &["--from", "--with", "-p", "--python"], &["-q", "--isolated", "--offline", "--quiet"]),
    wrapper_of("valgrind", &[], &["-q", "-v"]),
    wrapper_of("xargs", &["-E", "-I", "-L", "-P", "-a", "-d", "-n", "-s"], &["-0", "-p", "-r", "-t", "-x"]),
    wrapper_of("xvfb-run", &["-e", "-f", "-n", "-p", "-s", "-w"], &["-a", "-l"]),
];

/// Those whose first non-option word is a file, folder or number.
pub(super) const WITH_PLACE: [&str; 3] = ["chroot", "flock", "prlimit"];

/// Subcommands that run a program: name, subcommand, and number of words before the program.
pub(super) const SUBCOMMANDS: [(&str, &str, usize); 27] = [
    ("buildah", "run", 1),
    ("bun", "x", 0),
    ("cargo", "watch", 0),
    ("conda", "run", 0),
    ("docker", "exec", 1),
    ("docker", "run", 1),
    ("dotenv", "run", 0),
    ("hatch", "run", 0),
    ("kubectl", "exec", 1),
    ("lxc", "exec", 1),
    ("nerdctl", "exec", 1),
    ("nerdctl", "run", 1),
    ("nix", "run", 0),
    ("npm", "exec", 0),
    ("npm", "x", 0),
    ("oc", "exec", 1),
    ("pdm", "run", 0),
    ("perf", "record", 0),
    ("perf", "stat", 0),
    ("pipenv", "run", 0),
    ("pipx", "run", 0),
    ("pnpm", "dlx", 0),
    ("pnpm", "exec", 0),
    ("podman", "exec", 1),
    ("podman", "run", 1),
    ("poetry", "run", 0),
    ("uv", "run", 0),
];

pub(super) const OF_OTHERS: WrapperProgram = wrapper_of(
    "",
    &[
        "-c",
        "-e",
        "-n",
        "-p",
        "-u",
        "-v",
        "-w",
        "--container",
        "--env",
        "--name",
        "--namespace",
        "--user",
        "--volume",
        "--with",
        "--workdir",
    ],
    &["-d", "-i", "-q", "-t", "-y", "--interactive", "--quiet", "--rm", "--stdin", "--tty", "--yes"],
);

pub(super) const INTERPRETERS: [&str; 74] = [
    "R",
    "Rscript",
    "ash",
    "awk",
    "bash",
    "bc",
    "bun",
    "clisp",
    "clj",
    "clojure",
    "cmd",
    "csh",
    "dash",
    "dc",
    "deno",
    "ed",
    "elixir",
    "elvish",
    "emacs",
    "erl",
    "ex",
    "expect",
    "fish",
    "gawk",
    "gdb",
    "ghc",
    "gnuplot",
    "groovy",
    "guile",
    "iex",
    "ipython",
    "irb",
    "jjs",
    "jshell",
    "julia",
    "jython",
    "kotlinc",
    "ksh",
    "lua",
    "luajit",
    "mawk",
    "nawk",
    "node",
    "nodejs",
    "nu",
    "nvim",
    "ocaml",
    "octave",
    "osascript",
    "perl",
    "php",
    "powershell",
    "pwsh",
    "pypy",
    "python",
    "racket",
    "rc",
    "ruby",
    "runghc",
    "rustpython",
    "sbcl",
    "scala",
    "scala-cli",
    "script",
    "sed",
    "sh",
    "swipl",
    "tclsh",
    "tcsh",
    "ts-node",
    "tsx",
    "vim",
    "xonsh",
    "zsh",
];

/// Programs all of whose words may become words of a shell.
pub(super) const ALL_CODE: [&str; 11] =
    ["at", "batch", "entr", "eval", "hyperfine", "m4", "mlr", "parallel", "ssh", "su", "watch"];

/// Interpreters with a single script; the words after it are data.
pub(super) const ONE_SCRIPT: [&str; 11] =
    ["ash", "bash", "cmd", "csh", "dash", "fish", "ksh", "pypy", "python", "sh", "zsh"];

/// Interpreters that also take script options after their operands.
pub(super) const SCRIPTS_ANYWHERE: [&str; 9] = ["R", "bc", "dc", "emacs", "ex", "gdb", "nvim", "sed", "vim"];

/// Programs with code operands: names, operand positions, options that take words.
type CodeOperands = (&'static [&'static str], Range<usize>, &'static [(&'static str, usize)]);
pub(super) const CODE_OPERANDS: [CodeOperands; 2] = [
    (
        &["duckdb", "sqlcipher", "sqlite", "sqlite3"],
        1..usize::MAX,
        &[
            ("-cmd", 1),
            ("-heap", 1),
            ("-init", 1),
            ("-lookaside", 2),
            ("-maxsize", 1),
            ("-mmap", 1),
            ("-newline", 1),
            ("-nonce", 1),
            ("-nullvalue", 1),
            ("-pagecache", 2),
            ("-separator", 1),
            ("-vfs", 1),
        ],
    ),
    (
        &["gojq", "jaq", "jq", "yq"],
        0..1,
        &[("--arg", 2), ("--argjson", 2), ("--indent", 1), ("--rawfile", 2), ("--slurpfile", 2), ("-L", 1)],
    ),
];

pub(super) const SCRIPT_OPTIONS: [&str; 16] = [
    "--command",
    "--eval",
    "--execute",
    "--expression",
    "--print",
    "--run",
    "-Command",
    "-E",
    "-c",
    "-e",
    "-eval",
    "-ex",
    "-p",
    "-r",
    "eval",
    "repl",
];

/// Database clients, whose statements may run programs: `\!`, `.shell`, `system`.
pub(super) const SQL: &[&str] = &[
    "clickhouse",
    "clickhouse-client",
    "cqlsh",
    "duckdb",
    "isql",
    "mariadb",
    "mongo",
    "mongosh",
    "mysql",
    "osql",
    "psql",
    "snowsql",
    "sqlcipher",
    "sqlcmd",
    "sqlite",
    "sqlite3",
    "trino",
    "usql",
];

/// Global `git` options that take a value; true if the value is a setting, which may name a program.
pub(super) const OF_GIT: [(&str, bool); 6] = [
    ("--config-env", true),
    ("--git-dir", false),
    ("--namespace", false),
    ("--work-tree", false),
    ("-C", false),
    ("-c", true),
];

/// Options whose value is run, and their programs; an empty list means any program.
pub(super) const RUNNING_OPTIONS: [(&str, &[&str]); 35] = [
    ("--command", SQL),
    ("--eval", SQL),
    ("--execute", SQL),
    ("--file", SQL),
    ("--init-command", SQL),
    ("-c", SQL),
    ("-cmd", SQL),
    ("-e", SQL),
    ("--query", SQL),
    ("-Q", SQL),
    ("-f", SQL),
    ("-i", &["osql", "sqlcmd"]),
    ("-init", SQL),
    ("-q", SQL),
    ("--eval", &["make", "gmake"]),
    ("--exec-path", &["git"]),
    ("--receive-pack", &["git"]),
    ("--upload-pack", &["git"]),
    ("-E", &["make", "gmake"]),
    ("--checkpoint-action", &["tar"]),
    ("--exec", &["fd", "fdfind", "rclone"]),
    ("--exec-batch", &["fd", "fdfind"]),
    ("--pre", &["rg"]),
    ("--rsh", &["rsync", "tar", "cpio"]),
    ("--rsh-command", &["tar"]),
    ("--to-command", &["tar"]),
    ("--use-compress-program", &["tar"]),
    ("--run", &["nix-shell"]),
    ("-I", &["tar"]),
    ("-X", &["fd", "fdfind"]),
    ("-e", &["rsync", "xterm"]),
    ("-exec", &[]),
    ("-execdir", &[]),
    ("-ok", &["find"]),
    ("-okdir", &["find"]),
];

/// Variables that hold a program, code or a code search path. `*` matches the rest of a name.
pub(super) const ASSIGNED_CODE: [&str; 28] = [
    "*_COMMAND",
    "*_ASKPASS",
    "*_EDITOR",
    "*_PAGER",
    "BASH_ENV",
    "BROWSER",
    "CLASSPATH",
    "DYLD_*",
    "EDITOR",
    "ENV",
    "GCONV_PATH",
    "GIT_CONFIG*",
    "GIT_EXEC_PATH",
    "GIT_SSH",
    "GNUMAKEFLAGS",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "LD_*",
    "LUA_*",
    "MAKEFILES",
    "MAKEFLAGS",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PAGER",
    "PATH",
    "PERL*",
    "PYTHON*",
    "SHELL",
];
