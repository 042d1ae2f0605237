//! Builder for rules from files and text, with their settings.

use crate::error::{Problem, RulesError};
use crate::load::{self, ForeignOptions, LoadSettings};
use crate::rules::{self, JudgeSettings, Rules};
use crate::stages::params::{self, ParamValue};
use crate::stages::select;
use averment_base::limits::Limits;
use averment_checker::files::{Files, Memory};
use averment_engine::bytecode::program::Program;
use averment_engine::vm::world::Permissions;
use averment_traces::names::PartNames;
use averment_traces::redact_path::RedactPath;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Builds [`Rules`] from files and text.
///
/// ```
/// use averment::{Limits, Rules};
///
/// let rules = Rules::builder()
///     .text("refunds.assert", "param limit: number\nnever refund(amount > limit)")
///     .text("answers.assert", "output exists")
///     .param("limit", 100)
///     .tools("tools.json", r#"{"refund": {"type": "object", "properties": {"amount": {"type": "number"}}}}"#)
///     .limits(Limits { fuel: 1_000_000, ..Limits::default() })
///     .build()?;
/// assert_eq!(rules.assertions().count(), 2);
/// # Ok::<(), averment::RulesError>(())
/// ```
#[derive(Default)]
pub struct RulesBuilder {
    sources: Vec<RuleSource>,
    files: Option<Box<dyn Files>>,
    tools: Vec<(String, String)>,
    params: Vec<ParamValue>,
    names: Option<String>,
    redact: Vec<String>,
    allow_empty: bool,
    newest: bool,
    metrics: Vec<(String, String)>,
    settings: JudgeSettings,
}

enum RuleSource {
    Bytes(String, Vec<u8>),
    File(PathBuf),
}

impl Rules {
    /// Creates a builder for rules of several files, with parameters, a tool catalogue, limits and permissions.
    #[must_use]
    pub fn builder() -> RulesBuilder {
        RulesBuilder::default()
    }
}

impl RulesBuilder {
    /// Adds a rule file held in memory. `name` appears in messages and locations. With [`RulesBuilder::files`], relative paths in the text start at
    /// the folder of `name`. Ids are local to the file, so two files may use the same ids.
    #[must_use]
    pub fn text(self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.bytes(name, text.into())
    }

    /// Adds a rule file held in memory: text, or a program compiled by `aver compile`.
    #[must_use]
    pub fn bytes(mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        self.sources.push(RuleSource::Bytes(name.into(), bytes.into()));
        self
    }

    /// Adds a rule file or a compiled program by its path. It and its imports are read from [`RulesBuilder::files`]; otherwise, with the feature
    /// `files`, from the disk. [`RulesBuilder::build`] reports unreadable files.
    #[must_use]
    pub fn file(mut self, path: impl AsRef<Path>) -> Self {
        self.sources.push(RuleSource::File(path.as_ref().to_owned()));
        self
    }

    /// Sets the source of the files that rules name: imports, catalogues, schemas, runs of tests. Without it, text can import only the standard set,
    /// and rules read from the disk can name files beside them.
    #[must_use]
    pub fn files(mut self, files: impl Files + 'static) -> Self {
        self.files = Some(Box::new(files));
        self
    }

    /// Sets a parameter of the rules. Durations, amounts and sizes are text as in rules (`"30s"`, `"$0.05"`, `"4MiB"`), or numbers in milliseconds,
    /// dollars and bytes. The last value of a parameter wins.
    #[must_use]
    pub fn param(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.params.push(ParamValue { name: name.into(), value: params::ValueSyntax::Json(value.into()) });
        self
    }

    /// Sets a parameter from text, which is parsed by the type of the parameter: `250`, `30s`, `["EUR"]`. `--param NAME=VALUE` does the same.
    #[must_use]
    pub fn param_text(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        self.params.push(ParamValue { name: name.into(), value: params::ValueSyntax::Text(text.into()) });
        self
    }

    /// Adds a tool catalogue as JSON: a result of MCP `tools/list`, a list of OpenAI tools, or an object from names to JSON Schemas. All files know
    /// its tools and their arguments, as if each contained `tools from "NAME"`.
    #[must_use]
    pub fn tools(mut self, name: impl Into<String>, json: impl Into<String>) -> Self {
        self.tools.push((name.into(), json.into()));
        self
    }

    /// Limits the size of rules and runs, and the work for an assertion. Exceeding a limit is an error of the rules or of the run, or gives the
    /// verdict `error`.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// Sets what rules may access besides the run: files, commands, the environment. By default nothing is allowed. Builds without the feature
    /// `world` allow nothing in any case.
    #[must_use]
    pub fn permissions(mut self, permissions: Permissions) -> Self {
        self.settings.permissions = permissions;
        self
    }

    /// Checks only the rule or assertion with this id. May be called several times.
    #[must_use]
    pub fn only_rule(mut self, id: impl Into<String>) -> Self {
        self.settings.selection.rules.push(id.into());
        self
    }

