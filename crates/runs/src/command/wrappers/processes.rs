//! Wrappers that run a program on the same system.

use super::{LOADER, WrappedCommand, Wrapper, of};

const POWERSHELL: &str =
    "-ConfigurationName -ExecutionPolicy -InputFormat -OutputFormat -PSConsoleFile -Version -WindowStyle -ep -wd";
const POWERSHELL_FLAGS: &str =
    "-C -Command -File -Mta -NoExit -NoLogo -NoProfile -NonInteractive -Sta -c -command -f -noprofile";

/// Wrappers that run a program on the same system.
pub(super) const PROCESSES: &[Wrapper] = &[
    of("arch", "-e", "-32 -64 -arm64 -c -h -i386 -x86_64"),
    of("at", "-f -q -t", "-M -V -b -c -d -l -m -r -v")
        .inner(WrappedCommand::Option)
        .idle("-c -d -f -l -r")
        .shell()
        .kept(),
    of("batch", "-q", "-m -V").inner(WrappedCommand::Option).shell().kept(),
    of("builtin", "", ""),
    of("busybox", "", ""),
    of(
        "bwrap",
        "--cap-add --cap-drop --chdir --dev --dir --exec-label --hostname --proc --setenv --tmpfs --unsetenv",
        "--as-pid-1 --clearenv --die-with-parent --new-session --share-net --unshare-all --unshare-ipc \
         --unshare-net --unshare-pid --unshare-user --unshare-uts",
    )
    .kept(),
    of("caffeinate", "-t -w", "-d -i -m -s -u"),
    of("catchsegv", "", ""),
    of("chpst", "-/ -C -P -b -c -d -e -f -l -L -m -n -o -p -r -s -t -u -U", "-0 -1 -2 -v"),
    of("chroot", "--groups --userspec", "--skip-chdir").places(1).shell(),
    of("chrt", "-D -P -T", "-R -a -b -d -e -f -i -o -r -v").places(1).idle("-p -m"),
    of("cmd", "", "").places(1).inner(WrappedCommand::Line).kept(),
    of("command", "", "-p").idle("-V -v"),
    of("cpulimit", "-c -e -l -P -p --limit --pid", "-b -f -i -k -m -q -v -z"),
    of("dbus-run-session", "--config-file --dbus-daemon", ""),
    of("doas", "-C -u", "-L -n -s").shell(),
    of("eatmydata", "", ""),
    of("entr", "", "-a -c -d -n -p -r -x -z").scripts("-s").kept(),
    of(
        "env",
        "-C -a -u --argv0 --chdir --unset",
        "-0 -i -v --block-signal --debug --default-signal --ignore-environment --ignore-signal \
         --list-signal-handling --null",
    )
    .scripts("-S --split-string"),
    of("envdir", "", "").places(1),
    of("eval", "", "").inner(WrappedCommand::Line),
    of("exec", "-a", "-c -l"),
    of("fakeroot", "-b -i -l -s", "-u").shell(),
    of("faketime", "-f --exclude-monotonic", "-m").places(1),
    of("fd", "", "").inner(WrappedCommand::Actions).scripts("-X -x --exec --exec-batch").kept(),
    of("fdfind", "", "").inner(WrappedCommand::Actions).scripts("-X -x --exec --exec-batch").kept(),
    of("find", "", "").inner(WrappedCommand::Actions).scripts("-exec -execdir -ok -okdir").kept(),
    of("firejail", "", "--quiet --noprofile"),
    of(
        "flock",
        "-E -w --conflict-exit-code --timeout --wait",
        "-F -e -n -o -s -u -v -x --close --exclusive --no-fork --nb --nonblock --shared --unlock --verbose",
    )
    .places(1)
    .scripts("-c --command"),
    of("git", "", "").behind("bisect run"),
    of("git", "", "--quiet -q --recursive").behind("submodule foreach").inner(WrappedCommand::Line),
    of("git", "", "").behind("rebase").inner(WrappedCommand::Option).scripts("-x --exec"),
    of("git", "", "").behind("filter-branch").inner(WrappedCommand::Option).scripts(
        "--commit-filter --env-filter --index-filter --msg-filter --parent-filter --setup --tag-name-filter \
         --tree-filter",
    ),
    of("gosu", "", "").places(1),
    of("gtimeout", "-k -s --kill-after --signal", "-f -p -v --foreground --preserve-status --verbose").places(1),
    of("ionice", "-P -c -n -u --class --classdata", "-t --ignore").idle("-p --pid"),
    of("ip", "", "").behind("netns exec").places(1),
    of(LOADER, "--argv0 --audit --inhibit-rpath --library-path --preload", "--inhibit-cache --list --verify"),
    of("linux32", "", ""),
    of("linux64", "", ""),
    of("ltrace", "-a -e -l -n -o -p -s -u -x", "-C -L -S -T -b -c -f -i -r -t"),
    of("nice", "-n --adjustment", ""),
    of("nohup", "", ""),
    of(
        "nsenter",
        "-G -S -t --setgid --setuid --target",
        "-C -F -T -U -Z -a -i -m -n -p -r -u -w --all --cgroup --ipc --mount --net --no-fork --pid --root \
         --user --uts --wd",
    )
    .shell(),
    of(
        "numactl",
        "-C -N -i -m -p --cpunodebind --interleave --membind --physcpubind --preferred",
        "-l -a --all --localalloc",
    ),
    of(
        "parallel",
        "-I -J -N -P -S -a -d -j -n --arg-file --colsep --delay --jobs --joblog --load --max-args --max-procs \
         --memfree --results --retries --sshlogin --tagstring --timeout --tmpdir --workdir --wd",
        "-0 -X -k -m -q -r -t -u -v --bar --citation --dry-run --eta --group --halt-on-error --keep-order \
         --line-buffer --lb --no-notice --no-run-if-empty --null --pipe --progress --tag --ungroup --verbose \
         --will-cite",
    )
    .inner(WrappedCommand::Line)
    .shell()
    .kept(),
    of("perf", "-C -F -I -M -a -c -e -o -p -t --call-graph --event --output --pid --repeat", "-A -B -d -g -i -q -v -x")
        .behind("record"),
    of("perf", "-C -F -I -M -c -e -o -p -r -t --event --output --pid --repeat", "-A -B -a -d -i -q -v").behind("stat"),
    of("pkexec", "--user", "--disable-internal-agent --keep-cwd").shell(),
    of("powershell", POWERSHELL, POWERSHELL_FLAGS).inner(WrappedCommand::Line).kept(),
    of(
        "prlimit",
        "-o -p --output --pid",
        "-c -d -e -f -i -l -m -n -q -r -s -t -u -v -x -y --noheadings --raw --verbose",
    ),
    of("proot", "-0 -b -k -m -q -r -w", "-S -i -v"),
    of("proxychains", "-f", "-q"),
    of("proxychains4", "-f", "-q"),
    of("pwsh", POWERSHELL, POWERSHELL_FLAGS).inner(WrappedCommand::Line).kept(),
    of("rlwrap", "-A -C -D -H -P -S -b -f -l -m -p -q -s -t -w", "-N -R -W -a -c -i -n -o -r -v"),
    of("rsync", "", "").inner(WrappedCommand::Option).scripts("-e --rsh --rsync-path").kept(),
    of(
        "run0",
        "-D -g -u --background --chdir --group --machine --nice --property --setenv --slice --unit --user",
        "--no-ask-password --pty --pipe --slice-inherit --via-shell",
    )
    .shell(),
    of("runcon", "-l -r -t -u", "-c --compute --range --role --type --user"),
    of(
        "runuser",
        "-G -g -s -u -w --group --shell --supp-group --user --whitelist-environment",
        "-P -T -f -l -m -p --fast --login --preserve-environment --pty",
    )
    .scripts("-c --command --session-command")
    .shell(),
    of(
        "script",
        "-B -E -I -O -T -m -o --echo --log-in --log-io --log-out --log-timing --logging-format --output-limit",
        "-a -e -f -q -t --append --flush --force --quiet --return",
    )
    .inner(WrappedCommand::Option)
    .scripts("-c --command")
    .kept(),
    of("setarch", "-p", "-3 -B -F -I -L -R -S -T -X -Z -v").places(1),
    of(
        "setpriv",
        "--ambient-caps --apparmor-profile --bounding-set --egid --euid --groups --inh-caps --pdeathsig \
         --regid --reuid --rgid --ruid --securebits --selinux-label",
        "-d --clear-groups --init-groups --keep-groups --nnp --no-new-privs --reset-env",
    ),
    of("setsid", "", "-c -f -w --ctty --fork --wait"),
    of("sg", "", "").places(1).inner(WrappedCommand::Line).scripts("-c").shell(),
    of("softlimit", "-a -c -d -f -l -m -o -p -r -s -t", ""),
    of("sshpass", "-P -d -f -p", "-e -v"),
    of("stdbuf", "-e -i -o --error --input --output", ""),
    of(
        "strace",
        "-E -I -O -P -S -U -X -a -b -e -o -p -s -u",
        "-A -C -D -F -T -Y -Z -c -d -f -ff -i -k -n -q -qq -r -t -tt -ttt -v -w -x -xx -y -yy -z \
         --follow-forks",
    ),
    of(
        "su",
        "-C -G -g -s -w --group --shell --supp-group --whitelist-environment",
        "-P -f -l -m -p --fast --login --preserve-environment --pty",
    )
    .inner(WrappedCommand::Option)
    .scripts("-c --command --session-command")
    .shell(),
    of("su-exec", "", "").places(1),
    of(
        "sudo",
        "-C -D -R -T -U -a -c -g -h -p -r -t -u --chdir --chroot --close-from --command-timeout --group --host \
         --other-user --prompt --role --type --user",
        "-A -B -E -H -K -N -P -S -b -i -k -n -s --askpass --background --bell --login --no-update \
         --non-interactive --preserve-env --preserve-groups --remove-timestamp --reset-timestamp --set-home \
         --shell --stdin",
    )
    .idle("-e -l -ll -v -V --edit --list --validate --version")
    .shell(),
    of("systemd-inhibit", "--mode --what --who --why", "--no-pager"),
    of(
        "systemd-run",
        "-E -G -H -M -p -u --description --gid --host --machine --nice --on-active --on-boot --on-calendar \
         --property --service-type --setenv --slice --uid --unit --working-directory",
        "-P -S -d -q -r -t --collect --no-ask-password --no-block --pipe --pty --quiet --remain-after-exit \
         --same-dir --scope --send-sighup --shell --user --wait",
    )
    .shell(),
    of("tar", "", "")
        .inner(WrappedCommand::Option)
        .scripts(
            "-I --checkpoint-action --info-script --new-volume-script --rsh-command --to-command \
         --use-compress-program",
        )
        .kept(),
    of("taskset", "", "-a -c -p --all-tasks --cpu-list").places(1).idle("-p --pid"),
    of("time", "-f -o --format --output", "-a -l -p -q -v --append --portability --quiet --verbose"),
    of("timeout", "-k -s --kill-after --signal", "-f -p -v --foreground --preserve-status --verbose").places(1),
    of("torify", "", ""),
    of("torsocks", "-P -a -p -u", "-d -i -q"),
    of("toybox", "", ""),
    of("trap", "", "-p -l").inner(WrappedCommand::Text).idle("-").kept(),
    of("tsocks", "", ""),
    of("unbuffer", "", "-p"),
    of(
        "unshare",
        "-G -R -S -w --map-group --map-user --propagation --root --setgid --setgroups --setuid --wd",
        "-C -T -U -c -f -i -m -n -p -r -u --cgroup --fork --ipc --keep-caps --kill-child --map-auto \
         --map-current-user --map-root-user --mount --mount-proc --net --pid --time --user --uts",
    )
    .shell(),
    of("valgrind", "", "-q -v"),
    of(
        "watch",
        "-n -q --equexit --interval",
        "-b -c -d -e -g -p -r -t -w -x --beep --chgexit --color --differences --errexit --exec --no-title \
         --precise",
    )
    .inner(WrappedCommand::Line)
    .kept(),
    of(
        "xargs",
        "-E -I -J -L -P -R -S -a -d -n -s --arg-file --delimiter --max-args --max-chars --max-lines \
         --max-procs --process-slot-var --replace",
        "-0 -e -i -l -o -p -r -t -x --exit --interactive --no-run-if-empty --null --open-tty --show-limits \
         --verbose",
    ),
    of(
        "xvfb-run",
        "-e -f -n -p -s -w --auth-file --error-file --server-args --server-num --wait",
        "-a -l --auto-servernum --listen-tcp",
    ),
];
