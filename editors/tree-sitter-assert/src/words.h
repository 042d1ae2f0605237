// The words that mean something at one place and are names at another, and what has to follow for them to mean it.
#ifndef AVERMENT_WORDS_H
#define AVERMENT_WORDS_H

#include <stdbool.h>
#include <string.h>

// What may follow a word that is a word of the language there.
enum Follower {
  BEFORE_STEP = 1 << 0,     // a step: a word, a text, a glob, a group
  BEFORE_OPERAND = 1 << 1,  // an operand of an expression
  BEFORE_SPACED = 1 << 2,   // space, and then an operand
  BEFORE_WORD = 1 << 3,
  BEFORE_TEXT = 1 << 4,
  BEFORE_REGEX = 1 << 5,
  BEFORE_NUMBER = 1 << 6,
  BEFORE_BRACE = 1 << 7,
  BEFORE_LIST = 1 << 8,     // a bracket with space in front
  BEFORE_END = 1 << 9,
};

typedef struct {
  const char *word;
  unsigned followers;
  // These words, with a space behind each.
  const char *next_words;
} ContextWord;

// At the start of a statement, and where an operand may stand.
static const ContextWord CONTEXT_WORDS[] = {
  {"require", BEFORE_STEP, ""}, {"never", BEFORE_STEP, ""}, {"only", BEFORE_STEP, ""}, {"first", BEFORE_STEP, ""},
  {"last", BEFORE_STEP, ""}, {"before", BEFORE_STEP, ""}, {"after", BEFORE_STEP, ""}, {"sequence", BEFORE_STEP, ""},
  {"nested", BEFORE_STEP, ""}, {"together", BEFORE_STEP, ""}, {"apart", BEFORE_STEP, ""}, {"both", BEFORE_STEP, ""},
  {"either", BEFORE_STEP, ""}, {"flow", BEFORE_STEP, ""}, {"each", BEFORE_STEP, ""}, {"some", BEFORE_STEP, ""},
  {"no", BEFORE_STEP, ""}, {"between", BEFORE_STEP, ""}, {"call", BEFORE_STEP, ""},
  {"immediately", 0, "before after "}, {"starts", 0, "before "}, {"args", 0, "valid "}, {"calls", 0, "match "},
  {"at", 0, "least "}, {"for", 0, "each "}, {"tools", 0, "from "}, {"expect", 0, "fail ok error "},
  {"subset", 0, "of "}, {"superset", 0, "of "},
  {"any", BEFORE_SPACED, "of "}, {"all", BEFORE_SPACED, "of "}, {"none", BEFORE_SPACED, "of "},
  {"exactly", BEFORE_SPACED, ""}, {"score", BEFORE_SPACED, ""}, {"when", BEFORE_OPERAND, ""},
  {"file", BEFORE_TEXT, ""}, {"run", BEFORE_TEXT, ""}, {"http", BEFORE_TEXT | BEFORE_REGEX, ""},
  {"env", BEFORE_BRACE | BEFORE_WORD, ""}, {"tool", BEFORE_STEP, ""},
  {"use", BEFORE_TEXT | BEFORE_WORD, ""}, {"param", BEFORE_WORD, ""}, {"let", BEFORE_WORD, ""}, {"def", BEFORE_WORD, ""},
  {"step", BEFORE_WORD, ""}, {"schema", BEFORE_WORD, ""}, {"rule", BEFORE_WORD, ""}, {"case", BEFORE_WORD, ""},
  {"workspace", BEFORE_WORD, ""}, {"runner", BEFORE_WORD, ""}, {"invariant", BEFORE_WORD, ""},
  {"suite", BEFORE_TEXT, ""}, {"test", BEFORE_TEXT, ""}, {"pre", BEFORE_BRACE, ""}, {"post", BEFORE_BRACE, ""},
  {"prompt", BEFORE_TEXT, ""}, {"template", BEFORE_TEXT, ""}, {"bootstrap", BEFORE_TEXT, ""}, {"model", BEFORE_TEXT, ""},
  {"classify", BEFORE_TEXT, ""}, {"cwd", BEFORE_TEXT, ""}, {"agent", BEFORE_TEXT | BEFORE_WORD, ""},
  {"timeout", BEFORE_NUMBER, ""}, {"max_steps", BEFORE_NUMBER, ""}, {"parallel", BEFORE_NUMBER, ""},
  {"repeat", BEFORE_NUMBER, ""}, {"retries", BEFORE_NUMBER, ""}, {"schedule", BEFORE_WORD, ""}, {"select", BEFORE_WORD, ""},
  {"command", BEFORE_LIST, ""}, {"snapshots", BEFORE_BRACE, ""},
  {"weight", BEFORE_NUMBER, ""}, {"threshold", BEFORE_NUMBER, ""}, {"severity", BEFORE_WORD, ""}, {"must", BEFORE_END, ""},
  {"message", BEFORE_TEXT, ""}, {"as", BEFORE_WORD, ""}, {"class", BEFORE_TEXT, ""}, {"tags", BEFORE_WORD, ""},
  {"id", BEFORE_WORD, ""}, {"deny", BEFORE_WORD, ""}, {"allow", BEFORE_WORD, ""},
};

#define MODIFIERS "weight severity must threshold message as class tags when id expect deny allow "
// No names: only in front of a field may one stand for a name.
#define OPERATORS "and or not in is if then else implies contains icontains mentions matches exists "
// What goes on behind an operand.
#define TESTS "and or not in is implies contains icontains mentions matches exists starts ends does like "
// Behind `count` these are no tools.
#define NOT_COUNTED OPERATORS "starts ends does like of so where within "
// With these a line goes on that has ended.
#define CONTINUING "and or implies then else "
// What may follow a step.
#define BEHIND_STEP "where ok failed by tagged within times more after before between until " MODIFIERS
#define LIST_ROOTS "inputs prompt output calls steps messages commands reads writes skills spans handovers usage meta env tools files response run args result it "
#define LIST_FUNCTIONS "distinct sort words lines split json jsonpath keys values "
// A line that begins with one of these and another word stands in no bracket.
#define NEVER_IN_BRACKETS "rule suite test case invariant require never before after sequence use param let def schema tools workspace runner "

static bool is_one_of(const char *word, const char *words) {
  size_t length = strlen(word);
  if (length == 0) return false;
  for (const char *found = words; (found = strstr(found, word)); found += length) {
    if ((found == words || found[-1] == ' ') && found[length] == ' ') return true;
  }
  return false;
}

static const ContextWord *context_word(const char *word) {
  for (size_t index = 0; index < sizeof CONTEXT_WORDS / sizeof *CONTEXT_WORDS; index++) {
    if (strcmp(CONTEXT_WORDS[index].word, word) == 0) return &CONTEXT_WORDS[index];
  }
  return NULL;
}

#endif
