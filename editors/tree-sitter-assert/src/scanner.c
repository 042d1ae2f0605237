// What the grammar of `.assert` files asks for beyond one sign ahead: where lines and expressions end, what a word means that is a name elsewhere, and
// globs, numbers and regular expressions. `grammar/assert.pest` says all of it with lookaheads; the comments name its rules.
#include "tree_sitter/alloc.h"
#include "tree_sitter/parser.h"
#include "words.h"

enum SignKind {
  NEWLINE, MODIFIER_NEWLINE, SOFT_NEWLINE, GOES_ON,
  OPEN_PAREN, CALL_OPEN, OPEN_BRACKET, INDEX_OPEN, BLOCK_OPEN, OBJECT_OPEN, REPEAT_OPEN, INTERPOLATION_OPEN, CLOSE,
  PLAIN_AHEAD, INFIX_AHEAD, LIST_AHEAD, STEPS_AHEAD, LIKE_START,
  QUANTIFIER_WORD, NO_IN, COUNT_WORD, IF_STEPS, IN_A_ROW,
  ENTRY_WORD, PATTERN, PLAIN_WORD, COMMAND_WORD,
  NUMBER, REGEX_START, EXPRESSION_END, TAGGED,
  UNREACHABLE,
};

// Deeper brackets are read, and forgotten: the language itself refuses them long before.
#define MAX_DEPTH 1000
#define MAX_WORD 64
// How far ahead a statement is looked through.
#define MAX_SURVEY 20000

// `open` holds the bracket that closes each open one; a block, where lines count, as 'b'.
typedef struct {
  uint16_t depth;
  // Line ends that are known to end nothing, up to the next sign.
  uint16_t crossed;
  char open[MAX_DEPTH];
} OpenBrackets;

