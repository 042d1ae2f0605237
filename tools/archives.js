// The archives of a release, for what packs their binaries once more: packages of npm and of editors.
"use strict";
const { execFileSync } = require("node:child_process");
const { createHash } = require("node:crypto");
const fs = require("node:fs");
const path = require("node:path");

// On Linux the static binary: it runs with every libc, so one package is enough for each processor.
const platforms = {
  "darwin-arm64": "aarch64-apple-darwin",
  "darwin-x64": "x86_64-apple-darwin",
  "linux-arm64": "aarch64-unknown-linux-musl",
  "linux-x64": "x86_64-unknown-linux-musl",
  "win32-x64": "x86_64-pc-windows-msvc",
};

const archiveOf = (platform) => `aver-${platforms[platform]}.${platform.startsWith("win32") ? "zip" : "tar.gz"}`;
const binaryOf = (platform) => (platform.startsWith("win32") ? "aver.exe" : "aver");

function readSums(release) {
  const lines = fs.readFileSync(path.join(release, "SHA256SUMS"), "utf8").trim().split("\n");
  return new Map(lines.map((line) => line.split(/\s+/).reverse()));
}

/** Puts the binary of a platform into a folder, by way of the folder `work`; false where the release has no archive of it. */
function takeBinary({ release, platform, work, folder }) {
  const [archive, sums] = [archiveOf(platform), readSums(release)];
  if (!sums.has(archive)) return false;
  const bytes = fs.readFileSync(path.join(release, archive));
  if (createHash("sha256").update(bytes).digest("hex") !== sums.get(archive)) throw new Error(`the checksum of ${archive} is another one`);
  if (archive.endsWith(".zip")) execFileSync("unzip", ["-q", path.join(release, archive), "-d", work]);
  else execFileSync("tar", ["-xzf", path.join(release, archive), "-C", work]);
  fs.mkdirSync(folder, { recursive: true });
  const binary = path.join(folder, binaryOf(platform));
  fs.copyFileSync(path.join(work, `aver-${platforms[platform]}`, binaryOf(platform)), binary);
  fs.chmodSync(binary, 0o755);
  return true;
}

module.exports = { platforms, archiveOf, binaryOf, takeBinary };
