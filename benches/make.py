#!/usr/bin/env python3
"""Rules and traces for the measurements: many mixed rules, the corpus in other formats, long and big runs.

usage: make.py rules N > rules.assert
       make.py chat|claude|native|otlp|responses < corpus.jsonl > other.jsonl
       make.py long CALLS | big MIB > run.jsonl
"""
import json, sys, zlib

WORDS = ["refund", "invoice", "warehouse", "token", "deploy", "identity", "currency", "escalated", "rollback", "dashboard", "contract", "query",
         "latency", "section", "stock", "phone"]
NAMES = ["search_docs", "api_call", "read_file", "sql_query", "get_customer", "list_orders", "send_email", "update_ticket", "fetch_url",
         "calculator", "authenticate", "delete_record", "refund", "vector_search"]


class Numbers:
    """A small generator of numbers, the same everywhere."""

    def __init__(self):
        self.state = 0x9E3779B97F4A7C15

    def below(self, count):
        state = self.state
        state ^= (state << 13) & 0xFFFFFFFFFFFFFFFF
        state ^= state >> 7
        state ^= (state << 17) & 0xFFFFFFFFFFFFFFFF
        self.state = state
        return state % count

    def of(self, items):
        return items[self.below(len(items))]


def rule(number, random):
    """One of ten kinds: texts and patterns in results and in the output, names, order, counts, durations."""
    kind = number % 10
    if kind < 2:
        return "def words%d(s) = s contains \"%s %s %s\"\nrule r%d { no words%d in calls[*].result }" % (
            number, random.of(WORDS), random.of(WORDS), random.of(WORDS), number, number)
    if kind < 4:
        key = "%s%d_" % (random.of(["tok", "key", "id", "acct", "srv"]), random.below(10000))
        return "def key%d(s) = s matches /\\b%s[A-Za-z0-9]{12,}\\b/\nrule r%d { no key%d in calls[*].result }" % (number, key, number, number)
    if kind == 4:
        return "rule r%d { output.text not matches /[A-Z][a-z]+ %s [0-9]+ %s/ }" % (number, random.of(WORDS), random.of(WORDS))
    if kind == 5:
        return "rule r%d { never %s_*%d }" % (number, random.of(["admin", "drop", "sudo", "internal", "shell", "danger"]), random.below(1000))
    if kind == 6:
        names = ", ".join("%s_%d" % (random.of(["exec", "rm", "grant", "purge"]), random.below(1000)) for _ in range(5))
        return "rule r%d { never %s }" % (number, names)
    if kind == 7:
        return "rule r%d { before %s -> %s }" % (number, random.of(NAMES), random.of(NAMES))
    if kind == 8:
        return "rule r%d { count %s <= %d }" % (number, random.of(NAMES), 4 + random.below(10))
    return "rule r%d { duration <= %dms }" % (number, 5000 + random.below(30000))


def rules(count):
    random = Numbers()
    for number in range(count):
        print(rule(number, random))


def put(value):
    sys.stdout.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def chat(run):
    """OpenAI's chat form: calls in assistant messages, results in messages of role `tool`."""
    messages = list(run["messages"])
    for number, call in enumerate(run["tool_calls"]):
        name = "call_%d" % number
        function = {"name": call["name"], "arguments": json.dumps(call["args"])}
        messages.append({"role": "assistant", "content": None, "tool_calls": [{"id": name, "type": "function", "function": function}]})
        result = call["result"] if isinstance(call["result"], str) else json.dumps(call["result"])
        messages.append({"role": "tool", "tool_call_id": name, "content": result})
    messages.append({"role": "assistant", "content": run["output"]["text"]})
    return {"id": run["id"], "messages": messages}


def claude(run):
    """Anthropic's form of a conversation, as Claude Code records it: blocks of `tool_use` and `tool_result`."""
    messages = [message for message in run["messages"] if message["role"] != "system"]
    for number, call in enumerate(run["tool_calls"]):
        name = "toolu_%d" % number
        messages.append({"role": "assistant", "content": [{"type": "tool_use", "id": name, "name": call["name"], "input": call["args"]}]})
        result = call["result"] if isinstance(call["result"], str) else json.dumps(call["result"])
        messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": result}]})
    messages.append({"role": "assistant", "content": [{"type": "text", "text": run["output"]["text"]}]})
    return {"id": run["id"], "messages": messages}


