// Makes the pictures of the report in docs/images, of runs that are made up:
//
//   node picture.mjs CHROMIUM AVER FOLDER

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import puppeteer from "puppeteer-core";

const [chromium, aver, folder] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), "averment-picture-"));

const RULES = `param limit: number = 100

output.status == "refunded" as outcome
output.message contains "refund"
duration <= 8s
cost <= $0.05

rule approval "Refunds above the limit need an approval for the same order" {
  tags payments
  before approve(id: $id) -> refund(id: $id, amount > limit)
  never refund(id: $id) after cancel(id: $id)
}

rule economy "An agent looks things up once and tells the customer once" {
  severity warn
  tags cost
  count search_policy <= 3
  count api_call <= 10
}

rule escalation "Who is turned down twice is handed to a person" {
  tags service
  after decline -> hand_over
}

never admin_*, drop_table
`;

// The same numbers every time.
let state = 20;
const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
const one = (list) => list[Math.floor(random() * list.length)];
const upTo = (most) => Math.floor(random() * (most + 1));

function run(number) {
  const [order, amount, odd] = [`o-${1000 + upTo(8999)}`, one([18, 42, 75, 120, 180, 250, 640]), random()];
  const calls = [];
  let time = 0;
  const call = (tool, args, result) => {
    const duration = 40 + upTo(600);
    calls.push({ tool, args, result, turn: 1 + Math.floor(calls.length / 3), start: time, duration });
    time += duration + 100 + upTo(500);
  };
  call("get_order", { id: order }, { id: order, total: amount, currency: "EUR", customer: { name: one(["Ada", "Grace", "Barbara"]) } });
  for (let at = upTo(odd > 0.88 ? 5 : 3); at > 0; at--) call("search_policy", { query: one(["damaged parcel", "late delivery", "wrong size"]) }, [{ title: "Refunds" }]);
  if (amount > 100 && odd > 0.07) call("approve", { id: odd > 0.12 ? order : "o-1" }, { by: one(["ada", "grace"]) });
  if (odd > 0.97) call("cancel", { id: order }, "cancelled");
  call("refund", { id: order, amount, currency: "EUR" }, { refund: 1000 + upTo(8999) });
  for (let at = odd > 0.94 ? 11 : upTo(2); at > 0; at--) call("api_call", { path: `/notify/${order}` }, "sent");
  const output = odd < 0.04
    ? { status: "declined", message: "We are sorry, we cannot do that." }
    : { status: "refunded", message: `Your refund of ${amount} EUR is on its way.` };
  const cost = random() < 0.97 ? { cost: Math.round(random() * 520) / 10000 } : {};
  return JSON.stringify({ id: `r-${number}`, prompt: `Please refund order ${order}`, calls, output, duration: time, ...cost });
}

writeFileSync(join(work, "refunds.assert"), RULES);
writeFileSync(join(work, "runs.jsonl"), Array.from({ length: 400 }, (_, number) => run(number)).join("\n"));
try {
  execFileSync(resolve(aver), ["check", "refunds.assert", "runs.jsonl", "--format", "summary", "--report", "html=report.html"], { cwd: work, stdio: "ignore" });
} catch (failed) {
  if (failed.status !== 1) throw failed;
}

const browser = await puppeteer.launch({ executablePath: chromium, headless: true, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
await page.setBypassCSP(true);
await page.setViewport({ width: 1280, height: 800 });
const open = async (hash) => {
  await page.goto("about:blank");
  await page.goto(`file://${join(work, "report.html")}${hash}`);
  await page.addStyleTag({ content: ":root { --sans: Inter, system-ui, sans-serif; --mono: \"JetBrains Mono\", ui-monospace, monospace; }" });
  await page.waitForSelector("#side[data-ready]");
  await page.evaluate(() => document.fonts.ready);
};
await open("");
await page.screenshot({ path: join(folder, "html-report.png") });
await open("#rule=approval.1&verdict=fail&tool=approve");
await page.keyboard.press("j");
await page.keyboard.press("Enter");
await page.waitForSelector(".result.fail [data-to]");
const result = await page.$eval(".result.fail [data-to]", (link) => link.closest(".result").id);
await page.hover(`#${result} .result-head`);
await new Promise((done) => setTimeout(done, 300));
await page.screenshot({ path: join(folder, "html-report-run.png") });
await browser.close();
for (const name of ["html-report.png", "html-report-run.png"]) console.log(`${name}: ${readFileSync(join(folder, name)).length} bytes`);
