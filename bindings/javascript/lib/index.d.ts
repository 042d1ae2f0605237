/** What was found; `skipped` where the `when` of a rule is false. */
export type Verdict = "pass" | "fail" | "vacuous" | "undecided" | "error" | "skipped";
/** The verdict as it counts: a failure may be expected. */
export type Status =
  | "passed" | "failed" | "expected-failed" | "unexpected-passed" | "vacuous" | "undecided" | "error" | "skipped";
export type Severity = "error" | "warn" | "info";
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A run: an object in any known format, a list of messages, JSON text, or bytes. Text is never a path. */
export type Run = string | Uint8Array | ArrayBuffer | object;

export interface RulePlace {
  file: string;
  line: number;
  column: number;
}

/** Bytes of the trace. */
export interface TracePlace {
  line: number;
  start: number;
  end: number;
}

/** One thing that a verdict rests on. */
export interface Evidence {
  /** The step of the run, from 1. */
  step: number | null;
  /** JSON pointer into the normal form of the run; empty where it is no single value. */
  path: string;
  value: Json;
  source: TracePlace | null;
  role: "decisive" | "value" | "opening" | "closing" | "near-miss";
  label: string;
}

/** One step, pair of steps, element or value that fails an assertion. */
export interface Violation {
  step: number | null;
  source: TracePlace | null;
  reason: string;
  evidence: Evidence[];
}

/** The result of one assertion on a run. */
export interface AssertionResult {
  id: string;
  rule: string | null;
  text: string;
  verdict: Verdict;
  status: Status;
  score: number | null;
  weight: number;
  severity: Severity;
  message: string | null;
  /** Why, in words; empty for a pass. */
  reason: string;
  /** What an undecided result waits for. */
  because?: "open" | "owed" | "missing";
  class: { id: string; label: string | null } | null;
  tags: string[];
  location: RulePlace;
  /** The decisive piece first; empty for a pass. */
  evidence: Evidence[];
  violations: { count: number; truncated: boolean; list: Violation[] } | null;
  /** Steps that a pass says nothing of. */
  unjudged?: { count: number; of: number; things: string; reason: string };
  /** A statement over all runs decides instead. */
  rated?: true;
  /** What the other system says whose rule file it is. */
  own?: { system: string; verdict: string; score?: number };
}

export interface RuleResult {
  id: string;
  verdict: Verdict;
  passed: boolean;
  score: number | null;
  threshold: number | null;
}

export interface DiagnosticPlace extends RulePlace {
  end_line: number;
  end_column: number;
  /** Bytes of the file. */
  start: number;
  end: number;
}

/** One thing that the compiler or the linter says about rules. */
export interface Diagnostic {
  slug: string;
  severity: "error" | "warning" | "info";
  message: string;
  location: DiagnosticPlace;
  label: string;
  others: { text: string; location: DiagnosticPlace }[];
  help: string | null;
  fix: { title: string; edits: { location: DiagnosticPlace; text: string }[] } | null;
  witness: { run: string; verdict: string } | null;
}

/** An assertion of the rules, whatever the run. */
export interface Assertion extends RulePlace {
  id: string;
  rule: string | null;
  sentence: string | null;
  text: string;
  severity: Severity;
  weight: number;
  tags: string[];
  /** It speaks of all runs together: only `aver check` judges it. */
  ofAllRuns: boolean;
}

/** The result of a `test` block. */
export interface TestResult extends RulePlace {
  name: string;
  passed: boolean;
  reason: string;
  verdicts: Record<string, Verdict>;
}

export interface Limits {
  /** Begin with the smaller limits that suit rules of strangers. */
  foreign?: boolean;
  ruleFileBytes?: number;
  jsonDepth?: number;
  runBytes?: number;
  runMemory?: number;
  /** Instructions and matches for one assertion on one run. */
  fuel?: number;
  /** The same, for all assertions on one run. */
  runFuel?: number;
}

export interface RulesOptions {
  /** Texts of files that the rules name (imports, catalogues, schemas), by their paths. Nothing is read from a disk. */
  files?: Record<string, string>;
  /** Values of `param NAME: TYPE`. Durations, amounts and sizes are text as in rules: `"30s"`. */
  params?: Record<string, Json>;
  /** A catalogue: MCP `tools/list`, OpenAI tools, or names with schemas. */
  tools?: string | object;
  limits?: Limits;
  onlyRules?: string[];
  onlyCases?: string[];
  onlyTags?: string[];
  /** What fails a run beside failures. */
  deny?: ("vacuous" | "unjudged" | "unexercised" | "near-names" | "undecided")[];
  allowUndecided?: boolean;
  allowEmpty?: boolean;
  strict?: boolean;
  /** Names of the parts of a run in a format of your own, as TOML or JSON. */
  traceNames?: string;
  /** Paths whose values no outcome shows. */
  redact?: string[];
}

export interface LintOptions extends Pick<RulesOptions, "files" | "tools" | "limits"> {
  /** Levels of lints and families of lints. */
  levels?: Record<string, "allow" | "info" | "warn" | "error">;
  /** Also what is off by default. */
  allLints?: boolean;
}

