// The library, whatever hosts it. `../build` makes `core.cjs` of it: it imports nothing, and exports nothing but classes and functions.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

// The slots of `wasm/src/exchange.rs`.
const [SETTINGS, INPUT, ANSWER, PANIC] = [0, 1, 2, 3];
// The answers of `wasm/src/answer.rs`.
const [DONE, RULES, READ, GIVEN, UNKNOWN] = [0, 1, 2, 3, 4];

/** The base of all errors of this package. */
export class AvermentError extends Error {
  constructor(message, data = {}, options) {
    super(message, options);
    this.name = this instanceof InternalError ? "InternalError" : new.target.name;
    const { help, file, line, column } = data;
    this.help = help || undefined;
    this.file = file || undefined;
    this.line = line;
    this.column = column;
  }
}

/** Rules that do not compile, or something given with them that cannot be used. */
export class RulesError extends AvermentError {
  constructor(message, data = {}) {
    const diagnostics = data.diagnostics ?? [];
    const first = diagnostics.find((one) => one.severity === "error");
    super(message, { help: data.help || first?.help, ...first?.location });
    this.diagnostics = diagnostics;
  }
}

/** A run that cannot be read. */
export class ReadError extends AvermentError {}

/** A bug of the library, or not enough memory. The next call starts afresh; on the main thread of a page, `await init()` does. */
export class InternalError extends AvermentError {}

class StackError extends InternalError {}

let compiled, loader, instance;
let generation = 0;

/** Says where the compiled library comes from when nobody called `init`: for hosts that can read it at once. */
export function setLoader(load) {
  loader = load;
}

/** Loads and starts the library: needed once in browsers, harmless elsewhere. */
export async function init(source) {
  compiled ??= await compileSource(source);
  await start();
}

async function compileSource(source) {
  const given = await source;
  if (given === undefined && loader) return loader();
  if (given instanceof WebAssembly.Module) return given;
  if (given instanceof ArrayBuffer || ArrayBuffer.isView(given)) return WebAssembly.compile(given);
  if (typeof Response !== "undefined" && given instanceof Response) return compileResponse(given);
  if (typeof given === "string" || given instanceof URL) return compileResponse(await fetch(given));
  throw new TypeError("`init` takes the address of averment.wasm, a Response, its bytes or a WebAssembly.Module");
}

// Chromium refuses to start a module of this size at once on the main thread of a page.
async function start() {
  if (instance) return;
  const made = await WebAssembly.instantiate(compiled, {});
  if (!instance) use(made);
}

function use(made) {
  instance = made;
  generation += 1;
}

