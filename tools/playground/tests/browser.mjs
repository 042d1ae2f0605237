// Opens the playground in headless Chromium and does what people do. Fails at the first thing that is not as it should be.
//
//   node tools/playground/tests/browser.mjs SITE [CHROMIUM]
//
// SITE is a site that `tools/site --library` has built. AVERMENT_AVER names the command, with which verdicts are compared on all examples.
// puppeteer-core is that of crates/cli/tests/browser (`npm ci` there).
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { listExamples } from "../examples.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");
const puppeteer = createRequire(path.join(process.env.AVERMENT_NODE_MODULES ?? path.join(root, "crates/cli/tests/browser"), "package.json"))("puppeteer-core");
const [site, chromium = "/usr/bin/chromium"] = process.argv.slice(2);
const aver = process.env.AVERMENT_AVER;
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".json": "application/json" };
// Milliseconds for an answer on an example, once the page is warm.
const ANSWER = 50;

let isDown = false;
const server = http.createServer((request, response) => {
  if (isDown) { request.socket.destroy(); return; }
  const file = path.join(site, decodeURIComponent(new URL(request.url, "http://x").pathname));
  const type = TYPES[path.extname(file)];
  if (!type || !file.startsWith(path.resolve(site)) || !fs.existsSync(file)) { response.writeHead(404).end(); return; }
  response.writeHead(200, { "content-type": type }).end(fs.readFileSync(file));
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const address = `http://127.0.0.1:${server.address().port}/playground/index.html`;
const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });


// A page on which anything that goes wrong, or goes elsewhere, is noted.
async function opened(hash = "", { width = 1200, dark = false } = {}) {
  const page = await browser.newPage();
  page.trouble = [];
  page.requests = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && !/favicon/.test(message.location().url ?? "") && page.trouble.push(message.text()));
  page.on("pageerror", (error) => page.trouble.push(String(error)));
  page.on("dialog", (dialog) => { page.trouble.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => {
    page.requests.push(request.url());
    if (!request.url().startsWith(address.replace("index.html", "")) && !request.url().endsWith("/favicon.ico")) page.trouble.push(`request: ${request.url()}`);
    if (request.method() !== "GET" || request.url().includes("?")) page.trouble.push(`sent: ${request.method()} ${request.url()}`);
  });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }]);
  await page.setViewport({ width, height: 900 });
  await page.goto(address + hash);
  await ready(page);
  return page;
}

const ready = (page) => page.waitForFunction(() => document.body.dataset.state === "ready", { timeout: 30_000 });
const text = (page, selector) => page.$eval(selector, (element) => element.textContent);

async function fill(page, values) {
  await page.evaluate((given) => {
    for (const [id, value] of Object.entries(given)) {
      document.getElementById(id).value = value;
      document.getElementById(id).dispatchEvent(new Event("input"));
    }
  }, values);
  await ready(page);
}

async function tried(name, work, ...more) {
  const page = await opened(...more);
  const told = await work(page);
  assert.deepEqual(page.trouble, [], name);
  await page.close();
  console.log(`ok  ${name}${told ? `: ${told}` : ""}`);
}

function verdictsOfCommand({ folder, rules, run }) {
  const args = ["check", rules, run, "--no-project", "--format", "json"];
  try {
    return JSON.parse(execFileSync(aver, args, { cwd: path.join(root, "examples", folder), stdio: ["ignore", "pipe", "ignore"], maxBuffer: 64 << 20 }));
  } catch (error) {
    return error.stdout?.length > 0 ? JSON.parse(error.stdout) : { diagnostics: true };
  }
}

await tried("a first example is judged when the page opens", async (page) => {
  assert.match(await text(page, "#status"), /^0 of 1 run passed/);
  assert.ok(await page.$("[data-verdict=fail]"));
  return `${page.requests.length} requests`;
});

