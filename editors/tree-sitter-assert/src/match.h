// What is known of a text that is read, the text ahead, and whether a piece of the program in `tables.h` fits it.
#ifndef AVERMENT_MATCH_H
#define AVERMENT_MATCH_H

#include "tree_sitter/alloc.h"
#include "tree_sitter/parser.h"
#include "tables.h"

// The order is that of `externals` in grammar.js; behind these come the tokens, and the ends of nodes.
enum SignKind { LOOK, OPEN, COMMENT, UNEXPECTED, LOOSE_STRING, LOOSE_SIGN, FIRST_TOKEN };
// The order is that of `OPERATIONS` in tools/tables.mjs, which says what stands behind each.
enum Operation {
  OP_END, OP_TEXT, OP_CLASS, OP_LEAF, OP_CALL, OP_EITHER, OP_MAYBE, OP_REPEAT, OP_AHEAD, OP_NOT, OP_SKIP, OP_PUSH, OP_DROP, OP_OPEN, OP_CLOSE, OP_CUT,
  OP_LINES, OP_NEXT_LINE, OP_TEXT_END, OP_PEEK,
};
enum CharClass { CLASS_ANY, CLASS_DIGIT, CLASS_ALPHA, CLASS_UPPER, CLASS_ALPHANUMERIC };

// Answers of `match` that are no place: it does not fit, or it does as far as the `{` of a block.
enum { NO_MATCH = -1, UP_TO_BLOCK = -2 };
#define NO_LEAF UINT16_MAX
#define NOWHERE UINT32_MAX
#define MAX_MODES 256
#define MAX_STACK 400
#define MAX_CLOSES 400
// What tree-sitter keeps of a scanner, without what is always kept.
#define MAX_KEPT (TREE_SITTER_SERIALIZATION_BUFFER_SIZE - 32 - MAX_MODES / 8)
#define MAX_STEPS 2000000
#define MAX_NESTED 3000
#define MAX_TEXT 4000000
#define MEMO_SIZE 8192

// What is known where a token ends. It is kept with each token, so that reading can begin again behind any of them.
typedef struct {
  bool needs_look, is_planned, marks_end;
  // The rest of a line that does not fit, and the sign in it that is to blame.
  uint32_t region, blamed;
  // What comes next: ends of nodes, space and comments, beginnings of nodes, a token.
  uint32_t gap, leaf_length;
  uint16_t leaf, open_count, close_count;
  // How many of the nodes end in front of what does not fit.
  uint16_t early_closes;
  // Where the program goes on, the next place last; and whether line ends are space, for each open bracket.
  uint16_t stack_size, mode_count;
  uint8_t closes[MAX_CLOSES];
  uint16_t stack[MAX_STACK];
  uint8_t modes[MAX_MODES / 8];
} Reading;

typedef struct {
  uint32_t round;
  int32_t at, result;
  uint16_t place;
  bool lines_are_space;
} MemoEntry;

typedef struct {
  Reading reading;
  // The text ahead, as far as it was looked at.
  TSLexer *lexer;
  int32_t *ahead;
  uint32_t ahead_length, ahead_room;
  // Where nothing fitted that was not only looked for.
  int32_t furthest;
  uint32_t steps, nested, quiet;
  // Answers of this round.
  uint32_t round;
  MemoEntry memo[MEMO_SIZE];
} Scanner;

// ---- the text ahead

static bool is_digit(int32_t c) { return c >= '0' && c <= '9'; }
static bool is_upper(int32_t c) { return c >= 'A' && c <= 'Z'; }
static bool is_alpha(int32_t c) { return is_upper(c) || (c >= 'a' && c <= 'z'); }
static bool is_word_char(int32_t c) { return is_alpha(c) || is_digit(c) || c == '_'; }
static bool is_blank(int32_t c) { return c == ' ' || c == '\t' || c == '\r'; }

// The sign at a place ahead, or -1 behind the end.
static int32_t sign_at(Scanner *scanner, int32_t at) {
  while ((uint32_t)at >= scanner->ahead_length) {
    if (scanner->lexer->eof(scanner->lexer) || scanner->ahead_length >= MAX_TEXT) return -1;
    if (scanner->ahead_length == scanner->ahead_room) {
      scanner->ahead_room = scanner->ahead_room ? scanner->ahead_room * 2 : 1024;
      scanner->ahead = ts_realloc(scanner->ahead, scanner->ahead_room * sizeof *scanner->ahead);
    }
    scanner->ahead[scanner->ahead_length++] = scanner->lexer->lookahead;
    scanner->lexer->advance(scanner->lexer, false);
  }
  return scanner->ahead[at];
}

static int32_t skip_comment(Scanner *scanner, int32_t at) {
  for (int32_t c = sign_at(scanner, at); c >= 0 && c != '\n'; c = sign_at(scanner, at)) at++;
  return at;
}

static int32_t skip_space(Scanner *scanner, int32_t at, bool lines_are_space) {
  for (;;) {
    int32_t c = sign_at(scanner, at);
    if (is_blank(c) || (lines_are_space && c == '\n')) at++;
    else if (c == '#') at = skip_comment(scanner, at);
    else return at;
  }
}

