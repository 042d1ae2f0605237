// A conversation by the AI SDK itself, with a model that answers from a list.
import assert from "node:assert/strict";
import { generateText, jsonSchema, stepCountIs, tool } from "ai";
import * as mocks from "ai/test";
import { Rules } from "averment";
import { evaluateMessages } from "averment/ai-sdk";

const Model = mocks.MockLanguageModelV3 ?? mocks.MockLanguageModelV2;
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 }, totalTokens: 2 };
const call = (toolName, id) => ({ type: "tool-call", toolCallId: `${toolName}-${id}`, toolName, input: JSON.stringify({ id }) });
const answer = (...content) => ({ content, finishReason: { unified: "tool-calls", raw: "tool_calls" }, usage, warnings: [] });
const ended = { content: [{ type: "text", text: "Done." }], finishReason: { unified: "stop", raw: "stop" }, usage, warnings: [] };
const inputSchema = jsonSchema({ type: "object", properties: { id: { type: "string" } } });
const tools = Object.fromEntries(["approve", "refund"].map((name) => [name, tool({ inputSchema, execute: async () => ({ ok: true }) })]));
const rules = Rules.fromText("refunds.assert", "rule approval { before approve(id: $id) -> refund(id: $id) }");

async function converse(...names) {
  const answers = [...names.map((name) => answer(call(name, "o-1"))), ended];
  const model = new Model({ doGenerate: async () => answers.shift() });
  const prompt = "Refund order o-1.";
  const result = await generateText({ model, tools, prompt, stopWhen: stepCountIs(9) });
  return evaluateMessages(rules, result, { prompt });
}

const good = await converse("approve", "refund");
assert.deepEqual([good.passed, good.score, good.reason], [true, 1, ""]);
const bad = await converse("refund");
assert.equal(bad.passed, false);
assert.match(bad.reason, /approval.1: fail: refund at step 2, call 1 has no earlier approve/);
assert.equal((await converse()).passed, false);
console.log("ok: conversations of the AI SDK");
