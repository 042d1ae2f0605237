#!/bin/sh
# A scripted agent. It takes the command lines of five real ones, as `aver run` writes them, and answers in their formats; what it does
# stands at the end, by what it is asked.
#   sh agent.sh claude|codex|copilot|cursor|opencode OPTIONS...
agent=$1
shift
model=
prompt=
resumed=
cwd=.

refuse() {
	echo "$agent: $1" >&2
	exit 2
}
takes() { # an option that has to have this value
	[ "$2" = "$3" ] || refuse "$1 cannot be $2"
}

read_claude() {
	while [ $# -gt 0 ]; do
		case $1 in
		-p | --verbose | --dangerously-skip-permissions) ;;
		--output-format) takes "$1" "$2" stream-json && shift ;;
		--model) model=$2 && shift ;;
		--resume) resumed=$2 && shift ;;
		-*) refuse "unknown option $1" ;;
		*) prompt=$1 ;;
		esac
		shift
	done
}
read_codex() {
	takes command "$1" exec && shift
	while [ $# -gt 0 ]; do
		case $1 in
		--json | --skip-git-repo-check) ;;
		--model) model=$2 && shift ;;
		-C) cwd=$2 && shift ;;
		resume) resumed=$2 && shift ;;
		-*) refuse "unknown option $1" ;;
		*) prompt=$1 ;;
		esac
		shift
	done
	[ -n "$CODEX_HOME" ] || refuse "CODEX_HOME is not set"
}
read_copilot() {
	while [ $# -gt 0 ]; do
		case $1 in
		--no-auto-update | --no-custom-instructions | --disable-builtin-mcps | --no-remote | --allow-all-tools | --disallow-temp-dir) ;;
		-p) prompt=$2 && shift ;;
		--model) model=$2 && shift ;;
		--output-format) takes "$1" "$2" json && shift ;;
		--stream) takes "$1" "$2" on && shift ;;
		--resume) resumed=$2 && shift ;;
		-C) cwd=$2 && shift ;;
		*) refuse "unknown option $1" ;;
		esac
		shift
	done
	[ -n "$COPILOT_HOME" ] || refuse "COPILOT_HOME is not set"
}
read_cursor() {
	while [ $# -gt 0 ]; do
		case $1 in
		-p | --trust | --force) ;;
		--output-format) takes "$1" "$2" stream-json && shift ;;
		--workspace) cwd=$2 && shift ;;
		--model) model=$2 && shift ;;
		--resume) resumed=$2 && shift ;;
		-*) refuse "unknown option $1" ;;
		*) prompt=$1 ;;
		esac
		shift
	done
}
read_opencode() {
	[ -n "$XDG_DATA_HOME" ] || refuse "XDG_DATA_HOME is not set"
	store=$XDG_DATA_HOME/opencode
	if [ "$1" = export ]; then
		cat "$store/$2.json" 2>/dev/null || refuse "there is no session $2"
		exit 0
	fi
	takes command "$1" run && shift
	while [ $# -gt 0 ]; do
		case $1 in
		--thinking) ;;
		--format) takes "$1" "$2" json && shift ;;
		--model) model=$2 && shift ;;
		--session) resumed=$2 && shift ;;
		-*) refuse "unknown option $1" ;;
		*) prompt=$1 ;;
		esac
		shift
	done
	mkdir -p "$store"
}

case $agent in
claude | codex | copilot | cursor | opencode) "read_$agent" "$@" ;;
*) refuse "there is no such agent" ;;
esac
[ -n "$model" ] || refuse "no model is named"
cd "$cwd" || refuse "there is no folder $cwd"
[ -n "$prompt" ] || refuse "nothing is asked"
here=$(pwd)

# ---- what each writes

quoted() { # a text as a string of JSON
	printf '"'
	printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g' | awk 'NR > 1 { printf "\\n" } { printf "%s", $0 }'
	printf '"'
}
number=0
next() { number=$((number + 1)); }
line() { printf '%s\n' "$1"; }

begin() {
	case $agent in
	claude) line '{"type":"system","subtype":"init","session_id":"claude-1","cwd":'"$(quoted "$here")"',"model":'"$(quoted "$model")"'}' ;;
	codex)
		line '{"type":"thread.started","thread_id":"codex-1"}'
		sessions=$CODEX_HOME/sessions/2026/01/05
		mkdir -p "$sessions"
		exec 3>"$sessions/rollout-2026-01-05T10-00-00-codex-1.jsonl"
		line '{"timestamp":"2026-01-05T10:00:00.000Z","type":"session_meta","payload":{"id":"codex-1","cwd":'"$(quoted "$here")"',"originator":"codex_exec"}}' >&3
		line '{"timestamp":"2026-01-05T10:00:00.100Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":'"$(quoted "$prompt")"'}]}}' >&3
		;;
	copilot)
		line '{"type":"session.start","data":{"sessionId":"copilot-1","copilotVersion":"1.0"},"id":"e0","timestamp":"2026-01-05T10:00:00.000Z","parentId":null}'
		line '{"type":"user.message","data":{"content":'"$(quoted "$prompt")"'},"id":"e1","timestamp":"2026-01-05T10:00:00.100Z","parentId":null}'
		;;
	cursor)
		line '{"type":"system","subtype":"init","apiKeySource":"login","cwd":'"$(quoted "$here")"',"session_id":"cursor-1","model":'"$(quoted "$model")"',"permissionMode":"default"}'
		line '{"type":"user","message":{"role":"user","content":[{"type":"text","text":'"$(quoted "$prompt")"'}]},"session_id":"cursor-1"}'
		;;
	opencode)
		line '{"type":"step_start","sessionID":"ses_1"}'
		parts=
		;;
	esac
}
part() { parts=$parts${parts:+,}$1; }