// All texts of the grammar are ASCII.
static bool has_text(Scanner *scanner, int32_t at, const char *text, int32_t *length) {
  int32_t index = 0;
  for (; text[index]; index++) {
    if (sign_at(scanner, at + index) != text[index]) return false;
  }
  *length = index;
  return true;
}

static bool in_class(int32_t c, enum CharClass class) {
  switch (class) {
    case CLASS_ANY: return c >= 0;
    case CLASS_DIGIT: return is_digit(c);
    case CLASS_ALPHA: return is_alpha(c);
    case CLASS_UPPER: return is_upper(c);
    case CLASS_ALPHANUMERIC: return is_alpha(c) || is_digit(c);
  }
  return false;
}

// ---- whether a piece fits

static uint16_t next_place(uint16_t place) {
  switch (CODE[place]) {
    case OP_TEXT: case OP_LEAF: return place + 3;
    case OP_CLASS: case OP_CALL: case OP_PUSH: case OP_CLOSE: case OP_NEXT_LINE: return place + 2;
    case OP_EITHER: case OP_MAYBE: case OP_REPEAT: case OP_AHEAD: case OP_NOT: case OP_LINES: return CODE[place + 1];
    default: return place + 1;
  }
}

static int32_t match(Scanner *scanner, uint16_t place, int32_t at, bool lines_are_space);

// A rule: asked again at the same place it gives the same answer.
static int32_t match_rule(Scanner *scanner, uint16_t place, int32_t at, bool lines_are_space) {
  MemoEntry *entry = &scanner->memo[((uint32_t)at * 31u + place * 7u + lines_are_space) % MEMO_SIZE];
  if (entry->round == scanner->round && entry->place == place && entry->at == at && entry->lines_are_space == lines_are_space) return entry->result;
  if (scanner->nested >= MAX_NESTED) return NO_MATCH;
  scanner->nested++;
  int32_t result = match(scanner, place, at, lines_are_space);
  scanner->nested--;
  *entry = (MemoEntry){scanner->round, at, result, place, lines_are_space};
  return result;
}

static int32_t refuse(Scanner *scanner, int32_t at) {
  if (scanner->quiet == 0 && at > scanner->furthest) scanner->furthest = at;
  return NO_MATCH;
}

static int32_t match_either(Scanner *scanner, uint16_t place, int32_t at, bool lines_are_space) {
  int32_t result = NO_MATCH;
  for (uint16_t index = 0; index < CODE[place + 2] && result == NO_MATCH; index++) result = match(scanner, CODE[place + 3 + index], at, lines_are_space);
  return result;
}

static bool is_ahead(Scanner *scanner, uint16_t place, int32_t at, bool lines_are_space) {
  scanner->quiet++;
  bool fits = match(scanner, place + 2, at, lines_are_space) != NO_MATCH;
  scanner->quiet--;
  return fits == (CODE[place] == OP_AHEAD);
}

// From a place of the program to the end of its block: where in the text that ends.
static int32_t match(Scanner *scanner, uint16_t place, int32_t at, bool lines_are_space) {
  // Brackets are closed in the block that opens them: what counts in them ends with them.
  bool outer[8];
  unsigned depth = 0;
  for (;; place = next_place(place)) {
    int32_t length = 0, result = at;
    if (++scanner->steps > MAX_STEPS) return NO_MATCH;
    switch (CODE[place]) {
      case OP_END: return at;
      case OP_CUT: case OP_LINES: return UP_TO_BLOCK;
      case OP_TEXT:
        if (!has_text(scanner, at, TEXTS[CODE[place + 1]], &length)) return refuse(scanner, at);
        result = at + length;
        break;
      case OP_CLASS:
        if (!in_class(sign_at(scanner, at), CODE[place + 1])) return refuse(scanner, at);
        result = at + 1;
        break;
      case OP_PEEK:
        if (sign_at(scanner, at) != (lines_are_space ? '\n' : ' ')) return refuse(scanner, at);
        result = at + 1;
        break;
      case OP_TEXT_END:
        if (sign_at(scanner, at) >= 0) return refuse(scanner, at);
        break;
      case OP_LEAF: case OP_CALL: result = match_rule(scanner, CODE[place + 1], at, lines_are_space); break;
      case OP_EITHER: result = match_either(scanner, place, at, lines_are_space); break;
      case OP_MAYBE:
        result = match(scanner, place + 2, at, lines_are_space);
        if (result == NO_MATCH) result = at;
        break;
      case OP_REPEAT:
        for (int32_t next = at; next >= result;) {
          result = next;
          next = match(scanner, place + 2, result, lines_are_space);
          if (next == UP_TO_BLOCK || next == result) return next == UP_TO_BLOCK ? next : refuse(scanner, at);
        }
        break;
      case OP_AHEAD: case OP_NOT:
        if (!is_ahead(scanner, place, at, lines_are_space)) return refuse(scanner, at);
        break;
      case OP_SKIP: result = skip_space(scanner, at, lines_are_space); break;
      case OP_PUSH:
        if (depth == sizeof outer) return NO_MATCH;
        outer[depth++] = lines_are_space;
        lines_are_space = CODE[place + 1];
        break;
      case OP_DROP:
        if (depth == 0) return NO_MATCH;
        lines_are_space = outer[--depth];
        break;
      case OP_NEXT_LINE: return NO_MATCH;
      default: break;
    }
    if (result < 0) return result;
    at = result;
  }
}

#endif
