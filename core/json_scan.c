/* The scanner: an explicit state, so that it stops and goes on at any byte, and one bit a level instead of a stack. */
#include "core/json_internal.h"
#include "core/text.h"

enum state {
  VALUE,         /* a value must come: the document */
  FIRST_ELEMENT, /* a value or ] */
  ELEMENT,       /* a value must come */
  FIRST_MEMBER,  /* a key or } */
  MEMBER,        /* a key must come */
  MEMBER_VALUE,  /* a value must come */
  AFTER_KEY,     /* a colon must come */
  AFTER_ELEMENT, /* a comma or ] must come */
  AFTER_MEMBER,  /* a comma or } must come */
  DONE,
  FAILED
};

static const char *const what_must_come[] = {
    [VALUE] = "expected a value",
    [FIRST_ELEMENT] = "expected a value or ]",
    [ELEMENT] = "expected a value",
    [FIRST_MEMBER] = "expected a key or }",
    [MEMBER] = "expected a key",
    [MEMBER_VALUE] = "expected a value",
    [AFTER_KEY] = "expected a colon",
    [AFTER_ELEMENT] = "expected a comma or ]",
    [AFTER_MEMBER] = "expected a comma or }",
};

/* The state behind a value that was expected. */
static const uint8_t behind_value[] = {
    [VALUE] = DONE, [FIRST_ELEMENT] = AFTER_ELEMENT, [ELEMENT] = AFTER_ELEMENT, [MEMBER_VALUE] = AFTER_MEMBER};

/* ---- Stopping ---------------------------------------------------------------------------------------------- */

static mend_json_token fail(mend_json *json, const char *place, const char *reason) {
  json->state = FAILED;
  json->at = (size_t)(place - json->text.ptr);
  json->slice = (mend_str){place, 0};
  json->reason = reason;
  return json->token = MEND_JSON_ERROR;
}

/* The scan cannot go on at `place`, either because of the byte there or because the text ends there. */
static mend_json_token stop(mend_json *json, const char *place, const char *reason) {
  if (!json->partial || place < json->text.ptr + json->text.len) return fail(json, place, reason);
  json->slice = (mend_str){place, 0};
  mend__json_count_consumed(json);
  return json->token = MEND_JSON_MORE;
}

static mend_json_token deliver(mend_json *json, mend_json_token token, const char *begin, const char *end,
                               const char *next) {
  json->slice = (mend_str){begin, (size_t)(end - begin)};
  json->at = (size_t)(next - json->text.ptr);
  return json->token = token;
}

/* ---- Arrays and objects ------------------------------------------------------------------------------------ */

static bool in_array(const mend_json *json) {
  unsigned level = json->depth - 1;
  return (json->arrays[level / 64] >> (level % 64) & 1) != 0;
}

static void end_value(mend_json *json) { json->state = behind_value[json->state]; }

static mend_json_token open_container(mend_json *json, const char *place, bool array) {
  if (json->depth == json->depth_limit) return fail(json, place, "expected fewer open arrays and objects");
  uint64_t bit = UINT64_C(1) << (json->depth % 64);
  uint64_t *word = &json->arrays[json->depth / 64];
  *word = array ? *word | bit : *word & ~bit;
  json->depth++;
  json->state = array ? FIRST_ELEMENT : FIRST_MEMBER;
  return deliver(json, array ? MEND_JSON_ARRAY : MEND_JSON_OBJECT, place, place + 1, place + 1);
}

static mend_json_token close_container(mend_json *json, const char *place, mend_json_token token) {
  json->depth--;
  json->state = json->depth == 0 ? DONE : in_array(json) ? AFTER_ELEMENT : AFTER_MEMBER;
  return deliver(json, token, place, place + 1, place + 1);
}

/* ---- Strings ----------------------------------------------------------------------------------------------- */

static bool is_short_escape(char c) {
  switch (c) {
  case '"':
  case '\\':
  case '/':
  case 'b':
  case 'f':
  case 'n':
  case 'r':
  case 't': return true;
  default: return false;
  }
}

