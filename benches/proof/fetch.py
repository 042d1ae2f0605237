"""Fetches the sets from their public places, and checks a hash of each.

usage: fetch.py [SET...] [--to FOLDER]

The folder is that of `common.sets_folder()` if none is given; the sets go into `sets/` below it. SOPBench is a git repository: its commit is the hash
of all that is in it. Files are checked by SHA-256. What arrives otherwise than it was is thrown away.
"""
import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import urllib.request
import zipfile

import common

REPOSITORIES = {"sopbench": ("https://github.com/Leezekun/SOPBench", "8cd43276845fb25a760a6fcd1090e5aae3a36273")}
FILES = {
    "tau": [
        (
            "tau-bench/gpt-4o-airline.json",
            "https://raw.githubusercontent.com/sierra-research/tau-bench/59a200c6d575d595120f1cb70fea53cef0632f6b/historical_trajectories/gpt-4o-airline.json",
            "e9e6c0297660c537f83d4fd9c476ce7a9a86ecd2784874b7bfc13be598e37bfa",
        ),
        (
            "tau-bench/retail.json",
            "https://raw.githubusercontent.com/avaljotsingh/tau-bench/f2ad25ac1aa0b42bb6d2f1ced30b38d3dd34f086/final_results/tool-calling-none-0.1_range_0-100_user-none-llm_06232025.json",
            "d0783eb3a348e1e06906d27ff3c220929583d9d8a5238a11cb48a3b647007814",
        ),
    ],
    "expected": [
        (
            "expected/tau2/tasks.py",
            "https://raw.githubusercontent.com/sierra-research/tau2-bench/a2c024725189473d2d7cea3a5cfdbcc67478e41f/src/tau2/data_model/tasks.py",
            "0243a6454b2e9c8a14b8364c38ff95dc1dd7512105b69fada9bf9295fc8170fa",
        ),
    ],
}
# Unpacked and not installed: evaluators.py takes single functions out of them.
WHEELS = {
    "expected": [
        ("agentevals==0.0.9", "4da425c1183fe8d24600e4316a31baca74e2bdc4d5e03d202fc1b314ece4cb02"),
        ("bfcl-eval==2026.3.23", "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a"),
        ("deepeval==4.3.1", "a269343d74232b43aa75501d77b21bfacbad2701f3134a5ad76589489e0b7789"),
        ("google-adk==2.13.0", "bec4c4ee0aa3e63a2243c23365c5aef666ea539bc48c78dfbbf004dbddfc5f00"),
    ]
}
# Installed with `pip install --require-hashes`, into a folder of its own: its reference solutions are run, and nothing else.
AGENTDOJO = ("agentdojo==0.1.35", "364bea4219716b716bf639f504d195943f7f6a5535d312ca41d7098704a2affd")


def fetch_repository(url, commit, folder):
    git = lambda *words: subprocess.run(["git", "-C", folder, *words], check=True)
    os.makedirs(folder, exist_ok=True)
    git("init", "-q")
    git("fetch", "-q", "--depth", "1", url, commit)
    git("checkout", "-q", "--detach", commit)
    git("fsck", "--no-dangling", "--no-progress")


def check_digest(name, content, digest):
    found = hashlib.sha256(content).hexdigest()
    if found != digest:
        sys.exit("%s: sha256 is %s, expected %s" % (name, found, digest))


def download_wheel(package, digest, folder, python=sys.executable):
    """Downloads a package without what it depends on, and gives the path of its wheel if that is the known one."""
    subprocess.run([python, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, package], check=True)
    name = next(name for name in os.listdir(folder) if name.endswith(".whl"))
    with open(os.path.join(folder, name), "rb") as content:
        check_digest(name, content.read(), digest)
    return os.path.join(folder, name)


def fetch_file(url, digest, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with urllib.request.urlopen(url, timeout=60) as answer:
        content = answer.read()
    check_digest(url, content, digest)
    with open(path, "wb") as out:
        out.write(content)


def fetch_wheel(package, digest, folder):
    """Downloads a package, checks it, and unpacks it."""
    with tempfile.TemporaryDirectory() as at:
        with zipfile.ZipFile(download_wheel(package, digest, at)) as wheel:
            wheel.extractall(folder)


def fetch_agentdojo(path):
    """Installs the package, and has agentdojo_runs.py write its reference solutions as runs."""
    with tempfile.TemporaryDirectory() as folder:
        python = os.path.join(folder, "bin", "python")
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        wheel = download_wheel(*AGENTDOJO, folder, python)
        subprocess.run([python, "-m", "pip", "install", "-q", wheel], check=True)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            subprocess.run([python, os.path.join(common.HERE, "agentdojo_runs.py")], stdout=out, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", metavar="SET", help="sopbench, tau, expected, agentdojo (default: all)")
    parser.add_argument("--to", default=common.sets_folder(), metavar="FOLDER")
    given = parser.parse_args()
    for name in given.sets or [*REPOSITORIES, *FILES, "agentdojo"]:
        at = os.path.join(given.to, "sets", name)
        if name in REPOSITORIES:
            fetch_repository(*REPOSITORIES[name], at)
        elif name in FILES:
            for path, url, digest in FILES[name]:
                fetch_file(url, digest, os.path.join(given.to, "sets", path))
            for package, digest in WHEELS.get(name, []):
                fetch_wheel(package, digest, at)
        elif name == "agentdojo":
            fetch_agentdojo(os.path.join(at, "runs.jsonl"))
        else:
            sys.exit("no set is called %s" % name)
        print(name, "is in", os.path.join(given.to, "sets"))


if __name__ == "__main__":
    main()
