// The library in browsers and bundlers: `await init()` comes first, because they load nothing at once.
import { init as initFrom } from "./core.mjs";

export { AvermentError, RulesError, ReadError, InternalError, Guard, Outcome, Rules, lint, format } from "./core.mjs";

export function init(source = new URL("./averment.wasm", import.meta.url)) {
  return initFrom(source);
}