static bool is_word_start(int32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }
static bool is_word_char(int32_t c) { return is_word_start(c) || is_digit(c); }
static bool is_glob_char(int32_t c) { return is_word_char(c) || c == '*' || c == '?'; }
static bool is_blank(int32_t c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool is_quote(int32_t c) { return c == '"' || c == '\''; }
static void step_over(TSLexer *lexer) { lexer->advance(lexer, false); }
static bool found(TSLexer *lexer, enum SignKind kind) {
  lexer->result_symbol = kind;
  return true;
}

static bool lines_count(const OpenBrackets *brackets) {
  return brackets->depth == 0 || brackets->open[(brackets->depth < MAX_DEPTH ? brackets->depth : MAX_DEPTH) - 1] == 'b';
}
static void push(OpenBrackets *brackets, char closing) {
  if (brackets->depth < MAX_DEPTH) brackets->open[brackets->depth] = closing;
  if (brackets->depth < UINT16_MAX) brackets->depth++;
}

// ---- looking ahead

// A sign that is seen ahead: 'w' a word, '"' a text, '0' a number, '>' an arrow, 'c' a sign that compares, '.' two dots, '\n' the end of a line or text,
// and any other sign as itself.
typedef struct {
  int32_t kind;
  bool is_spaced;
  char word[MAX_WORD];
  // The sign directly behind it.
  int32_t behind;
} SeenSign;

static void read_word(TSLexer *lexer, char *word) {
  unsigned length = 0;
  for (; is_word_char(lexer->lookahead); step_over(lexer)) {
    if (length < MAX_WORD - 1) word[length++] = (char)lexer->lookahead;
  }
  word[length] = 0;
}

static void skip_text(TSLexer *lexer) {
  int32_t quote = lexer->lookahead;
  step_over(lexer);
  if (quote == '"' && lexer->lookahead == '"') {
    step_over(lexer);
    if (lexer->lookahead != '"') return;
    step_over(lexer);
    for (unsigned quotes = 0; quotes < 3 && !lexer->eof(lexer); step_over(lexer)) {
      quotes = lexer->lookahead == '"' ? quotes + 1 : 0;
      if (lexer->lookahead == '\\') step_over(lexer);
    }
    return;
  }
  while (!lexer->eof(lexer) && lexer->lookahead != '\n' && lexer->lookahead != quote) {
    if (quote == '"' && lexer->lookahead == '\\') step_over(lexer);
    step_over(lexer);
  }
  if (lexer->lookahead == quote) step_over(lexer);
}

// Over the rest of a regular expression whose `/` is passed; false where there is none on the line.
static bool skip_regex(TSLexer *lexer) {
  bool in_class = false;
  for (unsigned length = 0;; length++) {
    int32_t c = lexer->lookahead;
    if (lexer->eof(lexer) || c == '\n') return false;
    step_over(lexer);
    if (c == '/' && !in_class) return length > 0;
    if (c == '\\') {
      if (lexer->eof(lexer) || lexer->lookahead == '\n') return false;
      step_over(lexer);
    } else if (c == '[' && !in_class) {
      in_class = true;
      if (lexer->lookahead == '^') step_over(lexer);
      if (lexer->lookahead == ']') step_over(lexer);
    } else if (c == ']') {
      in_class = false;
    }
  }
}

static void skip_comment(TSLexer *lexer) {
  while (!lexer->eof(lexer) && lexer->lookahead != '\n') step_over(lexer);
}

// Over space and comments, and over line ends where they do not count.
static bool skip_space(TSLexer *lexer, bool with_lines) {
  bool skipped = false;
  while (is_blank(lexer->lookahead) || lexer->lookahead == '#' || (with_lines && lexer->lookahead == '\n')) {
    if (lexer->lookahead == '#') skip_comment(lexer);
    else step_over(lexer);
    skipped = true;
  }
  return skipped;
}

static SeenSign see(TSLexer *lexer, bool with_lines) {
  SeenSign seen = {.kind = '\n'};
  seen.is_spaced = skip_space(lexer, with_lines);
  int32_t c = lexer->lookahead;
  if (lexer->eof(lexer) || c == '\n') return seen;
  seen.kind = c;
  if (is_word_start(c)) {
    seen.kind = 'w';
    read_word(lexer, seen.word);
  } else if (is_digit(c)) {
    seen.kind = '0';
    while (is_word_char(lexer->lookahead)) step_over(lexer);
  } else if (is_quote(c)) {
    seen.kind = '"';
    skip_text(lexer);
  } else {
    step_over(lexer);
    int32_t second = lexer->lookahead;
    if (c == '-' && second == '>') seen.kind = '>';
    if (c == '<' || c == '>' || ((c == '=' || c == '!') && second == '=')) seen.kind = 'c';
    if (c == '.' && second == '.') seen.kind = '.';
    else if (c == '.') seen.kind = 'f';
    if (seen.kind == '>' || seen.kind == '.' || (seen.kind == 'c' && second == '=')) step_over(lexer);
  }
  seen.behind = lexer->lookahead;
  return seen;
}

static bool opens(int32_t kind) { return kind == '(' || kind == '[' || kind == '{'; }
static bool closes(int32_t kind) { return kind == ')' || kind == ']' || kind == '}'; }
static bool is_operand_start(const SeenSign *seen) {
  return seen->kind == 'w' || seen->kind == '0' || seen->kind == '"' || opens(seen->kind) || seen->kind == '$' || seen->kind == '/';
}

// Behind an opened bracket: to behind the one that closes it.
static void skip_brackets(TSLexer *lexer) {
  unsigned depth = 1;
  for (unsigned steps = 0; depth > 0 && steps < MAX_SURVEY && !lexer->eof(lexer); steps++) {
    SeenSign seen = see(lexer, true);
    if (opens(seen.kind)) depth++;
    else if (closes(seen.kind)) depth--;
  }
}

typedef struct {
  bool has_infix, has_else, has_more_than;
} SeenWords;

// The words outside of brackets in the rest of a statement (`infix_statement`, `if_statement`, `repeat_statement`).
static SeenWords survey(TSLexer *lexer, bool in_brackets) {
  SeenWords words = {false, false, false};
  char before[MAX_WORD] = "";
  bool goes_on = false, is_first = true;
  for (unsigned steps = 0; steps < MAX_SURVEY; steps++) {
    SeenSign seen = see(lexer, in_brackets || goes_on);
    if (seen.kind == '\n') {
      if (lexer->eof(lexer)) return words;
      skip_space(lexer, true);
      bool is_arrow = lexer->lookahead == '-';
      seen = see(lexer, true);
      if (!(is_arrow && seen.kind == '>') && !(seen.kind == 'w' && is_one_of(seen.word, CONTINUING))) return words;
    }
    if (seen.kind == ';' || closes(seen.kind) || seen.kind == '{') return words;
    if (seen.kind == '(' || seen.kind == '[') skip_brackets(lexer);
    if (seen.kind == '/' && seen.is_spaced && !is_blank(lexer->lookahead)) skip_regex(lexer);
    if (seen.kind == 'w' && !is_first) {
      words.has_infix = words.has_infix || strcmp(seen.word, "iff") == 0 || (strcmp(before, "only") == 0 && strcmp(seen.word, "after") == 0);
      words.has_else = words.has_else || strcmp(seen.word, "else") == 0;
      words.has_more_than = words.has_more_than || (strcmp(before, "more") == 0 && strcmp(seen.word, "than") == 0);
    }
    goes_on = seen.kind == ',' || seen.kind == '|' || seen.kind == ':' || seen.kind == '>' ||
              (seen.kind == 'w' && is_one_of(seen.word, CONTINUING "where "));
    // The first word begins the statement: `only after` at its start is none of the infix.
    strcpy(before, seen.kind == 'w' && !is_first ? seen.word : "");
    is_first = false;
  }
  return words;
}

// Whether a word means what it means to the language, by what follows it.
static bool is_meant(TSLexer *lexer, const ContextWord *context, bool in_brackets) {
  SeenSign next = see(lexer, in_brackets);
  unsigned may = context->followers;
  if (next.kind == 'w' && is_one_of(next.word, context->next_words)) return true;
  if (next.kind == 'w') {
    if (!(may & (BEFORE_STEP | BEFORE_WORD | BEFORE_OPERAND | BEFORE_SPACED | BEFORE_END))) return false;
    if (may & BEFORE_END) return is_one_of(next.word, MODIFIERS);
    if (!is_one_of(next.word, TESTS)) return true;
    // `first contains "x"` is a test of something, `first contains` is about a tool of that name.
    if (next.behind == '.' || (may & (BEFORE_OPERAND | BEFORE_SPACED))) return next.behind == '.' || strcmp(next.word, "not") == 0;
    SeenSign second = see(lexer, in_brackets);
    return !is_operand_start(&second) || (second.kind == 'w' && is_one_of(second.word, BEHIND_STEP)) || (second.kind == '(' && !second.is_spaced);
  }
  if (next.kind == '"') return may & (BEFORE_STEP | BEFORE_TEXT | BEFORE_OPERAND | BEFORE_SPACED);
  if (next.kind == '\n' || next.kind == ';' || next.kind == '}') return may & BEFORE_END;
  if (next.kind == '0') return may & (BEFORE_NUMBER | BEFORE_OPERAND | BEFORE_SPACED);
  if (next.kind == '-') return (may & (BEFORE_NUMBER | BEFORE_SPACED)) && is_digit(next.behind);
  if (next.kind == '{') return may & (BEFORE_BRACE | BEFORE_OPERAND | BEFORE_SPACED);
  if (next.kind == '/') return may & (BEFORE_REGEX | BEFORE_OPERAND | BEFORE_SPACED);
  if (next.kind == '$') return may & (BEFORE_OPERAND | BEFORE_SPACED);
  if (next.kind == '[') return next.is_spaced && may & (BEFORE_LIST | BEFORE_OPERAND | BEFORE_SPACED);
  if (next.kind == '?') return may & BEFORE_STEP;
  if (next.kind == '*') {
    if (is_glob_char(next.behind)) return may & BEFORE_STEP;
    SeenSign second = see(lexer, in_brackets);
    return may & BEFORE_STEP && (!is_operand_start(&second) || second.kind == '{' || (second.kind == 'w' && is_one_of(second.word, BEHIND_STEP "and or iff only ")));
  }
  if (next.kind != '(') return false;
  if (may & (BEFORE_OPERAND | BEFORE_SPACED)) return next.is_spaced;
  if (!(may & BEFORE_STEP)) return false;
  // `first(calls) == 3` calls a function, `first (a | b)` is a statement.
  skip_brackets(lexer);
  SeenSign second = see(lexer, in_brackets);
  if (second.kind == 'w') return !is_one_of(second.word, TESTS) || (is_one_of(second.word, "and or ") && is_one_of(context->word, "between either never "));
  return second.kind != 'c' && second.kind != 'f' && second.kind != '.' && second.kind != '+' && second.kind != '-' && second.kind != '*' &&
         second.kind != '/' && second.kind != '%' && second.kind != '[';
}

// ---- lines

// Behind a line end: whether the next line goes on with what stands before it, or is a modifier of it.
static enum SignKind classify_line(TSLexer *lexer) {
  skip_space(lexer, true);
  bool is_arrow = lexer->lookahead == '-';
  SeenSign seen = see(lexer, false);
  if (is_arrow && seen.kind == '>') return SOFT_NEWLINE;
  if (seen.kind != 'w') return NEWLINE;
  if (is_one_of(seen.word, CONTINUING)) {
    if (seen.behind != '.') return SOFT_NEWLINE;
    step_over(lexer);
    return is_word_start(lexer->lookahead) ? NEWLINE : SOFT_NEWLINE;
  }
  if (!is_one_of(seen.word, MODIFIERS)) return NEWLINE;
  const ContextWord *context = context_word(seen.word);
  return context && is_meant(lexer, context, false) ? MODIFIER_NEWLINE : NEWLINE;
}

// Consumes line ends and the space around them, up to a comment or a sign, and counts them.
static uint16_t take_lines(TSLexer *lexer) {
  uint16_t lines = 0;
  for (; is_blank(lexer->lookahead) || lexer->lookahead == '\n'; step_over(lexer)) {
    if (lexer->lookahead == '\n' && lines < UINT16_MAX) lines++;
  }
  lexer->mark_end(lexer);
  return lines;
}

static bool scan_line(OpenBrackets *brackets, TSLexer *lexer, const bool *valid) {
  bool in_brackets = !lines_count(brackets);
  uint16_t lines = take_lines(lexer);
  if (brackets->crossed > 0) {
    brackets->crossed = brackets->crossed > lines ? brackets->crossed - lines : 0;
    return found(lexer, SOFT_NEWLINE);
  }
  if (in_brackets) {
    // A bracket that nothing closes ends where a line begins that stands in none.
    SeenSign first = see(lexer, false), second = {.kind = 0};
    if (first.kind == 'w' && is_one_of(first.word, NEVER_IN_BRACKETS)) second = see(lexer, false);
    bool is_unclosed = second.kind == 'w' && second.is_spaced && !is_one_of(second.word, TESTS);
    if (!is_unclosed) return found(lexer, SOFT_NEWLINE);
    while (!lines_count(brackets)) brackets->depth--;
    return found(lexer, NEWLINE);
  }
  if (valid[GOES_ON] && !valid[UNREACHABLE]) return found(lexer, SOFT_NEWLINE);
  enum SignKind kind = classify_line(lexer);
  if (kind == MODIFIER_NEWLINE && !valid[MODIFIER_NEWLINE]) kind = NEWLINE;
  if (kind == NEWLINE && !valid[NEWLINE]) return false;
  return found(lexer, kind);
}

// ---- expressions

// Whether an expression goes on with the sign ahead, which stands on its line or, in brackets, anywhere.
static bool goes_on_with(TSLexer *lexer, const bool *valid, bool is_new_line) {
  int32_t c = lexer->lookahead;
  bool wants_operand = valid[PLAIN_WORD];
  if (is_word_start(c)) {
    char word[MAX_WORD];
    read_word(lexer, word);
    if (wants_operand && !is_new_line) return !is_one_of(word, MODIFIERS "of then else ");
    if (strcmp(word, "in") == 0 && !is_new_line) {
      SeenSign article = see(lexer, false), row = see(lexer, false);
      return !(strcmp(article.word, "a") == 0 && strcmp(row.word, "row") == 0);
    }
    if (strcmp(word, "tagged") == 0) return valid[TAGGED] && !is_new_line;
    return is_one_of(word, is_new_line ? "and or implies " : TESTS "ignoring folded so started ok failed by ");
  }
  if (is_new_line) return false;
  step_over(lexer);
  int32_t second = lexer->lookahead;
  switch (c) {
    case '|': case '+': case '*': case '/': case '%': case '<': case '>': case '"': case '\'': return true;
    case '-': return second != '>';
    case '=': case '!': return second == '=';
    case '.': return second == '.';
    case '(': return valid[OPEN_PAREN] || wants_operand;
    case '[': case '$': return wants_operand;
    default: return wants_operand && is_digit(c);
  }
}

// Emits the end of an expression, or the line ends that it goes on behind.
static bool scan_expression_end(OpenBrackets *brackets, TSLexer *lexer, const bool *valid) {
  bool with_lines = !lines_count(brackets);
  lexer->mark_end(lexer);
  uint16_t lines = 0;
  bool is_remarked = false;
  while (is_blank(lexer->lookahead) || lexer->lookahead == '\n' || lexer->lookahead == '#') {
    if (lexer->lookahead == '#') {
      is_remarked = true;
      skip_comment(lexer);
    } else {
      if (lexer->lookahead == '\n' && lines < UINT16_MAX) lines++;
      step_over(lexer);
    }
  }
  if (lines == 0 && is_remarked) return !lexer->eof(lexer) ? false : found(lexer, EXPRESSION_END);
  if (lines > 0 && !is_remarked) {
    // The end of the sign is moved here before it is known whether it is needed; an end of the expression takes it back by being emitted first.
    TSLexer *ahead = lexer;
    (void)ahead;
  }
  if (!goes_on_with(lexer, valid, lines > 0 && !with_lines)) return found(lexer, EXPRESSION_END);
  if (lines == 0) return false;
  brackets->crossed = lines;
  return found(lexer, SOFT_NEWLINE);
}
