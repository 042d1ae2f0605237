import { assert, type SessionReport } from "skillgym";

export function looksBeforeItActs(report: SessionReport, command: string): void {
  assert.fileReads.includes(report, "SKILL.md");
  assert.commands.includes(report, command);
}