called() { # TOOL ARGUMENTS RESULT, the last two as JSON
	next
	case $agent in
	claude)
		line '{"type":"assistant","message":{"id":"m'$number'","role":"assistant","content":[{"type":"tool_use","id":"t'$number'","name":"'"$1"'","input":'"$2"'}]},"session_id":"claude-1"}'
		line '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t'$number'","content":'"$3"'}]},"session_id":"claude-1"}'
		;;
	codex)
		line '{"type":"item.completed","item":{"id":"i'$number'","type":"command_execution","status":"completed"}}'
		line '{"timestamp":"2026-01-05T10:00:01.000Z","type":"response_item","payload":{"type":"function_call","name":"'"$1"'","arguments":'"$(quoted "$2")"',"call_id":"c'$number'"}}' >&3
		line '{"timestamp":"2026-01-05T10:00:01.500Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c'$number'","output":'"$3"'}}' >&3
		;;
	copilot)
		line '{"type":"tool.execution_start","data":{"toolCallId":"c'$number'","toolName":"'"$1"'","arguments":'"$2"'},"id":"s'$number'","timestamp":"2026-01-05T10:00:01.000Z","parentId":null}'
		line '{"type":"tool.execution_complete","data":{"toolCallId":"c'$number'","success":true,"result":{"content":'"$3"'}},"id":"c'$number'","timestamp":"2026-01-05T10:00:01.500Z","parentId":null}'
		;;
	cursor)
		line '{"type":"tool_call","subtype":"started","call_id":"t'$number'","tool_call":{"'"$1"'":{"args":'"$2"'}},"session_id":"cursor-1","timestamp_ms":1767607201000,"model_call_id":"mc'$number'"}'
		line '{"type":"tool_call","subtype":"completed","call_id":"t'$number'","tool_call":{"'"$1"'":{"args":'"$2"',"result":{"success":{"content":'"$3"'}}}},"session_id":"cursor-1","timestamp_ms":1767607201500,"model_call_id":"mc'$number'"}'
		;;
	opencode)
		line '{"type":"step_finish","sessionID":"ses_1"}'
		part '{"type":"tool","tool":"'"$1"'","callID":"c'$number'","state":{"status":"completed","input":'"$2"',"output":'"$3"',"time":{"start":1767607201000,"end":1767607201500}}}'
		;;
	esac
}
ran() { # COMMAND OUTPUT
	case $agent in
	claude) called Bash '{"command":'"$(quoted "$1")"'}' "$(quoted "$2")" ;;
	codex) called shell '{"command":["bash","-lc",'"$(quoted "$1")"']}' "$(quoted "$2")" ;;
	copilot | opencode) called bash '{"command":'"$(quoted "$1")"',"description":"a command"}' "$(quoted "$2")" ;;
	cursor) called shellToolCall '{"command":'"$(quoted "$1")"',"workingDirectory":'"$(quoted "$here")"'}' "$(quoted "$2")" ;;
	esac
}
looked() { # PATH: reads a file of the folder
	text=$(cat "$1" 2>/dev/null)
	case $agent in
	claude) called Read '{"file_path":'"$(quoted "$here/$1")"'}' "$(quoted "$text")" ;;
	codex) ran "cat $1" "$text" ;;
	copilot) called view '{"path":'"$(quoted "$here/$1")"'}' "$(quoted "$text")" ;;
	cursor) called readToolCall '{"path":'"$(quoted "$here/$1")"'}' "$(quoted "$text")" ;;
	opencode) called read '{"filePath":'"$(quoted "$here/$1")"'}' "$(quoted "$text")" ;;
	esac
}
used() { # SKILL
	case $agent in
	claude) called Skill '{"skill":"'"$1"'"}' '"Launching skill: '"$1"'"' ;;
	copilot) called skill '{"skill":"'"$1"'"}' '"Skill loaded"' ;;
	opencode) called skill '{"name":"'"$1"'"}' '"Skill loaded"' ;;
	codex | cursor) looked "skills/$1/SKILL.md" ;;
	esac
}
answer() { # TEXT: the last thing that is said, and what it cost
	next
	case $agent in
	claude)
		line '{"type":"assistant","message":{"id":"m'$number'","role":"assistant","content":[{"type":"text","text":'"$(quoted "$1")"'}]},"session_id":"claude-1"}'
		line '{"type":"result","subtype":"success","is_error":false,"result":'"$(quoted "$1")"',"session_id":"claude-1","duration_ms":1500,"usage":{"input_tokens":120,"cache_read_input_tokens":5000,"output_tokens":210}}'
		;;
	codex)
		line '{"type":"item.completed","item":{"id":"i'$number'","type":"agent_message","text":'"$(quoted "$1")"'}}'
		line '{"type":"turn.completed","usage":{"input_tokens":300,"cached_input_tokens":100,"output_tokens":50}}'
		line '{"timestamp":"2026-01-05T10:00:02.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":'"$(quoted "$1")"'}]}}' >&3
		line '{"timestamp":"2026-01-05T10:00:02.100Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":300,"cached_input_tokens":100,"output_tokens":50,"reasoning_output_tokens":10,"total_tokens":350}}}}' >&3
		;;
	copilot)
		line '{"type":"assistant.message","data":{"messageId":"m'$number'","content":'"$(quoted "$1")"'},"id":"a'$number'","timestamp":"2026-01-05T10:00:02.000Z","parentId":null}'
		line '{"type":"span","name":"invoke_agent","attributes":{"gen_ai.usage.input_tokens":200,"gen_ai.usage.output_tokens":50,"gen_ai.usage.reasoning_output_tokens":25,"gen_ai.usage.cache_read_input_tokens":75}}' >"$COPILOT_OTEL_FILE_EXPORTER_PATH"
		;;
	cursor)
		line '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":'"$(quoted "$1")"'}]},"session_id":"cursor-1","timestamp_ms":1767607202000}'
		line '{"type":"result","subtype":"success","is_error":false,"result":'"$(quoted "$1")"',"session_id":"cursor-1","usage":{"inputTokens":200,"outputTokens":50,"cacheReadTokens":75}}'
		;;
	opencode)
		line '{"type":"step_finish","sessionID":"ses_1"}'
		part '{"type":"text","text":'"$(quoted "$1")"'}'
		asked='{"info":{"id":"msg_0","role":"user","time":{"created":1767607200000}},"parts":[{"type":"text","text":'"$(quoted "$prompt")"'}]}'
		said='{"info":{"id":"msg_1","role":"assistant","time":{"created":1767607200500,"completed":1767607202000},"path":{"cwd":'"$(quoted "$here")"'},"tokens":{"input":100,"output":40,"reasoning":10,"cache":{"read":60,"write":0}}},"parts":['"$parts"']}'
		line '{"info":{"id":"ses_1","version":"1.0.0"},"messages":['"$asked,$said"']}' >"$store/ses_1.json"
		;;
	esac
}

