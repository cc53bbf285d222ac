#include "bench/peers/peers.h"

#include <cstdlib>
#include <simdjson.h>

namespace {

struct {
  char *text;
  size_t len;
  simdjson::dom::parser parser;
  simdjson::padded_string padded;
} input;

uint64_t read_all(simdjson::dom::element element) {
  uint64_t sum = 0;
  switch (element.type()) {
  case simdjson::dom::element_type::ARRAY:
    for (simdjson::dom::element child : simdjson::dom::array(element))
      sum += read_all(child);
    return sum;
  case simdjson::dom::element_type::OBJECT:
    for (simdjson::dom::key_value_pair member : simdjson::dom::object(element))
      sum += member.key.size() + read_all(member.value);
    return sum;
  case simdjson::dom::element_type::STRING: return element.get_string_length().value();
  case simdjson::dom::element_type::INT64: return static_cast<uint64_t>(int64_t(element));
  case simdjson::dom::element_type::DOUBLE: return double(element) > 0 ? 1 : 0;
  default: return 1;
  }
}

} // namespace

void bench_simdjson_open(const bench_row *row) {
  input.text = bench_arguments(static_cast<size_t>(row->argument), &input.len);
  input.padded = simdjson::padded_string(input.text, input.len);
}

void bench_simdjson_run(const bench_row *, uint64_t count) {
  for (uint64_t i = 0; i < count; i++)
    bench_use(read_all(input.parser.parse(input.padded)));
}

void bench_simdjson_close(const bench_row *) { std::free(input.text); }