static mend__prefix escape_prefix(const char *text, size_t available) {
  if (available < 2) return (mend__prefix){available, false};
  if (text[1] != 'u') {
    const bool known = is_short_escape(text[1]);
    return (mend__prefix){known ? 2 : 1, known};
  }
  size_t len = 2;
  while (len < 6 && len < available && mend__hex_value(text[len]) >= 0)
    len++;
  return (mend__prefix){len, len == 6};
}

static inline mend_json_token end_string(mend_json *json, const char *begin, const char *end, mend_json_token token) {
  json->state = token == MEND_JSON_KEY ? AFTER_KEY : behind_value[json->state];
  return deliver(json, token, begin, end, end + 1);
}

static mend_json_token scan_long_string(mend_json *json, const char *begin, mend_json_token token) {
  const char *end = json->text.ptr + json->text.len;
  const char *place = mend__skip_plain(begin, end);
  for (; place < end && *place != '"'; place = mend__skip_plain(place, end)) {
    if ((unsigned char)*place < 0x20) return fail(json, place, "expected no control character in a string");
    bool escape = *place == '\\';
    size_t available = (size_t)(end - place);
    mend__prefix item = escape ? escape_prefix(place, available) : mend__utf8_prefix(place, available);
    place += item.len;
    if (!item.whole) return stop(json, place, escape ? "expected an escape sequence" : "expected UTF-8");
    json->escaped |= escape;
  }
  if (place == end) return stop(json, place, "expected the end of a string");
  return end_string(json, begin, place, token);
}

/* Marks what is not plain in the block from `begin` on; in none when the whole text is shorter than one. */
static inline uint32_t special_ahead(const mend_json *json, const char *begin) {
  const char *end = json->text.ptr + json->text.len;
  const ptrdiff_t left = end - begin;
  if (left >= MEND__BLOCK_SIZE) return mend__special_bits(mend__block_at(begin));
  if (json->text.len < MEND__BLOCK_SIZE) return 0;
  return mend__special_bits(mend__block_at(end - MEND__BLOCK_SIZE)) >> (MEND__BLOCK_SIZE - left);
}

/* Most strings are plain and end within a block. */
static inline mend_json_token scan_string(mend_json *json, const char *begin, mend_json_token token) {
  const uint32_t special = special_ahead(json, begin);
  json->escaped = false;
  if (special != 0) {
    const char *place = begin + __builtin_ctz(special);
    if (*place == '"') return end_string(json, begin, place, token);
  }
  return scan_long_string(json, begin, token);
}

/* ---- Numbers and literals ---------------------------------------------------------------------------------- */

static const char *skip_digits(const char *place, const char *end) {
  while (place < end && mend__is_digit(*place))
    place++;
  return place;
}

static mend_json_token scan_number(mend_json *json, const char *begin) {
  const char *end = json->text.ptr + json->text.len;
  const char *place = *begin == '-' ? begin + 1 : begin;
  const char *digits = place;
  place = skip_digits(digits, end);
  if (place == digits) return stop(json, place, "expected a digit");
  if (*digits == '0' && place > digits + 1) return fail(json, digits + 1, "expected no digit after a leading 0");
  json->integer = true;
  if (place < end && *place == '.') {
    json->integer = false;
    digits = place + 1;
    place = skip_digits(digits, end);
    if (place == digits) return stop(json, place, "expected a digit");
  }
  if (place < end && (*place == 'e' || *place == 'E')) {
    json->integer = false;
    digits = place + 1;
    if (digits < end && (*digits == '+' || *digits == '-')) digits++;
    place = skip_digits(digits, end);
    if (place == digits) return stop(json, place, "expected a digit");
  }
  if (place == end && json->partial) return stop(json, place, NULL);
  end_value(json);
  return deliver(json, MEND_JSON_NUMBER, begin, place, place);
}

static mend_json_token scan_literal(mend_json *json, const char *begin, mend_json_token token, mend_str literal,
                                    const char *reason) {
  size_t available = json->text.len - (size_t)(begin - json->text.ptr);
  for (size_t i = 0; i < literal.len; i++) {
    if (i == available || begin[i] != literal.ptr[i]) return stop(json, begin + i, reason);
  }
  end_value(json);
  return deliver(json, token, begin, begin + literal.len, begin + literal.len);
}

/* ---- The next token ---------------------------------------------------------------------------------------- */

static mend_json_token unexpected(mend_json *json, const char *place) {
  return fail(json, place, what_must_come[json->state]);
}

