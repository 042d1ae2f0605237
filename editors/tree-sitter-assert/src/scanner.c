// Reads `.assert` files by the program in `tables.h`, which `tools/tables.mjs` makes of `crates/syntax/grammar/assert.pest`, and tells the parser where nodes begin and
// end, and which tokens they hold. Two readings of that program are here: `match` asks whether a piece of it fits, as pest does, and `plan_leaf` goes
// through it, asking at each fork, up to the next token. What pest refuses is refused line by line, so that the rest of a file keeps its tree.
#include "match.h"
#include <stddef.h>
#include <string.h>

// ---- up to the next token

static bool lines_are_space(const Reading *reading) {
  unsigned top = reading->mode_count - 1u;
  return reading->mode_count > 0 && (top >= MAX_MODES || (reading->modes[top / 8] >> top % 8 & 1));
}

// Of brackets that are nested too deep only the number is known; the stack of places is full long before.
static void push_mode(Reading *reading, bool lines_are_space) {
  unsigned top = reading->mode_count;
  if (top < MAX_MODES && lines_are_space) reading->modes[top / 8] |= (uint8_t)(1 << top % 8);
  if (top < UINT16_MAX) reading->mode_count++;
}

static void drop_mode(Reading *reading) {
  if (reading->mode_count == 0) return;
  unsigned top = --reading->mode_count;
  if (top < MAX_MODES) reading->modes[top / 8] &= (uint8_t)~(1 << top % 8);
}

// Where to go on later. Nothing is kept of a place where only its block ends.
static bool push_place(Reading *reading, uint16_t place) {
  if (CODE[place] == OP_END) return true;
  if (reading->stack_size == MAX_STACK || reading->stack_size * 2u + reading->close_count > MAX_KEPT - 32) return false;
  reading->stack[reading->stack_size++] = place;
  return true;
}

// A node that ends as soon as it began holds nothing, and is none.
static void close_node(Reading *reading, uint16_t node) {
  if (reading->open_count > 0) reading->open_count--;
  else if (reading->close_count < MAX_CLOSES) reading->closes[reading->close_count++] = (uint8_t)node;
}

static void plan_token(Reading *reading, uint16_t token, int32_t at, int32_t end) {
  reading->leaf = token;
  reading->gap = (uint32_t)at;
  reading->leaf_length = (uint32_t)(end - at);
}

// What does not fit from a place on: the rest of its line or of its block, and in it the sign at which reading came no further.
static void blame_line(Scanner *scanner, int32_t at) {
  Reading *reading = &scanner->reading;
  int32_t end = at, blamed = NO_MATCH, depth = 0;
  for (int32_t c = sign_at(scanner, end); c >= 0 && c != '\n'; c = sign_at(scanner, ++end)) {
    if (c == '#') {
      end = skip_comment(scanner, end);
      break;
    }
    if (end > at && depth == 0 && (c == ';' || (c == '}' && reading->mode_count > 1))) break;
    if (c == '(' || c == '[' || c == '{') depth++;
    if ((c == ')' || c == ']' || c == '}') && depth > 0) depth--;
    if (!is_blank(c) && (blamed == NO_MATCH || blamed < scanner->furthest)) blamed = end;
  }
  reading->region = (uint32_t)end;
  reading->blamed = blamed == NO_MATCH ? NOWHERE : (uint32_t)blamed;
  reading->marks_end = blamed == NO_MATCH;
  reading->early_closes = reading->close_count;
  reading->is_planned = false;
}

// Out of all nodes up to the list of lines that holds them, or, where the text ends in a block, out of all. That they end too early is told behind
// them: the parser finds no place to go on behind a mistake without width.
static void leave_line(Reading *reading, uint16_t place, bool is_at_end) {
  for (;;) {
    for (; CODE[place] != OP_END; place = next_place(place)) {
      if (CODE[place] == OP_NEXT_LINE && !is_at_end) {
        push_place(reading, place);
        return;
      }
      if (CODE[place] == OP_CLOSE) close_node(reading, CODE[place + 1]);
      if (CODE[place] == OP_PUSH) push_mode(reading, CODE[place + 1]);
      if (CODE[place] == OP_DROP) drop_mode(reading);
    }
    if (reading->stack_size == 0) break;
    place = reading->stack[--reading->stack_size];
  }
  reading->early_closes = reading->close_count;
}

