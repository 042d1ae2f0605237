import type { Outcome, Rules, SatisfiedOptions } from "./index";

/** Messages of the AI SDK (model messages or messages of pages), or the result of `generateText` or `streamText`. */
export type Given = readonly object[] | { response: unknown } | PromiseLike<readonly object[] | { response: unknown }>;

export interface EvaluateOptions extends SatisfiedOptions {
  /** What the model was given: its prompt, or its messages. */
  prompt?: string | readonly object[];
  /** The name of the run in messages. */
  name?: string;
}

export interface Evaluation {
  /** Whether the run satisfies the rules: vacuous and undecided do not count. */
  passed: boolean;
  score: number | null;
  reason: string;
  outcome: Outcome;
}

/** The messages that are judged. */
export declare function messagesOf(given: Given, options?: { prompt?: string | readonly object[] }): Promise<object[]>;
/** Judges messages or a result. */
export declare function evaluateMessages(rules: Rules, given: Given, options?: EvaluateOptions): Promise<Evaluation>;
/** An evaluator of these rules, for tools that take a function. */
export declare function createEvaluator(
  rules: Rules,
  options?: EvaluateOptions,
): (given: Given, more?: EvaluateOptions) => Promise<Evaluation>;
