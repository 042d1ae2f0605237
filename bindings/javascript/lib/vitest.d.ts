import "vitest";
import type { RulesMatchers } from "./matchers";

declare module "vitest" {
  interface Assertion<T = any> extends RulesMatchers<void> {}
  interface AsymmetricMatchersContaining extends RulesMatchers {}
}
