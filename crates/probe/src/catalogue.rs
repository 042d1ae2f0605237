//! What the checker is told of the tools of a server.

use serde_json::{Value, json};

/// A catalogue of tools as `tools/list` answers it: those of the server, and those that only rules name, without a schema. `schemas` says whether
/// what the server declares of arguments is told.
#[must_use]
pub fn catalogue(tools: &[Value], named: &[String], schemas: bool) -> String {
    let live: Vec<&str> = tools.iter().filter_map(|tool| tool.get("name")?.as_str()).collect();
    let declared = tools.iter().filter(|tool| tool.get("name").is_some_and(Value::is_string)).map(|tool| {
        let mut tool = tool.clone();
        if let Some(entries) = tool.as_object_mut() {
            // Answers are what is judged: what the server promises of them is no matter of the checker.
            entries.remove("outputSchema");
            if !schemas {
                entries.remove("inputSchema");
            }
        }
        tool
    });
    let unknown = named.iter().filter(|name| !live.contains(&name.as_str())).map(|name| json!({"name": name}));
    json!({"tools": declared.chain(unknown).collect::<Vec<_>>()}).to_string()
}
