//! `--compat skillgym`: agent transcripts are judged as SkillGym's adapters read them.

use crate::folder::Folder;

/// A stream of `codex exec`. Its command is a call here, but SkillGym's adapter ignores it.
const STREAM: &str = r#"{"type": "thread.started", "thread_id": "t"}
{"type": "item.completed", "item": {"id": "1", "type": "command_execution", "command": "bash -lc 'npm test'", "aggregated_output": "ok", "exit_code": 0, "status": "completed"}}
{"type": "item.completed", "item": {"id": "2", "type": "agent_message", "text": "done"}}
{"type": "turn.completed", "usage": {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 7}}
"#;

#[test]
fn transcripts_are_read_as_its_adapters_read_them_where_that_is_asked_for() {
    let folder = Folder::new(&[("r.assert", "require command \"npm test\"\n"), ("t.jsonl", STREAM)]);
    assert_eq!(folder.aver("check r.assert t.jsonl").code, 0);
    assert_eq!(folder.aver("check r.assert t.jsonl --compat documents").code, 0);
    let ran = folder.aver("check r.assert t.jsonl --compat skillgym");
    assert_eq!(ran.code, 1, "{ran:?}");
    let shown = folder.aver("trace show t.jsonl --compat skillgym");
    assert!(shown.out.contains("done") && !shown.out.contains("npm test"), "{shown:?}");
    let explained = folder.aver("explain r.assert t.jsonl --compat skillgym");
    assert!(explained.out.contains("fail"), "{explained:?}");
    // The option does not affect runs in other formats.
    folder.write("n.json", br#"{"commands": ["npm test"]}"#);
    assert_eq!(folder.aver("check r.assert n.json --compat skillgym").code, 0);
}

#[test]
fn where_no_transcript_is_read_it_is_refused() {
    let folder = Folder::new(&[("r.assert", "require command \"npm test\"\n"), ("w.yaml", "assertions: []\n")]);
    for line in ["test r.assert --compat skillgym", "import w.yaml --compat skillgym"] {
        let ran = folder.aver(line);
        assert_eq!(ran.code, 2, "{line}: {ran:?}");
        assert!(ran.err.contains("says how transcripts of agents are read"), "{line}: {ran:?}");
    }
    assert_eq!(folder.aver("trace show r.assert --compat newest").code, 2);
}
