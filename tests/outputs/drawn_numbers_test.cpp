// Numbers on screen, drawn from all sizes that a double has: they say the number to the digits that they show, and none
// of them is long.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>
#include <set>

#include "catch.h"
#include "outputs/text/number_text.h"
#include "outputs/text/text_layout.h"

namespace drawn_numbers_test {

using namespace simgrad::outputs;
using Json = nlohmann::ordered_json;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Returns a positive number of any of these decades.
double positive(std::mt19937_64& engine, int from, int to) {
  const double mantissa = std::uniform_real_distribution<double>(1.0, 10.0)(engine);
  return mantissa * std::pow(10.0, std::uniform_int_distribution<int>(from, to)(engine));
}

std::vector<double> drawn_numbers() {
  std::vector<double> all = {0.0,    5e-324, 1e-300,   1e300,  999.95, 99.95,  9.995, 59.95,
                             59.949, 3599.6, 172799.0, 0.0995, 0.995,  9999.5, 999.5, 15103.52};
  for (int k = -20; k <= 20; ++k) all.push_back(std::pow(10.0, k));
  std::mt19937_64 engine(1);
  for (int i = 0; i < 60; ++i) all.push_back(positive(engine, -300, 304));
  for (int i = 0; i < 400; ++i) all.push_back(positive(engine, -12, 16));
  for (std::size_t i = all.size(); i-- > 1;) all.push_back(-all[i]);
  return all;
}

/// A number that a text shows, and half a unit of its last digit.
struct Shown {
  double value = 0.0;
  double half = 0.0;
};

const std::map<std::string, double> sizes = {
    {"", 1.0},    {"x", 1.0},   {"%", 0.01},  {"ns", 1e-9}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1.0},
    {"min", 60},  {"h", 3600},  {"d", 86400}, {"B", 1.0},   {"kB", 1e3},  {"MB", 1e6},  {"GB", 1e9},
    {"TB", 1e12}, {"PB", 1e15}, {"EB", 1e18}, {"k", 1e3},   {"M", 1e6},   {"G", 1e9},   {"T", 1e12},
    {"mJ", 1e-3}, {"J", 1.0},   {"kJ", 1e3},  {"MJ", 1e6},  {"GJ", 1e9},  {"TJ", 1e12},
};

/// Reads "-3 min 20 s", "$15,103.52", "12,346x": numbers with units, which add up.
Shown read(std::string text) {
  const bool negative = text.starts_with('-');
  static const std::regex part(R"(\$?(\d[\d,]*)(?:\.(\d+))?(?:e(-?\d+))? ?(x|%|[a-zA-Zµ]+)?)");
  Shown shown;
  for (std::sregex_iterator found(text.begin(), text.end(), part), end; found != end; ++found) {
    std::string digits = (*found)[1];
    // Thousands are separated everywhere or nowhere.
    CHECK(std::regex_match(digits, std::regex(R"(\d{1,4}|\d{1,3}(,\d{3})+)")));
    std::erase(digits, ',');
    const std::string decimals = (*found)[2], exponent = (*found)[3].matched ? (*found)[3].str() : "0";
    const long double size = sizes.at((*found)[4]) * std::pow(10.0L, std::stoi(exponent));
    shown.value += static_cast<double>(std::stold(digits + "." + decimals) * size);
    shown.half = static_cast<double>(0.5L * size * std::pow(10.0L, -static_cast<int>(decimals.size())));
  }
  if (negative) shown.value = -shown.value;
  return shown;
}

void check_is_short(const std::string& text) {
  CAPTURE(text);
  CHECK(display_width(text) <= 24);
  for (const char* const never : {"e+", "inf", "nan", "+"}) CHECK(text.find(never) == std::string::npos);
}

/// The text says the number, to half a unit of its last digit, and to two digits at least.
void check_says(const std::string& text, double value) {
  CAPTURE(text, value);
  check_is_short(text);
  if (value == 0.0) {
    CHECK(read(text).value == 0.0);
    return;
  }
  const Shown shown = read(text);
  const double off = std::abs(shown.value - value);
  CHECK(off <= shown.half * (1.0 + 1e-9) + 1e-12 * std::abs(value));
  if (std::abs(value) > 1e-290) CHECK(off <= 0.0501 * std::abs(value));
}