await tried("all examples have the verdicts of the command, in time", async (page) => {
  const { pairs } = listExamples();
  await page.waitForFunction(() => document.body.dataset.prepared === "ready", { timeout: 120_000 });
  const [times, first] = [[], []];
  let compared = 0;
  for (const round of [0, 1]) {
    for (const [index, pair] of pairs.entries()) {
      await page.evaluate(() => { document.body.dataset.state = ""; });
      await page.select("#example", String(index));
      await ready(page);
      const took = Number(await page.evaluate(() => document.body.dataset.took));
      if (round === 0) { first.push(took); continue; }
      times.push([took, `${pair.folder}/${pair.rules} ${pair.run}`]);
      if (!pair.run || !aver) continue;
      const said = verdictsOfCommand(pair);
      const found = await page.$$eval("[data-run]", (runs) => runs.map((run) => [run.dataset.run, ...[...run.querySelectorAll("[data-verdict]")].map((one) => `${one.dataset.id} ${one.dataset.verdict}`)]));
      if (said.diagnostics === true) { assert.equal(found.length, 0, pair.rules); continue; }
      const wanted = said.runs.slice(0, 50).map((run) => [run.run, ...run.results.map((one) => `${one.id} ${one.verdict}`)]);
      // What lies beside the run cannot be looked at here.
      if (pair.folder === "from-stop") { assert.equal(found.length, wanted.length); continue; }
      assert.deepEqual(found, wanted, `${pair.folder}: ${pair.rules} on ${pair.run}`);
      compared += found.reduce((sum, run) => sum + run.length - 1, 0);
    }
  }
  times.sort((a, b) => a[0] - b[0]);
  const [median, slowest] = [times[times.length >> 1][0], times.at(-1)];
  const within = times.filter(([took]) => took <= ANSWER).length;
  assert.ok(median <= ANSWER, `median ${median} ms`);
  const compiled = first.filter((took) => took <= ANSWER).length;
  first.sort((a, b) => a - b);
  assert.ok(first[first.length >> 1] <= ANSWER, `first median ${first[first.length >> 1]} ms`);
  const again = `${within} of ${times.length} within ${ANSWER} ms, slowest ${slowest[0].toFixed(0)} ms (${slowest[1]})`;
  return `${compared} verdicts; median ${median.toFixed(1)} ms, ${again}; the first time ${compiled} within, slowest ${first.at(-1).toFixed(0)} ms`;
});

await tried("typing is judged, and a mistake is said at its place", async (page) => {
  await fill(page, { rules: "never refund", run: '{"calls": [{"tool": "refund"}]}' });
  assert.match(await text(page, "#status"), /^0 of 1 run passed/);
  await page.click("#rules");
  await page.keyboard.type("\nnevr x");
  await page.waitForFunction(() => document.querySelector("#diagnostics .error"));
  assert.match(await text(page, "#diagnostics"), /did you mean `never`/);
  await page.click("#diagnostics .error ~ .place");
  const field = await page.$eval("#rules", (one) => one.value.slice(one.selectionStart, one.selectionEnd));
  assert.equal(field, "nevr");
  await fill(page, { rules: "never refund", run: '{"calls": [}' });
  assert.match(await text(page, "#outcomes"), /unreadable/);
});

await tried("lints follow the verdicts", async (page) => {
  await fill(page, { rules: "never refund\nnever refund", run: "" });
  await page.waitForFunction(() => document.body.dataset.lints === "ready");
  assert.match(await text(page, "#diagnostics"), /line 1 says the same/);
});

await tried("a piece of evidence selects its place in the run, behind letters of several bytes", async (page) => {
  await fill(page, { rules: "never refund", run: '{"output": "Größe 😀", "calls": [{"tool": "refund"}]}' });
  await page.click("[data-verdict=fail] .place");
  const selected = await page.$eval("#run", (one) => one.value.slice(one.selectionStart, one.selectionEnd));
  assert.match(selected, /refund/);
});

const HOSTILE = "</script><img src=x onerror=alert(1)><svg onload=alert(2)>";

await tried("hostile rules and runs are text", async (page) => {
  const run = JSON.stringify({ id: HOSTILE, calls: [{ tool: HOSTILE, args: { [HOSTILE]: HOSTILE } }], output: HOSTILE });
  await fill(page, { rules: `rule x "${HOSTILE}" {\n  never "*img*" message "${HOSTILE}"\n}\noutput == "${HOSTILE}x"\ntest "${HOSTILE}" expect pass x { calls: [] }`, run });
  assert.equal(await page.$("main img, main svg, main script"), null);
  assert.match(await text(page, "#outcomes"), /<img src=x onerror/);
});

await tried("a link carries both sides, and opens them again", async (page) => {
  await fill(page, { rules: `never refund # ${HOSTILE} ü`, run: '{"calls": [{"tool": "refund"}]}' });
  await page.click("#share");
  await page.waitForFunction(() => location.hash.startsWith("#1."));
  const hash = await page.evaluate(() => location.hash);
  const other = await opened(hash);
  assert.deepEqual(other.trouble, []);
  assert.equal(await other.$eval("#rules", (one) => one.value), `never refund # ${HOSTILE} ü`);
  assert.match(await text(other, "#status"), /^0 of 1 run passed/);
  await other.close();
  for (const bad of ["#1.AAAA", "#1.____", "#<img src=x>"]) {
    const broken = await opened(bad);
    assert.deepEqual(broken.trouble, []);
    await broken.close();
  }
  return `${hash.length} letters`;
});

