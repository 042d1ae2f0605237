// Puts the page together: list and run side by side, the keyboard, light and dark.

const page = { list: null, side: null, overview: null, run: null, shown: 0, announced: 0 };

// Says something to those who do not see the page change, when nothing has changed for a moment.
function announce(words) {
  clearTimeout(page.announced);
  page.announced = setTimeout(() => { document.getElementById("live").textContent = words; }, 250);
}

function refresh() {
  const started = performance.now();
  const runs = listed();
  page.list.show(runs);
  showFilters();
  const all = store.runs.length;
  const words = runs.length === all ? counted(all, "run") : `${runs.length.toLocaleString("en")} of ${counted(all, "run")}`;
  document.getElementById("found").textContent = words;
  announce(runs.length === 0 ? "No run fits." : `${words} listed.`);
  page.side.classList.toggle("nothing", runs.length === 0);
  // Read by those who measure.
  page.side.dataset.took = (performance.now() - started).toFixed(1);
}

// What is chosen has changed: the address says so, without a step in the history for every letter.
function changed() {
  history.replaceState(null, "", address());
  page.list.element.scrollTop = 0;
  refresh();
}

async function showRun(focuses = false) {
  const number = chosen.run;
  page.overview.hidden = number > 0;
  page.run.hidden = number === 0;
  document.body.classList.toggle("opened", number > 0);
  page.list.follow(number);
  page.shown = number;
  if (number === 0) return;
  const run = store.runs[number - 1];
  const data = await unpackedRun(run);
  // Somebody may have gone on in the meantime.
  if (chosen.run !== number) return;
  page.run.replaceChildren(...buildRun(run, data));
  document.getElementById("main").scrollTop = 0;
  if (focuses) document.getElementById("run-title").focus();
}

function openRun(run, focuses = false) {
  if (chosen.run === run.number && focuses) document.getElementById("run-title")?.focus();
  if (chosen.run === run.number) return;
  const deeper = chosen.run === 0;
  chosen.run = run.number;
  history[deeper ? "pushState" : "replaceState"](null, "", address());
  showRun(focuses);
}

function closeRun() {
  if (chosen.run === 0) return;
  chosen.run = 0;
  history.replaceState(null, "", address());
  showRun();
  page.list.element.focus();
}

function key(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const search = document.getElementById("filter-q");
  const writes = event.target.closest("input, select, textarea") !== null;
  if (event.key === "Escape") {
    if (writes && search.value !== "" && event.target === search) { chosen.q = ""; changed(); }
    else if (writes) page.list.element.focus();
    else closeRun();
  } else if (writes && event.target === search && (event.key === "ArrowDown" || event.key === "Enter")) {
    page.list.element.focus();
    page.list.step(page.list.active < 0 ? 0 : 1, false);
  } else if (writes) {
    return;
  } else if (event.key === "/") {
    search.focus();
    search.select();
  } else if (event.key === "j" || event.key === "k") {
    page.list.step(event.key === "j" ? 1 : -1, chosen.run > 0);
    if (chosen.run === 0) page.list.element.focus();
  } else {
    return;
  }
  event.preventDefault();
}

// Light, dark, or as the system says.
function themes() {
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const show = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  // Where pages of files may keep nothing, the choice lasts as long as the page.
  try {
    const kept = localStorage.getItem("aver-theme");
    if (kept !== null) document.documentElement.dataset.theme = kept;
  } catch { }
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("aver-theme", theme); } catch { }
    show();
  });
  system.addEventListener("change", show);
  button.hidden = false;
  show();
}

async function start() {
  await openStore();
  page.side = document.getElementById("side");
  page.overview = document.getElementById("overview");
  page.run = document.getElementById("run");
  page.list = new RunList(openRun);
  page.side.append(buildFilters(changed), page.list.element,
    build("p", { class: "empty" }, "No run fits."),
    build("p", { class: "keys soft small", "aria-hidden": "true" },
      build("kbd", {}, "j"), " ", build("kbd", {}, "k"), " move  ", build("kbd", {}, "Enter"), " open  ", build("kbd", {}, "Esc"), " back"));
  page.side.hidden = false;
  document.body.classList.add("ready");
  document.getElementById("plain").hidden = true;
  themes();
  readAddress();
  refresh();
  await showRun();
  addEventListener("hashchange", () => { readAddress(); refresh(); showRun(); });
  document.addEventListener("keydown", key);
  page.side.dataset.ready = performance.now().toFixed(0);
  const later = window.requestIdleCallback ?? ((work) => setTimeout(work, 200));
  later(() => searchSteps((left) => {
    if (left === 0) page.side.dataset.searchable = "all";
    if (left === 0 && chosen.q !== "") refresh();
  }));
}

start().catch((error) => {
  const plain = document.getElementById("plain");
  plain.append(` This browser says: ${error}`);
  plain.hidden = false;
});
