import type { Rules, SatisfiedOptions } from "./index";

export interface RulesMatchers<R = unknown> {
  /** The run passes, at least one assertion holds, and none of severity `error` is vacuous or undecided. */
  toSatisfyRules(rules: Rules, options?: SatisfiedOptions): R;
}

export declare function toSatisfyRules(
  this: { isNot?: boolean },
  run: unknown,
  rules: Rules,
  options?: SatisfiedOptions,
): { pass: boolean; message: () => string };