struct Text {
  const char* name;
  std::string (*text)(double);
};
constexpr Text texts[] = {{"digits", [](double x) { return number_text(x); }},
                          {"three_digits", three_digits},
                          {"speedup", speedup_text},
                          {"percentage", [](double x) { return percentage(x, 2); }},
                          {"duration", duration},
                          {"bytes", byte_count},
                          {"count", count},
                          {"dollars", dollars},
                          {"joules", joules}};

/// Columns of like and of unlike sizes; some cells are missing or zero.
std::vector<std::vector<double>> drawn_columns() {
  std::mt19937_64 engine(2);
  std::vector<std::vector<double>> all = {{}, {0.0}, {not_a_number, 0.0}, {1e-300, 1e300, 1.0}, {7500.0, 200.0, 0.0}};
  for (int i = 0; i < 120; ++i) {
    const int from = std::uniform_int_distribution<int>(-10, 8)(engine);
    const int spread = std::uniform_int_distribution<int>(0, 4)(engine);
    std::vector<double>& column = all.emplace_back();
    for (int k = std::uniform_int_distribution<int>(1, 9)(engine); k > 0; --k)
      column.push_back(k == 7 ? not_a_number : k == 8 ? 0.0 : positive(engine, from, from + spread));
  }
  return all;
}

/// The units of a text, in their order: "min s" of "3 min 20 s".
std::string units_in(const std::string& text) {
  std::string units;
  static const std::regex unit("[a-zA-Zµ]+");
  const std::string rest = std::regex_replace(text, std::regex("e-?\\d+"), "");
  for (std::sregex_iterator found(rest.begin(), rest.end(), unit), end; found != end; ++found)
    units += (units.empty() ? "" : " ") + found->str();
  return units;
}

Json json_of(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace

TEST_CASE("a drawn number is said to the digits that are shown, in few letters and without e+") {
  for (const Text& each : texts) {
    CAPTURE(each.name);
    for (const double value : drawn_numbers()) check_says(each.text(value), value);
    for (const double value : {infinity, -infinity, not_a_number}) {
      CAPTURE(value);
      CHECK(std::string(each.text(value)).ends_with("-"));
      check_is_short(each.text(value));
    }
  }
  for (const double value : drawn_numbers()) {
    const std::string text = whole(value);
    CAPTURE(text, value);
    check_is_short(text);
    CHECK(std::abs(read(text).value - value) <= std::max(0.5, 0.005 * std::abs(value)));
  }
}

TEST_CASE("money has cents from a dollar on and two digits below") {
  for (const double value : drawn_numbers()) {
    const std::string text = dollars(value);
    CAPTURE(text, value);
    if (text.find('e') != std::string::npos) continue;
    const std::size_t point = text.find('.');
    REQUIRE(point != std::string::npos);
    const std::string decimals = text.substr(point + 1);
    CHECK(decimals.size() >= 2);
    if (std::abs(value) >= 1.0) CHECK(decimals.size() == 2);
    if (value == 0.0 || std::abs(value) >= 0.1) continue;
    const std::size_t first = text.find_first_of("123456789");
    REQUIRE(first != std::string::npos);
    CHECK(text.size() - first >= 2);
    CHECK(text.size() - first <= 3);
  }
}

TEST_CASE("a drawn column has one unit, and each cell says its number") {
  for (const auto quantity : {Quantity::time, Quantity::bytes, Quantity::count, Quantity::energy})
    for (const std::vector<double>& column : drawn_columns()) {
      const std::vector<std::string> cells = column_texts(quantity, column);
      REQUIRE(cells.size() == column.size());
      std::set<std::string> units, widths;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (!std::isfinite(column[i])) {
          CHECK(cells[i] == "-");
          continue;
        }
        check_says(cells[i], column[i]);
        const std::string unit = units_in(cells[i]);
        // A zero, and a time of whole days, have the first of the two units of the others.
        units.insert(unit.substr(0, unit.find(' ')));
      }
      CAPTURE(column, cells);
      CHECK(units.size() <= 1);
    }
}

