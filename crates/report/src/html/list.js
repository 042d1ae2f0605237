// The list of runs. Only the rows that are seen exist, so that it does not matter how many runs there are.

const ROW = 50;
const SPARE = 8;

class RunList {
  constructor(opened) {
    this.opened = opened;
    this.runs = [];
    // Assertions that the filter asks for: their reasons are shown rather than others.
    this.asked = new Set();
    this.active = -1;
    this.space = build("div", { class: "space" });
    this.element = build("div", {
      class: "rows", id: "rows", role: "listbox", tabindex: "0", "aria-label": "Runs",
      "aria-keyshortcuts": "ArrowDown ArrowUp j k Enter",
    }, this.space);
    this.element.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), { passive: true });
    this.element.addEventListener("click", (event) => {
      const row = event.target.closest("[data-at]");
      if (row !== null) this.go(Number(row.dataset.at), true);
    });
    this.element.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  show(runs) {
    const active = this.runs[this.active];
    this.runs = runs;
    this.asked = new Set(chosenItems() ?? []);
    this.active = active === undefined ? -1 : runs.indexOf(active);
    this.space.style.height = `${runs.length * ROW}px`;
    this.draw();
  }

  // The rows around what is seen.
  draw() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / ROW) - SPARE);
    const last = Math.min(this.runs.length, Math.ceil((this.element.scrollTop + this.element.clientHeight) / ROW) + SPARE);
    const rows = [];
    for (let at = first; at < last; at++) rows.push(this.row(this.runs[at], at));
    this.space.replaceChildren(...rows);
    const active = this.active >= first && this.active < last ? `row-${this.active}` : null;
    if (active === null) this.element.removeAttribute("aria-activedescendant");
    else this.element.setAttribute("aria-activedescendant", active);
  }

  row(run, at) {
    const state = run.gate === 2 ? "error" : run.gate === 1 ? "fail" : "pass";
    const counts = ["fail", "error", "undecided"].filter((verdict) => run.counts[verdict] > 0);
    const telling = run.findings.filter((one) => "fyeu".includes(run.verdicts[one.item]));
    const said = telling.find((one) => this.asked.has(one.item)) ?? telling[0];
    const words = ["fail", "error", "undecided", "vacuous", "pass"].filter((verdict) => run.counts[verdict] > 0);
    const row = build("div", {
      class: "row", id: `row-${at}`, role: "option", "data-at": at, "data-run": run.number,
      "aria-setsize": this.runs.length, "aria-posinset": at + 1,
      "aria-selected": String(at === this.active), "aria-current": run.number === chosen.run ? "true" : null,
      "aria-label": `${run.run}: ${words.map((verdict) => `${run.counts[verdict]} ${verdict}`).join(", ")}`,
    },
      glyph(state),
      build("span", { class: "name" }, build("bdi", {}, run.run)),
      build("span", { class: "counts" }, counts.map((verdict) =>
        build("span", { class: verdict }, `${GLYPHS[verdict]} ${run.counts[verdict]}`))),
      build("span", { class: "said" }, said === undefined ? counted(run.steps, "step") : spoken(said.message || said.reason)));
    row.style.transform = `translateY(${at * ROW}px)`;
    return row;
  }

  // Makes a row the active one, and opens its run.
  go(at, opens) {
    if (this.runs.length === 0) return;
    this.active = Math.max(0, Math.min(this.runs.length - 1, at));
    const top = this.active * ROW;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop) this.element.scrollTop = top;
    else if (top + ROW > scrollTop + clientHeight) this.element.scrollTop = top + ROW - clientHeight;
    this.draw();
    if (opens) this.opened(this.runs[this.active]);
  }

  // The run beside the one that is open.
  step(by, opens) {
    this.go(this.active < 0 ? 0 : this.active + by, opens);
  }

  // Follows a run that was opened from elsewhere.
  follow(number) {
    const at = this.runs.findIndex((run) => run.number === number);
    if (at >= 0 && at !== this.active) this.go(at, false);
    else this.draw();
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.key in moves) this.step(moves[event.key], false);
    else if (event.key === "Home") this.go(0, false);
    else if (event.key === "End") this.go(this.runs.length - 1, false);
    else if (event.key === "Enter" && this.active >= 0) this.opened(this.runs[this.active], true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
