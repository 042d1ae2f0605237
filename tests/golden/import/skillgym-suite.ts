// Every kind of assertion of a suite, and what is not followed.
import { assert, commandMatcher, type Case, type SuiteWorkspaceConfig } from "skillgym";

export const workspace: SuiteWorkspaceConfig = {
  mode: "isolated",
  templateDir: "./template",
  bootstrap: { command: "sh", args: ["./setup.sh", "demo"], timeoutMs: 60_000 },
};

const usesSkill = (report: SessionReport, name: string) => {
  assert.skills.has(report, name, { message: `it was to use ${name}` });
};

const suite: Case[] = [
  {
    id: "commands",
    prompt: "Run the tests.",
    tags: ["smoke", "commands"],
    timeoutMs: 30_000,
    assert(report) {
      assert.commands.includes(report, "npm test");
      assert.commands.notIncludes(report, /rm\s+-rf/);
      assert.commands.before(report, /npm (ci|install)/, "npm test");
      assert.commands.only(report, [/^npm /, /^git /]);
      assert.commands.atMost(report, "npm", 3);
      assert.commands.first(report, "npm ci");
      assert.commands.exactlyOne(report, commandMatcher("npm").arg("run").option("--workspace", /^app/).strict().build());
    },
  },
  {
    id: "reads and calls",
    prompt: "Look before you write.",
    async assert(report, ctx) {
      assert.fileReads.includes(report, /README\.md$/);
      assert.fileReads.size(report, 2);
      assert.toolCalls.has(report, { tool: "edit", where: (args) => args.path.endsWith(".md") && args.lines > 2 });
      assert.toolCalls.sequence(report, [{ tool: /^read$/ }, { tool: "edit" }]);
      usesSkill(report, "writing");
      assert.skills.only(report, ["writing", "testing"], { minConfidence: "strong" });
      if (report.runner.agent.type === "codex") {
        assert.ok(ctx.getCommands().some((one) => one.command.includes("apply_patch")));
      }
    },
  },
  {
    id: "answers",
    prompt: ["Answer", "in JSON."].join(" "),
    classifyFailure(result) {
      return /JSON/.test(result.error?.message ?? "") ? { id: "no-json", label: "No JSON" } : undefined;
    },
    assert(report) {
      assert.output.notEmpty(report);
      assert.soft.doesNotMatch(report.finalOutput, /sorry/i, "no excuses");
      assert.deepEqual(JSON.parse(report.finalOutput).items.length, 3);
      assert.classify("dear", () => assert.ok(report.usage.totalTokens! < 20_000 && report.durationMs! < 90_000));
    },
  },
  {
    id: "known",
    prompt: "Say what you cannot.",
    expectedFail: true,
    assert(report) {
      assert.output.notEmpty(report);
      assert.output.includes(report, "as you wish");
    },
  },
  {
    id: "by a program",
    prompt: "Write report.md.",
    async assert(report) {
      const text = await readFile("report.md", "utf8");
      assert.match(text, /done/);
      assert.output.includes(report, "report.md");
    },
  },
];

export default suite;