async function compileResponse(response) {
  if (!response.ok) throw new InternalError(`${response.url} cannot be loaded: ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}

function library() {
  if (!instance) {
    compiled ??= loader?.();
    if (!(compiled instanceof WebAssembly.Module)) throw new InternalError("the library is not loaded: `await init()` comes first");
    use(startAtOnce());
  }
  return instance.exports;
}

function startAtOnce() {
  try {
    return new WebAssembly.Instance(compiled, {});
  } catch (error) {
    throw new InternalError("the library is not started: `await init()` comes first", {}, { cause: error });
  }
}

function readSlot(exports, slot) {
  const address = exports.averment_address(slot) >>> 0;
  return decoder.decode(new Uint8Array(exports.memory.buffer, address, exports.averment_length(slot) >>> 0));
}

function writeSlot(exports, slot, content) {
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  const address = exports.averment_open(slot, bytes.length) >>> 0;
  if (address === 0) throw new RangeError(`there is no memory for ${bytes.length} bytes`);
  new Uint8Array(exports.memory.buffer, address, bytes.length).set(bytes);
}

// After a trap nothing in the memory can be trusted: the instance is thrown away, and rules are compiled again when they are next asked.
function inLibrary(work) {
  const exports = library();
  try {
    return work(exports);
  } catch (trap) {
    instance = undefined;
    // For hosts that cannot start it at once. A failure shows in the next call.
    start().catch(() => {});
    let message = "";
    try {
      message = readSlot(exports, PANIC);
    } catch {
      // The memory is beyond reading, which the trap says well enough.
    }
    // Each engine has its words for a stack that is used up: a RangeError, or an InternalError of its own in Firefox.
    if (!message && /call stack|recursion/i.test(trap?.message)) throw new StackError("values or rules nest too deep for this host", {}, { cause: trap });
    throw new InternalError(message || `the evaluation broke down: ${trap?.message ?? trap}`, {}, { cause: trap });
  }
}

function exchange(name, number, settings, input) {
  return inLibrary((exports) => {
    writeSlot(exports, SETTINGS, settings);
    if (input !== undefined) writeSlot(exports, INPUT, input);
    const kind = number === undefined ? exports[name]() : exports[name](number);
    return { kind, text: readSlot(exports, ANSWER) };
  });
}

function callLibrary(name, number, settings, input) {
  let answer;
  try {
    answer = exchange(name, number, settings, input);
  } catch (error) {
    // What is nested so deep is no bug; of rules the command says `too-deep`.
    if (error instanceof StackError && number === undefined) throw new RulesError("the rules nest too deep", { help: "split them: give inner parts names" });
    throw error;
  }
  const { kind, text } = answer;
  if (kind === DONE || kind === UNKNOWN) return { kind, text };
  const data = JSON.parse(text);
  if (kind === RULES) throw new RulesError(data.message, data);
  if (kind === READ) throw new ReadError(`${data.file}:${data.line}:${data.column}: ${data.message}`, data);
  if (kind === GIVEN) throw new RulesError(data.message);
  throw new InternalError(data.message);
}

const OPTIONS = new Set([
  "files", "params", "tools", "limits", "onlyRules", "onlyCases", "onlyTags", "deny", "allowUndecided", "allowEmpty", "strict",
  "traceNames", "redact", "levels", "allLints",
]);

function settingsText(sources, options = {}) {
  for (const key of Object.keys(options)) {
    if (!OPTIONS.has(key)) throw new TypeError(`there is no option \`${key}\`; the options are: ${[...OPTIONS].join(", ")}`);
  }
  const { tools, ...others } = options;
  const settings = { sources: sources.map(([name, text]) => [asText(name, "the name"), asText(text, "the text of rules")]) };
  for (const [key, value] of Object.entries(others)) if (value !== undefined) settings[key] = value;
  if (tools !== undefined) settings.tools = [["tools.json", typeof tools === "string" ? tools : JSON.stringify(tools)]];
  return JSON.stringify(settings);
}

function asText(value, what) {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return new TextDecoder("utf-8", { fatal: true }).decode(value);
  throw new TypeError(`${what} is a string, not ${describeType(value)}`);
}

function describeType(value) {
  if (value === null) return "null";
  return typeof value === "object" ? (value.constructor?.name ?? "an object") : typeof value;
}

// What JSON would leave out or change without a word is refused: a rule would take it for missing.
function plainMember(key, value) {
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`\`${key}\` is ${value}, which JSON does not have`);
  if (typeof value === "bigint") throw new TypeError(`\`${key}\` is a bigint, which JSON does not have: write it as a number or a text`);
  if (value instanceof Map) throw new TypeError(`\`${key}\` is a Map: write it with Object.fromEntries`);
  if (value instanceof Set) throw new TypeError(`\`${key}\` is a Set: write it with Array.from`);
  return value;
}

function runContent(run) {
  if (typeof run === "string") return { content: run, usual: "<text>" };
  if (run instanceof Uint8Array) return { content: run, usual: "<text>" };
  if (run instanceof ArrayBuffer) return { content: new Uint8Array(run), usual: "<text>" };
  if (run === null || typeof run !== "object" || run instanceof Promise) {
    throw new TypeError(`a run is an object, a list of messages, JSON text or bytes, not ${describeType(run)}`);
  }
  try {
    return { content: JSON.stringify(run, plainMember), usual: "<run>" };
  } catch (error) {
    if (error instanceof RangeError) throw new ReadError("the values of the run nest too deep", { file: "<run>", line: 1, column: 1 });
    throw error;
  }
}