await tried("it works on without a network", async (page) => {
  await page.setOfflineMode(true);
  const before = page.requests.length;
  await fill(page, { rules: "never drop_table", run: '{"calls": [{"tool": "refund"}]}' });
  assert.ok(await page.$("[data-verdict]"));
  await page.click("#format");
  await page.select("#example", "3");
  await ready(page);
  assert.equal(page.requests.length, before);
});

await tried("it opens again without a network", async (page) => {
  await page.waitForFunction(() => document.body.dataset.offline === "ready");
  isDown = true;
  await page.reload();
  await ready(page);
  await fill(page, { rules: "never refund", run: '{"calls": [{"tool": "refund"}]}' });
  assert.match(await text(page, "#status"), /^0 of 1 run passed/);
  assert.ok(await page.evaluate(() => document.querySelectorAll("#example option").length > 100));
  isDown = false;
});

await tried("work without end is ended", async (page) => {
  const list = JSON.stringify({ calls: [], output: Array.from({ length: 3000 }, (_, at) => at) });
  const slow = Array.from({ length: 30 }, (_, at) => `all x in output: all y in output: all z in output: x + y + z >= ${-at}`).join("\n");
  await page.evaluate((rules, run) => {
    for (const [id, value] of [["rules", rules], ["run", run]]) {
      document.getElementById(id).value = value;
      document.getElementById(id).dispatchEvent(new Event("input"));
    }
  }, slow, list);
  await page.waitForFunction(() => document.body.dataset.state === "ready" && /longer than|passed/.test(document.getElementById("status").textContent), { timeout: 60_000 });
  const told = await text(page, "#status");
  await fill(page, { rules: "never refund", run: '{"calls": [{"tool": "refund"}]}' });
  assert.match(await text(page, "#status"), /^0 of 1 run passed/);
  return told;
});

await tried("deep values and rules are an answer, not a broken page", async (page) => {
  await fill(page, { rules: `output == ${"(".repeat(200)}1${")".repeat(200)}`, run: `{"calls": [], "output": ${"[".repeat(200)}${"]".repeat(200)}}` });
  assert.match(await text(page, "#status"), /^0 of 1 run passed|too deep/);
  const told = await text(page, "#status");
  await fill(page, { rules: `output == ${"(".repeat(50_000)}`, run: "{}" });
  await fill(page, { rules: "never refund", run: '{"calls": [{"tool": "refund"}]}' });
  assert.match(await text(page, "#status"), /^0 of 1 run passed/);
  return told;
});

for (const dark of [false, true]) {
  await tried(`at 390 pixels nothing is cut off, in ${dark ? "dark" : "light"}`, async (page) => {
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 390, `${wide} pixels`);
    // Contrast of text and ground, as WCAG counts it.
    const least = await page.evaluate(() => {
      const light = (color) => {
        const [r, g, b] = color.match(/[\d.]+/g).slice(0, 3).map((one) => { const part = one / 255; return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4; });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const ground = light(getComputedStyle(document.body).backgroundColor);
      const ratio = (element) => { const face = light(getComputedStyle(element).color); return (Math.max(face, ground) + 0.05) / (Math.min(face, ground) + 0.05); };
      return Math.min(...[...document.querySelectorAll("p, span, h1, h2, a, label, code, strong")].map(ratio));
    });
    assert.ok(least >= 4.5, `contrast ${least}`);
    if (process.env.AVERMENT_PICTURES) await page.screenshot({ path: path.join(process.env.AVERMENT_PICTURES, `playground-${dark ? "dark" : "light"}.png`), fullPage: true });
    return `contrast ${least.toFixed(1)}`;
  }, "", { width: 390, dark });
}

await tried("everything is reached by keyboard, and has a name", async (page) => {
  const reached = new Set();
  for (let press = 0; press < 12; press += 1) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.className || document.activeElement.tagName));
  }
  for (const one of ["example", "format", "share", "rules", "run", "place"]) assert.ok(reached.has(one), `${one} of ${[...reached]}`);
  const nameless = await page.$$eval("textarea, select, button", (all) => all.filter((one) => !(one.labels?.length > 0 || one.textContent.trim())).length);
  assert.equal(nameless, 0);
});

await browser.close();
server.close();
