#include "base/units.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "catch.h"

namespace units_test {

using namespace simgrad::base;

namespace {

struct Reading {
  std::string text;
  Unit unit;
  double expected;
};

/// The error of parse_quantity.
std::string refusal(std::string_view text, Unit unit) {
  try {
    parse_quantity(text, unit);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

/// Doubles of every size: random bits of sign, exponent and mantissa, without those that are not finite.
std::vector<double> doubles_of_every_size(int count) {
  Stream stream({.seed = 7});
  std::vector<double> values;
  while (static_cast<int>(values.size()) < count) {
    const double value = std::ldexp(stream.uniform(), static_cast<int>(stream.below(2046)) - 1022);
    values.push_back(stream.below(2) == 0 ? value : -value);
  }
  return values;
}

/// Numbers as people write them: a few digits times a power of ten, and multiples of powers of two.
std::vector<double> round_values() {
  std::vector<double> values{0.0, 1.0 / 8.0, 1.0 / 3.0, 86400.0, 604800.0};
  for (int power = -12; power <= 20; ++power)
    for (const char* digits : {"1", "1.5", "2.48", "9.99", "3.125", "7.0000001"})
      values.push_back(std::stod(std::string(digits) + "e" + std::to_string(power)));
  for (int power = 0; power <= 62; power += 2) values.push_back(3.0 * std::ldexp(1.0, power));
  return values;
}

}  // namespace

TEST_CASE("a time is read in seconds") {
  const auto row = GENERATE(values<Reading>({{"50us", Unit::seconds, 5e-5},
                                             {"50 us", Unit::seconds, 5e-5},
                                             {"50\u00b5s", Unit::seconds, 5e-5},
                                             {"50\u03bcs", Unit::seconds, 5e-5},
                                             {"1e-5s", Unit::seconds, 1e-5},
                                             {"1.5E+3ms", Unit::seconds, 1.5},
                                             {"+2ns", Unit::seconds, 2e-9},
                                             {"-2ms", Unit::seconds, -2e-3},
                                             {"10min", Unit::seconds, 600.0},
                                             {"1.5h", Unit::seconds, 5400.0},
                                             {"2d", Unit::seconds, 172800.0},
                                             {"0s", Unit::seconds, 0.0},
                                             {"0us", Unit::seconds, 0.0},
                                             {"  3 s  ", Unit::seconds, 3.0}}));
  CAPTURE(row.text);
  CHECK(parse_quantity(row.text, row.unit) == row.expected);
}

TEST_CASE("a size is read in bytes, an eighth of its bits") {
  const auto row = GENERATE(values<Reading>({{"16GiB", Unit::bytes, 16.0 * 1024 * 1024 * 1024},
                                             {"1kB", Unit::bytes, 1000.0},
                                             {"1KiB", Unit::bytes, 1024.0},
                                             {"8Mbit", Unit::bytes, 1e6},
                                             {"8Kib", Unit::bytes, 1024.0},
                                             {"8b", Unit::bytes, 1.0},
                                             {"3 bytes", Unit::bytes, 3.0},
                                             {"2PB", Unit::bytes, 2e15}}));
  CAPTURE(row.text);
  CHECK(parse_quantity(row.text, row.unit) == row.expected);
}

TEST_CASE("a bandwidth is read in bytes per second") {
  const auto row = GENERATE(values<Reading>({{"10Gbps", Unit::bytes_per_second, 1.25e9},
                                             {"10 Gbit/s", Unit::bytes_per_second, 1.25e9},
                                             {"10Gb/s", Unit::bytes_per_second, 1.25e9},
                                             {"1.25GB/s", Unit::bytes_per_second, 1.25e9},
                                             {"8Kibps", Unit::bytes_per_second, 1024.0},
                                             {"1MiB/s", Unit::bytes_per_second, 1048576.0},
                                             {"1.1Gbps", Unit::bytes_per_second, 1.1e9 / 8.0}}));
  CAPTURE(row.text);
  CHECK(parse_quantity(row.text, row.unit) == row.expected);
}

TEST_CASE("a speed is read in flop/s, and an E before F is exa, not an exponent") {
  const auto row = GENERATE(values<Reading>({{"312TF", Unit::flops_per_second, 312e12},
                                             {"10GFLOPS", Unit::flops_per_second, 1e10},
                                             {"10 GFLOP/s", Unit::flops_per_second, 1e10},
                                             {"10Gflop/s", Unit::flops_per_second, 1e10},
                                             {"1EF", Unit::flops_per_second, 1e18},
                                             {"1E3F", Unit::flops_per_second, 1e3},
                                             {"2.5e9f", Unit::flops_per_second, 2.5e9}}));
  CAPTURE(row.text);
  CHECK(parse_quantity(row.text, row.unit) == row.expected);
}

TEST_CASE("prices, powers and energies are read in the units they are quoted in") {
  const auto row = GENERATE(values<Reading>({{"2.48$/h", Unit::dollars_per_hour, 2.48},
                                             {"2.48 USD/h", Unit::dollars_per_hour, 2.48},
                                             {"0.09$/GB", Unit::dollars_per_gigabyte, 0.09},
                                             {"90$/TB", Unit::dollars_per_gigabyte, 0.09},
                                             {"1.073741824$/GiB", Unit::dollars_per_gigabyte, 1.0},
                                             {"23$/TB/month", Unit::dollars_per_gigabyte_month, 0.023},
                                             {"0.3kW", Unit::watts, 300.0},
                                             {"10nJ/B", Unit::joules_per_byte, 1e-8},
                                             {"10pJ/bit", Unit::joules_per_byte, 8e-11},
                                             {"0.4kgCO2/kWh", Unit::grams_per_kilowatt_hour, 400.0}}));
  CAPTURE(row.text);
  CHECK(parse_quantity(row.text, row.unit) == row.expected);
}

TEST_CASE("SimGrid's spellings mean what they mean in SimGrid") {
  // Values from SimGrid's manual, "Supported units": bps counts bits, Bps bytes, k 1000 and Ki 1024.
  const auto row = GENERATE(values<Reading>({{"50us", Unit::seconds, 5e-5},
                                             {"1ps", Unit::seconds, 1e-12},
                                             {"2ms", Unit::seconds, 2e-3},
                                             {"1h", Unit::seconds, 3600.0},
                                             {"10Gbps", Unit::bytes_per_second, 1.25e9},
                                             {"1.25GBps", Unit::bytes_per_second, 1.25e9},
                                             {"2kBps", Unit::bytes_per_second, 2e3},
                                             {"2KiBps", Unit::bytes_per_second, 2048.0},
                                             {"16GiB", Unit::bytes, 17179869184.0},
                                             {"1Tb", Unit::bytes, 1.25e11},
                                             {"312Tf", Unit::flops_per_second, 3.12e14},
                                             {"1Gf", Unit::flops_per_second, 1e9},
                                             {"100Mflops", Unit::flops_per_second, 1e8}}));
  CAPTURE(row.text);
  CHECK(parse_quantity(row.text, row.unit) == row.expected);
}

TEST_CASE("a bare number is refused, zero too, with an example of the unit") {
  CHECK(refusal("50", Unit::seconds) == R"(a time needs a unit, as in "50us"; found "50")");
  CHECK(refusal("0", Unit::seconds) == R"(a time needs a unit, as in "50us"; found "0")");
  CHECK(refusal("10", Unit::bytes_per_second) == R"(a bandwidth needs a unit, as in "10Gbps"; found "10")");
  CHECK(refusal("1e9", Unit::bytes) == R"(a size needs a unit, as in "16GiB"; found "1e9")");
}

TEST_CASE("a text without a number is refused") {
  const auto text = GENERATE(as<std::string>(), "", "fast", "inf s", "nans", ".s", "-", "e5s", "s", "--5s");
  CAPTURE(text);
  CHECK(refusal(text, Unit::seconds) == "expected a time, as in \"50us\"; found \"" + text + "\"");
}

TEST_CASE("an unknown unit is refused with the nearest one") {
  CHECK(refusal("10GBs", Unit::bytes_per_second) == R"(unknown unit "GBs" in "10GBs"; did you mean "10GBps"?)");
  CHECK(refusal("10Gb", Unit::bytes_per_second) == R"(unknown unit "Gb" in "10Gb"; did you mean "10Gbps"?)");
  CHECK(refusal("10gbps", Unit::bytes_per_second) == R"(unknown unit "gbps" in "10gbps"; did you mean "10Gbps"?)");
  CHECK(refusal("5 KB", Unit::bytes) == R"(unknown unit "KB" in "5 KB"; did you mean "5kB"?)");
  CHECK(refusal("5m", Unit::seconds) == R"(unknown unit "m" in "5m"; did you mean "5min"?)");
  CHECK(refusal("5s5", Unit::seconds) ==
        R"(unknown unit "s5" in "5s5"; expected a time, as in "50us"; known: ns, us, ms, s, min, h, d)");
  CHECK(refusal("10Gbps", Unit::seconds) ==
        R"(unknown unit "Gbps" in "10Gbps"; expected a time, as in "50us"; known: ns, us, ms, s, min, h, d)");
}

TEST_CASE("a quantity beyond the range of a double is refused") {
  CHECK(refusal("1e400s", Unit::seconds) == R"("1e400s" is beyond the range of a number)");
  CHECK(refusal("1e308h", Unit::seconds) == R"("1e308h" is beyond the range of a number)");
  CHECK(refusal("1e-400s", Unit::seconds) == R"("1e-400s" is beyond the range of a number)");
  CHECK(refusal("1e99999999999999s", Unit::seconds) == R"("1e99999999999999s" is beyond the range of a number)");
}

TEST_CASE("quantities are written as people write them") {
  CHECK(format_quantity(5e-5, Unit::seconds) == "50us");
  CHECK(format_quantity(1.5, Unit::seconds) == "1.5s");
  CHECK(format_quantity(90.0, Unit::seconds) == "90s");
  CHECK(format_quantity(1500.0, Unit::seconds) == "25min");
  CHECK(format_quantity(1501.0, Unit::seconds) == "1501s");
  CHECK(format_quantity(600.0, Unit::seconds) == "10min");
  CHECK(format_quantity(172800.0, Unit::seconds) == "2d");
  CHECK(format_quantity(0.0, Unit::seconds) == "0s");
  CHECK(format_quantity(-0.002, Unit::seconds) == "-2ms");
  CHECK(format_quantity(1.25e8, Unit::bytes_per_second) == "1Gbps");
  CHECK(format_quantity(1.25e9, Unit::bytes_per_second) == "10Gbps");
  CHECK(format_quantity(2e9, Unit::bytes_per_second) == "16Gbps");
  CHECK(format_quantity(1.234e9, Unit::bytes_per_second) == "9.872Gbps");
  CHECK(format_quantity(1.23456e9, Unit::bytes_per_second) == "9.87648Gbps");
  CHECK(format_quantity(1.3e-7, Unit::bytes_per_second) == "1.04e-06bps");
  CHECK(format_quantity(1.2001e9, Unit::bytes_per_second) == "9.6008Gbps");
  CHECK(format_quantity(2.001e9, Unit::bytes_per_second) == "2.001GBps");
  // From 1 Tbit/s on in bytes, as links between devices are sold.
  CHECK(format_quantity(100e9, Unit::bytes_per_second) == "800Gbps");
  CHECK(format_quantity(125e9, Unit::bytes_per_second) == "125GBps");
  CHECK(format_quantity(900e9, Unit::bytes_per_second) == "900GBps");
  CHECK(format_quantity(3.35e12, Unit::bytes_per_second) == "3.35TBps");
  CHECK(format_quantity(17179869184.0, Unit::bytes) == "16GiB");
  CHECK(format_quantity(1024.0, Unit::bytes) == "1KiB");
  CHECK(format_quantity(2000.0, Unit::bytes) == "2kB");
  CHECK(format_quantity(1e10, Unit::flops_per_second) == "10GF");
  CHECK(format_quantity(312e12, Unit::flops_per_second) == "312TF");
}

TEST_CASE("a formatted quantity reads back to the same double") {
  const auto unit = GENERATE(Unit::seconds, Unit::bytes, Unit::bytes_per_second, Unit::flops_per_second,
                             Unit::dollars_per_hour, Unit::dollars_per_gigabyte, Unit::dollars_per_gigabyte_month,
                             Unit::watts, Unit::joules_per_byte, Unit::grams_per_kilowatt_hour);
  std::vector<double> values = round_values();
  for (const double value : doubles_of_every_size(20000)) values.push_back(value);
  values.push_back(std::numeric_limits<double>::max());
  values.push_back(std::numeric_limits<double>::min());
  values.push_back(std::numeric_limits<double>::denorm_min());
  std::vector<std::string> wrong;
  for (const double value : values) {
    const std::string text = format_quantity(value, unit);
    if (parse_quantity(text, unit) != value) wrong.push_back(text);
  }
  CHECK(wrong == std::vector<std::string>{});
}

TEST_CASE("the example of every unit is a quantity of that unit") {
  const auto unit = GENERATE(Unit::seconds, Unit::bytes, Unit::bytes_per_second, Unit::flops_per_second,
                             Unit::dollars_per_hour, Unit::dollars_per_gigabyte, Unit::dollars_per_gigabyte_month,
                             Unit::watts, Unit::joules_per_byte, Unit::grams_per_kilowatt_hour);
  const std::string example(unit_name(unit).example);
  CHECK(format_quantity(parse_quantity(example, unit), unit) == example);
}

}  // namespace units_test
