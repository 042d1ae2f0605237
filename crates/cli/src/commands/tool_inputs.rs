//! `aver inputs RULES`: prints the inputs with which invariants call tools.

use super::console::{ColorChoice, OutputStream, eprint_redacted};
use super::exit::{CommandError, Exit};
use super::{inputs, params, project, rules};
use averment::stages::load::LoadedRuleFile;
use averment_base::diagnostic::suggest::suggest_name;
use averment_base::diagnostic::{Diagnostic, Diagnostics};
use averment_base::limits::Limits;
use averment_base::source::{FileId, SourceMap, Span};
use averment_checker::CheckResult;
use averment_checker::ir::RuleRole;
use averment_engine::bytecode::program::{ForeignOrigin, Program};
use averment_testing::inputs::{CallInputs, FoundInputs, find_inputs};
use serde::Serialize;
use serde_json::{Map, Value};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver inputs calculator.assert > inputs.jsonl
  aver inputs pack.yaml --param tool=divide --cases 10
  aver inputs pack.yaml --tools tools.json --seed 42 --invariant pagination.limit

One line of JSON for each case: invariant, tool, case, seed, arguments. Case 0 is the
largest that is allowed, all others are random; the same seed gives the same inputs.
Nothing is called: ask the tools with them, record that, and let `aver check` judge it.

Exit codes: 0, 2 wrong usage or no generated inputs, 3 the rules or the bounds in them cannot be used")]
pub struct ToolInputsArgs {
    /// A rule file, a folder of them, or a pack of wallfacer; `-` for standard input
    #[arg(value_name = "RULES")]
    rules: PathBuf,
    /// The seed of all inputs [default: as the rules say; 0 in packs]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The number of inputs for each invariant [default: as the rules say; 100 in packs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    cases: Option<u32>,
    /// Use only this invariant
    #[arg(long, value_name = "NAME")]
    invariant: Vec<String>,
    /// One more catalogue of tools: the answer of `tools/list`, or a rule file
    #[arg(long, value_name = "FILE")]
    tools: Vec<PathBuf>,
    /// Set a parameter of the rules
    #[arg(long, value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Set parameters from a file with one JSON object
    #[arg(long, value_name = "FILE")]
    param_file: Vec<PathBuf>,
    #[command(flatten)]
    compat: rules::CompatFlag,
    #[command(flatten)]
    read: rules::ReadFlag,
    #[command(flatten)]
    project: project::ProjectArguments,
}

#[derive(Serialize)]
struct InputLine<'a> {
    invariant: &'a str,
    tool: &'a str,
    case: u32,
    seed: u64,
    arguments: Map<String, Value>,
}

struct RequestedInputs {
    name: String,
    sources: SourceMap,
    /// Maps source spans back to the file of another system.
    origin: Option<ForeignOrigin>,
    invariants: Vec<String>,
    found: FoundInputs,
}

