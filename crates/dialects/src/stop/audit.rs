//! What a skill declares that it does, held against what a run records.

use super::manifest::Manifest;
use super::places;
use crate::Lowering;
use crate::shape::listed;
use crate::writer::{Writer, tool};
use crate::yaml::Node;
use averment_base::source::Span;

/// `tools_used`: no other tool is called.
pub(super) fn tools(document: &Node, to: &mut Lowering<'_>) {
    let Some((key, list)) = document.entry("tools_used").filter(|(_, list)| list.is_list()) else { return };
    let mut names: Vec<String> = Vec::new();
    for name in list.items().iter().filter_map(Node::text).map(tool) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    rule(&mut to.out, key.span, "tools_used", "No other tools are called than those that are declared", |out| {
        out.line(list.span, |out| match names.is_empty() {
            true => out.put("never any"),
            false => out.put(&format!("only {}", names.join(", "))),
        });
    });
}

fn rule(out: &mut Writer, place: Span, name: &str, sentence: &str, body: impl FnOnce(&mut Writer)) {
    out.gap();
    out.block(
        place,
        |out| out.put(&format!("rule {name} \"{sentence}\"")),
        |out| {
            out.line(place, |out| out.put("severity warn"));
            body(out);
        },
    );
}

/// What side effects of a type allow.
enum Allowed {
    /// Everything: an effect names no places.
    Everywhere,
    /// What meets one of the conditions, which were made of this place.
    Where(Vec<String>, Span),
    /// It cannot be said as a condition.
    Unsaid(String),
    /// Nothing: there is no such effect.
    Nothing,
}

/// `side_effects`: nothing else is written, read, asked for.
pub(super) fn side_effects(document: &Node, manifest: &Manifest<'_>, to: &mut Lowering<'_>) {
    let Some((key, list)) = document.entry("side_effects").filter(|(_, list)| list.is_list()) else { return };
    let of_type = |effect: &&Node, name: &str| effect.get("type").and_then(Node::text) == Some(name);
    let files: Vec<&Node> = list.items().iter().filter(|effect| of_type(effect, "filesystem")).collect();
    let network: Vec<&Node> = list.items().iter().filter(|effect| of_type(effect, "network")).collect();
    let accessed = |wanted: &[&str]| -> Vec<&Node> {
        let is = |effect: &&&Node| effect.get("access").and_then(Node::text).is_none_or(|one| wanted.contains(&one));
        files.iter().filter(is).copied().collect()
    };
    let on_path = |declared: &str| places::path(declared, manifest);
    let on_url = |declared: &str| Some(places::destination(declared, manifest));
    let writes = allowed(&accessed(&["write", "delete"]), "paths", &on_path);
    let declares_reads = files.iter().any(|effect| effect.get("access").and_then(Node::text) == Some("read"));
    let reads = match declares_reads {
        true => allowed(&accessed(&["read", "write"]), "paths", &on_path),
        false => Allowed::Everywhere,
    };
    let requests = allowed(&network, "destinations", &on_url);
    let all = [("write", writes), ("read", reads), ("http", requests)];
    if all.iter().all(|(_, allowed)| matches!(allowed, Allowed::Everywhere)) {
        return;
    }
    let mut conditions = Vec::new();
    rule(&mut to.out, key.span, "side_effects", "Nothing else is touched than what is declared", |out| {
        for (step, allowed) in &all {
            sentence(out, step, allowed, list.span, &mut conditions);
        }
    });
    for definition in places::definitions(&conditions) {
        to.out.gap();
        to.out.line(key.span, |out| out.put(definition));
    }
}

fn sentence(out: &mut Writer, step: &str, allowed: &Allowed, list: Span, conditions: &mut Vec<String>) {
    match allowed {
        Allowed::Everywhere => {}
        Allowed::Nothing => out.line(list, |out| out.put(&format!("never {step}"))),
        Allowed::Where(all, place) => {
            out.line(*place, |out| out.put(&format!("each {step}: {}", all.join(" or "))));
            conditions.extend(all.iter().cloned());
        }
        Allowed::Unsaid(pattern) => {
            let pattern = listed(&[pattern.as_str()]);
            out.remark(&format!(
                "Steps of `{step}` are not looked at: {pattern} is a pattern that depends on the run."
            ));
        }
    }
}

/// What some effects allow, by the places under a key.
fn allowed(effects: &[&Node], key: &str, condition: &dyn Fn(&str) -> Option<String>) -> Allowed {
    let Some(first) = effects.first() else { return Allowed::Nothing };
    let mut conditions = Vec::new();
    let mut place: Option<Span> = None;
    for effect in effects {
        let Some(list) = effect.get(key).filter(|list| list.is_list()) else { return Allowed::Everywhere };
        for declared in list.items().iter().filter_map(|item| item.text()) {
            let Some(one) = condition(declared) else { return Allowed::Unsaid(declared.to_owned()) };
            if !conditions.contains(&one) {
                conditions.push(one);
            }
        }
        place = Some(place.map_or(list.span, |before| before.to(list.span)));
    }
    match conditions.is_empty() {
        true => Allowed::Nothing,
        false => Allowed::Where(conditions, place.unwrap_or(first.span)),
    }
}
