//! From the checked module to a program: expressions become code, patterns and statements get numbers.

mod constants;
mod expr;
mod patterns;

use crate::bytecode::program::{
    self, CodeId, CompiledCheck, CompiledMember, Program, ProgramSource, TemporalEntry, TemporalId,
};
use averment_base::source::{SourceMap, Span};
use averment_checker::ir::{self, AssertionSettings, CheckedModule, OperandTranslator, ToolClaim, ToolFact, TypedExpr};
use constants::ConstantPool;

/// Compiles a module that the checker found good. `sources` are embedded: reports quote them, and a later version recompiles them.
#[must_use]
pub fn compile(module: &CheckedModule, sources: &SourceMap) -> Program {
    let mut compiler = ProgramCompiler::new(module, sources);
    compiler.compile_definitions(module);
    compiler.compile_facts(module);
    for assertion in &module.assertions {
        let assertion = compiler.compile_assertion(assertion);
        compiler.program.assertions.push(assertion);
    }
    compiler.into_program()
}

struct ProgramCompiler {
    program: Program,
    constants: ConstantPool,
    bindings: Vec<String>,
    /// First pattern of the current assertion; equal patterns after it share a number.
    first_pattern: usize,
}

impl ProgramCompiler {
    fn new(module: &CheckedModule, sources: &SourceMap) -> Self {
        let program = Program {
            sources: sources
                .iter()
                .map(|(_, file)| ProgramSource { name: file.name.clone(), text: file.text.to_string() })
                .collect(),
            params: module.params.clone(),
            regexes: module.regexes.clone(),
            schemas: module.schemas.clone(),
            tools: module.tools.clone(),
            rules: module.rules.clone(),
            suites: module.suites.clone(),
            classifiers: module.classifiers.clone(),
            tests: module.tests.iter().map(compile_test).collect(),
            ..Program::default()
        };
        Self { program, constants: ConstantPool::default(), bindings: Vec::new(), first_pattern: 0 }
    }

    fn into_program(mut self) -> Program {
        (self.program.constants, self.program.names) = self.constants.into_tables();
        self.program
    }

    fn compile_definitions(&mut self, module: &CheckedModule) {
        for value in &module.lets {
            let code = self.translate_code(&value.value, 0);
            self.program.lets.push(code);
        }
        for def in &module.defs {
            let code = self.translate_code(&def.body, def.parameters);
            self.program.defs.push(program::CompiledDef { name: def.name.clone(), parameters: def.parameters, code });
        }
    }

    fn compile_facts(&mut self, module: &CheckedModule) {
        for fact in &module.tool_facts {
            let says = match &fact.says {
                ToolClaim::Fails(condition) => ToolClaim::Fails(self.translate_code(condition, 0)),
                ToolClaim::Tagged(tags) => ToolClaim::Tagged(tags.clone()),
                ToolClaim::Named(name) => ToolClaim::Named(name.clone()),
            };
            self.program.tool_facts.push(ToolFact { tools: fact.tools.clone(), says });
        }
    }

    fn compile_codes(&mut self, exprs: &[TypedExpr]) -> Vec<CodeId> {
        exprs.iter().map(|expr| self.translate_code(expr, 0)).collect()
    }

    fn compile_assertion(&mut self, assertion: &ir::CheckedAssertion) -> program::CompiledAssertion {
        self.bindings.clone_from(&assertion.bindings);
        self.first_pattern = self.program.patterns.len();
        program::CompiledAssertion {
            id: assertion.id.clone(),
            rule: assertion.rule,
            text: assertion.text.clone(),
            span: assertion.span,
            settings: self.compile_settings(&assertion.settings),
            check: self.compile_check(&assertion.check, assertion.span),
        }
    }