// Where a line may begin, or has to end. False where neither fits; otherwise `*place` is where to go on.
static bool enter_line(Scanner *scanner, uint16_t *place, int32_t *at) {
  Reading *reading = &scanner->reading;
  bool is_behind_line = CODE[*place] == OP_NEXT_LINE, with_lines = lines_are_space(reading);
  uint16_t lines = is_behind_line ? CODE[*place + 1] : *place;
  int32_t start = skip_space(scanner, *at, with_lines), c = sign_at(scanner, start);
  if (c < 0 || (c == '}' && reading->mode_count > 1)) {
    *place = CODE[lines + 1];
    return true;
  }
  uint16_t separator = CODE[lines + 2], line = CODE[lines + 3], next_line = lines + 4;
  scanner->furthest = start;
  if (match(scanner, separator, start, with_lines) != NO_MATCH) {
    *place = separator;
    *at = start;
    return push_place(reading, lines);
  }
  if (!is_behind_line && match(scanner, line, start, with_lines) != NO_MATCH) {
    *place = line;
    *at = start;
    return push_place(reading, next_line);
  }
  blame_line(scanner, start);
  return push_place(reading, next_line) && false;
}

// Picks the piece that fits of several, or none of one that may be missing.
static bool take_fork(Scanner *scanner, uint16_t *place, int32_t at) {
  Reading *reading = &scanner->reading;
  uint16_t here = *place, behind = CODE[here + 1];
  bool with_lines = lines_are_space(reading);
  if (CODE[here] == OP_EITHER) {
    for (uint16_t index = 0; index < CODE[here + 2]; index++) {
      *place = CODE[here + 3 + index];
      if (match(scanner, *place, at, with_lines) != NO_MATCH) return push_place(reading, behind);
    }
    return false;
  }
  int32_t end = match(scanner, here + 2, at, with_lines);
  bool is_taken = end == UP_TO_BLOCK || end > at || (end == at && CODE[here] == OP_MAYBE);
  *place = is_taken ? here + 2 : behind;
  return !is_taken || push_place(reading, CODE[here] == OP_REPEAT ? here : behind);
}

// Goes through the program up to the next token: which nodes end and begin before it. At the end of the text there is none.
static void plan_leaf(Scanner *scanner) {
  Reading *reading = &scanner->reading;
  int32_t at = 0, end = 0;
  reading->is_planned = true;
  reading->leaf = NO_LEAF;
  reading->gap = reading->leaf_length = 0;
  while (reading->stack_size > 0) {
    uint16_t place = reading->stack[--reading->stack_size];
    for (bool fits = true; CODE[place] != OP_END;) {
      uint16_t here = place;
      place = next_place(here);
      switch (CODE[here]) {
        case OP_TEXT: case OP_LEAF:
          if (CODE[here] == OP_LEAF) end = match_rule(scanner, CODE[here + 1], at, lines_are_space(reading));
          else end = has_text(scanner, at, TEXTS[CODE[here + 1]], &end) ? at + end : NO_MATCH;
          if (end > at && push_place(reading, place)) {
            plan_token(reading, CODE[here + 2] - 1, at, end);
            return;
          }
          fits = end == at;
          break;
        case OP_CALL:
          fits = push_place(reading, place);
          place = CODE[here + 1];
          break;
        case OP_EITHER: case OP_MAYBE: case OP_REPEAT:
          place = here;
          fits = take_fork(scanner, &place, at);
          break;
        case OP_LINES: case OP_NEXT_LINE:
          place = here;
          if (!enter_line(scanner, &place, &at)) return;
          break;
        case OP_AHEAD: case OP_NOT: fits = is_ahead(scanner, here, at, lines_are_space(reading)); break;
        case OP_SKIP: at = skip_space(scanner, at, lines_are_space(reading)); break;
        case OP_PUSH: push_mode(reading, CODE[here + 1]); break;
        case OP_DROP: drop_mode(reading); break;
        case OP_OPEN: reading->open_count++; break;
        case OP_CLOSE: close_node(reading, CODE[here + 1]); break;
        default: break;
      }
      if (!fits) {
        scanner->furthest = at;
        blame_line(scanner, at);
        leave_line(reading, here, reading->marks_end && sign_at(scanner, at) < 0);
        return;
      }
    }
  }
  // Space and comments stand at the end, too.
  reading->gap = (uint32_t)at;
}