    /// Checks only the case with this id. May be called several times.
    #[must_use]
    pub fn only_case(mut self, id: impl Into<String>) -> Self {
        self.settings.selection.cases.push(id.into());
        self
    }

    /// Checks only assertions with this tag. May be called several times.
    #[must_use]
    pub fn only_tag(mut self, tag: impl Into<String>) -> Self {
        self.settings.selection.tags.push(tag.into());
        self
    }

    /// Makes vacuous assertions fail the run. By default they do not.
    #[must_use]
    pub fn deny_vacuous(mut self, deny: bool) -> Self {
        self.settings.policy.deny_vacuous = deny;
        self
    }

    /// Makes a passing assertion fail the run if it could not judge every step ([`AssertionResult::unjudged`](crate::AssertionResult::unjudged)).
    #[must_use]
    pub fn deny_unjudged(mut self, deny: bool) -> Self {
        self.settings.policy.deny_unjudged = deny;
        self
    }

    /// Makes an assertion that no run of a [batch](crate::Batch) exercises fail the batch ([`Summary::passed`](crate::Summary::passed)).
    #[must_use]
    pub fn deny_unexercised(mut self, deny: bool) -> Self {
        self.settings.policy.deny_unexercised = deny;
        self
    }

    /// Makes the batch fail if no run of the [batch](crate::Batch) has a name that rules use, although some run has a similar name
    /// ([`Summary::passed`](crate::Summary::passed)).
    #[must_use]
    pub fn deny_near_names(mut self, deny: bool) -> Self {
        self.settings.policy.deny_near_names = deny;
        self
    }

    /// Makes undecided assertions fail the run, even if the rules say `allow undecided`. An assertion is undecided if the run does not record enough
    /// data. Overrides [`allow_undecided`](Self::allow_undecided).
    #[must_use]
    pub fn deny_undecided(mut self, deny: bool) -> Self {
        self.settings.policy.deny_undecided = deny;
        self
    }

    /// Lets undecided assertions pass. By default they fail the run. An assertion is undecided if the run does not record enough data.
    #[must_use]
    pub fn allow_undecided(mut self, allow: bool) -> Self {
        self.settings.policy.allow_undecided = allow;
        self
    }

    /// Allows rules without assertions, and selections that match nothing. Every run passes then.
    #[must_use]
    pub fn allow_empty(mut self, allow: bool) -> Self {
        self.allow_empty = allow;
        self
    }

    /// For rule files of another system: follows its newest release if that and its documentation disagree.
    #[must_use]
    pub fn by_newest_release(mut self, newest: bool) -> Self {
        self.newest = newest;
        self
    }

    /// Adds a metric that tests in Assay suites can name, in addition to Assay's own. It consists of assertions about the whole run, in the rule
    /// language (`each refund: args.amount <= 100`, `cost <= $0.05`). Every test that names the metric becomes a rule with these assertions.
    ///
    /// ```
    /// let rules = averment::Rules::builder()
    ///     .metric("small_refunds", "each refund: args.amount <= 100")
    ///     .text("mcp-eval.yaml", "suite: refunds\ntests:\n  - id: small\n    metric: small_refunds\n")
    ///     .build()?;
    /// let outcome = rules.check_one(r#"{"calls": [{"tool": "refund", "args": {"amount": 250}}]}"#).unwrap();
    /// assert_eq!(outcome.findings().next().unwrap().id(), "small.1");
    /// # Ok::<(), averment::RulesError>(())
    /// ```
    #[must_use]
    pub fn metric(mut self, name: impl Into<String>, sentences: impl Into<String>) -> Self {
        self.metrics.push((name.into(), sentences.into()));
        self
    }

    /// Makes outcomes of single runs keep excerpts of the trace for failures, so that [`Outcome::draw`](crate::Outcome::draw) can show them. Failures
    /// take slightly more time and memory then.
    #[cfg(feature = "pictures")]
    #[must_use]
    pub fn draw_failures(mut self, draw: bool) -> Self {
        self.settings.detail = if draw { crate::draw::picture_detail() } else { Default::default() };
        self
    }