/// Prints the inputs.
pub fn run_tool_inputs(arguments: &ToolInputsArgs, color: ColorChoice) -> Result<Exit, CommandError> {
    let asked = read_requests(arguments, color)?;
    check_invariants(arguments, &asked)?;
    let mut broken = false;
    for one in &asked {
        one.report_diagnostics(&one.found.said, color);
        broken |= one.found.said.has_errors();
    }
    if broken {
        return Err(CommandError::AlreadyReported(Exit::Rules));
    }
    if asked.iter().all(|one| one.found.inputs.is_empty()) {
        let names: Vec<String> = asked.iter().map(|one| format!("`{}`", one.name)).collect();
        let message = format!("no invariant in {} has generated inputs for a tool", names.join(", "));
        return Err(CommandError::usage(
            message,
            "write `call TOOL generate { a: integer 0..9 } cases 50 seed 7` in an invariant",
        ));
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    for one in &asked {
        for inputs in &one.found.inputs {
            if let Err(diagnostic) = write_cases(&mut out, inputs, arguments)? {
                out.flush()?;
                one.report_diagnostics(&Diagnostics(vec![*diagnostic]), color);
                return Err(CommandError::AlreadyReported(Exit::Rules));
            }
        }
    }
    out.flush()?;
    Ok(Exit::Holds)
}

/// Writes the cases of one invariant and tool. Stops at the first one that cannot be generated.
fn write_cases(
    out: &mut impl Write,
    inputs: &CallInputs,
    arguments: &ToolInputsArgs,
) -> Result<Result<(), Box<Diagnostic>>, CommandError> {
    let seed = arguments.seed.unwrap_or(inputs.seed);
    for case in 0..arguments.cases.unwrap_or(inputs.cases) {
        let input = match inputs.case_input(seed, case) {
            Ok(input) => input,
            Err(diagnostic) => return Ok(Err(diagnostic)),
        };
        let (invariant, tool) = (inputs.invariant.as_str(), inputs.tool.as_str());
        let line = InputLine { invariant, tool, case, seed: input.seed, arguments: input.arguments };
        serde_json::to_writer(&mut *out, &line).map_err(std::io::Error::from)?;
        out.write_all(b"\n")?;
    }
    Ok(Ok(()))
}

fn read_requests(arguments: &ToolInputsArgs, color: ColorChoice) -> Result<Vec<RequestedInputs>, CommandError> {
    let limits = Limits::default();
    let values = params::ParamValues::new(&arguments.param_file, &arguments.param)?;
    let named = std::slice::from_ref(&arguments.rules);
    let project = arguments.project.load_project(named, color)?;
    let mut tools = rules::project_tools(project.as_ref(), limits)?;
    for file in &arguments.tools {
        tools.push(rules::tool_file(file, limits)?);
    }
    let files = inputs::some_rule_inputs(named)?;
    let reading = arguments
        .read
        .read_options(limits)
        .with_tools(&tools)
        .with_foreign(arguments.compat.foreign_options(&values.texts));
    let (mut read, mut programs) = (Vec::new(), Vec::new());
    for input in &files {
        let (file, program) = load_sentences(input, reading, color)?;
        read.push(file);
        programs.push(program);
    }
    if let Some(project) = &project {
        params::apply_project(&mut programs, project, false)?;
    }
    values.apply_to(&mut programs)?;
    Ok(read.into_iter().zip(&programs).map(|(file, program)| file.requested_inputs(arguments, program)).collect())
}

/// Returns an error if `--invariant` names an unknown invariant.
fn check_invariants(arguments: &ToolInputsArgs, asked: &[RequestedInputs]) -> Result<(), CommandError> {
    let all = || asked.iter().flat_map(|one| one.invariants.iter().map(String::as_str));
    for name in &arguments.invariant {
        if !all().any(|known| known == name) {
            let help = suggest_name(name, all()).map_or(String::new(), |near| format!("did you mean `{near}`?"));
            return Err(CommandError::usage(format!("there is no invariant `{name}`"), help));
        }
    }
    Ok(())
}

pub(super) struct RuleSentences {
    pub name: String,
    /// The checker's results.
    pub checked: CheckResult,
    /// The text of the rules.
    #[cfg_attr(not(feature = "probe"), expect(dead_code, reason = "a probe alone reads it"))]
    pub text: String,
    pub sources: SourceMap,
    /// For a file of another system: the program of the converted rules, and the origin of their source spans.
    pub imported: Option<(Program, ForeignOrigin)>,
}

/// Loads a rule file with its program. A foreign file is converted first.
pub(super) fn load_sentences(
    input: &inputs::TraceInput,
    reading: rules::RuleReadOptions<'_>,
    color: ColorChoice,
) -> Result<(RuleSentences, Program), CommandError> {
    let mut loaded = rules::load_alone(input, reading)?;
    let name = input.display_name();
    let lowered = loaded.lowered.take();
    let Some(program) = loaded.program.take() else {
        rules::from_loaded(loaded).report_errors(color)?;
        return Err(CommandError::AlreadyReported(Exit::Rules));
    };
    let LoadedRuleFile { sources, checked, .. } = loaded;
    if let Some(lowered) = lowered {
        let text = lowered.written.text;
        let made = inputs::TraceInput::Made {
            name: format!("{name} (as rules)"),
            bytes: text.clone().into_bytes(),
            names: Vec::new(),
        };
        let LoadedRuleFile { program: Some(own), checked: Some(checked), .. } = rules::load_alone(&made, reading)?
        else {
            return Err(CommandError::usage(
                format!("what `{name}` is imported as cannot be used"),
                "look at `aver import`",
            ));
        };
        let root = FileId(0);
        let mut places = lowered.written.places;
        places.push((0..u32::MAX, Span::new(root, 0, 0)));
        let imported = Some((own, ForeignOrigin::new(root, places)));
        return Ok((RuleSentences { name, checked, text, sources, imported }, program));
    }
    let Some(checked) = checked else {
        let help = "name the rule file that it was made of";
        return Err(CommandError::usage(format!("`{name}` is a compiled program, which generates no inputs"), help));
    };
    let text = sources.get(FileId(0)).map(|file| file.text.to_string()).unwrap_or_default();
    Ok((RuleSentences { name, checked, text, sources, imported: None }, program))
}

impl RuleSentences {
    /// Returns the inputs that the rules request. `program` has the parameter values.
    fn requested_inputs(self, arguments: &ToolInputsArgs, program: &Program) -> RequestedInputs {
        let Self { name, checked, sources, imported, .. } = self;
        let is_chosen =
            |name: &str| arguments.invariant.is_empty() || arguments.invariant.iter().any(|one| one == name);
        let program = imported.as_ref().map_or(program, |(program, _)| program);
        let found = find_inputs(&checked.module, program, &Limits::default(), is_chosen);
        let invariants = checked.module.rules.iter().filter(|rule| rule.role == RuleRole::Invariant);
        let invariants = invariants.map(|rule| rule.id.clone()).collect();
        RequestedInputs { name, sources, origin: imported.map(|(_, origin)| origin), invariants, found }
    }
}

impl RequestedInputs {
    fn report_diagnostics(&self, said: &Diagnostics, color: ColorChoice) {
        report_diagnostics(said, self.origin.as_ref(), &self.sources, color);
    }
}

pub(super) fn report_diagnostics(
    said: &Diagnostics,
    origin: Option<&ForeignOrigin>,
    sources: &SourceMap,
    color: ColorChoice,
) {
    let mut said = said.clone();
    for one in &mut said.0 {
        if let Some(origin) = origin {
            one.span = origin.foreign_place(one.span);
        }
        averment_report::redact::redact_diagnostic(one);
    }
    eprint_redacted(&averment_report::diagnostic::draw_diagnostics(&said, sources, OutputStream::Err.style(color)));
}
