// In `setupFiles` of vitest, or imported by a test.
import { expect } from "vitest";
import matchers from "./matchers.cjs";

expect.extend({ toSatisfyRules: matchers.toSatisfyRules });