TEST_CASE("a unit is the one in which the longest number of a column is short") {
  using Texts = std::vector<std::string>;
  CHECK(column_texts(Quantity::time, {0.0313, 0.208, 1.23}) == Texts{"31.3 ms", "208 ms", "1230 ms"});
  CHECK(column_texts(Quantity::time, {76.0 * 3600, 23.1 * 3600}) == Texts{"76.0 h", "23.1 h"});
  CHECK(column_texts(Quantity::time, {45.2, 66.0}) == Texts{"45.2 s", "66.0 s"});
  // One form in all cells: as each would be alone.
  CHECK(column_texts(Quantity::time, {7500.0, 11160.0, 0.0}) == Texts{"2 h 5 min", "3 h 6 min", "0 h"});
  CHECK(column_texts(Quantity::bytes, {1.23e9, 512e6}) == Texts{"1230 MB", "512 MB"});
}

TEST_CASE("a margin is said with two digits in the unit of its number, and not if it is that of rounding") {
  const auto text_of = [](double value) { return three_digits(value); };
  std::mt19937_64 engine(3);
  for (int i = 0; i < 500; ++i) {
    const double mean = positive(engine, -4, 8), margin = mean * positive(engine, -14, 0);
    const std::string text = with_margin(mean, margin, text_of);
    CAPTURE(text, mean, margin);
    const std::size_t sign = text.find(" ± ");
    if (margin <= 1e-9 * mean) {
      CHECK(sign == std::string::npos);
      continue;
    }
    REQUIRE(sign != std::string::npos);
    check_says(text.substr(0, sign), mean);
    check_says(text.substr(sign + 4), margin);  // "±" has two bytes
  }
  CHECK(with_margin(0.568, 5.6e-16, speedup_text) == "0.57x");
  CHECK(with_margin(15103.52, 61.2, dollars) == "$15,103.52 ± 61");
  CHECK(with_margin(1.09e-6, 6.1e-8, dollars) == "$0.00000109 ± 0.000000061");
  CHECK(with_margin(0.0041, 0.0003, duration) == "4.10 ms ± 0.30");
  CHECK(with_margin(200.0, 12.0, duration) == "3 min 20 s ± 12.0 s");
  CHECK(with_margin(0.0, 0.5, duration) == "0 s ± 500 ms");
  CHECK(with_margin(1.0, not_a_number, duration) == "1.00 s");
}

TEST_CASE("what is many times as much is no percentage") {
  CHECK(more_than(0.125) == "12.5 % more");
  CHECK(more_than(8.0) == "800 % more");
  CHECK(more_than(15.0) == "16 times as much");
  CHECK(more_than(1e300) == "1e300 times as much");
  CHECK(percentage(15.0) == "1,500 %");
}

/// analysis/report/test/numbers_test.mjs has these texts written, and compares those of the report's page with them.
TEST_CASE("the texts of drawn numbers are written for the page") {
  Json all;
  for (const Text& each : texts) {
    Json& rows = all["texts"][each.name] = Json::array();
    for (const double value : drawn_numbers()) rows.push_back({value, each.text(value)});
  }
  for (const auto& [name, quantity] :
       {std::pair("time", Quantity::time), std::pair("bytes", Quantity::bytes), std::pair("energy", Quantity::energy)})
    for (const std::vector<double>& column : drawn_columns()) {
      Json values = Json::array();
      for (const double value : column) values.push_back(json_of(value));
      all["columns"].push_back({{"quantity", name}, {"values", values}, {"texts", column_texts(quantity, column)}});
    }
  std::mt19937_64 engine(4);
  for (int i = 0; i < 500; ++i) {
    const double mean = positive(engine, -9, 9), margin = mean * positive(engine, -12, 0);
    for (const auto& [name, text] : {Text{"duration", duration}, Text{"dollars", dollars}})
      all["margins"].push_back(
          {{"text", name}, {"mean", mean}, {"margin", margin}, {"texts", with_margin(mean, margin, text)}});
  }
  // The written text reads back to the last bit, or the page would be asked for other numbers.
  const std::string written = all.dump();
  CHECK(Json::parse(written) == all);
  if (const char* const path = std::getenv("SIMGRAD_NUMBERS_FILE")) std::ofstream(path) << written;
}

}  // namespace drawn_numbers_test
