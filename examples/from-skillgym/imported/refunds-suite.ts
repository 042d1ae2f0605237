import { assert, type Case, type SuiteWorkspaceConfig } from "skillgym";
import { looksBeforeItActs } from "./lib/checks.js";

export const workspace: SuiteWorkspaceConfig = {
  mode: "isolated",
  templateDir: "../live/template",
};

const suite: Case[] = [
  {
    id: "find-skill",
    prompt: "Which skill upgrades an Expo app?",
    tags: ["smoke", "skills"],
    assert(report, ctx) {
      assert.skills.has(report, "find-skills", { message: "the skill was to be used" });
      looksBeforeItActs(report, "npx skills find");
      assert.match(ctx.finalOutput(), /npx skills add/i);
    },
  },
  {
    id: "cheap",
    prompt: "Say only: ready to start",
    timeoutMs: 30_000,
    assert(report) {
      assert.ok(report.usage.totalTokens! < 5_000, "it was to be cheap");
      assert.commands.size(report, 0);
    },
  },
  {
    id: "report",
    prompt: "Write report.md.",
    async assert(report) {
      const text = await readFile("report.md", "utf8");
      assert.match(text, /done/);
      assert.output.includes(report, "report.md");
    },
  },
];

export default suite;
