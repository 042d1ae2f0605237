//! `aver completions SHELL`, and the names in rule files that its scripts ask for.

use super::exit::{CommandError, Exit};
use super::inputs::{self, TraceInput};
use super::rules;
use averment_base::limits::Limits;
use averment_checker::ir::RuleRole;
use averment_engine::bytecode::program::Program;
use averment_syntax::words::is_label;
use clap::ValueEnum;
use clap_complete::Shell;
use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Arguments of the command.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aver completions bash > ~/.local/share/bash-completion/completions/aver
  aver completions zsh > ~/.zfunc/_aver
  aver completions fish > ~/.config/fish/completions/aver.fish

In bash, zsh and fish the names behind --rule, --tag and --case come from the rule files of the line,
or of the folder.")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, required_unless_present = "of")]
    shell: Option<Shell>,
    /// The names of this kind in the rules that a command line names
    #[arg(long, hide = true, value_enum)]
    of: Option<NameKind>,
    /// The words of the command line
    #[arg(last = true, hide = true)]
    words: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum NameKind {
    /// Of rules, and ids of assertions
    Rule,
    /// Tags
    Tag,
    /// Of cases
    Case,
}

/// Prints the completion script of a shell, or the names that the script asks for.
pub fn run_completions(arguments: &CompletionsArgs, mut command: clap::Command) -> Result<Exit, CommandError> {
    let mut out = std::io::stdout();
    if let Some(kind) = arguments.of {
        for name in rule_file_names(kind, &arguments.words) {
            writeln!(out, "{name}")?;
        }
    } else if let Some(shell) = arguments.shell {
        // Written to memory first: the generator cannot report a closed pipe.
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut command, "aver", &mut script);
        let script = String::from_utf8_lossy(&script);
        out.write_all(with_names(shell, &script).as_bytes())?;
    }
    Ok(Exit::Holds)
}

/// Returns the script with completion for the values of `--rule`, `--tag` and `--case`.
///
/// The names come from untrusted files, so no script may let its shell expand them. Elvish and PowerShell do not complete these names.
fn with_names(shell: Shell, script: &str) -> String {
    ["rule", "tag", "case"].iter().fold(script.to_owned(), |script, kind| match shell {
        Shell::Bash => bash_script(&script, kind),
        Shell::Zsh => zsh_script(&script, kind),
        Shell::Fish => fish_script(&script, kind),
        _ => script,
    })
}

fn names_command(kind: &str, words: &str) -> String {
    format!("aver completions --of {kind} -- {words} 2>/dev/null")
}

/// Reads names line by line and quotes them, because `compgen -W` would expand its words (`$(…)`).
fn bash_script(script: &str, kind: &str) -> String {
    let option = format!("                --{kind})\n");
    let names = names_command(kind, "\"${COMP_WORDS[@]}\"");
    let lines = [
        "COMPREPLY=()".to_owned(),
        "local name quoted".to_owned(),
        "while IFS= read -r name; do".to_owned(),
        "    [[ -n \"${name}\" && \"${name}\" == \"${cur}\"* ]] || continue".to_owned(),
        "    printf -v quoted %q \"${name}\"".to_owned(),
        "    COMPREPLY+=(\"${quoted}\")".to_owned(),
        format!("done <<< \"$({names})\""),
    ];
    let indented: Vec<String> = lines.iter().map(|line| format!("                    {line}")).collect();
    script.replace(
        &format!("{option}                    COMPREPLY=($(compgen -f \"${{cur}}\"))"),
        &format!("{option}{}", indented.join("\n")),
    )
}

/// `compadd` quotes what it inserts, and array elements are not expanded.
fn zsh_script(script: &str, kind: &str) -> String {
    let function = format!(
        "(( $+functions[_aver_of_{kind}] )) ||\n_aver_of_{kind}() {{\n    local names; names=(${{(f)\"$({})\"}})\n    compadd -a -- names\n}}\n\n",
        names_command(kind, "\"${(@Q)words}\"")
    );
    let lines = script.lines().map(|line| match line.starts_with(&format!("'*--{kind}=[")) {
        true => line.replace(":NAME:_default", &format!(":NAME:_aver_of_{kind}")),
        false => line.to_owned(),
    });
    let script = lines.collect::<Vec<_>>().join("\n") + "\n";
    script.replacen("(( $+functions[", &format!("{function}(( $+functions["), 1)
}

/// Single quotes defer the call to the Tab key; output of a command is not expanded again.
fn fish_script(script: &str, kind: &str) -> String {
    let lines = script.lines().map(|line| match line.contains(&format!(" -l {kind} ")) && line.ends_with(" -r") {
        true => format!("{line} -f -a '({})'", names_command(kind, "(commandline -opc)")),
        false => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// Returns the names in the rule files of a command line, otherwise of the current folder. Unreadable and compiled files are skipped.
fn rule_file_names(kind: NameKind, words: &[String]) -> BTreeSet<String> {
    // Pipes are skipped, because opening one could block completion.
    let is_rules =
        |path: &Path| path.is_dir() || path.is_file() && path.extension().is_some_and(|ending| ending == "assert");
    let mut given: Vec<PathBuf> = words.iter().skip(1).map(PathBuf::from).filter(|path| is_rules(path)).collect();
    if given.is_empty() {
        // Subfolders are not searched, because completion must be fast.
        let here = std::fs::read_dir(".").into_iter().flatten().flatten().map(|entry| entry.path());
        given.extend(here.filter(|path| path.is_file() && is_rules(path)));
        given.sort();
    }
    let limits = Limits::default();
    let is_text =
        |input: &TraceInput| matches!(input, TraceInput::File(path) if rules::read_rule_text(path, limits).is_ok());
    let texts = inputs::quiet_rule_inputs(&given).map(|found| found.into_iter().filter(is_text).collect::<Vec<_>>());
    let loaded = texts.and_then(|texts| rules::load_rules(&texts, rules::RuleReadOptions::with_limits(limits)));
    let programs = loaded.iter().flat_map(|loaded| &loaded.programs);
    programs.flat_map(|program| program_names(kind, program)).filter(|name| is_label(name)).collect()
}

fn program_names(kind: NameKind, program: &Program) -> Vec<String> {
    let rules = || program.rules.iter();
    match kind {
        NameKind::Rule => {
            let ids = program.assertions.iter().map(|one| one.id.clone()).filter(|id| !id.contains(':'));
            rules().map(|rule| rule.id.clone()).chain(ids).collect()
        }
        NameKind::Case => {
            rules().filter(|rule| matches!(rule.role, RuleRole::Case { .. })).map(|rule| rule.id.clone()).collect()
        }
        NameKind::Tag => program.assertions.iter().flat_map(|one| one.settings.tags.iter().cloned()).collect(),
    }
}