    fn compile_settings(&mut self, settings: &AssertionSettings<TypedExpr>) -> AssertionSettings<CodeId> {
        AssertionSettings {
            weight: settings.weight,
            severity: settings.severity,
            must: settings.must,
            threshold: settings.threshold,
            message: settings.message.as_ref().map(|message| self.translate_code(message, 0)),
            metric: settings.metric.clone(),
            class: settings.class.clone(),
            classifiers: settings.classifiers.clone(),
            tags: settings.tags.clone(),
            when: self.compile_codes(&settings.when),
            expect_fail: settings.expect_fail.clone(),
            over_runs: settings.over_runs,
            denied: settings.denied,
        }
    }

    fn compile_check(
        &mut self,
        check: &ir::AssertionCheck<ir::CheckedPattern, TypedExpr>,
        span: Span,
    ) -> CompiledCheck {
        match check {
            ir::AssertionCheck::Expression(expr) => CompiledCheck::Expression(self.translate_code(expr, 0)),
            ir::AssertionCheck::Temporal(temporal) => CompiledCheck::Temporal(self.compile_temporal(temporal, span)),
            ir::AssertionCheck::Not(inner) => CompiledCheck::Not(Box::new(self.compile_check(inner, span))),
            ir::AssertionCheck::Group { kind, members } => {
                CompiledCheck::Group { kind: *kind, members: self.compile_members(members) }
            }
            ir::AssertionCheck::Scoped { scope, body } => CompiledCheck::Scoped {
                scope: scope.translated(self),
                bindings: to_number(self.bindings.len()),
                body: Box::new(self.compile_check(body, span)),
            },
            ir::AssertionCheck::World(world) => CompiledCheck::World(self.compile_world(world)),
            ir::AssertionCheck::OverRuns(over) => {
                CompiledCheck::OverRuns(Box::new(over.map_exprs(|expr, given| self.translate_code(expr, given))))
            }
        }
    }

    fn compile_members(&mut self, members: &[ir::GroupMember<ir::CheckedPattern, TypedExpr>]) -> Vec<CompiledMember> {
        members
            .iter()
            .map(|member| CompiledMember {
                span: member.span,
                weight: member.weight,
                when: self.compile_codes(&member.when),
                check: self.compile_check(&member.check, member.span),
            })
            .collect()
    }

    fn compile_temporal(&mut self, temporal: &ir::Temporal<ir::CheckedPattern, TypedExpr>, span: Span) -> TemporalId {
        let temporal = temporal.translated(self);
        self.program.temporals.push(TemporalEntry {
            temporal,
            span,
            bindings: to_number(self.bindings.len()),
            binding_names: self.bindings.clone(),
        });
        TemporalId(to_number(self.program.temporals.len() - 1))
    }

    fn compile_world(&mut self, world: &ir::WorldCondition<TypedExpr>) -> ir::WorldCondition<CodeId> {
        match world {
            ir::WorldCondition::File { path, test, look } => ir::WorldCondition::File {
                path: self.translate_code(path, 0),
                test: self.translate_code(test, 1),
                look: *look,
            },
            ir::WorldCondition::Env { name, empty, negated } => {
                ir::WorldCondition::Env { name: name.clone(), empty: *empty, negated: *negated }
            }
            ir::WorldCondition::Tool { name, negated } => {
                ir::WorldCondition::Tool { name: name.clone(), negated: *negated }
            }
            ir::WorldCondition::Http { url, test } => {
                ir::WorldCondition::Http { url: self.translate_code(url, 0), test: self.translate_code(test, 1) }
            }
            ir::WorldCondition::Run { arguments, code } => {
                ir::WorldCondition::Run { arguments: self.compile_codes(arguments), code: *code }
            }
        }
    }
}

fn compile_test(test: &ir::RuleTest) -> program::CompiledTest {
    program::CompiledTest {
        name: test.name.clone(),
        expect: test.expect,
        rules: test.rules.clone(),
        run: test.run.clone(),
        run_file: test.run_file.clone(),
        span: test.span,
    }
}

/// Never overflows: the size of rule files is limited.
fn to_number(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