// ---- tokens

static bool tell(TSLexer *lexer, unsigned kind) {
  lexer->result_symbol = (TSSymbol)kind;
  return true;
}

static bool tell_comment(TSLexer *lexer, uint32_t *left) {
  for (; !lexer->eof(lexer) && lexer->lookahead != '\n'; lexer->advance(lexer, false)) {
    if (*left > 0) --*left;
  }
  lexer->mark_end(lexer);
  return tell(lexer, COMMENT);
}

// Over a token of a line that does not fit; its kind is what it looks like.
static unsigned take_loose(TSLexer *lexer, uint32_t left, uint32_t *length) {
  char text[32] = "";
  int32_t first = lexer->lookahead;
  bool is_word = is_word_char(first), is_quoted = first == '"' || first == '\'', is_escaped = false;
  for (*length = 0; *length < left && !lexer->eof(lexer);) {
    int32_t c = lexer->lookahead;
    if (is_word ? !is_word_char(c) : !is_quoted && *length > 0) break;
    if (*length < sizeof text - 1) text[*length] = (char)(c < 128 ? c : '?');
    lexer->advance(lexer, false);
    ++*length;
    if (is_quoted && *length > 1 && c == first && !is_escaped) break;
    is_escaped = c == '\\' && first == '"' && !is_escaped;
  }
  if (is_quoted) return LOOSE_STRING;
  for (unsigned token = 0; token < TOKEN_COUNT; token++) {
    if (strcmp(TOKEN_TEXTS[token], text) == 0) return FIRST_TOKEN + token;
  }
  return is_digit(first) ? FIRST_TOKEN + NUMBER : is_word ? FIRST_TOKEN + IDENTIFIER : LOOSE_SIGN;
}

// The next token of a line that does not fit; false where only space was left.
static bool tell_loose(Reading *reading, TSLexer *lexer) {
  uint32_t passed = 0, length = 0;
  for (; passed < reading->region && (is_blank(lexer->lookahead) || lexer->lookahead == '\n'); passed++) lexer->advance(lexer, true);
  reading->region -= passed;
  if (reading->blamed != NOWHERE) reading->blamed -= passed < reading->blamed ? passed : reading->blamed;
  if (reading->region == 0) return false;
  if (lexer->lookahead == '#') return tell_comment(lexer, &reading->region);
  unsigned kind = take_loose(lexer, reading->region, &length);
  lexer->mark_end(lexer);
  reading->region -= length;
  bool is_blamed = reading->blamed < length;
  reading->needs_look = !is_blamed;
  if (is_blamed) reading->blamed = NOWHERE;
  else if (reading->blamed != NOWHERE) reading->blamed -= length;
  return tell(lexer, is_blamed ? UNEXPECTED : kind);
}

// What was planned: an end of a node, or space, a beginning, a token.
static bool tell_planned(Reading *reading, TSLexer *lexer) {
  for (; reading->gap > 0 && lexer->lookahead != '#' && !lexer->eof(lexer); reading->gap--) lexer->advance(lexer, true);
  if (reading->gap > 0 && !lexer->eof(lexer)) return tell_comment(lexer, &reading->gap);
  if (reading->leaf == NO_LEAF) return false;
  // No node begins with a line end that it may stand behind.
  if (reading->open_count > 0 && reading->leaf != LINE_END) {
    reading->open_count--;
    lexer->mark_end(lexer);
    return tell(lexer, OPEN);
  }
  for (; reading->leaf_length > 0 && !lexer->eof(lexer); reading->leaf_length--) lexer->advance(lexer, false);
  lexer->mark_end(lexer);
  reading->is_planned = false;
  reading->needs_look = true;
  return tell(lexer, FIRST_TOKEN + reading->leaf);
}