static mend_json_token scan_value(mend_json *json, const char *place) {
  switch (*place) {
  case '"': return scan_string(json, place + 1, MEND_JSON_STRING);
  case '{': return open_container(json, place, false);
  case '[': return open_container(json, place, true);
  case 't': return scan_literal(json, place, MEND_JSON_TRUE, MEND_STR("true"), "expected true");
  case 'f': return scan_literal(json, place, MEND_JSON_FALSE, MEND_STR("false"), "expected false");
  case 'n': return scan_literal(json, place, MEND_JSON_NULL, MEND_STR("null"), "expected null");
  default:
    if (*place == '-' || mend__is_digit(*place)) return scan_number(json, place);
    return unexpected(json, place);
  }
}

static mend_json_token scan_key(mend_json *json, const char *place) {
  if (*place != '"') return unexpected(json, place);
  return scan_string(json, place + 1, MEND_JSON_KEY);
}

static const char *skip_much_space(const char *place, const char *end) {
  for (; place < end; place++) {
    if (*place == '\n') { /* indented text: many blanks follow */
      while (end - place > 8 && memcmp(place + 1, "        ", 8) == 0)
        place += 8;
    } else if (*place != ' ' && *place != '\t' && *place != '\r') {
      break;
    }
  }
  return place;
}

static inline const char *skip_space(const char *place, const char *end) {
  return place < end && place[0] > ' ' ? place : skip_much_space(place, end);
}

/* What comes after a comma or colon: a key in the state MEMBER, else a value. */
static inline mend_json_token scan_next(mend_json *json, enum state state, const char *place) {
  const char *end = json->text.ptr + json->text.len;
  place = skip_space(place, end);
  json->state = (uint8_t)state;
  json->at = (size_t)(place - json->text.ptr);
  if (place == end) return stop(json, place, what_must_come[state]);
  return state == MEMBER ? scan_key(json, place) : scan_value(json, place);
}

/* The text after the value. */
static mend_json_token finish(mend_json *json, const char *place) {
  const char *end = json->text.ptr + json->text.len;
  if (json->stream) return deliver(json, MEND_JSON_END, place, place, place);
  place = skip_space(place, end);
  if (place < end) return fail(json, place, "expected nothing after the value");
  json->at = json->text.len;
  if (json->partial) return stop(json, place, NULL);
  return deliver(json, MEND_JSON_END, end, end, end);
}

mend_json_token mend_json_next(mend_json *json) {
  json->skip_depth = 0;
  const char *place = json->text.ptr + json->at, *end = json->text.ptr + json->text.len;
  if (place < end && *place == ':' && json->state == AFTER_KEY) return scan_next(json, MEMBER_VALUE, place + 1);
  if (place < end && *place == ',' && json->state == AFTER_MEMBER) return scan_next(json, MEMBER, place + 1);
  if (json->state >= DONE) return json->state == DONE ? finish(json, place) : (json->token = MEND_JSON_ERROR);
  place = skip_space(place, end);
  json->at = (size_t)(place - json->text.ptr);
  if (place == end) return stop(json, place, what_must_come[json->state]);
  switch ((enum state)json->state) {
  case AFTER_KEY:
    if (*place == ':') return scan_next(json, MEMBER_VALUE, place + 1);
    break;
  case AFTER_ELEMENT:
    if (*place == ',') return scan_next(json, ELEMENT, place + 1);
    if (*place == ']') return close_container(json, place, MEND_JSON_ARRAY_END);
    break;
  case AFTER_MEMBER:
    if (*place == ',') return scan_next(json, MEMBER, place + 1);
    if (*place == '}') return close_container(json, place, MEND_JSON_OBJECT_END);
    break;
  case FIRST_ELEMENT:
    if (*place == ']') return close_container(json, place, MEND_JSON_ARRAY_END);
    return scan_value(json, place);
  case FIRST_MEMBER:
    if (*place == '}') return close_container(json, place, MEND_JSON_OBJECT_END);
    return scan_key(json, place);
  case MEMBER: return scan_key(json, place);
  case VALUE:
  case ELEMENT:
  case MEMBER_VALUE: return scan_value(json, place);
  case DONE:
  case FAILED: break;
  }
  return unexpected(json, place);
}