const FINDINGS = new Set(["failed", "unexpected-passed", "vacuous", "undecided", "error"]);

/** What the rules say of one run: the members of an element of `runs` in `aver check --format json`. */
export class Outcome {
  constructor(data) {
    Object.assign(this, data);
  }

  /** The results that are worth a look: all but those that passed and those that were skipped. */
  get findings() {
    return this.results.filter((one) => FINDINGS.has(one.status));
  }

  /** The results that fail. */
  get failures() {
    return this.results.filter((one) => one.status === "failed" || one.status === "unexpected-passed" || one.status === "error");
  }

  /** Why the run does not satisfy the rules, a line for each finding; empty where there is none. */
  get reason() {
    const line = (one) => `${one.id}: ${one.verdict}: ${one.message ?? (one.reason || "it passes, and a failure is expected")}`;
    return this.findings.map(line).join("\n");
  }

  /**
   * Whether the run satisfies the rules. That is more than `passed`: at least one assertion has to be exercised and to hold, and none of
   * severity `error` may be vacuous or undecided, whatever rules and options allow. `allow` names what may be.
   */
  isSatisfied({ allow = [] } = {}) {
    const unknown = allow.find((word) => word !== "vacuous" && word !== "undecided");
    if (unknown !== undefined) throw new TypeError(`\`allow\` takes "vacuous" and "undecided", not ${JSON.stringify(unknown)}`);
    const refused = ["vacuous", "undecided", "error"].filter((word) => !allow.includes(word));
    const holds = this.results.some((one) => one.status === "passed" || one.status === "expected-failed");
    return this.passed && holds && !this.results.some((one) => one.severity === "error" && refused.includes(one.status));
  }
}

const forgotten = new FinalizationRegistry(forgetRules);
const endedGuards = new FinalizationRegistry(forgetGuard);

function forgetGuard({ number, generation: made }) {
  if (instance && made === generation) instance.exports.averment_guard_forget(number);
}

function forgetRules({ number, generation: made }) {
  if (instance && made === generation) instance.exports.averment_forget(number);
}

/** Compiled rules, which judge any number of runs. */
export class Rules {
  #settings;
  #kept;
  #data;

