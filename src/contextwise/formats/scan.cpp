// The grammar of libra.py, compiled. It follows that module function by function; read it first.
//
// The scanner throws `Cannot` if the text is not well formed or exceeds a limit. Python then reads
// the file again with its own parser, which reports the error.

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "../python_arrays.hpp"

using namespace nanobind::literals;
using namespace contextwise;

namespace {

struct Cannot {};

struct Number {
  double value;
  bool is_int;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

class Scanner {
 public:
  std::vector<std::int64_t> lengths, tests;
  std::vector<std::int64_t> children;  // of a BN or DN: the variable of each feature's section
  std::vector<double> weights;

  Scanner(std::string_view text, std::size_t at, const std::int64_t* cardinalities,
          std::size_t variables, std::size_t most_literals)
      : begin_(text.data()),
        p_(begin_ + at),
        end_(begin_ + text.size()),
        cardinalities_(cardinalities),
        variables_(variables),
        most_literals_(most_literals) {
    offsets_.reserve(variables);
    std::int64_t states = 0;
    for (std::size_t v = 0; v < variables; ++v) {
      offsets_.push_back(states);
      states += cardinalities[v];
    }
    on_path_.resize(2 * static_cast<std::size_t>(states));
  }

  // Reads the file, starting at the keyword. Returns where the last brace ends.
  std::size_t file(const std::string& keyword) {
    line_ends();
    if (word() != keyword) throw Cannot();
    line_ends();
    take('{');
    if (keyword == "MN")
      factors();
    else
      sections();
    return static_cast<std::size_t>(p_ - begin_);
  }

 private:
  const char* begin_;
  const char* p_;
  const char* end_;
  const std::int64_t* cardinalities_;
  std::size_t variables_, most_literals_;
  std::vector<std::int64_t> offsets_;
  std::vector<char> on_path_;  // whether a test is on the path to the current leaf
  bool weightless_ = false;

  // -- words -----------------------------------------------------------------------------------

  char look() const { return p_ < end_ ? *p_ : '\0'; }
  char look(std::ptrdiff_t ahead) const { return ahead < end_ - p_ ? p_[ahead] : '\0'; }

  void blanks() {
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\t')) ++p_;
  }

  void line_ends() {
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\t' || *p_ == '\n')) ++p_;
  }

  void take(char sign) {
    if (look() != sign) throw Cannot();
    ++p_;
  }

  std::string word() {
    std::string letters;
    for (; is_letter(look()); ++p_) letters.push_back(upper(*p_));
    return letters;
  }

