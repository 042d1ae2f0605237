// In `setupFilesAfterEnv` of jest.
"use strict";
const { expect } = require("@jest/globals");
const { toSatisfyRules } = require("./matchers.cjs");

expect.extend({ toSatisfyRules });
