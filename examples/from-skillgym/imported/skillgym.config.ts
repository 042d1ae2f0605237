import type { SkillGymConfig } from "skillgym";

const config: SkillGymConfig = {
  run: { schedule: "isolated-by-runner", repeatFailure: 1 },
  defaults: { timeoutMs: 300_000 },
  snapshots: { tolerance: { percent: 10 } },
  runners: {
    claude: { agent: { type: "claude-code", model: "sonnet" } },
    codex: { agent: { type: "codex", model: "gpt-5", commandArgs: ["--yes"] } },
  },
};

export default config;
