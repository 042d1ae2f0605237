// Messages of the Vercel AI SDK. Model messages, messages of pages and the result of `generateText` or `streamText` are judged as they are.

const isMessage = (one) => one !== null && typeof one === "object" && typeof one.role === "string";

// The messages of a result; those of a stream are promises.
async function responseMessages(result) {
  const response = await result.response;
  if (Array.isArray(response?.messages)) return response.messages;
  throw new TypeError("the result has no `response.messages`: give that of `generateText` or `streamText`, or messages");
}

/** The run: `prompt` are the messages, or the text, that the model was given. */
export async function messagesOf(given, { prompt = [] } = {}) {
  const before = typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt;
  const behind = Array.isArray(given) ? given : await responseMessages((await given) ?? {});
  const messages = [...before, ...behind];
  const wrong = messages.findIndex((one) => !isMessage(one));
  if (wrong >= 0) throw new TypeError(`message ${wrong + 1} has no role: give messages of the AI SDK`);
  return messages;
}

/** Judges messages or a result of the AI SDK. `passed` is true only where the run satisfies the rules. */
export async function evaluateMessages(rules, given, options = {}) {
  const { prompt, allow, name } = options;
  const outcome = rules.check(await messagesOf(given, { prompt }), name === undefined ? undefined : { name });
  const passed = outcome.isSatisfied({ allow });
  const reason = passed ? "" : outcome.reason || "no assertion was exercised";
  return { passed, score: outcome.score, reason, outcome };
}

/** An evaluator of these rules, for tools that take a function. */
export function createEvaluator(rules, options = {}) {
  return (given, more = {}) => evaluateMessages(rules, given, { ...options, ...more });
}