    /// Treats trace warnings, such as duplicate keys, as errors of the run.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.settings.strict = strict;
        self
    }

    /// Sets the names of a custom trace format, as TOML or JSON. `--map FILE` reads the same text.
    ///
    /// ```
    /// let rules = averment::Rules::builder()
    ///     .text("r.assert", "never refund")
    ///     .trace_names("calls = \"steps\"\ntool = \"fn\"")
    ///     .build()?;
    /// assert!(!rules.check_one(r#"{"steps": [{"fn": "refund"}]}"#).unwrap().passed());
    /// # Ok::<(), averment::RulesError>(())
    /// ```
    #[must_use]
    pub fn trace_names(mut self, names: impl Into<String>) -> Self {
        self.names = Some(names.into());
        self
    }

    /// Hides the values at a path in all outcomes and reports, such as `inputs.customer[**]` or `calls[*].args.card`. `--redact` takes the same path.
    #[must_use]
    pub fn redact(mut self, path: impl Into<String>) -> Self {
        self.redact.push(path.into());
        self
    }

    /// Compiles the rules.
    ///
    /// # Errors
    /// Returns an error if the rules or their settings are invalid: an unreadable file, an undeclared parameter, a parameter without a value or with
    /// a value of another type, an unknown name, or no assertion at all.
    pub fn build(self) -> Result<Rules, RulesError> {
        let nothing = Default::default();
        let loaded = self.load_files().map_err(|problem| RulesError::of_problem(problem, nothing))?;
        let broken = loaded.iter().any(load::LoadedRuleFile::is_broken);
        let (mut programs, diagnostics) = load::join_programs(loaded);
        if broken {
            return Err(RulesError::of_rules(diagnostics));
        }
        match self.apply_settings(&mut programs) {
            Ok(settings) => Ok(Rules::of_programs(programs, diagnostics, settings)),
            Err(problem) => Err(RulesError::of_problem(problem, diagnostics)),
        }
    }

    fn load_files(&self) -> Result<Vec<load::LoadedRuleFile>, Problem> {
        if self.sources.is_empty() {
            return Err(Problem::new("there are no rules", "add a rule file with `text` or `file`"));
        }
        for (number, (name, _)) in self.metrics.iter().enumerate() {
            let known = self.metrics.iter().take(number).any(|(known, _)| known == name);
            if known || load::own_metrics().any(|own| own == name) {
                return Err(Problem::new(format!("there is a metric `{name}` already"), "give it another name"));
            }
        }
        self.sources.iter().map(|source| self.load_one(source)).collect()
    }

    fn given_texts(&self) -> Vec<(String, String)> {
        self.params.iter().map(|given| (given.name.clone(), given.value_text())).collect()
    }

    fn load_one(&self, source: &RuleSource) -> Result<load::LoadedRuleFile, Problem> {
        let given = self.files.as_deref();
        let given_params = self.given_texts();
        let (tools, limits) = (self.tools.as_slice(), self.settings.limits);
        let foreign = ForeignOptions {
            given: &given_params,
            newest: self.newest,
            metrics: &self.metrics,
            ..ForeignOptions::default()
        };
        let how = |files| LoadSettings { tools, foreign, ..LoadSettings::with_limits(files, limits) };
        let nothing = Memory::default();
        match (source, given) {
            (RuleSource::Bytes(name, bytes), given) => {
                let folder = given.and(Path::new(name).parent());
                let files = given.unwrap_or(&nothing);
                load::load_rules(name, folder, bytes.clone(), how(files))
            }
            (RuleSource::File(path), Some(files)) => {
                let name = path.to_string_lossy();
                let found = files.read(Path::new(""), &name, None);
                let found = found.map_err(|error| Problem::new(error.describe_for(&name), ""))?;
                load::load_rules(&name, Some(&found.folder), found.text.into_bytes(), how(files))
            }
            #[cfg(feature = "files")]
            (RuleSource::File(path), None) => {
                let name = path.to_string_lossy();
                let bytes = load::read_limited(path, limits)
                    .map_err(|error| Problem::new(format!("`{name}` cannot be read: {error}"), ""))?;
                let permitted = &self.settings.permissions;
                let own = path.parent().map(Path::to_path_buf);
                let folders = own.into_iter().chain(permitted.working_directory.clone()).chain(permitted.read.clone());
                let files = &load::rule_disk(limits, folders.collect());
                load::load_rules(&name, path.parent(), bytes, how(files))
            }
            #[cfg(not(feature = "files"))]
            (RuleSource::File(path), None) => {
                let message = format!("`{}` cannot be read: there are no files here", path.display());
                Err(Problem::new(message, "give the rules as text, or say with `files` where files are read"))
            }
        }
    }

    fn apply_settings(self, programs: &mut [Program]) -> Result<JudgeSettings, Problem> {
        for given in &self.params {
            params::set_param(programs, given)?;
        }
        rules::check_params(programs)?;
        select::check_names(programs, &self.settings.selection)?;
        if !self.allow_empty && !select::selects_any(programs, &self.settings.selection) {
            return Err(Problem::new("nothing to check: no assertion is selected", "`allow_empty` lets it pass"));
        }
        let names = self.names.as_deref().map(PartNames::of_file).transpose();
        let names =
            names.map_err(|problem| Problem::new(format!("the names name no parts of a run: {problem}"), ""))?;
        let redact = self.redact.iter().map(|path| RedactPath::parse(path)).collect::<Result<Vec<_>, _>>();
        let redact = redact.map_err(|problem| Problem::new(problem, "")).map(Arc::from)?;
        Ok(JudgeSettings { names: names.map(Arc::new), redact, ..self.settings })
    }
}

impl std::fmt::Debug for RulesBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RulesBuilder").field("params", &self.params).finish_non_exhaustive()
    }
}