def native(run):
    calls = [{"tool": call["name"], "args": call["args"], "result": call["result"], "error": call["error"], "start": call["start_ms"],
              "duration": call["duration_ms"]} for call in run["tool_calls"]]
    return {"id": run["id"], "inputs": run["input"], "output": run["output"], "calls": calls, "duration": run["duration_ms"]}


def said(value):
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def otlp(run):
    """A trace of OpenTelemetry on each line: spans of an agent, of one request to a model with its messages, and of each call."""
    trace, begin = "%032x" % (zlib.crc32(run["id"].encode()) + 1), 1700000000000
    spans = []

    def span(name, start, end, parent=None, error=None, **attributes):
        typed = {key.replace("__", "."): value for key, value in attributes.items() if value is not None}
        value = lambda one: {"intValue": str(one)} if isinstance(one, int) else {"stringValue": said(one)}
        spans.append({
            "traceId": trace, "spanId": "%016x" % (len(spans) + 1), **({"parentSpanId": parent} if parent else {}), "name": name, "kind": 1,
            "startTimeUnixNano": str((begin + start) * 1000000), "endTimeUnixNano": str((begin + end) * 1000000),
            "attributes": [{"key": key, "value": value(one)} for key, one in typed.items()],
            "status": {"code": 2, "message": said(error)} if error else {}})
        return spans[-1]["spanId"]

    parts = lambda role, text: {"role": role, "parts": [{"type": "text", "content": said(text)}]}
    root = span("invoke_agent support", 0, run["duration_ms"], gen_ai__operation__name="invoke_agent", gen_ai__agent__name="support")
    given = [parts(message["role"], message["content"]) for message in run["messages"][:-1]]
    span("chat", 0, 1, root, gen_ai__operation__name="chat", gen_ai__request__model="a-model",
         gen_ai__usage__input_tokens=run["usage"]["prompt_tokens"], gen_ai__usage__output_tokens=run["usage"]["completion_tokens"],
         gen_ai__input__messages=given, gen_ai__output__messages=[parts("assistant", run["output"])])
    for number, call in enumerate(run["tool_calls"]):
        span("execute_tool " + call["name"], call["start_ms"], call["start_ms"] + call["duration_ms"], root, call["error"],
             gen_ai__operation__name="execute_tool", gen_ai__tool__name=call["name"], gen_ai__tool__call__id="call_%d" % number,
             gen_ai__tool__call__arguments=call["args"], gen_ai__tool__call__result=call["result"])
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "bench"}, "spans": spans}]}]}


def responses(run):
    """A response of OpenAI's Responses API on each line: calls, what they gave back, and the answer as items."""
    items = []
    for number, call in enumerate(run["tool_calls"]):
        name = "call_%d" % number
        items.append({"type": "function_call", "id": "fc_%d" % number, "call_id": name, "name": call["name"], "status": "completed",
                      "arguments": json.dumps(call["args"], ensure_ascii=False)})
        items.append({"type": "function_call_output", "call_id": name, "output": said(call["result"])})
    items.append({"type": "message", "id": "msg", "role": "assistant", "status": "completed",
                  "content": [{"type": "output_text", "text": said(run["output"]), "annotations": []}]})
    return {"id": run["id"], "object": "response", "created_at": 1700000000, "model": "a-model", "status": "completed", "output": items,
            "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}}


def one(calls, text):
    made = [{"name": NAMES[number % len(NAMES)], "args": {"id": number}, "result": text, "error": None, "start_ms": number,
             "duration_ms": 1} for number in range(calls)]
    return {"id": "one", "input": "x", "output": {"text": "In summary, done", "url": "https://a.b"}, "tool_calls": made, "duration_ms": calls}


def main():
    what = sys.argv[1]
    if what == "rules":
        rules(int(sys.argv[2]))
    elif what == "long":
        for _ in range(20):
            put(one(int(sys.argv[2]), "a result of some words"))
    elif what == "big":
        for _ in range(4):
            put(one(100, "words and more words, " * (int(sys.argv[2]) * 476)))
    else:
        form = {"chat": chat, "claude": claude, "native": native, "otlp": otlp, "responses": responses}[what]
        for line in sys.stdin:
            put(form(json.loads(line)))


if __name__ == "__main__":
    main()
