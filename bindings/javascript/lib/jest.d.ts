import type { RulesMatchers } from "./matchers";

declare global {
  namespace jest {
    interface Matchers<R> extends RulesMatchers<R> {}
  }
}
declare module "expect" {
  interface Matchers<R extends void | Promise<void>> extends RulesMatchers<R> {}
}
