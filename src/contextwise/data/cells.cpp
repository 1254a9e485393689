// Splits a text file into cells and numbers the distinct ones of each column.
//
// Only plain tables are read: all lines have the same number of cells, and no cell has a quote or a
// line end inside. For everything else the answer is None, and text.py reads the file with Python's
// csv module, which knows all rules and reports errors.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "../python_arrays.hpp"

using namespace nanobind::literals;
using namespace contextwise;

namespace {

constexpr std::size_t LONGEST = 100'000;  // below the limit of Python's csv module

// The distinct cells of a column, in the order in which they come: a hash table with open
// addresses.
class Column {
 public:
  std::vector<std::string_view> labels;
  std::vector<std::int64_t> codes;

  void add(std::string_view cell) {
    std::size_t slot = hash(cell) & (slots_.size() - 1);
    while (slots_[slot] >= 0) {
      if (labels[static_cast<std::size_t>(slots_[slot])] == cell) {
        codes.push_back(slots_[slot]);
        return;
      }
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = static_cast<std::int64_t>(labels.size());
    codes.push_back(slots_[slot]);
    labels.push_back(cell);
    if (2 * labels.size() > slots_.size()) grow();
  }

 private:
  std::vector<std::int64_t> slots_ = std::vector<std::int64_t>(64, -1);

  static std::size_t hash(std::string_view cell) {
    std::uint64_t state = cell.size();
    std::size_t at = 0;
    while (at < cell.size()) {
      std::uint64_t word = 0;
      const std::size_t length = cell.size() - at < 8 ? cell.size() - at : 8;
      std::memcpy(&word, cell.data() + at, length);
      state = (state ^ word) * 0x9e3779b97f4a7c15ULL;
      state ^= state >> 29;  // the low bits choose the slot, and a product mixes only upwards
      at += length;
    }
    return static_cast<std::size_t>(state);
  }

  void grow() {
    slots_.assign(4 * slots_.size(), -1);
    for (std::size_t k = 0; k < labels.size(); ++k) {
      std::size_t slot = hash(labels[k]) & (slots_.size() - 1);
      while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<std::int64_t>(k);
    }
  }
};

// Reads the cell at `p` and moves `p` to the sign behind it. False if Python must read it.
bool read_cell(const char*& p, const char* end, char separator, std::string_view& cell) {
  while (p < end && *p == ' ') ++p;
  const bool is_quoted = p < end && *p == '"';
  const char* start = is_quoted ? ++p : p;
  if (is_quoted) {
    while (p < end && *p != '"' && *p != '\n') ++p;
    if (p == end || *p == '\n') return false;
    cell = {start, static_cast<std::size_t>(p - start)};
    ++p;
    if (p < end && *p != separator && *p != '\n') return false;
  } else {
    while (p < end && *p != separator && *p != '\n') {
      if (*p == '"') return false;
      ++p;
    }
    cell = {start, static_cast<std::size_t>(p - start)};
  }
  return cell.size() <= LONGEST;
}

// Whether a cell surely has content. Some letters beyond ASCII are blanks, so they do not count.
bool is_filled(std::string_view cell) {
  for (const char c : cell)
    if (c > ' ' && c < 127) return true;
  return false;
}

bool read_table(std::string_view text, char separator, std::vector<Column>& columns) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  const char* p = text.data();
  const char* end = p + text.size();
  std::string_view cell;
  for (bool is_first = true; p < end; is_first = false, ++p) {
    std::size_t place = 0, filled = 0;
    for (;; ++p, ++place) {
      if (!read_cell(p, end, separator, cell)) return false;
      if (place == columns.size()) {
        if (!is_first) return false;
        columns.emplace_back();
      }
      columns[place].add(cell);
      filled += is_filled(cell);
      if (p == end || *p == '\n') break;
    }
    // A line with less may be a title, and a line with fewer cells has another width.
    if (place + 1 != columns.size() || place == 0 || filled < (place > 1 ? 2U : 1U)) return false;
  }
  return !columns.empty();
}

// For each column the number of its cell in each line, and its distinct cells.
std::optional<std::tuple<NewArray<std::int64_t>, std::vector<std::vector<std::string_view>>>>
coded_columns(std::string_view text, std::string_view separator) {
  std::vector<Column> columns;
  if (separator.size() != 1 || !read_table(text, separator[0], columns)) return std::nullopt;
  const std::size_t lines = columns[0].codes.size();
  std::vector<std::vector<std::string_view>> labels;
  for (Column& column : columns) labels.push_back(std::move(column.labels));
  NewArray<std::int64_t> codes(nb::make_tuple(columns.size(), lines), [&](std::int64_t* items) {
    for (std::size_t k = 0; k < columns.size(); ++k)
      std::memcpy(items + k * lines, columns[k].codes.data(), lines * sizeof(std::int64_t));
  });
  return std::tuple(codes, labels);
}

}  // namespace

NB_MODULE(_cells, module) {
  module.doc() = "Reads plain tables for contextwise.data.text.";
  nb::set_leak_warnings(false);
  module.def("coded_columns", &coded_columns, "text"_a, "separator"_a);
}
