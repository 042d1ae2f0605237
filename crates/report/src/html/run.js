// One run: its results beside its steps. Whoever points at a result sees the steps that prove it, whoever points at a step the results.

const ROLES = { decisive: "decides", value: "took part", opening: "opens", closing: "closes", "near-miss": "came near" };
// Verdicts whose results are shown unfolded.
const TOLD = ["fail", "error", "undecided"];

function buildRun(run, data) {
  const pane = build("div", { class: "columns" }, buildResults(run, data), buildSteps(run, data));
  pointing(pane);
  return [buildHead(run, data), ...buildWarnings(data), pane];
}

function buildHead(run, data) {
  const back = build("button", { type: "button", class: "quiet back", "aria-keyshortcuts": "Escape" }, "← Overview");
  back.addEventListener("click", closeRun);
  const state = run.gate === 2 ? "error" : run.gate === 1 ? "fail" : "pass";
  const word = { error: "could not be judged fully", fail: "failed", pass: "passed" }[state];
  const scores = run.scores.map(([name, score]) => build("div", { class: "named" },
    build("span", {}, name), bar(score), build("b", {}, shownScore(score))));
  return build("header", { class: "run-head" },
    back,
    build("h2", { id: "run-title", tabindex: "-1" }, build("bdi", {}, run.run)),
    build("p", { class: "state" },
      build("span", { class: `word ${state}` }, glyph(state), ` ${word}`),
      build("span", { class: "soft" }, "score "), build("b", {}, shownScore(run.score)),
      build("span", { class: "soft" }, counted(run.steps, "step")),
      data.file !== run.run ? build("code", { class: "soft" }, data.file) : null),
    scores.length > 0 ? build("div", { class: "scores", role: "group", "aria-label": "Named scores" }, scores) : null);
}

