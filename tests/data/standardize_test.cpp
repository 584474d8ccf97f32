#include "data/standardize.h"

#include <cmath>

#include "catch.h"
#include "data/files.h"

namespace standardize_test {

using namespace simgrad;
using data::rescale;
using data::Scaling;
using data::scaling_of;
using data::test::fault;
using Numbers = std::vector<double>;

TEST_CASE("a scaling is the mean and the population deviation of each column") {
  const Scaling scaling = scaling_of(Numbers{1, 10, 2, 10, 3, 40}, 2, 2, {"a", "b"});
  // (1+2+3)/3, (10+10+40)/3
  CHECK(scaling.means == Numbers{2, 20});
  // sqrt((1+0+1)/3), sqrt((100+100+400)/3)
  CHECK(scaling.deviations[0] == Approx(std::sqrt(2.0 / 3.0)).epsilon(1e-15));
  CHECK(scaling.deviations[1] == Approx(std::sqrt(200.0)).epsilon(1e-15));
}

TEST_CASE("rescaling leaves alone the columns behind the scaled ones") {
  Numbers values{1, 7, 3, 9};
  rescale(values, 2, {.means = {2}, .deviations = {0.5}});
  // (1-2)/0.5, (3-2)/0.5
  CHECK(values == Numbers{-2, 7, 2, 9});
}

TEST_CASE("a constant column is centred exactly and not scaled") {
  // Three times 0.1, rounded, divided by 3 is not 0.1 in double precision.
  Numbers values(3, 0.1);
  const Scaling scaling = scaling_of(values, 1, 1, {"a"});
  CHECK(scaling.deviations == Numbers{1});
  rescale(values, 1, scaling);
  CHECK(values == Numbers(3, 0.0));
}

TEST_CASE("a large mean costs the deviation no digits") {
  Numbers values;
  for (int i = 0; i < 1000; ++i) values.push_back(1e9 + (i % 2));
  // Half of them 1e9, half 1e9 + 1.
  const Scaling scaling = scaling_of(values, 1, 1, {"a"});
  CHECK(scaling.means[0] == 1e9 + 0.5);
  CHECK(scaling.deviations[0] == Approx(0.5).epsilon(1e-14));
}

TEST_CASE("columns beyond the range of a double are refused by name") {
  const std::string tail =
      " are too large, or too close together, for double precision; rescale it, or set standardize = false";
  CHECK(fault([] {
          return scaling_of(Numbers{1, 1e300, 2, -1e300}, 2, 2, {"a", "b"});
        }) == "column \"b\" cannot be standardised: its values (such as 1e+300)" + tail);
  CHECK(fault([] {
          return scaling_of(Numbers{1e-200, 2e-200}, 1, 1, {"a"});
        }) == "column \"a\" cannot be standardised: its values (such as 1e-200)" + tail);
}

TEST_CASE("a test row that is out of range in the training set's scale is refused by its column's name") {
  const Scaling scaling = scaling_of(Numbers{0, 1}, 1, 1, {"a"});  // mean 0.5, deviation 0.5
  Numbers test{1e308};                                             // (1e308 - 0.5) / 0.5 is above 1.8e308
  CHECK(fault([&] {
          rescale(test, 1, scaling);
          return 0;
        }) ==
        "column \"a\" cannot be standardised: the value 1e+308 is too far from the training set's mean 0.5 and "
        "deviation 0.5 for double precision; rescale it, or set standardize = false");
}

TEST_CASE("of several values out of range the first row's is named, on any number of threads") {
  constexpr std::size_t rows = 4000, columns = 200;
  Numbers values(rows * columns, 1.0);
  values[3999 * columns] = values[700 * columns + 150] = values[700 * columns + 199] = 1e308;
  const Scaling scaling{.means = Numbers(columns, 0.0),
                        .deviations = Numbers(columns, 0.1),
                        .names = std::vector<std::string>(columns, "other")};
  for (const int threads : {1, 2, 4}) {
    Scaling named = scaling;
    named.names[150] = "first";
    Numbers copy = values;
    CHECK(fault([&] {
            rescale(copy, columns, named, threads);
            return 0;
          }).starts_with("column \"first\" cannot be standardised: the value 1e+308"));
  }
}

}  // namespace standardize_test
