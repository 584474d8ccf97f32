// Ratings: generated, read from CSV files, and standardised.
#include "data/ratings.h"

#include <cmath>
#include <set>

#include "catch.h"
#include "data/csv.h"
#include "data/files.h"

namespace ratings_test {

using namespace simgrad;
using data::Csv;
using data::Dataset;
using data::Ratings;
using data::Task;
using data::test::fault;
using data::test::Folder;
using Numbers = std::vector<double>;

namespace {

Dataset made(const Ratings& source, std::int64_t samples, std::uint64_t seed = 1) {
  return source.load({.task = Task::recommendation, .seed = seed, .samples = samples});
}

Dataset read(const std::string& text, Csv csv = {}, Task task = Task::recommendation) {
  csv.path = "t.csv";
  return csv.read(text, {.task = task});
}

Csv with(auto change) {
  Csv csv;
  change(csv);
  return csv;
}

std::string refusal(const std::string& text, const Csv& csv = {}, Task task = Task::recommendation) {
  return fault([&] { return read(text, csv, task); });
}

}  // namespace

TEST_CASE("made ratings have mean 3 and standard deviation 1, evenly drawn users and items") {
  Ratings source;
  source.users = 400;
  source.items = 300;
  const Dataset set = made(source, 40000);
  CHECK(set.columns == 2);
  CHECK(set.users == 400);
  CHECK(set.items == 300);
  CHECK(set.classes == 0);
  double sum = 0.0, squares = 0.0, users = 0.0;
  for (std::size_t i = 0; i < 40000; ++i) {
    sum += set.targets[i];
    squares += (set.targets[i] - 3.0) * (set.targets[i] - 3.0);
    users += set.features[2 * i];
    REQUIRE((set.features[2 * i] >= 0.0 && set.features[2 * i] < 400.0));
    REQUIRE((set.features[2 * i + 1] >= 0.0 && set.features[2 * i + 1] < 300.0));
  }
  // Ratings of one user are correlated: the sums vary more than those of 40000 independent draws.
  CHECK(sum / 40000 == Approx(3.0).epsilon(0.02));
  CHECK(squares / 40000 == Approx(1.0).epsilon(0.1));
  CHECK(users / 40000 == Approx(399.0 / 2).epsilon(0.01));
}

TEST_CASE("without noise a pair that comes twice has one rating, and the seed decides all") {
  Ratings source;
  source.users = 3;
  source.items = 2;
  source.noise = 0.0;
  const Dataset set = made(source, 200);
  std::set<Numbers> different;
  for (std::size_t i = 0; i < 200; ++i)
    different.insert({set.features[2 * i], set.features[2 * i + 1], set.targets[i]});
  CHECK(different.size() == 6);
  CHECK(made(source, 200).targets == set.targets);
  CHECK(made(source, 200, 2).targets != set.targets);
  const Numbers first(set.targets.begin(), set.targets.begin() + 50);
  CHECK(made(source, 50).targets == first);
}

TEST_CASE("users and items are not standardised, ratings are, and both sides of a split count all users") {
  data::Options options;
  options.source.choose("ratings");
  options.samples = 500;
  options.test_fraction = 0.2;
  const data::Split split = load(options, {.task = Task::recommendation});
  CHECK(split.train.columns == 2);
  double sum = 0.0;
  for (std::int64_t i = 0; i < split.train.rows; ++i) {
    const auto row = split.train.row(i);
    REQUIRE((row[0] == std::floor(row[0]) && row[1] == std::floor(row[1])));
    sum += split.train.targets[static_cast<std::size_t>(i)];
  }
  CHECK(sum == Approx(0.0).margin(1e-9));
  for (const Dataset& side : {split.train, split.test}) {
    CHECK(side.users == 100);
    CHECK(side.items == 50);
  }
}

TEST_CASE("ratings serve recommendation alone, and only they and CSV files do") {
  CHECK(fault([] { return Ratings().load({.task = Task::regression, .samples = 5}); }) ==
        "data source \"ratings\" makes ratings, but the model predicts a number; use \"house_prices\", or a model that "
        "predicts ratings of items by users");
  CHECK(
      fault([] { return Ratings().load({.task = Task::clustering, .samples = 5}); }) ==
      "data source \"ratings\" makes ratings, but the model predicts clusters; use \"blobs\", or a model that predicts "
      "ratings of items by users");
  data::Options options;
  options.source.choose("libsvm");
  CHECK(fault([&] { return load(options, {.task = Task::recommendation}); }) ==
        "data source \"libsvm\" has no users, items and ratings; use \"ratings\" or \"csv\", or a model "
        "that "
        "predicts something else");
  options.source.choose("ratings");
  options.features = 3;
  CHECK(size_refusal(options, true) ==
        "features = 3 with the data source \"ratings\", whose samples have 2; leave it out");
}

TEST_CASE("a CSV file of ratings: the first, the second and the last column, users and items numbered in their order") {
  const Dataset set = read("userId,movieId,time,rating\n30,7,1,2.5\n10,900,2,4\n30,900,3,1\n");
  CHECK(set.rows == 3);
  CHECK(set.users == 2);
  CHECK(set.items == 2);
  CHECK(set.features == Numbers{1, 0, 0, 1, 1, 1});
  CHECK(set.targets == Numbers{2.5, 4, 1});
  CHECK(set.feature_names == std::vector<std::string>{"userId", "movieId"});
  CHECK(set.target_name == "rating");
}

TEST_CASE("columns of a CSV file of ratings go by name or index, and texts in others do not matter") {
  const Csv named = with([](Csv& csv) { csv.user = "who", csv.item = "3", csv.target = "stars"; });
  const Dataset set = read("title,stars,who,what\nHeat,5,2,8\nAlien,4,1,9\n", named);
  CHECK(set.features == Numbers{1, 0, 0, 1});
  CHECK(set.targets == Numbers{5, 4});
  CHECK(refusal("a,b,c\n1,1,1\n", with([](Csv& csv) { csv.user = "d"; })).starts_with("t.csv:1: unknown user column"));
  CHECK(
      refusal("a,b,c\n1,1,1\n", with([](Csv& csv) { csv.item = "c"; })) ==
      "t.csv:1: user, item and target are columns 0, 2 and 2, expected three different ones; name them with user, item "
      "and target");
}

TEST_CASE("a CSV row that is not a rating is refused with its line") {
  CHECK(refusal("u,i,r\n1,2,3\n1.5,2,3\n") == "t.csv:3: column \"u\" holds \"1.5\", expected a whole number");
  CHECK(refusal("u,i,r\n1,x,3\n") == "t.csv:2: column \"i\" holds \"x\", expected a whole number");
  CHECK(refusal("u,i,r\n1,2,good\n") == "t.csv:2: column \"r\" holds \"good\", expected a finite number");
  CHECK(refusal("u,i,r\n1,2,\n") == "t.csv:2: column \"r\" holds \"\", expected a finite number");
  CHECK(refusal("u,r\n1,2\n") ==
        "t.csv:1: 2 columns, expected three at least: user, item and rating; is \",\" the right separator?");
  const Csv dropping = with([](Csv& csv) { csv.missing = Csv::Missing::drop; });
  CHECK(read("u,i,r\n1,2,\n1,,4\n5,6,7\n", dropping).targets == Numbers{7});
  CHECK(refusal("u,i,r\n1,2,\n", dropping) == "t.csv:1: every row misses a value, expected at least one complete row");
}

TEST_CASE("user and item are refused where nothing rates") {
  CHECK(refusal("u,i,r\n1,2,3\n", with([](Csv& csv) { csv.user = "u"; }), Task::regression) ==
        "t.csv: user = \"u\" is only for ratings, which the model does not predict; leave it out");
}

TEST_CASE("to be clustered, a CSV file has features alone, but for a target that is named") {
  const Dataset all = read("a,b\n1,2\n3,4\n", {}, Task::clustering);
  CHECK(all.features == Numbers{1, 2, 3, 4});
  CHECK(all.targets == Numbers{0, 0});
  const Csv labelled = with([](Csv& csv) { csv.target = "kind"; });
  const Dataset named = read("a,kind\n1,cat\n3,dog\n5,cat\n", labelled, Task::clustering);
  CHECK(named.features == Numbers{1, 3, 5});
  CHECK(named.classes == 0);
  CHECK(read("a\n1\n3\n", {}, Task::clustering).columns == 1);
}

}  // namespace ratings_test