function bar(score) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const set = (element, all) => Object.entries(all).forEach(([key, value]) => element.setAttribute(key, value));
  set(svg, { viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true", class: "meter" });
  set(rect, { width: 100 * Math.max(0, Math.min(1, score)), height: 6 });
  svg.append(rect);
  return svg;
}

function buildWarnings(data) {
  return (data.warnings ?? []).map(([line, words]) =>
    build("p", { class: "notice undecided" }, glyph("undecided"), ` line ${line}: ${words}`));
}

// --- results

function buildResults(run, data) {
  const findings = new Map(run.findings.map((one) => [one.item, { ...one }]));
  for (const { violations, ...one } of data.findings) {
    Object.assign(findings.get(one.item) ?? {}, one, { violations_shown: violations ?? [] });
  }
  const list = build("div", { class: "results" }, build("h3", { class: "heading" }, "Results"));
  // What the filter asks for comes first.
  const asked = new Set(chosenItems() ?? []);
  for (const verdict of VERDICTS) {
    const places = [...run.verdicts].flatMap((letter, item) => (letter !== "-" && STATUSES[letter][0] === verdict ? [item] : []));
    if (places.length === 0) continue;
    places.sort((a, b) => asked.has(b) - asked.has(a) || a - b);
    const all = build("ul", {}, places.map((item) => buildResult(item, run, findings.get(item), TOLD.includes(verdict))));
    list.append(TOLD.includes(verdict) ? all : build("details", { class: "others" },
      build("summary", {}, glyph(verdict), ` ${places.length} ${verdict}`), all));
  }
  return list;
}

function buildResult(item, run, finding, told) {
  const of = store.items[item];
  const [verdict, word] = STATUSES[run.verdicts[item]];
  const notes = [of.severity !== "error" ? of.severity : "", finding?.class ?? of.class ?? "", ...of.tags].filter((note) => note !== "");
  const source = buildSource(of, finding);
  // An assertion without a name is known by its text, which stands below where it is not folded away.
  const name = of.code && told ? null : build(of.code ? "code" : "b", { class: "name" }, of.name);
  return build("li", { class: `result ${verdict}`, "data-item": item, tabindex: "0", id: `result-${item}` },
    build("p", { class: "result-head" },
      build("span", { class: `word ${verdict}` }, glyph(verdict), ` ${word}`), name,
      notes.map((note) => build("span", { class: "tag" }, note)),
      build("code", { class: "where" }, of.place)),
    of.sentence === null ? null : build("p", { class: "sentence" }, of.sentence),
    finding?.message ? build("p", { class: "message" }, spoken(finding.message)) : null,
    finding?.reason ? build("p", { class: "reason" }, spoken(finding.reason)) : null,
    finding?.unjudged ? build("p", { class: "reason" }, spoken(finding.unjudged)) : null,
    of.expected === null ? null : build("p", { class: "soft" }, `A failure is expected: ${of.expected}`),
    told ? source : build("details", {}, build("summary", {}, "rule"), source),
    buildEvidence(finding), buildViolations(finding));
}

// The lines of a rule, with carets below what decided, or below the assertion.
function buildSource(of, finding) {
  const evidence = [...(finding?.evidence ?? []), ...(finding?.violations_shown ?? []).flatMap((one) => one.evidence)];
  const pieces = evidence.filter((one) => one.rule !== undefined).map((one) => one.rule);
  const marked = pieces.length > 0 ? pieces : [of.mark];
  const rows = [];
  let start = 0;
  // What all lines are indented by says nothing.
  const indent = Math.min(...of.source.split("\n").map((line) => (line.trim() === "" ? Infinity : line.search(/\S/))));
  of.source.split("\n").forEach((line, number) => {
    const end = start + line.length;
    const own = marked.map(([from, to]) => [Math.max(from, start) - start, Math.min(to, end) - start]).filter(([from, to]) => from < to);
    rows.push(build("span", { class: "number", "aria-hidden": "true" }, String(of.line + number)), build("span", { class: "code" }, line.slice(indent) || " "));
    // Carets below everything say nothing.
    if (own.length > 0 && (pieces.length > 0 || number === 0)) {
      const carets = [...line].length === 0 ? "" : [...Array(line.length).keys()]
        .map((at) => (own.some(([from, to]) => at >= from && at < to) ? "^" : line[at] === "\t" ? "\t" : " ")).join("");
      rows.push(build("span"), build("span", { class: "carets", "aria-hidden": "true" }, carets.slice(indent).trimEnd()));
    }
    start = end + 1;
  });
  return build("pre", { class: "source" }, rows);
}

function buildEvidence(finding) {
  // What only says the reason again is left out.
  const says = (one) => one.label !== undefined && one.label !== finding.reason;
  const all = (finding?.evidence ?? []).filter((one) => one.step !== undefined || one.path !== undefined || says(one));
  return all.length === 0 ? null : build("ul", { class: "evidence" }, all.map((one) => buildProof(one, finding.reason)));
}

function buildProof(one, reason) {
  const link = one.step === undefined ? null : build("a", { href: `#step-${one.step}`, "data-to": one.step }, `step ${one.step}`);
  return build("li", {},
    link, link === null ? "" : " ",
    one.path === undefined ? null : build("code", { class: "path" }, one.path), " ",
    one.shown === undefined ? null : build("code", { class: "value" }, one.shown), " ",
    one.label === reason ? null : build("span", { class: "soft" }, spoken(one.label ?? ROLES[one.role] ?? one.role)));
}

function buildViolations(finding) {
  const shown = finding?.violations_shown ?? [];
  if (shown.length === 0) return null;
  const rest = finding.violations - shown.length;
  return build("details", { class: "violations", open: shown.length <= 5 },
    build("summary", {}, counted(finding.violations, "violation")),
    build("ol", {}, shown.map((one) => build("li", {},
      build("span", {}, spoken(one.reason)), " ",
      [...new Set(one.evidence.filter((each) => each.step !== undefined).map((each) => each.step))].map((step) => [
        build("a", { href: `#step-${step}`, "data-to": step }, `step ${step}`), " "])))),
    rest > 0 ? build("p", { class: "soft small" }, `and ${counted(rest, "violation")} more`) : null);
}

// --- steps

function buildSteps(run, data) {
  const column = build("div", { class: "steps" }, build("h3", { class: "heading", id: "steps-title" }, "Steps"));
  if (data.lean && data.steps.length > 0) {
    column.append(build("p", { class: "soft small" }, "What steps were given and gave back is left out to keep this report small; ",
      build("code", {}, `aver trace show ${data.file}`), " shows it."));
  }
  const list = build("ol", { "aria-labelledby": "steps-title" });
  // Where all stand on one line, the name of the run has said it.
  const places = new Set(data.steps.map((step) => step.line)).size > 1;
  // Turns are headings where they hold several steps, else a remark of the step.
  const turns = new Set(data.steps.map((step) => step.turn)).size * 2 <= data.steps.length;
  let last = 0;
  let turn = "";
  for (const step of data.steps) {
    if (step.n > last + 1) list.append(gap(step.n - last - 1));
    if (turns && step.turn && step.turn !== turn) list.append(build("li", { class: "turn soft" }, step.turn));
    list.append(buildStep(step, run, { places, turns }));
    last = step.n;
    turn = step.turn ?? turn;
  }
  if (run.steps > last) list.append(gap(run.steps - last));
  column.append(run.steps === 0 ? build("p", { class: "soft" }, "The run has no steps.") : list);
  return column;
}

function gap(count) {
  return build("li", { class: "gap soft" }, `⋮ ${counted(count, "step")} left out`);
}

function buildStep(step, run, apart) {
  const items = step.items ?? [];
  const status = (item) => STATUSES[run.verdicts[item]] ?? STATUSES.s;
  const passed = items.filter((item) => status(item)[0] === "pass");
  const failed = step.status === "failed" || step.status === "denied";
  const line = build("span", { class: "line" },
    build("span", { class: "n" }, String(step.n)),
    build("span", { class: `kind ${step.kind}` }, step.kind),
    build("code", { class: "text" }, marked(step)),
    build("span", { class: "meta soft" },
      step.status && step.status !== "ok" ? build("span", { class: failed ? "fail" : "" }, `${failed ? "✕ " : ""}${step.status}`) : null,
      passed.length > 0 ? build("span", { class: "pass", title: passed.map((item) => `passed: ${store.items[item].name}`).join("\n") },
        `✓ ${passed.length}`, build("span", { class: "hidden" }, " passed")) : null,
      step.took ? build("span", { title: "how long it took" }, step.took) : null,
      step.time ? build("span", { title: "since the first step" }, step.time) : null,
      !apart.turns && step.turn ? build("span", {}, step.turn) : null,
      apart.places && step.line ? build("span", { class: "place", title: `line ${step.line} of the file` }, String(step.line)) : null));
  const chips = build("span", { class: "chips" }, items.filter((item) => !passed.includes(item)).map((item) =>
    build("span", { class: `chip ${status(item)[0]}`, "data-chip": item, title: `${status(item)[1]}: ${store.items[item].name}` },
      glyph(status(item)[0]), build("span", {}, store.items[item].name))));
  const inner = [line, chips.children.length > 0 ? chips : null];
  const attributes = { class: "step", id: `step-${step.n}`, "data-step": step.n, "data-items": items.join(" ") };
  if ((step.parts ?? []).length === 0) return build("li", attributes, build("div", { class: "bare", tabindex: "0" }, inner));
  const folded = build("details", {}, build("summary", {}, inner));
  folded.addEventListener("toggle", () => {
    if (folded.open && folded.children.length === 1) folded.append(buildParts(step));
  });
  return build("li", attributes, folded);
}

// The words of a step, with what results speak of marked in them.
function marked(step) {
  const ends = new Set([0, step.text.length]);
  for (const [, from, to] of step.marks ?? []) ends.add(from).add(to);
  const places = [...ends].sort((a, b) => a - b);
  return places.slice(1).map((to, at) => {
    const from = places[at];
    const text = step.text.slice(from, to);
    const items = (step.marks ?? []).filter((mark) => mark[1] <= from && to <= mark[2]).map((mark) => mark[0]);
    return items.length === 0 ? text : build("mark", { "data-items": [...new Set(items)].join(" ") }, text);
  });
}

function buildParts(step) {
  return build("dl", { class: "parts" }, step.parts.map(([name, json]) => [
    build("dt", {}, name), build("dd", {}, build("pre", {}, laidOut(json)))]));
}

function laidOut(json) {
  try {
    const value = JSON.parse(json);
    return typeof value === "string" ? value : JSON.stringify(value, null, 2);
  } catch {
    return json;
  }
}

// --- both ways

function pointing(pane) {
  const lit = (items, steps) => {
    pane.classList.toggle("pointing", items.size > 0);
    for (const result of pane.querySelectorAll(".result")) result.classList.toggle("lit", items.has(result.dataset.item));
    for (const step of pane.querySelectorAll(".step")) step.classList.toggle("lit", steps(step));
    for (const mark of pane.querySelectorAll("mark")) {
      mark.classList.toggle("lit", mark.dataset.items.split(" ").some((item) => items.has(item)));
    }
    for (const chip of pane.querySelectorAll(".chip")) chip.classList.toggle("lit", items.has(chip.dataset.chip));
  };
  const itemsOf = (step) => new Set(step.dataset.items.split(" ").filter((item) => item !== ""));
  const point = (target) => {
    const result = target?.closest?.(".result") ?? null;
    const step = target?.closest?.(".step") ?? null;
    if (result !== null) {
      const items = new Set([result.dataset.item]);
      lit(items, (one) => itemsOf(one).has(result.dataset.item));
    } else if (step !== null) {
      const chip = target.closest(".chip");
      lit(chip === null ? itemsOf(step) : new Set([chip.dataset.chip]), (one) => one === step);
    } else {
      lit(new Set(), () => false);
    }
  };
  // What is pointed at counts; else what has the focus.
  pane.addEventListener("pointerover", (event) => point(event.target));
  pane.addEventListener("pointerleave", () => point(pane.contains(document.activeElement) ? document.activeElement : null));
  pane.addEventListener("focusin", (event) => {
    point(event.target);
    if (event.target.matches(".result")) firstLit(pane);
  });
  pane.addEventListener("focusout", () => point(null));
  pane.addEventListener("click", (event) => {
    const link = event.target.closest("[data-to]");
    const chip = event.target.closest("[data-chip]");
    if (link === null && chip === null) {
      if (event.target.closest(".result") !== null) firstLit(pane);
      return;
    }
    event.preventDefault();
    const to = link === null ? document.getElementById(`result-${chip.dataset.chip}`) : document.getElementById(`step-${link.dataset.to}`);
    if (to === null) return;
    to.closest("details.others")?.setAttribute("open", "");
    to.scrollIntoView({ block: "center" });
    (to.matches("[tabindex]") ? to : to.querySelector("summary, [tabindex]"))?.focus({ preventScroll: true });
  });
}

// Brings the first step of what is pointed at into view, in its own column.
function firstLit(pane) {
  const step = pane.querySelector(".step.lit");
  const column = pane.querySelector(".steps");
  if (step === null || column.scrollHeight <= column.clientHeight) return;
  const { top, bottom } = step.getBoundingClientRect();
  const seen = column.getBoundingClientRect();
  if (top < seen.top || bottom > seen.bottom) column.scrollTop += top - seen.top - seen.height / 3;
}
