//! From the checked module to a program: expressions become code, patterns and statements get numbers.

mod constants;
mod expr;
mod patterns;

use crate::bytecode::program::{self, Check, CodeId, Member, Program, ProgramSource, TemporalEntry, TemporalId};
use crate::ir::{self, Expr, Module, Settings, ToolFact, ToolSays, Translate};
use averment_base::source::{SourceMap, Span};
use constants::ConstantPool;

/// Compiles a module that the checker found good. `sources` are embedded: reports quote them, and a later version recompiles them.
#[must_use]
pub fn compile(module: &Module, sources: &SourceMap) -> Program {
    let mut compiler = Compiler::new(module, sources);
    compiler.definitions(module);
    compiler.facts(module);
    for assertion in &module.assertions {
        let assertion = compiler.assertion(assertion);
        compiler.program.assertions.push(assertion);
    }
    compiler.finish()
}

/// The program that is being written.
struct Compiler {
    program: Program,
    constants: ConstantPool,
    /// The names of the bindings of the assertion in work.
    bindings: Vec<String>,
    /// The first pattern of the assertion in work: equal patterns behind it share a number.
    first_pattern: usize,
}

impl Compiler {
    fn new(module: &Module, sources: &SourceMap) -> Self {
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
            tests: module.tests.iter().map(test).collect(),
            ..Program::default()
        };
        Self { program, constants: ConstantPool::default(), bindings: Vec::new(), first_pattern: 0 }
    }

    fn finish(mut self) -> Program {
        (self.program.constants, self.program.names) = self.constants.into_tables();
        self.program
    }

    fn definitions(&mut self, module: &Module) {
        for value in &module.lets {
            let code = self.code(&value.value, 0);
            self.program.lets.push(code);
        }
        for def in &module.defs {
            let code = self.code(&def.body, def.parameters);
            self.program.defs.push(program::Def { name: def.name.clone(), parameters: def.parameters, code });
        }
    }

    fn facts(&mut self, module: &Module) {
        for fact in &module.tool_facts {
            let says = match &fact.says {
                ToolSays::Fails(condition) => ToolSays::Fails(self.code(condition, 0)),
                ToolSays::Tagged(tags) => ToolSays::Tagged(tags.clone()),
                ToolSays::Named(name) => ToolSays::Named(name.clone()),
            };
            self.program.tool_facts.push(ToolFact { tools: fact.tools.clone(), says });
        }
    }

    fn codes(&mut self, exprs: &[Expr]) -> Vec<CodeId> {
        exprs.iter().map(|expr| self.code(expr, 0)).collect()
    }

    fn assertion(&mut self, assertion: &ir::Assertion) -> program::Assertion {
        self.bindings.clone_from(&assertion.bindings);
        self.first_pattern = self.program.patterns.len();
        program::Assertion {
            id: assertion.id.clone(),
            rule: assertion.rule,
            text: assertion.text.clone(),
            span: assertion.span,
            settings: self.settings(&assertion.settings),
            check: self.check(&assertion.check, assertion.span),
        }
    }

    fn settings(&mut self, settings: &Settings<Expr>) -> Settings<CodeId> {
        Settings {
            weight: settings.weight,
            severity: settings.severity,
            must: settings.must,
            threshold: settings.threshold,
            message: settings.message.as_ref().map(|message| self.code(message, 0)),
            metric: settings.metric.clone(),
            class: settings.class.clone(),
            classifiers: settings.classifiers.clone(),
            tags: settings.tags.clone(),
            when: self.codes(&settings.when),
            expect_fail: settings.expect_fail.clone(),
            over_runs: settings.over_runs,
            denied: settings.denied,
        }
    }

    fn check(&mut self, check: &ir::Check<ir::Pattern, Expr>, span: Span) -> Check {
        match check {
            ir::Check::Expression(expr) => Check::Expression(self.code(expr, 0)),
            ir::Check::Temporal(temporal) => Check::Temporal(self.temporal(temporal, span)),
            ir::Check::Not(inner) => Check::Not(Box::new(self.check(inner, span))),
            ir::Check::Group { kind, members } => Check::Group { kind: *kind, members: self.members(members) },
            ir::Check::Scoped { scope, body } => Check::Scoped {
                scope: scope.translated(self),
                bindings: number(self.bindings.len()),
                body: Box::new(self.check(body, span)),
            },
            ir::Check::World(world) => Check::World(self.world(world)),
            ir::Check::OverRuns(over) => Check::OverRuns(Box::new(over.map(|expr, given| self.code(expr, given)))),
        }
    }

    fn members(&mut self, members: &[ir::Member<ir::Pattern, Expr>]) -> Vec<Member> {
        members
            .iter()
            .map(|member| Member {
                span: member.span,
                weight: member.weight,
                when: self.codes(&member.when),
                check: self.check(&member.check, member.span),
            })
            .collect()
    }

    fn temporal(&mut self, temporal: &ir::Temporal<ir::Pattern, Expr>, span: Span) -> TemporalId {
        let temporal = temporal.translated(self);
        self.program.temporals.push(TemporalEntry {
            temporal,
            span,
            bindings: number(self.bindings.len()),
            binding_names: self.bindings.clone(),
        });
        TemporalId(number(self.program.temporals.len() - 1))
    }

    fn world(&mut self, world: &ir::World<Expr>) -> ir::World<CodeId> {
        match world {
            ir::World::File { path, test, look } => {
                ir::World::File { path: self.code(path, 0), test: self.code(test, 1), look: *look }
            }
            ir::World::Env { name, empty, negated } => {
                ir::World::Env { name: name.clone(), empty: *empty, negated: *negated }
            }
            ir::World::Tool { name, negated } => ir::World::Tool { name: name.clone(), negated: *negated },
            ir::World::Http { url, test } => ir::World::Http { url: self.code(url, 0), test: self.code(test, 1) },
            ir::World::Run { arguments, code } => ir::World::Run { arguments: self.codes(arguments), code: *code },
        }
    }
}

fn test(test: &ir::Test) -> program::Test {
    program::Test {
        name: test.name.clone(),
        expect: test.expect,
        rules: test.rules.clone(),
        run: test.run.clone(),
        run_file: test.run_file.clone(),
        span: test.span,
    }
}

/// A position as a number of the program. Rule files are limited in size, so that it always fits.
fn number(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}