  std::size_t whole() {
    if (!is_digit(look())) throw Cannot();
    std::size_t value = 0;
    for (; is_digit(look()); ++p_) {
      value = 10 * value + static_cast<std::size_t>(*p_ - '0');
      if (value > 1'000'000'000) throw Cannot();
    }
    return value;
  }

  // Reads a test such as v0_1, after its v. Returns its number.
  std::int64_t test() {
    const std::size_t variable = whole();
    take('_');
    const std::size_t value = whole();
    if (variable >= variables_) throw Cannot();
    if (static_cast<std::int64_t>(value) >= cardinalities_[variable]) throw Cannot();
    return 2 * (offsets_[variable] + static_cast<std::int64_t>(value));
  }

  bool at_number() const {
    const char next = look() == '-' ? look(1) : look();
    return is_digit(next) || next == 'i';
  }

  Number number() {
    const char* start = p_;
    const bool negative = look() == '-';
    if (negative) ++p_;
    if (look() == 'i') {
      if (look(1) != 'n' || look(2) != 'f' || is_letter(look(3))) throw Cannot();
      p_ += 3;
      const double infinity = std::numeric_limits<double>::infinity();
      return {negative ? -infinity : infinity, false};
    }
    std::uint64_t digits = 0;  // all digits as an integer, while it is exact
    std::int64_t exponent = 0;
    bool exact = true, is_int = true;
    const auto add_digits = [&](int step) {
      if (!is_digit(look())) throw Cannot();
      for (; is_digit(look()); ++p_) {
        digits = 10 * digits + static_cast<std::uint64_t>(*p_ - '0');
        exponent += step;
        if (digits >= (std::uint64_t{1} << 53)) {
          exact = false;
          digits = 1;  // no longer used; must not overflow
        }
      }
    };
    add_digits(0);
    if (look() == '.' && is_digit(look(1))) {
      is_int = false;
      ++p_;
      add_digits(-1);
    }
    if (look() == 'e' || look() == 'E') {
      const std::ptrdiff_t sign = look(1) == '+' || look(1) == '-' ? 1 : 0;
      if (is_digit(look(1 + sign))) {
        is_int = false;
        const bool down = look(1) == '-';
        p_ += 1 + sign;
        std::int64_t power = 0;
        for (; is_digit(look()); ++p_)
          if (power < 100'000) power = 10 * power + (*p_ - '0');
        exponent += down ? -power : power;
      }
    }
    return {value_of(start, negative, digits, exponent, exact), is_int};
  }

  // One operation on two exact floats gives the nearest float. Other cases use Python's conversion.
  double value_of(const char* start, bool negative, std::uint64_t digits, std::int64_t exponent,
                  bool exact) const {
    static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (FLT_EVAL_METHOD == 0 && exact && exponent >= -22 && exponent <= 22) {
      const double whole = static_cast<double>(digits);
      const double value = exponent < 0 ? whole / powers[-exponent] : whole * powers[exponent];
      return negative ? -value : value;
    }
    const std::string text(start, p_);
    const double value = PyOS_string_to_double(text.c_str(), nullptr, nullptr);
    if (PyErr_Occurred()) throw nb::python_error();
    if (std::isinf(value)) throw Cannot();
    return value;
  }

  // -- the file --------------------------------------------------------------------------------

  void sections() {
    for (line_ends(); look() != '}'; line_ends()) {
      take('v');
      const std::size_t child = whole();
      if (child >= variables_ || look() == '_') throw Cannot();
      blanks();
      take('{');
      factors();
      children.resize(lengths.size(), static_cast<std::int64_t>(child));
    }
    ++p_;
  }

  void factors() {
    for (line_ends(); look() != '}'; line_ends()) {
      if (at_number() || look() == '+' || look() == '-') {
        feature();
        continue;
      }
      const std::string name = word();
      blanks();
      if (name == "W") {
        if (!number().is_int) throw Cannot();
        blanks();
        number();
        continue;
      }
      take('{');
      if (name == "TREE")
        tree();
      else if (name == "FEATURES" || name == "TABLE")
        block();
      else
        throw Cannot();
    }
    ++p_;
  }

  void block() {
    for (line_ends(); look() != '}'; line_ends()) feature();
    ++p_;
  }

  void feature() {
    std::optional<double> weight;
    if (at_number()) {
      const Number first = number();
      weight = first.value;
      blanks();
      if (first.is_int && at_number()) weight = number().value;
    }
    const std::size_t before = tests.size();
    for (blanks(); look() == '+' || look() == '-'; blanks()) {
      const bool negated = *p_++ == '-';
      take('v');
      tests.push_back(test() + negated);
    }
    if (!weight && tests.size() == before) throw Cannot();
    take('\n');
    add(tests.size() - before, weight);
  }

  void tree() {
    std::vector<std::int64_t> path;
    std::vector<std::pair<std::int64_t, bool>>
        opened;  // tests, and whether each is new to the path
    const auto enter = [&](std::int64_t test) {
      const bool fresh = !on_path_[static_cast<std::size_t>(test)];
      opened.emplace_back(test, fresh);
      if (fresh) {
        path.push_back(test);
        on_path_[static_cast<std::size_t>(test)] = 1;
      }
    };
    const auto leave = [&] {
      const auto [test, fresh] = opened.back();
      opened.pop_back();
      if (fresh) {
        path.pop_back();
        on_path_[static_cast<std::size_t>(test)] = 0;
      }
      return test;
    };
    while (true) {
      line_ends();
      if (look() == '(') {
        ++p_;
        line_ends();
        take('v');
        enter(test());
        continue;
      }
      if (!at_number()) throw Cannot();
      const double value = number().value;
      tests.insert(tests.end(), path.begin(), path.end());
      add(path.size(), value);
      while (!opened.empty() && opened.back().first % 2) {  // both branches have been read
        line_ends();
        take(')');
        leave();
      }
      if (opened.empty()) break;
      enter(leave() + 1);
    }
    line_ends();
    take('}');
  }

  void add(std::size_t length, std::optional<double> weight) {
    if (weight)
      weights.push_back(*weight);
    else
      weightless_ = true;
    if (weightless_ && !weights.empty()) throw Cannot();
    lengths.push_back(static_cast<std::int64_t>(length));
    if (tests.size() > most_literals_) throw Cannot();
  }
};

// Returns the lengths, tests, weights and children of the features and where the last brace ends;
// None if the text is not well formed.
std::optional<std::tuple<NewArray<std::int64_t>, NewArray<std::int64_t>, NewArray<double>,
                         NewArray<std::int64_t>, std::size_t>>
scan(const nb::bytes& data, std::size_t at, const std::string& keyword,
     const Array<std::int64_t>& cardinalities, std::size_t most_literals) {
  Scanner scanner({data.c_str(), data.size()}, at, cardinalities.data(), cardinalities.size(),
                  most_literals);
  try {
    const std::size_t end = scanner.file(keyword);
    return std::tuple(array_of(scanner.lengths), array_of(scanner.tests), array_of(scanner.weights),
                      array_of(scanner.children), end);
  } catch (const Cannot&) {
    return std::nullopt;
  }
}

}  // namespace

NB_MODULE(_scan, module) {
  module.doc() = "The compiled twin of the parser in contextwise.formats.libra.";
  nb::set_leak_warnings(false);
  module.def("scan", &scan, "data"_a, "at"_a, "keyword"_a, "cardinalities"_a, "most_literals"_a);
}
