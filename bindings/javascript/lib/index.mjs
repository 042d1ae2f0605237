// The same library for `import`: one copy, so that errors are of the same classes whichever way it was loaded.
import library from "./index.cjs";

export const { AvermentError, RulesError, ReadError, InternalError, Guard, Outcome, Rules, lint, format, init } = library;
