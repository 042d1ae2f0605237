"""Rules out of the dependency graphs of SOPBench.

A domain of SOPBench names, for each action, what has to be known before it: a tree of `and` and `or` over earlier actions. A task holds the graph
of its own goal; for every other action the tree follows from the constraints of the domain. Its Python files are read as data and never run.
"""
import ast
import json
import os

TABLES = {
    "action_descriptions",
    "action_innate_dependencies",
    "action_required_dependencies",
    "action_customizable_dependencies",
    "constraint_links",
    "constraint_dependencies",
    "constraint_processes",
    "action_params_user_not_needed",
}


def parse_file(path):
    with open(path, encoding="utf-8") as text:
        return ast.parse(text.read())


def read_tables(path):
    """The tables of a domain that are plain values, by name."""
    found = {}
    for node in parse_file(path).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in TABLES:
            try:
                found[node.targets[0].id] = ast.literal_eval(node.value)
            except ValueError:
                # A table with computed texts (the descriptions): only its keys count here.
                found[node.targets[0].id] = {key.value: None for key in node.value.keys}
    return found


def read_parameters(path):
    """The parameters of each action: the methods of the domain's classes."""
    found = {}
    for scope in parse_file(path).body:
        if isinstance(scope, ast.ClassDef):
            for method in scope.body:
                if isinstance(method, ast.FunctionDef):
                    found.setdefault(method.name, [arg.arg for arg in method.args.args if arg.arg != "self"])
    return found


class Domain:
    """The constraints of one domain."""

    def __init__(self, folder, name):
        at = lambda end: os.path.join(folder, "env", "domains", name, name + end + ".py")
        self.tables = {table: {} for table in TABLES} | read_tables(at("_assistant"))
        hidden = self.tables["action_params_user_not_needed"]
        self.parameters = {
            action: [p for p in parameters if p not in hidden.get(action, ())]
            for action, parameters in read_parameters(at("")).items()
        }
        self.actions = set(self.tables["action_descriptions"])

    def constraints(self, action):
        """What an action requires in full: the part that is always required, and the part that a task may change."""
        fixed = self.tables["action_required_dependencies"].get(action)
        free = self.tables["action_customizable_dependencies"].get(action)
        if isinstance(free, list):
            free = ("and", free) if free else None
        return ("and", [fixed, free]) if fixed and free else fixed or free

    def linked(self, constraint, renames):
        """The action that a constraint stands for, such as the login for `logged_in_user`; None if it stands for none."""
        link = self.tables["constraint_links"].get(constraint)
        if not link:
            return None
        action, known = link if isinstance(link, (tuple, list)) else (link, None)
        known = {key: (renames or {}).get(name, name) for key, name in (known or {}).items()}
        return (action, {key: key for key in self.parameters.get(action, [])} | known)

    def tree(self, constraint):
        """A constraint as a tree of actions: ("and" | "or", [tree]) or ("call", action, renames); None if nothing is needed."""
        if not constraint:
            return None
        if constraint[0] != "single":
            return join("and" if constraint[0] in ("and", "chain") else "or", [self.tree(part) for part in constraint[1]])
        name, renames = positive(constraint[1]), constraint[2]
        linked = self.linked(name, renames)
        return ("call", *linked) if linked else process_tree(rename(self.tables["constraint_processes"].get(name), renames))

    def default_graph(self, action):
        """What has to come before an action that is not in the graph of the task: the names of its parameters, and the tree."""
        return {key: key for key in self.parameters.get(action, [])}, self.tree(self.constraints(action))

    def first_leaf(self, constraint, goal):
        """The first thing that a constraint rests on: the benchmark counts it as known once the action succeeded."""
        if not constraint:
            return None
        if constraint[0] != "single":
            return next(filter(None, (self.first_leaf(part, goal) for part in constraint[1])), None)
        name, renames = positive(constraint[1]), constraint[2]
        linked = self.linked(name, renames)
        if linked:
            return self.first_leaf(("single", *linked), goal)
        required = goal[1] if goal and name == goal[0] else self.constraints(name)
        for source in (self.tables["action_innate_dependencies"].get(name), required, self.tables["constraint_dependencies"].get(name)):
            leaf = self.first_leaf(rename(source, renames), goal)
            if leaf:
                return leaf
        return ("single", name, renames or {})

    def implied(self, goal):
        """Actions by what they make known beside themselves: {known action: [(action, {parameter of the known one: its own})]}."""
        found = {}
        for action in sorted(self.actions):
            leaf = self.first_leaf(self.tables["action_innate_dependencies"].get(action), goal)
            if not leaf:
                continue
            known = [(leaf[1], leaf[2])] if leaf[1] in self.actions else list(calls(process_tree(rename(self.tables["constraint_processes"].get(leaf[1]), leaf[2]))))
            for name, renames in known:
                own = set(self.parameters.get(action, []))
                if set(renames) <= own and set(renames.values()) <= own:
                    found.setdefault(name, []).append((action, renames))
        return found