export interface CheckOptions {
  /** The name of the run in messages. */
  name?: string;
}

export interface SatisfiedOptions {
  /** What may be among the results of severity `error`. At least one assertion has to hold all the same. */
  allow?: ("vacuous" | "undecided")[];
}

/** What the rules say of one run: an element of `runs` in `aver check --format json`. */
export declare class Outcome {
  private constructor();
  readonly run: string;
  /** Whether `aver check` passes the run. A run on which nothing was exercised passes, too. */
  readonly passed: boolean;
  /** Between 0 and 1; null where nothing counted. */
  readonly score: number | null;
  readonly named_scores: Record<string, number>;
  readonly results: AssertionResult[];
  readonly rules: RuleResult[];
  readonly warnings: { line: number; message: string }[];
  /** The results that are worth a look. */
  get findings(): AssertionResult[];
  /** The results that fail. */
  get failures(): AssertionResult[];
  /** A line for each finding. */
  get reason(): string;
  /** Whether the run passes, something was exercised, and nothing of severity `error` is vacuous or undecided. */
  isSatisfied(options?: SatisfiedOptions): boolean;
}

/** Compiled rules, which judge any number of runs. */
export declare class Rules {
  private constructor();
  /** Compiles one text. `name` stands in messages and places. */
  static fromText(name: string, text: string | Uint8Array, options?: RulesOptions): Rules;
  /** Compiles several texts to one set of rules: an object from names to texts. */
  static fromTexts(texts: Record<string, string | Uint8Array>, options?: RulesOptions): Rules;
  /** Judges one run. Throws a `ReadError` where it cannot be read, or is several. */
  check(run: Run, options?: CheckOptions): Outcome;
  /** Judges all runs of a trace. */
  checkAll(trace: Run, options?: CheckOptions): { runs: Outcome[]; unreadable: UnreadableRun[] };
  /** How each verdict came about: as `aver explain` prints it, and as its `--format json`. */
  explain(run: Run, options?: CheckOptions): { text: string; data: Json };
  /** Runs the `test` blocks of the rules. */
  runTests(): TestResult[];
  get assertions(): Assertion[];
  /** Warnings and remarks of the compiler. */
  get diagnostics(): Diagnostic[];
  /** Gives back the memory at once. */
  free(): void;
}

/** What a guard answers. */
export interface Decision {
  /** `continue` is an answer to `stop`: something is still owed. `error`: the request was not understood. */
  decision: "pass" | "warn" | "deny" | "continue" | "error";
  /** Why, for the model or the user to read; empty for a pass. */
  reason: string;
  /** Whether an `error` holds the call back: it does in the mode `enforce`. */
  held: boolean;
  /** Whether the call may be made, or the agent may stop. */
  allowed: boolean;
}

/** A call that an agent proposes. Each call of a session has an `id` of its own, by which its result is known. */
export interface ProposedCall {
  id?: string;
  tool: string;
  args?: object;
  /** The sub-agent that makes it. */
  agent?: string;
}

export interface GuardOptions {
  /** What becomes of a call that breaks a rule: it is denied, the user is told, or only the session says so. */
  mode?: "enforce" | "warn" | "log";
}

/** A session of an agent that is held to rules, in memory. It answers what `aver guard serve` answers. */
export declare class Guard {
  constructor(rules: Rules, options?: GuardOptions);
  /** Asks whether a call may be made. It counts as made unless it is denied. */
  propose(call: ProposedCall): Decision;
  /** Tells what a call gave back, or with `error` what went wrong. */
  result(end: { id?: string; tool: string; result?: unknown; error?: unknown }): Decision;
  /** Tells what somebody said. */
  message(message: { role: "user" | "assistant" | "system"; text: string }): Decision;
  /** Asks whether the agent may stop. `held` says that it was held back before: then it stops. */
  stop(options?: { held?: boolean }): Decision;
  /** The session so far: the text of a run that goes on. */
  get trace(): string;
  /** Gives back the memory at once. */
  free(): void;
}

export interface UnreadableRun extends RulePlace {
  message: string;
  help: string;
}

/** What the compiler and the linter say of a text; rules that do not compile are among it. */
export declare function lint(name: string, text: string | Uint8Array, options?: LintOptions): Diagnostic[];
/** A text of rules as `aver fmt` writes it. Throws a `RulesError` where it has mistakes. */
export declare function format(name: string, text: string | Uint8Array): string;
/** Loads and starts the library: needed once in browsers, harmless in Node. */
export declare function init(
  source?: string | URL | Response | ArrayBuffer | ArrayBufferView | WebAssembly.Module | Promise<Response>,
): Promise<void>;

/** The base of all errors of this package. */
export declare class AvermentError extends Error {
  readonly help?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}
/** Rules that do not compile, or something given with them that cannot be used. */
export declare class RulesError extends AvermentError {
  readonly diagnostics: Diagnostic[];
}
/** A run that cannot be read. */
export declare class ReadError extends AvermentError {}
/** A bug of the library, or not enough memory. The next call starts afresh; on the main thread of a page, `await init()` does. */
export declare class InternalError extends AvermentError {}