static bool is_settled(const Reading *reading) { return reading->is_planned || reading->region > 0 || reading->marks_end || reading->close_count > 0; }

static bool tell_look(Scanner *scanner, TSLexer *lexer) {
  if (!is_settled(&scanner->reading)) {
    scanner->lexer = lexer;
    scanner->ahead_length = scanner->steps = 0;
    scanner->round++;
    plan_leaf(scanner);
  }
  scanner->reading.needs_look = false;
  return tell(lexer, LOOK);
}

static bool tell_close(Reading *reading, TSLexer *lexer) {
  unsigned node = reading->closes[0];
  memmove(reading->closes, reading->closes + 1, --reading->close_count);
  if (reading->early_closes > 0) reading->early_closes--;
  reading->needs_look = true;
  return tell(lexer, FIRST_TOKEN + TOKEN_COUNT + node);
}

static bool tell_next(Scanner *scanner, TSLexer *lexer) {
  Reading *reading = &scanner->reading;
  lexer->mark_end(lexer);
  if (reading->needs_look) return tell_look(scanner, lexer);
  if (reading->early_closes > 0) return tell_close(reading, lexer);
  if (reading->region > 0 && tell_loose(reading, lexer)) return true;
  lexer->mark_end(lexer);
  if (reading->marks_end) {
    reading->marks_end = false;
    return tell(lexer, UNEXPECTED);
  }
  if (reading->close_count > 0) return tell_close(reading, lexer);
  return reading->is_planned ? tell_planned(reading, lexer) : tell_look(scanner, lexer);
}

// ---- what tree-sitter calls

static void begin(Reading *reading) {
  memset(reading, 0, sizeof *reading);
  reading->needs_look = true;
  reading->blamed = NOWHERE;
  reading->stack[reading->stack_size++] = START;
}

void *tree_sitter_assert_external_scanner_create(void) {
  Scanner *scanner = ts_calloc(1, sizeof *scanner);
  begin(&scanner->reading);
  return scanner;
}

void tree_sitter_assert_external_scanner_destroy(void *payload) {
  Scanner *scanner = payload;
  ts_free(scanner->ahead);
  ts_free(scanner);
}

// What may follow is known here, and not asked of the parser.
bool tree_sitter_assert_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid_symbols) {
  (void)valid_symbols;
  return tell_next(payload, lexer);
}

// The parts of a reading that are in use, one behind the other.
static unsigned copy_reading(Reading *reading, char *buffer, bool is_kept) {
  unsigned used = 0;
  for (unsigned part = 0; part < 4; part++) {
    void *start = part == 0 ? (void *)reading : part == 1 ? (void *)reading->closes : part == 2 ? (void *)reading->stack : (void *)reading->modes;
    size_t modes = (reading->mode_count < MAX_MODES ? reading->mode_count + 7u : MAX_MODES) / 8;
    size_t size = part == 0 ? offsetof(Reading, closes) : part == 1 ? reading->close_count : part == 2 ? reading->stack_size * sizeof *reading->stack : modes;
    if (is_kept) memcpy(buffer + used, start, size);
    else memcpy(start, buffer + used, size);
    used += (unsigned)size;
  }
  return used;
}

unsigned tree_sitter_assert_external_scanner_serialize(void *payload, char *buffer) {
  return copy_reading(&((Scanner *)payload)->reading, buffer, true);
}

void tree_sitter_assert_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
  Reading *reading = &((Scanner *)payload)->reading;
  begin(reading);
  if (length > 0) copy_reading(reading, (char *)buffer, false);
}
