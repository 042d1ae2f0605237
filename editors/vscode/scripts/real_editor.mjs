// Installs a package in a real Visual Studio Code and looks at what it shows: node real_editor.mjs FOLDER PACKAGE.vsix
// FOLDER is one in which these were installed: npm i node@24 code-server puppeteer-core --ignore-scripts, and then npm i --ignore-scripts in
// node_modules/code-server/lib/vscode. The folder that is opened is not trusted. Chromium has to be there.
import assert from "node:assert";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const wait = (milliseconds) => new Promise((waited) => setTimeout(waited, milliseconds));
const [tools, extension] = process.argv.slice(2).map((path) => resolve(path));
const puppeteer = createRequire(join(tools, "x"))("puppeteer-core");
const work = mkdtempSync(join(tmpdir(), "averment-editor-"));
const folder = join(work, "opened");
mkdirSync(folder);
const rules = "param limit: number = 3\noutput.amount <= limti\nnever refund\n";
writeFileSync(join(folder, "rules.assert"), rules);
const node = join(tools, "node_modules/node/bin/node");
const served = [
  join(tools, "node_modules/code-server/lib/vscode/out/server-main.js"), "--accept-server-license-terms",
  "--server-data-dir", join(work, "data"), "--extensions-dir", join(work, "extensions"),
];
const installed = spawnSync(node, [...served, "--install-extension", extension], { encoding: "utf8" });
assert.match(installed.stdout, /successfully installed/);
const port = 20_000 + (process.pid % 20_000);
const server = spawn(node, [...served, "--without-connection-token", "--host", "127.0.0.1", "--port", `${port}`], { stdio: ["ignore", "pipe", "ignore"] });
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  await new Promise((started) => server.stdout.on("data", (text) => /listening/.test(text) && started()));
  const page = await browser.newPage();
  await page.setViewport({ width: 1300, height: 850 });
  const shown = async (what, look) => {
    // The page may load itself anew, and then cannot be asked for a moment.
    for (let tries = 0; tries < 120; tries += 1) {
      const found = await page.evaluate(look).catch(() => undefined);
      if (found) return void console.log(`${what}: ${found}`);
      await wait(500);
    }
    await page.screenshot({ path: "real-editor.png" });
    assert.fail(`${what}: not seen; real-editor.png shows what is`);
  };
  await page.goto(`http://127.0.0.1:${port}/?folder=${folder}`, { waitUntil: "domcontentloaded" });
  // The list of files is there before it does anything.
  for (let tries = 0; tries < 10 && !(await page.$(".editor-instance .view-line")); tries += 1) {
    const file = await page.waitForSelector('.explorer-folders-view .monaco-list-row[aria-label^="rules.assert"]', { timeout: 60_000 });
    await file.click({ count: 2 });
    await wait(3_000);
  }
  await shown("language", () => [...document.querySelectorAll(".statusbar-item")].map((one) => one.innerText.trim()).find((text) => text === "Averment rules"));
  await shown("colors", () => {
    const colors = new Set([...document.querySelectorAll(".view-line span span")].map((one) => one.className)).size;
    return colors > 4 && colors;
  });
  await shown("mistakes", () => document.querySelectorAll(".squiggly-error").length);
  // The question whether the folder is trusted comes at any time, and takes the keys.
  const refuse = () => [...document.querySelectorAll(".monaco-dialog-box .monaco-button")].find((one) => one.innerText.startsWith("No,"))?.click();
  for (let tries = 0; tries < 10 && !(await page.$(".markers-panel")); tries += 1) {
    await page.evaluate(refuse);
    await wait(1_000);
    for (const key of ["Control", "Shift"]) await page.keyboard.down(key);
    await page.keyboard.press("m");
    for (const key of ["Shift", "Control"]) await page.keyboard.up(key);
    await wait(2_000);
  }
  await shown("message", () => [...document.querySelectorAll(".markers-panel .monaco-list-row")].map((one) => one.innerText).find((text) => text.includes("unknown name `limti`"))?.split("\n")[0]);
} finally {
  await browser.close();
  server.kill();
  rmSync(work, { recursive: true, force: true });
}
