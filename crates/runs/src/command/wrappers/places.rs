//! Wrappers that run a program somewhere else: on another host, in a container, in the environment of a project.

use super::{WrappedCommand, Wrapper, of};

const SSH_FLAGS: &str = "-4 -6 -A -C -G -K -M -N -T -V -X -Y -a -f -g -k -n -q -s -t -tt -v -vv -vvv -x -y";
const EXEC: &str = "-e -u -w --detach-keys --env --env-file --user --workdir";
const EXEC_FLAGS: &str = "-d -i -t --detach --interactive --privileged --tty";
const RUN: &str = "-a -c -e -h -l -m -p -u -v -w --add-host --attach --cap-add --cap-drop --cgroupns --cidfile --cpu-shares \
     --cpus --cpuset-cpus --device --dns --entrypoint --env --env-file --expose --gpus --group-add --health-cmd \
     --hostname --ip --ipc --isolation --label --link --log-driver --log-opt --memory --memory-swap --mount --name \
     --net --network --network-alias --pid --pids-limit --platform --publish --pull --restart --runtime \
     --security-opt --shm-size --stop-signal --stop-timeout --storage-opt --sysctl --tmpfs --ulimit --user \
     --userns --volume --volumes-from --workdir";
const RUN_FLAGS: &str = "-P -d -i -q -t --detach --disable-content-trust --init --interactive --no-healthcheck --oom-kill-disable \
     --privileged --publish-all --quiet --read-only --rm --sig-proxy --tty";
const POD: &str = "-c -f -n -s --as --cluster --container --context --filename --kubeconfig --namespace --pod-running-timeout \
     --request-timeout --server --token --user";
const POD_FLAGS: &str = "-i -q -t --quiet --stdin --tty";
const PACKAGE: &str = "-p -w --package --prefix --workspace";
const PACKAGE_FLAGS: &str = "-q -s -y --no --silent --yes";
const SSH: &str = "-B -D -E -F -I -J -L -O -P -Q -R -S -W -b -c -e -i -l -m -o -p -w";
const PANE: &str = "-F -c -e -n -s -t -x -y";
const PANE_FLAGS: &str = "-A -D -E -P -X -b -d -f -h -k -l -v";

