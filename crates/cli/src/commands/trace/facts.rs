//! Applies the project's facts about tools to displayed runs, so that they show the call statuses that `aver check` sees.

use super::super::console::ColorChoice;
use super::super::exit::CommandError;
use super::super::rules;
use averment_base::limits::Limits;
use averment_engine::bytecode::program::Program;
use averment_engine::vm::machine::Machine;
use averment_engine::vm::prepare::PreparedProgram;
use averment_ide::project::Project;
use averment_runs::run::Run;
use bumpalo::Bump;

/// Facts about tools, as a program without rules.
pub(super) struct ToolFacts {
    program: Program,
    prepared: PreparedProgram,
    limits: Limits,
}

impl ToolFacts {
    /// Loads a project's facts about tools; `None` without any.
    pub(super) fn of_project(
        project: Option<&Project>,
        limits: Limits,
        color: ColorChoice,
    ) -> Result<Option<Self>, CommandError> {
        let tools = rules::project_tools(project, limits)?;
        let name = project.map(|project| project.file.display().to_string()).unwrap_or_default();
        let program = if tools.is_empty() { None } else { rules::tools_program(&name, &tools, limits, color)? };
        Ok(program.map(|program| Self { prepared: PreparedProgram::new(&program), program, limits }))
    }

    pub(super) fn with_facts<'run, T>(
        &'run self,
        run: &'run Run<'run>,
        arena: &'run Bump,
        look: impl FnOnce(&Run<'run>) -> T,
    ) -> T {
        let judged = Machine::new(&self.program, &self.prepared, run, arena, self.limits).judged_run();
        look(&Run {
            text: run.text,
            source: run.source.clone(),
            format: run.format,
            concludes_ok: run.concludes_ok,
            id: run.id,
            object: judged.object,
            steps: judged.steps,
            order: run.order,
            recorded: run.recorded,
            complete: run.complete,
            records: run.records,
            warnings: run.warnings.clone(),
            withheld: run.withheld.clone(),
            priced: run.priced.clone(),
        })
    }
}