def positive(constraint):
    return constraint.replace("not ", "")


def rename(constraint, renames):
    """A constraint with the names of its parameters replaced."""
    if not constraint or not renames:
        return constraint
    if constraint[0] == "single":
        return (constraint[0], constraint[1], {key: renames.get(name, name) for key, name in (constraint[2] or {}).items()})
    return (constraint[0], [rename(part, renames) for part in constraint[1]])


def join(word, parts):
    parts = [part for part in parts if part]
    return (word, parts) if len(parts) > 1 else parts[0] if parts else None


def process_tree(process):
    if not process:
        return None
    if process[0] == "single":
        return ("call", process[1], process[2] or {})
    return join("and" if process[0] in ("and", "chain") else "or", [process_tree(part) for part in process[1]])


def calls(tree):
    if tree and tree[0] == "call":
        yield tree[1:]
    elif tree:
        for part in tree[1]:
            yield from calls(part)


def task_graphs(graph):
    """What has to come before each action in the graph of a task."""
    nodes, after = graph["nodes"], {}
    for source, target in graph["connections"]:
        after.setdefault(source, set()).add(target)

    def tree(at):
        if isinstance(nodes[at], str):
            return join(nodes[at], [tree(part) for part in sorted(after.get(at, ()))])
        return ("call", nodes[at][0], nodes[at][1] or {})

    found = {}
    for at, node in enumerate(nodes):
        if not isinstance(node, str) and node[0] not in found:
            # An action has at most one node behind it.
            found[node[0]] = (node[1] or {}, tree(next(iter(after[at]))) if after.get(at) else None)
    return found


def step(action, bound):
    return action + ("(%s)" % ", ".join("%s: $%s" % pair for pair in bound.items()) if bound else "")


def statement(tree, goal, names, implied, depth):
    """A tree as a statement: `starts before` for one action, groups for `and` and `or`."""
    pad = "  " * depth
    if tree[0] != "call":
        word = "all of" if tree[0] == "and" else "any of"
        return "%s%s {\n%s%s}\n" % (pad, word, "".join(statement(part, goal, names, implied, depth + 1) for part in tree[1]), pad)
    action, renames = tree[1], tree[2]
    # A value that the goal does not have, such as the password of a login, is not compared.
    bound = {key: names[name] for key, name in renames.items() if key in names and name in names}
    sources = [step(action, bound)]
    for other, own in implied.get(action, ()):
        sources.append(step(other, {own[key]: variable for key, variable in bound.items() if key in own}))
    sources = list(dict.fromkeys(sources))
    lines = ["starts before %s -> %s" % (source, goal) for source in sources]
    if len(lines) == 1:
        return pad + lines[0] + "\n"
    return "%sany of {\n%s%s}\n" % (pad, "".join("%s  %s\n" % (pad, line) for line in lines), pad)


def rule(action, parameters, tree, implied):
    """The rule of one action: for each call of it and the values of that call, what has to come before."""
    if not tree:
        return ""
    used = {name for _, renames in calls(tree) for name in renames.values()}
    names = {name: key for key, name in sorted(parameters.items()) if name in used}
    goal = step(action, {key: key for key in names.values()})
    body = statement(tree, goal, names, implied, 2)
    return 'rule %s "What has to be known before %s" {\n  each %s {\n%s  }\n}\n' % (action, action, goal, body)


def rules(domain, task):
    """The rules of one task, as text."""
    graphs = task_graphs(task["directed_action_graph"])
    implied = domain.implied((task["user_goal"], task["constraints"]))
    found = [rule(action, *graphs.get(action, domain.default_graph(action)), implied) for action in sorted(domain.actions)]
    return "\n".join(filter(None, found))


def load(path):
    with open(path, encoding="utf-8") as text:
        return json.load(text)