# ---- what it does, by what it is asked

[ -z "$resumed" ] || {
	begin
	answer "I was asked for a list of the folder, and \`ls\` is what lists one."
	exit 0
}
case $prompt in
*"model that is gone"*)
	case $agent in
	claude) line '{"type":"result","is_error":true,"api_error_status":404,"modelUsage":{},"error":"invalid_request"}' ;;
	codex) line '{"type":"error","message":"invalid_request_error: the model is not supported"}' ;;
	cursor) echo "Cannot use this model: $model" >&2 ;;
	*) echo "Model not found: $model" >&2 ;;
	esac
	exit 1
	;;
esac
begin
case $prompt in
*"five commands"*)
	for step in 1 2 3 4 5; do
		ran "echo step$step" "step$step"
		case $agent in
		codex) line '{"type":"item.completed","item":{"id":"n'$step'","type":"agent_message","text":"on"}}' ;;
		copilot) line '{"type":"assistant.message","data":{"messageId":"n'$step'","content":"on"},"id":"n'$step'","timestamp":"2026-01-05T10:00:01.900Z","parentId":null}' ;;
		esac
		sleep 0.1
	done
	answer "all steps are done"
	;;
*"never answer"*)
	# What it leaves behind has a session of its own.
	setsid sleep 300 >/dev/null 2>&1 &
	sleep 300
	;;
*"fall over"*)
	echo "out of luck" >&2
	exit 3
	;;
*"only at the second try"*)
	mkdir -p "$TRIES" && [ -e "$TRIES/$agent" ] || {
		: >"$TRIES/$agent"
		answer "not yet"
		exit 0
	}
	answer "it works"
	;;
*"which agent opens"*) answer 'cursr agent "open README.md"' ;;
*"list the folder"*)
	ran ls "README.md"
	answer "I have listed the folder."
	;;
*"skill for upgrading"*)
	used find-skills
	looked skills/find-skills/SKILL.md
	ran "npx skills find upgrade" "upgrading-app"
	answer "Install it with \`npx skills add upgrading-app\`."
	;;
*"two markers"*)
	looked README.md
	looked made.txt
	echo "seen" >report.txt
	answer "Template: $(sed -n 's/^marker: //p' README.md)
Bootstrap: $(cat made.txt 2>/dev/null)"
	;;
*) answer "ready to start" ;;
esac
