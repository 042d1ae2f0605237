//! Compares a skill's declared tools and side effects with the run.

use super::manifest::SkillManifest;
use super::places;
use crate::Lowering;
use crate::shape::listed_names;
use crate::writer::{RuleWriter, tool_pattern};
use crate::yaml::YamlNode;
use averment_base::source::Span;

/// Writes a rule for `tools_used`: no other tool is called.
pub(super) fn audit_tools(document: &YamlNode, to: &mut Lowering<'_>) {
    let Some((key, list)) = document.find_entry("tools_used").filter(|(_, list)| list.is_list()) else { return };
    let mut names: Vec<String> = Vec::new();
    for name in list.items().iter().filter_map(YamlNode::as_text).map(tool_pattern) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    write_rule(&mut to.out, key.span, "tools_used", "No other tools are called than those that are declared", |out| {
        out.write_line(list.span, |out| match names.is_empty() {
            true => out.put_text("never any"),
            false => out.put_text(&format!("only {}", names.join(", "))),
        });
    });
}

fn write_rule(out: &mut RuleWriter, place: Span, name: &str, sentence: &str, body: impl FnOnce(&mut RuleWriter)) {
    out.write_gap();
    out.write_block(
        place,
        |out| out.put_text(&format!("rule {name} \"{sentence}\"")),
        |out| {
            out.write_line(place, |out| out.put_text("severity warn"));
            body(out);
        },
    );
}

enum AllowedEffects {
    /// The effect has no paths, so it is allowed everywhere.
    Everywhere,
    Where(Vec<String>, Span),
    Unsaid(String),
    Nothing,
}

/// Writes rules for `side_effects`: nothing else is written, read or requested.
pub(super) fn side_effects(document: &YamlNode, manifest: &SkillManifest<'_>, to: &mut Lowering<'_>) {
    let Some((key, list)) = document.find_entry("side_effects").filter(|(_, list)| list.is_list()) else { return };
    let of_type = |effect: &&YamlNode, name: &str| effect.get("type").and_then(YamlNode::as_text) == Some(name);
    let files: Vec<&YamlNode> = list.items().iter().filter(|effect| of_type(effect, "filesystem")).collect();
    let network: Vec<&YamlNode> = list.items().iter().filter(|effect| of_type(effect, "network")).collect();
    let accessed = |wanted: &[&str]| -> Vec<&YamlNode> {
        let is = |effect: &&&YamlNode| {
            effect.get("access").and_then(YamlNode::as_text).is_none_or(|one| wanted.contains(&one))
        };
        files.iter().filter(is).copied().collect()
    };
    let on_path = |declared: &str| places::path_condition(declared, manifest);
    let on_url = |declared: &str| Some(places::destination_condition(declared, manifest));
    let writes = allowed_effects(&accessed(&["write", "delete"]), "paths", &on_path);
    let declares_reads = files.iter().any(|effect| effect.get("access").and_then(YamlNode::as_text) == Some("read"));
    let reads = match declares_reads {
        true => allowed_effects(&accessed(&["read", "write"]), "paths", &on_path),
        false => AllowedEffects::Everywhere,
    };
    let requests = allowed_effects(&network, "destinations", &on_url);
    let all = [("write", writes), ("read", reads), ("http", requests)];
    if all.iter().all(|(_, allowed)| matches!(allowed, AllowedEffects::Everywhere)) {
        return;
    }
    let mut conditions = Vec::new();
    write_rule(&mut to.out, key.span, "side_effects", "Nothing else is touched than what is declared", |out| {
        for (step, allowed) in &all {
            write_sentence(out, step, allowed, list.span, &mut conditions);
        }
    });
    for definition in places::needed_definitions(&conditions) {
        to.out.write_gap();
        to.out.write_line(key.span, |out| out.put_text(definition));
    }
}

fn write_sentence(
    out: &mut RuleWriter,
    step: &str,
    allowed: &AllowedEffects,
    list: Span,
    conditions: &mut Vec<String>,
) {
    match allowed {
        AllowedEffects::Everywhere => {}
        AllowedEffects::Nothing => out.write_line(list, |out| out.put_text(&format!("never {step}"))),
        AllowedEffects::Where(all, place) => {
            out.write_line(*place, |out| out.put_text(&format!("each {step}: {}", all.join(" or "))));
            conditions.extend(all.iter().cloned());
        }
        AllowedEffects::Unsaid(pattern) => {
            let pattern = listed_names(&[pattern.as_str()]);
            out.write_remark(&format!(
                "Steps of `{step}` are not looked at: {pattern} is a pattern that depends on the run."
            ));
        }
    }
}

fn allowed_effects(effects: &[&YamlNode], key: &str, condition: &dyn Fn(&str) -> Option<String>) -> AllowedEffects {
    let Some(first) = effects.first() else { return AllowedEffects::Nothing };
    let mut conditions = Vec::new();
    let mut place: Option<Span> = None;
    for effect in effects {
        let Some(list) = effect.get(key).filter(|list| list.is_list()) else { return AllowedEffects::Everywhere };
        for declared in list.items().iter().filter_map(|item| item.as_text()) {
            let Some(one) = condition(declared) else { return AllowedEffects::Unsaid(declared.to_owned()) };
            if !conditions.contains(&one) {
                conditions.push(one);
            }
        }
        place = Some(place.map_or(list.span, |before| before.cover_with(list.span)));
    }
    match conditions.is_empty() {
        true => AllowedEffects::Nothing,
        false => AllowedEffects::Where(conditions, place.unwrap_or(first.span)),
    }
}
