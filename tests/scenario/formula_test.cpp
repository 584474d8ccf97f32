#include "scenario/formula.h"

#include "scenario/fixture.h"

namespace formula_test {

using namespace fixture;
using scenario::Document;

namespace {

/// The values of a formula on the command line, as TOML.
Lines values(const std::string& formula) {
  Lines all;
  const auto axes = Document::axes("x=" + formula);
  for (const scenario::Value& value : axes.at(0).values) all.push_back(value.toml);
  return all;
}

/// The fault of a formula, without its place.
std::string fault(const std::string& formula) {
  const Lines told = refusal([&] { Document::axes("x=" + formula); });
  REQUIRE(told.size() == 1);
  const std::string place = "--grid x=" + formula + ": " + formula + ": ";
  CHECK(told[0].substr(0, place.size()) == place);
  return told[0].substr(std::min(place.size(), told[0].size()));
}

}  // namespace

TEST_CASE("a range of integers has its end if a step falls on it, and steps of 1 unless they are given") {
  CHECK(values("range(1,4)") == Lines{"1", "2", "3", "4"});
  CHECK(values("range(4,16,4)") == Lines{"4", "8", "12", "16"});
  CHECK(values("range(1,8,3)") == Lines{"1", "4", "7"});
  CHECK(values("range(3,-1,-2)") == Lines{"3", "1", "-1"});
  CHECK(values("range(5,5)") == Lines{"5"});
  CHECK(values(" range ( 1 , 2 ) ") == Lines{"1", "2"});
  CHECK(values("range(999999999999999998,1000000000000000000)").size() == 3);
}

TEST_CASE("a range of decimals has decimals, without the rounding errors of repeated sums") {
  CHECK(values("range(0.1,0.4,0.1)") == Lines{"0.1", "0.2", "0.3", "0.4"});
  CHECK(values("range(0,1,0.25)") == Lines{"0.0", "0.25", "0.5", "0.75", "1.0"});
  CHECK(values("range(1.0,3)") == Lines{"1.0", "2.0", "3.0"});
  CHECK(values("range(1e-3,3e-3,1e-3)") == Lines{"0.001", "0.002", "0.003"});
  CHECK(values("range(1e3,2000,5e+2)") == Lines{"1000.0", "1500.0", "2000.0"});
}

TEST_CASE("a range of quantities keeps their unit, or takes the usual one if there are several") {
  CHECK(values("range(1Gbps,10Gbps,3Gbps)") == Lines{"\"1Gbps\"", "\"4Gbps\"", "\"7Gbps\"", "\"10Gbps\""});
  CHECK(values("range(0.1 ms,0.3 ms,0.1 ms)") == Lines{"\"0.1ms\"", "\"0.2ms\"", "\"0.3ms\""});
  CHECK(values("range(500us,2ms,500us)") == Lines{"\"500us\"", "\"1ms\"", "\"1.5ms\"", "\"2ms\""});
  CHECK(values("range(1min,2min,30s)") == Lines{"\"1min\"", "\"90s\"", "\"2min\""});
  CHECK(values("range(5EF,6EF,1EF)") == Lines{"\"5EF\"", "\"6EF\""});
}

TEST_CASE("a logspace has n values in equal ratios, with exact ends and six digits between them") {
  CHECK(values("logspace(10us,10ms,4)") == Lines{"\"10us\"", "\"100us\"", "\"1ms\"", "\"10ms\""});
  CHECK(values("logspace(1Gbps,100Gbps,3)") == Lines{"\"1Gbps\"", "\"10Gbps\"", "\"100Gbps\""});
  CHECK(values("logspace(0.001,1,4)") == Lines{"0.001", "0.01", "0.1", "1.0"});
  // 10^(1/3) = 2.1544347, 10^(2/3) = 4.6415888
  CHECK(values("logspace(1.0,10,4)") == Lines{"1.0", "2.15443", "4.64159", "10.0"});
  CHECK(values("logspace(8,1,4)") == Lines{"8", "4", "2", "1"});
  CHECK(values("logspace(0.123456789,2,2)") == Lines{"0.123456789", "2.0"});
}

TEST_CASE("a logspace of integers has integers") {
  CHECK(values("logspace(1,8,4)") == Lines{"1", "2", "4", "8"});
  CHECK(values("logspace(100,10000,5)") == Lines{"100", "316", "1000", "3162", "10000"});
  CHECK(fault("logspace(1,8,10)") ==
        "rounded to whole numbers, 1 comes twice; take fewer values, or write 1.0 for fractions");
}

TEST_CASE("a formula stands beside values of a list, and in a file it is in quotes") {
  CHECK(values("1,2,range(4,16,4),32") == Lines{"1", "2", "4", "8", "12", "16", "32"});
  CHECK(values("[1, \"range(2,3)\"]") == Lines{"1", "2", "3"});
  // Parentheses of any other text separate nothing.
  CHECK(values("gossip(a,b)") == Lines{"\"gossip(a\"", "\"b)\""});
  Document document = Document::parse("[grid]\na = \"range(1,2)\"\nb = [\"logspace(1,4,3)\", 5]", "a.toml");
  scenario::Faults faults;
  const auto axes = document.take_grid(faults);
  CHECK(faults.empty());
  REQUIRE(axes.size() == 2);
  CHECK(axes[0].values.size() == 2);
  CHECK(axes[1].values.at(3).toml == "5");
  CHECK(axes[1].values.at(2).position.text() == "a.toml:3:6");
}

TEST_CASE("an unsound range is refused with its reason") {
  CHECK(fault("range(1,8,0)") == "the step is 0; expected another one");
  CHECK(fault("range(8,1)") == "no steps of 1 lead from 8 to 1; give the step the other sign");
  CHECK(fault("range(1,8,-1)") == "no steps of -1 lead from 1 to 8; give the step the other sign");
  CHECK(fault("range(1)") == "range takes two or three arguments, as in range(1,8) or range(1,8,2), found 1");
  CHECK(fault("range()") == "range takes two or three arguments, as in range(1,8) or range(1,8,2), found none");
  CHECK(fault("range(1,a)") == "\"a\" is no number; expected numbers, or quantities such as 10Gbps");
  CHECK(fault("range(1,2") == "\")\" is missing at the end");
  CHECK(fault("range(1Gbps,2Gbps)") == "a range of quantities needs a step, as in range(1Gbps,10Gbps,3Gbps)");
  CHECK(fault("range(0,1e12,1)") ==
        "these are 1000000000001 values; at most 20000 are allowed, with a larger step or fewer values");
  CHECK(fault("range(1,2000000000000000000)") == "2000000000000000000 has more than 18 digits");
  CHECK(fault("range(1e-300,1,1e-300)") == "the numbers differ by more than 18 digits; write fewer digits");
  CHECK(fault("range(0.000000000000000001,5,1)") == "the numbers differ by more than 18 digits; write fewer digits");
  CHECK(fault("range(1,1e999)") == "1e999 has an exponent that no number has");
  // 10^309 is no double, and between 5 x 10^-318 and 9 x 10^-318 doubles have few digits.
  CHECK(fault("range(1000000000e300,2000000000e300,1000000000e300)") ==
        "1000000000e300 is too large or too small to compute with");
  CHECK(fault("range(1e300s,2e300s,1e300ns)") == "1e300s is too large or too small to compute with");
  CHECK(fault("logspace(0.000000000000000005e-300,0.000000000000000009e-300,3)") ==
        "0.000000000000000005e-300 is too large or too small to compute with");
}

TEST_CASE("quantities of different kinds are refused") {
  CHECK(fault("range(1Gbps,10us,1us)") == "1Gbps is a bandwidth, but 10us is a time; expected one kind of quantity");
  CHECK(fault("range(1us,10,1us)") == "1us and 10: either all of them have a unit, or none has");
  CHECK(fault("range(1Foo,2Foo,1Foo)") == "\"Foo\" in 1Foo is no unit");
  CHECK(fault("range(1KiB,10kB,1KiB)") == "1KiB is no whole number of kB; write all quantities in one unit");
}

TEST_CASE("an unsound logspace is refused with its reason") {
  for (const char* n : {"1", "2.0", "-3", "3us"})
    CHECK(fault(std::string("logspace(1,8,") + n + ")") ==
          n + std::string(" is no number of values; expected a whole number from 2 on"));
  for (const char* ends : {"-1,8", "0,8", "8,-1", "-8,-1"})
    CHECK(fault(std::string("logspace(") + ends + ",3)") ==
          "both ends must be above 0, for no multiples lead across 0");
  CHECK(fault("logspace(1,8)") == "logspace takes three arguments, as in logspace(10us,10ms,4), found 2");
  CHECK(fault("logspace(1.0,8,60000)").starts_with("these are 60000 values; at most 20000"));
}

TEST_CASE("a fault of a formula in a file has its place") {
  Document document = Document::parse("[grid]\na = \"range(1,8,0)\"\nb = [1, \"range(2,1)\"]", "a.toml");
  CHECK(refusal([&] {
          scenario::Faults faults;
          document.take_grid(faults);
          faults.raise_if_any();
        }) == Lines{R"(a.toml:2:5: "a" in [grid]: range(1,8,0): the step is 0; expected another one)",
                    R"(a.toml:3:5: "b" in [grid]: range(2,1): no steps of 1 lead from 2 to 1; give the step the )"
                    R"(other sign)"});
}

}  // namespace formula_test