/// Wrappers that run a program somewhere else: on another host, in a container, in the environment of a project.
pub(super) const PLACES: &[Wrapper] = &[
    of("adb", "-H -L -P -s -t", "-a -d -e").behind("shell").inner(WrappedCommand::Line).shell(),
    of("asdf", "", "").behind("exec"),
    of("autossh", "-M -B -D -E -F -I -J -L -O -P -Q -R -S -W -b -c -e -i -l -m -o -p -w", SSH_FLAGS)
        .places(1)
        .inner(WrappedCommand::Line)
        .shell()
        .kept(),
    of("aws-vault", "--duration -d", "-n -s").behind("exec").places(1),
    of("buildah", "-v --volume --user", "-t --tty").behind("run").places(1),
    of("bun", "", "-y --bun").behind("x"),
    of("bundle", "--gemfile", "--keep-file-descriptors").behind("exec"),
    of("bunx", "-p --package", "-y --bun --silent --verbose").kept(),
    of("conda", "-n -p --cwd --name --prefix", "-v --live-stream --no-capture-output").behind("run"),
    of("direnv", "", "").behind("exec").places(1),
    of("distrobox", "-n --name -e --additional-flags", "-T -v --no-tty").behind("enter"),
    of("docker", EXEC, EXEC_FLAGS).behind("exec").places(1),
    of("docker", RUN, RUN_FLAGS).behind("run").places(1),
    of(
        "docker",
        "-f -p --env-file --file --profile --project-directory --project-name -e -u -w --env --index --user \
         --workdir",
        "-T -d -i -t --detach --interactive --no-TTY --privileged --tty",
    )
    .behind("compose exec")
    .places(1),
    of(
        "docker",
        "-f --env-file --file --profile --project-directory --project-name -e -l -p -u -v -w --cap-add \
         --entrypoint --env --label --name --publish --pull --user --volume --workdir",
        "-T -d -i --detach --interactive --no-TTY --no-deps --quiet-pull --remove-orphans --rm --service-ports \
         --use-aliases --build",
    )
    .behind("compose run")
    .places(1),
    of(
        "docker-compose",
        "-f -p --env-file --file --profile --project-directory --project-name -e -u -w --env --index --user \
         --workdir",
        "-T -d -i -t --detach --interactive --no-TTY --privileged --tty",
    )
    .behind("exec")
    .places(1),
    of(
        "docker-compose",
        "-f --env-file --file --profile --project-directory --project-name -e -l -p -u -v -w --cap-add \
         --entrypoint --env --label --name --publish --pull --user --volume --workdir",
        "-T -d -i --detach --interactive --no-TTY --no-deps --quiet-pull --remove-orphans --rm --service-ports \
         --use-aliases --build",
    )
    .behind("run")
    .places(1),
    of("doppler", "-c -p -t --config --project --token", "--preserve-env").behind("run").scripts("--command"),
    of("dotenv", "-e -f -v --file", "-o -q -c --override").behind("run"),
    of("flatpak-spawn", "", "--clear-env --host --no-network --sandbox --verbose --watch-bus").kept(),
    of("hatch", "-e --env", "-v -q").behind("run"),
    of("heroku", "-a -s -e --app --env --remote --size --type", "-x --exit-code --no-tty --no-notify")
        .behind("run")
        .inner(WrappedCommand::Line),
    of("kubectl", POD, POD_FLAGS).behind("exec").places(1),
    of("limactl", "--workdir --shell --preserve-env", "").behind("shell").places(1),
    of(
        "lxc",
        "-T -t --cwd --env --group --mode --user",
        "-n --disable-stdin --force-interactive --force-noninteractive",
    )
    .behind("exec")
    .places(1),
    of("mamba", "-n -p --cwd --name --prefix", "-v --live-stream --no-capture-output").behind("run"),
    of("micromamba", "-n -p -r --cwd --name --prefix --root-prefix", "-v -d --clean-env --detach").behind("run"),
    of("mise", "-C -E -j --cd --env --jobs", "-q -v -y --quiet --raw --verbose --yes").behind("exec"),
    of("mosh", "-p --client --family --port --predict --server --ssh", "-4 -6 -a -n").places(1).kept(),
    of("multipass", "-d --working-directory", "-n --no-map-working-directory").behind("exec").places(1),
    of("nerdctl", EXEC, EXEC_FLAGS).behind("exec").places(1),
    of("nerdctl", RUN, RUN_FLAGS).behind("run").places(1),
    of("nix", "", "").behind("develop").inner(WrappedCommand::Actions).scripts("-c --command"),
    of("nix", "", "").behind("shell").inner(WrappedCommand::Actions).scripts("-c --command"),
    of("nix-shell", "", "").inner(WrappedCommand::Option).scripts("--command --run").kept(),
    of("npm", PACKAGE, PACKAGE_FLAGS).behind("exec").scripts("-c --call"),
    of("npm", PACKAGE, PACKAGE_FLAGS).behind("x").scripts("-c --call"),
    of(
        "npx",
        "-n -p -w --node-arg --package --workspace",
        "-q -y --ignore-existing --no --no-install --prefer-offline --quiet --silent --yes",
    )
    .scripts("-c --call")
    .kept(),
    of("oc", POD, POD_FLAGS).behind("exec").places(1),
    of("op", "--account --env-file", "--no-masking").behind("run"),
    of("pdm", "-p --project", "-g -q -s -v").behind("run"),
    of("pipenv", "--python --pypi-mirror", "-q -v").behind("run"),
    of("pipx", "--pip-args --python --spec", "-q -v --no-cache").behind("run"),
    of("pnpm", "--package --allow-build", "-c -s --silent").behind("dlx"),
    of("pnpm", "-C -F --dir --filter", "-c -r --parallel --recursive --silent").behind("exec"),
    of("podman", EXEC, "-d -i -t --detach --interactive --privileged --tty -l --latest").behind("exec").places(1),
    of("podman", RUN, RUN_FLAGS).behind("run").places(1),
    of("poetry", "-C -P --directory --project", "-n -q -v --no-interaction --quiet").behind("run"),
    of("pyenv", "", "").behind("exec"),
    of("rbenv", "", "").behind("exec"),
    of("screen", "-S -T -c -e -h -p -s -t", "-A -D -L -O -R -U -a -d -dm -dmS -i -l -m -q -r -v -w -x").kept(),
    of("ssh", SSH, SSH_FLAGS).places(1).inner(WrappedCommand::Line).shell().kept(),
    of("tmux", PANE, PANE_FLAGS).behind("new").inner(WrappedCommand::Text),
    of("tmux", PANE, PANE_FLAGS).behind("new-session").inner(WrappedCommand::Text),
    of("tmux", PANE, PANE_FLAGS).behind("new-window").inner(WrappedCommand::Text),
    of("tmux", PANE, PANE_FLAGS).behind("neww").inner(WrappedCommand::Text),
    of("tmux", PANE, PANE_FLAGS).behind("respawn-pane").inner(WrappedCommand::Text),
    of("tmux", PANE, PANE_FLAGS).behind("respawn-window").inner(WrappedCommand::Text),
    of("tmux", PANE, PANE_FLAGS).behind("split-window").inner(WrappedCommand::Text),
    of("tmux", PANE, PANE_FLAGS).behind("splitw").inner(WrappedCommand::Text),
    of("tmux", PANE, PANE_FLAGS).behind("run-shell").inner(WrappedCommand::Text),
    of("tmux", PANE, PANE_FLAGS).behind("run").inner(WrappedCommand::Text),
    of("tmux", PANE, PANE_FLAGS).behind("popup").inner(WrappedCommand::Text),
    of("tmux", PANE, PANE_FLAGS).behind("display-popup").inner(WrappedCommand::Text),
    of("tmux", "-N -t", "-F -H -K -M -R -X -l").behind("send").inner(WrappedCommand::Text),
    of("tmux", "-N -t", "-F -H -K -M -R -X -l").behind("send-keys").inner(WrappedCommand::Text),
    of(
        "uv",
        "-C -P -n -p --directory --env-file --extra --group --index --index-url --package --project --python \
         --with --with-editable --with-requirements",
        "-m -q -s -v --active --all-extras --all-groups --all-packages --dev --exact --frozen --isolated \
         --locked --module --no-cache --no-dev --no-project --no-sync --offline --only-dev --quiet --script \
         --verbose",
    )
    .behind("run"),
    of(
        "uvx",
        "-p --from --index --index-url --python --with --with-editable",
        "-n -q -v --isolated --no-cache --offline --quiet --refresh",
    )
    .kept(),
    of("vagrant", "-p", "--no-tty --plain").behind("ssh").inner(WrappedCommand::Option).scripts("-c --command"),
    of("wsl", "-d -u --cd --distribution --shell-type --user", "-e --exec --system").kept(),
    of("yarn", "", "").behind("exec"),
    of("yarn", "-p --package", "-q --quiet").behind("dlx"),
];