  constructor(settings) {
    if (typeof settings !== "string") throw new TypeError("rules are made by `Rules.fromText` and `Rules.fromTexts`");
    this.#settings = settings;
    this.#compile();
    forgotten.register(this, this.#kept, this);
  }

  /** Compiles one text. `name` stands in messages and places. */
  static fromText(name, text, options) {
    return new Rules(settingsText([[name, text]], options));
  }

  /** Compiles several texts to one set of rules: an object from names to texts. */
  static fromTexts(texts, options) {
    return new Rules(settingsText(Object.entries(texts), options));
  }

  #compile() {
    const data = JSON.parse(callLibrary("averment_compile", undefined, this.#settings).text);
    // The registry holds this object, so that it knows of rules that were compiled again.
    this.#kept = Object.assign(this.#kept ?? {}, { number: data.rules, generation });
    this.#data ??= { assertions: data.assertions, diagnostics: data.diagnostics };
  }

  // Their number, compiled again where a trap has ended the instance that they were in.
  #number() {
    if (this.#kept === undefined) throw new TypeError("the rules were freed");
    if (this.#kept.generation !== generation || !instance) this.#compile();
    return this.#kept.number;
  }

  #ask(name, run, options = {}) {
    const { content, usual } = runContent(run);
    const { kind, text } = callLibrary(name, this.#number(), options.name ?? usual, content);
    if (kind === UNKNOWN) throw new InternalError("the rules are lost");
    return JSON.parse(text);
  }

  static beginGuard(rules, mode) {
    if (!(rules instanceof Rules)) throw new TypeError(`a guard takes rules, not ${describeType(rules)}`);
    const { text } = callLibrary("averment_guard", rules.#number(), asText(mode, "the mode"));
    return { number: JSON.parse(text).guard, generation };
  }

  /** Judges one run: an object, a list of messages, JSON text or bytes, in any format that `aver check` knows. */
  check(run, options) {
    return new Outcome(this.#ask("averment_check", run, options));
  }

  /** Judges all runs of a trace. Those that cannot be read stand in `unreadable`. */
  checkAll(trace, options) {
    const { runs, unreadable } = this.#ask("averment_check_all", trace, options);
    return { runs: runs.map((data) => new Outcome(data)), unreadable };
  }

  /** How each verdict came about: as text and as data. */
  explain(run, options) {
    return this.#ask("averment_explain", run, options);
  }

  /** Runs the `test` blocks of the rules. */
  runTests() {
    return this.#ask("averment_run_tests", "");
  }

  /** The assertions, in the order of the rules. */
  get assertions() {
    return this.#data.assertions;
  }

  /** Warnings and remarks of the compiler. */
  get diagnostics() {
    return this.#data.diagnostics;
  }

  /** Gives back the memory at once. Without it that happens when the rules are collected. */
  free() {
    if (this.#kept === undefined) return;
    forgotten.unregister(this);
    forgetRules(this.#kept);
    this.#kept = undefined;
  }
}

/** A session of an agent that is held to rules, call by call. */
export class Guard {
  #kept;

  constructor(rules, { mode = "enforce" } = {}) {
    this.#kept = Rules.beginGuard(rules, mode);
    endedGuards.register(this, this.#kept, this);
  }

  /** Asks whether a call may be made: `{ id, tool, args, agent }`. It counts as made unless it is denied. */
  propose(call) {
    return this.#decide("propose", call);
  }

  /** Tells what a call gave back: `{ id, tool, result }`, or `error` in place of `result`. */
  result(end) {
    return this.#decide("result", end);
  }

  /** Tells what somebody said: `{ role, text }`. */
  message(message) {
    return this.#decide("message", message);
  }

  /** Asks whether the agent may stop. `held` says that it was held back before: then it stops. */
  stop({ held = false } = {}) {
    return this.#decide("stop", { held });
  }

  /** The session so far: the text of a run that goes on. */
  get trace() {
    return this.#ask("averment_guard_trace", "").text;
  }

  /** Gives back the memory at once. Without it that happens when the guard is collected. */
  free() {
    if (this.#kept === undefined) return;
    endedGuards.unregister(this);
    forgetGuard(this.#kept);
    this.#kept = undefined;
  }

  #decide(event, given) {
    const { content } = runContent({ [event]: given });
    const said = JSON.parse(this.#ask("averment_guard_ask", String(Date.now()), content).text);
    const { decision, reason = "", held = false } = said;
    return { decision, reason, held, allowed: decision === "pass" || decision === "warn" || (decision === "error" && !held) };
  }

  // A session whose instance has ended is lost. Whoever asks it is told, and makes no call.
  #ask(name, settings, input) {
    if (this.#kept === undefined) throw new TypeError("the guard was freed");
    const isThere = instance && this.#kept.generation === generation;
    const answer = isThere ? callLibrary(name, this.#kept.number, settings, input) : { kind: UNKNOWN };
    if (answer.kind === UNKNOWN) throw new InternalError("the session is lost: begin another one");
    return answer;
  }
}

/** What the compiler and the linter say of a text: the list `diagnostics` of `aver lint --format json`. */
export function lint(name, text, options) {
  return JSON.parse(callLibrary("averment_lint", undefined, settingsText([[name, text]], options)).text);
}

/** A text of rules as `aver fmt` writes it. */
export function format(name, text) {
  return callLibrary("averment_format", undefined, asText(name, "the name"), asText(text, "the text of rules")).text;
}
