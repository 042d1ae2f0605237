//! Generates inputs for the calls of invariants: `call add generate { a: integer 0..9 } cases 50 seed 7`.
//!
//! A seed yields equal inputs on every machine and in every version, and they equal those of Wallfacer. Case 0 is at the limit of the allowed values;
//! all others are random. Nothing is called here: the caller sends these inputs to a tool, and the recording is judged.

mod random;
mod schema;
mod size;
mod smaller;
#[cfg(test)]
mod tests;
mod tools;
mod value;

use averment_base::diagnostic::{Diagnostic, Diagnostics, Slug};
use averment_base::limits::Limits;
use averment_base::source::Span;
use averment_checker::ir::{CheckedModule, GeneratedCall, InputsSpec, SeedNamePart, ValueSpec};
use averment_engine::bytecode::program::Program;
use random::CaseRandom;
use schema::ArgumentMaker;
use serde_json::{Map, Value};
use std::rc::Rc;

/// The placeholder for the name of a tool if no tools are known.
pub const ANY_TOOL: &str = "{{tool_name}}";

/// The inputs of one call of an invariant, for one tool.
#[derive(Debug)]
pub struct CallInputs {
    /// The id of the invariant.
    pub invariant: String,
    /// The tool, or [`ANY_TOOL`].
    pub tool: String,
    /// Number of cases, from the rules.
    pub cases: u32,
    /// The seed for all cases, from the rules.
    pub seed: u64,
    /// The name that is combined with the seed.
    pub seed_name: String,
    made_by: InputSource,
    call: GeneratedCall,
}

#[derive(Debug)]
enum InputSource {
    Arguments(Vec<(String, ValueSpec)>),
    Schema(Rc<ArgumentMaker>),
}

/// One input.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedInput {
    /// Identifies the inputs: the first eight bytes of their random stream.
    pub seed: u64,
    /// The arguments.
    pub arguments: Map<String, Value>,
}

/// The inputs that rules request.
#[derive(Debug, Default)]
pub struct FoundInputs {
    /// The inputs, in the order of the rules and of the catalog.
    pub inputs: Vec<CallInputs>,
    /// Tools without a schema to generate inputs from: the location of the request in the rules, and the name of the tool.
    pub without_schema: Vec<(Span, String)>,
    /// Diagnostics; an error means that an invariant has no inputs.
    pub said: Diagnostics,
}

/// Returns the inputs that checked rules request, for the invariants whose ids `chosen` accepts. `program` is compiled from the same module and has
/// values for its parameters; the tools are those that the module knows.
#[must_use]
pub fn find_inputs(
    module: &CheckedModule,
    program: &Program,
    limits: &Limits,
    chosen: impl Fn(&str) -> bool,
) -> FoundInputs {
    let mut found = FoundInputs::default();
    let id = |call: &GeneratedCall| module.rules.get(call.rule as usize).map_or("", |rule| rule.id.as_str());
    let calls: Vec<&GeneratedCall> = module.inputs.iter().filter(|call| chosen(id(call))).collect();
    let mut fitting = tools::ToolFitting::new(module, program, limits);
    let mut makers = schema::ArgumentMakers::new(module, limits);
    for call in calls {
        if let InputsSpec::Arguments(arguments) = &call.inputs {
            size::check_sizes(arguments, call.span, &mut found.said);
        }
        for tool in fitting.fitting_tools(call, &mut found.said) {
            let made_by = match &call.inputs {
                InputsSpec::Arguments(arguments) => {
                    let mut arguments = arguments.clone();
                    arguments.sort_by(|(one, _), (other, _)| one.cmp(other));
                    Some(InputSource::Arguments(arguments))
                }
                InputsSpec::Schema(span) => makers.tool_maker(&tool, *span, &mut found.said).map(InputSource::Schema),
            };
            let Some(made_by) = made_by else {
                found.without_schema.push((call.span, tool));
                continue;
            };
            let seed_name = call.seed_name.iter().map(|part| match part {
                SeedNamePart::Text(text) => text.as_str(),
                SeedNamePart::Tool => tool.as_str(),
            });
            let seed_name = seed_name.collect();
            let (cases, seed, invariant) = (call.cases, call.seed, id(call).to_owned());
            found.inputs.push(CallInputs { invariant, tool, cases, seed, seed_name, made_by, call: call.clone() });
        }
    }
    found
}

impl CallInputs {
    /// Returns the location of the request in the rules: the name of the tool, or the word for each tool.
    #[must_use]
    pub fn call_span(&self) -> Span {
        self.call.span
    }

    /// Returns the input of a case for a seed; it is deterministic.
    ///
    /// # Errors
    /// If no input that satisfies the tool's schema was found; the diagnostic is located at the request in the rules.
    pub fn case_input(&self, seed: u64, case: u32) -> Result<GeneratedInput, Box<Diagnostic>> {
        let mut random = CaseRandom::new(seed, &self.seed_name, u64::from(case));
        let arguments = match &self.made_by {
            InputSource::Arguments(arguments) => {
                let values = arguments.iter().map(|(name, spec)| {
                    let value =
                        if case == 0 { value::border_value(spec) } else { value::random_value(spec, &mut random) };
                    (name.clone(), value)
                });
                values.collect()
            }
            InputSource::Schema(maker) => {
                maker.make_arguments(&mut random, case == 0).ok_or_else(|| Box::new(self.no_input(case)))?
            }
        };
        Ok(GeneratedInput { seed: random.case_seed(), arguments })
    }

    fn no_input(&self, case: u32) -> Diagnostic {
        let span = match &self.call.inputs {
            InputsSpec::Schema(span) => *span,
            InputsSpec::Arguments(_) => self.call.span,
        };
        let message =
            format!("for case {case} no arguments were found that the schema of the tool `{}` allows", self.tool);
        Diagnostic::new(Slug::BadSchema, span, message)
            .with_help("say what they are: `generate { a: integer 0..9, b: string 1..20 } cases 50 seed 7`")
    }
}
