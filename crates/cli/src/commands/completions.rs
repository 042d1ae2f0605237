//! `aver completions SHELL`, and the names in rule files that its scripts ask for.

use super::exit::{Exit, Stop};
use super::{inputs, rules};
use averment_base::limits::Limits;
use averment_engine::bytecode::program::Program;
use averment_engine::ir::RuleRole;
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
pub struct Arguments {
    /// The shell
    #[arg(value_enum, required_unless_present = "of")]
    shell: Option<Shell>,
    /// The names of this kind in the rules that a command line names
    #[arg(long, hide = true, value_enum)]
    of: Option<Names>,
    /// The words of the command line
    #[arg(last = true, hide = true)]
    words: Vec<String>,
}

/// Kinds of names in rule files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Names {
    /// Of rules, and ids of assertions
    Rule,
    /// Tags
    Tag,
    /// Of cases
    Case,
}

/// Prints the completions of a shell, or names.
pub fn run(arguments: &Arguments, mut command: clap::Command) -> Result<Exit, Stop> {
    let mut out = std::io::stdout();
    if let Some(kind) = arguments.of {
        for name in names(kind, &arguments.words) {
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

/// The script with names of rule files behind `--rule`, `--tag` and `--case`.
fn with_names(shell: Shell, script: &str) -> String {
    let asked = |kind: &str, words: &str| format!("aver completions --of {kind} -- {words} 2>/dev/null");
    ["rule", "tag", "case"].iter().fold(script.to_owned(), |script, kind| match shell {
        Shell::Bash => script.replace(
            &format!("                --{kind})\n                    COMPREPLY=($(compgen -f \"${{cur}}\"))"),
            &format!(
                "                --{kind})\n                    COMPREPLY=($(compgen -W \"$({})\" -- \"${{cur}}\"))",
                asked(kind, "\"${COMP_WORDS[@]}\"")
            ),
        ),
        Shell::Zsh => {
            let function = format!(
                "(( $+functions[_aver_of_{kind}] )) ||\n_aver_of_{kind}() {{\n    local names; names=(${{(f)\"$({})\"}})\n    compadd -a names\n}}\n\n",
                asked(kind, "${(Q)words}")
            );
            let lines = script.lines().map(|line| match line.starts_with(&format!("'*--{kind}=[")) {
                true => line.replace(":NAME:_default", &format!(":NAME:_aver_of_{kind}")),
                false => line.to_owned(),
            });
            let script = lines.collect::<Vec<_>>().join("\n") + "\n";
            script.replacen("(( $+functions[", &format!("{function}(( $+functions["), 1)
        }
        Shell::Fish => {
            let lines = script.lines().map(|line| match line.contains(&format!(" -l {kind} ")) && line.ends_with(" -r") {
                true => format!("{line} -f -a \"({})\"", asked(kind, "(commandline -opc)")),
                false => line.to_owned(),
            });
            lines.collect::<Vec<_>>().join("\n") + "\n"
        }
        _ => script,
    })
}

/// Names in the rule files of a command line; without one, of the folder. What cannot be read has none.
fn names(kind: Names, words: &[String]) -> BTreeSet<String> {
    let is_rules = |path: &Path| path.extension().is_some_and(|ending| ending == "assert") || path.is_dir();
    let mut given: Vec<PathBuf> = words.iter().skip(1).map(PathBuf::from).filter(|path| is_rules(path)).collect();
    if given.is_empty() {
        // Not what lies deeper: nobody waits for a whole disk behind Tab.
        let here = std::fs::read_dir(".").into_iter().flatten().flatten().map(|entry| entry.path());
        given.extend(here.filter(|path| path.is_file() && is_rules(path)));
        given.sort();
    }
    let loaded = inputs::rules(&given).and_then(|inputs| rules::load(&inputs, Limits::default()));
    loaded.iter().flat_map(|loaded| &loaded.programs).flat_map(|program| of_program(kind, program)).collect()
}

fn of_program(kind: Names, program: &Program) -> Vec<String> {
    let rules = || program.rules.iter();
    match kind {
        Names::Rule => {
            let ids = program.assertions.iter().map(|one| one.id.clone()).filter(|id| !id.contains(':'));
            rules().map(|rule| rule.id.clone()).chain(ids).collect()
        }
        Names::Case => {
            rules().filter(|rule| matches!(rule.role, RuleRole::Case { .. })).map(|rule| rule.id.clone()).collect()
        }
        Names::Tag => program.assertions.iter().flat_map(|one| one.settings.tags.iter().cloned()).collect(),
    }
}
