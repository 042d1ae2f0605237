// Which runs are listed, and in which order. What is chosen stands behind the # of the address, so that a view can be shared.

const ORDERS = { failures: "most failures first", file: "order of the files", score: "lowest score first" };
const chosen = { verdict: new Set(), rule: "", tag: "", tool: "", q: "", order: "failures", run: 0 };

function readAddress() {
  const words = new URLSearchParams(location.hash.slice(1));
  const known = (words.get("verdict") ?? "").split(",").filter((verdict) => VERDICTS.includes(verdict));
  chosen.verdict = new Set(known);
  for (const key of ["rule", "tag", "tool", "q"]) chosen[key] = words.get(key) ?? "";
  chosen.order = words.get("order") in ORDERS ? words.get("order") : "failures";
  const run = Number(words.get("run"));
  chosen.run = Number.isInteger(run) && run > 0 && run <= store.runs.length ? run : 0;
}

function address() {
  const words = new URLSearchParams();
  if (chosen.verdict.size > 0) words.set("verdict", VERDICTS.filter((one) => chosen.verdict.has(one)).join(","));
  for (const key of ["rule", "tag", "tool", "q"]) {
    if (chosen[key] !== "") words.set(key, chosen[key]);
  }
  if (chosen.order !== "failures") words.set("order", chosen.order);
  if (chosen.run > 0) words.set("run", String(chosen.run));
  return `#${words}`;
}

// The places of the assertions that rule and tag leave; null for all.
function chosenItems() {
  if (chosen.rule === "" && chosen.tag === "") return null;
  const places = [];
  store.items.forEach((item, place) => {
    const ofRule = chosen.rule === "" || item.rule === chosen.rule || item.name === chosen.rule;
    if (ofRule && (chosen.tag === "" || item.tags.includes(chosen.tag))) places.push(place);
  });
  return places;
}

function verdictMatches(run, items) {
  const fits = (letter) => {
    if (letter === "-") return false;
    const verdict = STATUSES[letter][0];
    return chosen.verdict.size === 0 ? verdict !== "skipped" : chosen.verdict.has(verdict);
  };
  if (items !== null) return items.some((item) => fits(run.verdicts[item]));
  if (chosen.verdict.size === 0) return true;
  for (const verdict of chosen.verdict) {
    if (run.counts[verdict] > 0) return true;
  }
  return false;
}

// The words of a search, all of which have to occur.
function searchWords() {
  return chosen.q.toLowerCase().split(/\s+/).filter((word) => word !== "");
}

function textMatches(run, words) {
  return words.every((word) => searched(run).includes(word) || (run.steps_text ?? "").includes(word));
}

function listed() {
  const items = chosenItems();
  const words = searchWords();
  const runs = store.runs.filter((run) =>
    verdictMatches(run, items) && (chosen.tool === "" || run.tools.includes(chosen.tool)) && textMatches(run, words));
  const failures = (run) => (run.counts.fail ?? 0) + (run.counts.error ?? 0);
  if (chosen.order === "failures") {
    runs.sort((a, b) => b.gate - a.gate || failures(b) - failures(a) || a.number - b.number);
  } else if (chosen.order === "score") {
    runs.sort((a, b) => (a.score ?? 2) - (b.score ?? 2) || a.number - b.number);
  }
  return runs;
}

// The bar above the list; `changed` is called when something else is chosen.
function buildFilters(changed) {
  const option = (value, text) => build("option", { value }, text);
  const select = (key, label, options) => {
    const element = build("select", { "aria-label": label, id: `filter-${key}` }, options);
    element.addEventListener("change", () => { chosen[key] = element.value; changed(); });
    return element;
  };
  const distinct = (all) => [...new Set(all)].sort((a, b) => a.localeCompare(b, "en"));
  const choice = (key, label, all, values) =>
    values.length === 0 ? null : select(key, label, [option("", all), ...values.map((value) => option(value, value))]);
  const rules = distinct(store.items.map((item) => item.rule ?? item.name));
  const parts = distinct(store.items.filter((item) => item.rule !== null).map((item) => item.name));
  const rule = choice("rule", "Rule", "All rules", rules);
  if (parts.length > 0) rule.append(build("optgroup", { label: "Assertions" }, parts.map((part) => option(part, part))));
  const search = build("input", {
    type: "search", id: "filter-q", placeholder: "Search runs, reasons, steps", "aria-label": "Search runs, reasons and steps",
    autocomplete: "off", spellcheck: "false", "aria-keyshortcuts": "/",
  });
  search.addEventListener("input", () => { chosen.q = search.value; changed(); });
  // What a check need not have is chosen only where it has it.
  const has = (verdict) => !["known", "skipped"].includes(verdict) || store.runs.some((run) => run.counts[verdict] > 0);
  const verdicts = VERDICTS.filter(has).map((verdict) => {
    const button = build("button", { type: "button", class: `toggle ${verdict}`, "aria-pressed": "false", "data-verdict": verdict },
      glyph(verdict), verdict);
    button.addEventListener("click", () => {
      if (!chosen.verdict.delete(verdict)) chosen.verdict.add(verdict);
      changed();
    });
    return button;
  });
  const clear = build("button", { type: "button", class: "quiet", id: "clear" }, "Clear");
  clear.addEventListener("click", () => {
    Object.assign(chosen, { verdict: new Set(), rule: "", tag: "", tool: "", q: "" });
    changed();
  });
  return build("div", { class: "filters", role: "search" },
    build("div", { class: "searching" }, search, build("kbd", { "aria-hidden": "true" }, "/")),
    build("div", { class: "toggles", role: "group", "aria-label": "Verdicts" }, verdicts),
    build("div", { class: "selects" }, rule,
      choice("tag", "Tag", "All tags", distinct(store.items.flatMap((item) => item.tags))),
      choice("tool", "Tool", "All tools", distinct(store.runs.flatMap((run) => run.tools)))),
    build("div", { class: "found" },
      build("span", { id: "found" }), clear,
      select("order", "Order", Object.entries(ORDERS).map(([value, text]) => option(value, text)))));
}

// Shows in the bar what is chosen.
function showFilters() {
  for (const key of ["rule", "tag", "tool", "q", "order"]) {
    const element = document.getElementById(`filter-${key}`);
    if (element !== null && element.value !== chosen[key]) element.value = chosen[key];
  }
  for (const button of document.querySelectorAll(".toggle")) {
    button.setAttribute("aria-pressed", String(chosen.verdict.has(button.dataset.verdict)));
  }
  const any = chosen.verdict.size > 0 || ["rule", "tag", "tool", "q"].some((key) => chosen[key] !== "");
  document.getElementById("clear").hidden = !any;
}
