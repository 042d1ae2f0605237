//! Detects that an agent ended because it does not know the model; then it is not retried.

use crate::agents::AgentSpec;
use std::path::Path;

/// Maximum bytes of a log that are searched.
const LOOKED_AT: usize = 4 << 20;
/// Messages about an unknown model, for agents without their own entry.
const SAID: [&str; 3] = ["Model not found:", "Cannot use this model:", "model is not supported"];

pub(crate) fn model_is_rejected(agent: Option<&AgentSpec>, output: &Path, error: &Path) -> bool {
    let (output, error) = (read_beginning(output), read_beginning(error));
    let Some(agent) = agent else { return SAID.iter().any(|said| error.contains(said)) };
    let has = |text: &str, all: &[&str]| all.iter().all(|part| text.contains(part));
    agent.rejections.iter().any(|one| has(&output, one.output) && has(&error, one.error))
        || SAID.iter().any(|said| error.contains(said))
}

fn read_beginning(path: &Path) -> String {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    if let Ok(file) = std::fs::File::open(path) {
        let _what_there_is = file.take(LOOKED_AT as u64).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
