// What the page holds, unpacked: the table of assertions, the index of all runs, and blocks of runs when somebody looks at one of them.

const VERDICTS = ["fail", "error", "undecided", "known", "vacuous", "pass", "skipped"];
const GLYPHS = { fail: "✕", error: "!", undecided: "?", known: "≈", vacuous: "○", pass: "✓", skipped: "–" };
// The letters of statuses: the verdict that each is filtered and coloured by, and the word for it.
const STATUSES = {
  p: ["pass", "passed"],
  f: ["fail", "failed"],
  x: ["pass", "failed as expected"],
  y: ["fail", "passed unexpectedly"],
  k: ["known", "failed, as the baseline knows"],
  v: ["vacuous", "vacuous"],
  u: ["undecided", "undecided"],
  e: ["error", "could not be evaluated"],
  s: ["skipped", "skipped"],
};
// Blocks that stay unpacked, and letters of steps that are kept for searching.
const BLOCKS_KEPT = 12;
const SEARCHED = 80e6;

const store = { items: [], runs: [], blocks: [], unpacked: new Map(), searched: 0 };

function parts(name) {
  return [...document.querySelectorAll(`script[data-part="${name}"]`)];
}

async function unpack(part) {
  const letters = atob(part.textContent);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = letters.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

async function openStore() {
  const [[table], ...indexes] = await Promise.all([
    Promise.all(parts("table").map(unpack)),
    ...parts("index").map(unpack),
  ]);
  store.items = table.items;
  store.blocks = parts("runs");
  indexes.forEach((index, block) => {
    index.runs.forEach((run, place) => store.runs.push(indexed(run, index.texts, block, place)));
  });
}

function indexed(run, texts, block, place) {
  const findings = run.findings.map(([item, reason, message, violations]) => ({
    item, reason: texts[reason], message: message === null ? "" : texts[message], violations,
  }));
  const counts = {};
  for (const letter of run.verdicts) {
    if (letter !== "-") counts[STATUSES[letter][0]] = (counts[STATUSES[letter][0]] ?? 0) + 1;
  }
  return {
    ...run, findings, counts, block, place,
    number: store.runs.length + 1,
    tools: run.tools.map((tool) => texts[tool]),
    scores: run.scores.map(([name, score]) => [texts[name], score]),
    text: "",
    steps_text: null,
  };
}

// What a search looks at: names, reasons and tools at once; steps as soon as they are unpacked.
function searched(run) {
  if (run.text === "") {
    const words = run.findings.flatMap((one) => [one.reason, one.message]);
    run.text = [run.run, ...run.tools, ...words].join("\n").toLowerCase();
  }
  return run.text;
}

async function blockOf(number) {
  let block = store.unpacked.get(number);
  if (block === undefined) {
    block = unpack(store.blocks[number]);
    if (store.unpacked.size >= BLOCKS_KEPT) store.unpacked.delete(store.unpacked.keys().next().value);
    store.unpacked.set(number, block);
  }
  return block;
}

// The steps and the evidence of a run.
async function unpackedRun(run) {
  return (await blockOf(run.block))[run.place];
}

// Unpacks the steps of all runs for searching, a block at a time; `told` hears after each how many blocks are left.
async function searchSteps(told) {
  let first = 0;
  for (let number = 0; number < store.blocks.length; number++) {
    const block = await unpack(store.blocks[number]);
    for (const [place, one] of block.entries()) {
      const run = store.runs[first + place];
      const text = one.steps.map((step) => [step.text, ...(step.parts ?? []).map((part) => part[1])].join("\n"));
      run.steps_text = text.join("\n").toLowerCase();
      store.searched += run.steps_text.length;
    }
    first += block.length;
    told(store.blocks.length - number - 1);
    if (store.searched > SEARCHED) break;
    await new Promise((next) => setTimeout(next));
  }
}

// Builds an element; children are elements or texts, never markup.
function build(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

// Words in which `pieces` of rules and values stand.
function spoken(words) {
  return words.split("`").map((piece, at, all) => (at % 2 === 1 && at < all.length - 1 ? build("code", {}, piece) : at % 2 === 1 ? `\`${piece}` : piece));
}

function glyph(verdict) {
  return build("span", { class: `glyph ${verdict}`, "aria-hidden": "true" }, GLYPHS[verdict]);
}

function counted(number, word) {
  return `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
}

function shownScore(score) {
  // Cut, not rounded: only a whole 1 reads as one.
  return score === null ? "–" : (Math.floor(score * 100 + 1e-6) / 100).toFixed(2);
}
