"""Traces of Dogwood's corpus as runs: a request with its response, or its error, is a call."""
import json
import re

# 2023-11-14: traces count seconds from 0, and times of a run below 1e11 are ambiguous.
EPOCH = 1_700_000_000_000
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}


class LogText:
    """A line of a trace, read from left to right."""

    def __init__(self, text):
        self.text, self.at = text, 0

    def peek(self, sign):
        while self.text[self.at:self.at + 1].isspace():
            self.at += 1
        return self.text.startswith(sign, self.at)

    def take(self, sign):
        found = self.peek(sign)
        self.at += len(sign) if found else 0
        return found

    def need(self, sign):
        if not self.take(sign):
            raise ValueError("%r is expected at %r" % (sign, self.text[self.at:self.at + 40]))

    def word(self):
        self.peek("")
        found = re.compile(r"[\w-]*").match(self.text, self.at).group()
        self.at += len(found)
        return found

    def quoted(self):
        self.need('"')
        signs = []
        while (sign := self.text[self.at]) != '"':
            self.at += 1
            if sign == "\\":
                sign = self.escape()
            signs.append(sign)
        self.at += 1
        return "".join(signs)

    def escape(self):
        code = re.compile(r"u\{([0-9A-Fa-f_]+)\}|x([0-9A-Fa-f]{2})|(.)", re.S).match(self.text, self.at)
        self.at = code.end()
        digits = code.group(1) or code.group(2)
        return chr(int(digits.replace("_", ""), 16)) if digits else ESCAPES.get(code.group(3), code.group(3))

    def entries(self, end):
        """`name: value, …` up to the closing sign."""
        found = {}
        while not self.take(end):
            name = self.quoted() if self.peek('"') else self.word()
            self.need(":")
            found[name] = self.value()
            self.take(",")
        return found

    def arguments(self):
        self.need("(")
        return self.entries(")")

    def groups(self):
        """`(Entity: { … } in [Entity, …])`: what it is in."""
        self.need("(")
        found = []
        while not self.take(")"):
            self.value()
            self.need(":")
            self.value()
            if self.take("in"):
                found += self.value()
            self.take(",")
        return found

    def value(self):
        if self.peek('"'):
            return self.quoted()
        if self.take("{"):
            return self.entries("}")
        if self.take("["):
            found = []
            while not self.take("]"):
                found.append(self.value())
                self.take(",")
            return found
        word = self.word()
        if re.fullmatch(r"-?\d+", word):
            return float("%s.%s" % (word, self.word())) if self.take(".") else int(word)
        if word in ("true", "false", "null"):
            return json.loads(word)
        if word == "decimal":
            self.need("(")
            number = float(self.quoted())
            self.need(")")
            return number
        return self.entity(word)

    def entity(self, word):
        while self.take("::"):
            if self.peek('"'):
                return "%s::%s" % (word, json.dumps(self.quoted(), ensure_ascii=False))
            word = "%s::%s" % (word, self.word())
        return word


class LogEvent:
    """A line: a request, a response or an error of an action."""

    def __init__(self, line):
        text = LogText(line)
        text.need("@")
        self.time = EPOCH + 1000 * int(text.word())
        self.scope, self.context, self.groups = {}, {}, []
        while name := text.word():
            if name == "scope":
                self.scope = text.arguments()
            elif name == "request_context":
                self.context = text.arguments()
            elif name == "entities":
                self.groups = text.groups()
            else:
                while text.take("::"):
                    if text.peek('"'):
                        self.action = text.quoted()
                    else:
                        self.kind = text.word()
                self.fields = text.arguments()

    def meta(self):
        """What a request says beside its arguments."""
        known = ("input", "output", "callerPrincipal", "callerResource", "requestId")
        found = {name: value for name, value in self.fields.items() if name not in known}
        found.update({name: value for name, value in self.context.items() if name != "input"})
        found.update(principal=self.scope.get("principal"), resource=self.scope.get("resource"))
        if self.groups:
            found["resource_in"] = self.groups
        return found

    def request(self):
        return {"id": self.fields.get("requestId"), "tool": self.action, "args": self.fields.get("input"),
                "start": self.time, "status": "pending", "meta": self.meta()}


def read_log(text):
    """A run, and the number of the call of each time point that is a request."""
    calls, places = [], {}
    for point, line in enumerate(line for line in text.splitlines() if line.startswith("@")):
        event = LogEvent(line)
        if event.kind == "request":
            places[point] = len(calls)
            calls.append(event.request())
            continue
        same = lambda call: (call["status"], call["tool"], call["id"]) == ("pending", event.action, event.fields.get("requestId"))
        # A response without a request is no call.
        for call in list(filter(same, calls))[:1]:
            call.update(end=event.time, status="ok" if event.kind == "response" else "failed", result=event.fields.get("output", {}))
    return {"calls": calls}, places
