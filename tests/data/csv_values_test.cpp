#include <fmt/format.h>

#include <vector>

#include "catch.h"
#include "data/csv.h"
#include "data/files.h"

namespace csv_values_test {

using namespace simgrad;
using data::Csv;
using data::Dataset;
using data::Task;
using data::test::fault;
using Missing = data::Csv::Missing;
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

namespace {

Dataset read(const std::string& text, Missing missing = Missing::refuse, Task task = Task::regression) {
  Csv csv;
  csv.path = "t.csv";
  csv.missing = missing;
  return csv.read(text, {.task = task});
}

std::string refusal(const std::string& text, Missing missing = Missing::refuse, Task task = Task::regression) {
  return fault([&] { return read(text, missing, task); });
}

Dataset classes(const std::string& text) { return read(text, Missing::refuse, Task::classification); }

}  // namespace

TEST_CASE("a text column is one-hot encoded in the order of its values") {
  const Dataset set = read("town,area,y\nRome,1,10\nBonn,2,20\nRome,3,30\n");
  CHECK(set.feature_names == Names{"town=Bonn", "town=Rome", "area"});
  CHECK(set.features == Numbers{0, 1, 1, 1, 0, 2, 0, 1, 3});
}

TEST_CASE("blanks around a text do not make it another value") {
  CHECK(read("town,y\nRome,1\n Rome ,2\n").feature_names == Names{"town=Rome"});
}

TEST_CASE("a column with more texts than numbers is a text column") {
  CHECK(read("floor,y\nground,1\n1,2\nroof,3\n").feature_names == Names{"floor=1", "floor=ground", "floor=roof"});
}

TEST_CASE("one text among numbers is refused with its line and column") {
  CHECK(refusal("rooms,y\n3,1\nmany,2\n4,3\n") ==
        "t.csv:3: column \"rooms\" holds \"many\", expected a number as in most of its cells");
}

TEST_CASE("names in the first line of a file said to have none are refused with advice") {
  Csv csv;
  csv.path = "t.csv";
  csv.header = false;
  csv.target = "0";
  CHECK(fault([&] { return csv.read("1,rooms\n1,3\n2,4\n", {}); }) ==
        "t.csv:1: column \"column_1\" holds \"rooms\", expected a number as in its other cells; if this line holds "
        "names, set header = true");
}

TEST_CASE("all faulty CSV columns are reported at once") {
  CHECK(refusal("a,b,y\n1,inf,3\nx,2,4\n5,6,7\n") ==
        "t.csv:3: column \"a\" holds \"x\", expected a number as in most of its cells\n"
        "t.csv:2: column \"b\" holds \"inf\", expected a finite number");
}

TEST_CASE("infinities are refused whatever becomes of missing cells") {
  for (const char* cell : {"inf", "-Infinity", "+inf", "1e999"})
    for (const Missing missing : {Missing::refuse, Missing::drop, Missing::mean})
      CHECK(refusal(fmt::format("a,y\n1,1\n{},2\n", cell), missing) ==
            fmt::format("t.csv:3: column \"a\" holds \"{}\", expected a finite number", cell));
}

TEST_CASE("an infinite target is refused") {
  CHECK(refusal("a,y\n1,inf\n") == "t.csv:2: column \"y\" holds \"inf\", expected a finite number");
}

TEST_CASE("a number too small for a double is zero") { CHECK(read("a,y\n1e-999,1\n").features == Numbers{0}); }

TEST_CASE("a column with more than 1000 texts is refused with advice") {
  std::string text = "id,y\n";
  for (int i = 0; i < 1000; ++i) text += fmt::format("id{},1\n", i);
  CHECK(read(text).columns == 1000);
  CHECK(refusal(text + "id1000,1\n") ==
        "t.csv:1: column \"id\" holds more than 1000 different texts, expected a category to encode one-hot; an "
        "identifier does not help to predict: leave it out by [data] ignore = [\"id\"]");
}

TEST_CASE("every spelling of a missing cell is refused by default with line, column and count") {
  for (const char* cell : {"", "  ", "?", "NA", "na", "nan", "NaN", "-nan", "\"\""})
    CHECK(refusal(fmt::format("a,y\n1,1\n{},2\n2,3\n,4\n", cell)) ==
          "t.csv:3: column \"a\" has no value here and in 1 other lines, expected one; set missing = \"drop\" or "
          "\"mean\"");
}

TEST_CASE("the first missing cell of the file is the one reported") {
  CHECK(refusal("a,b,y\n1,1,1\n2,,2\n,3,3\n").starts_with("t.csv:3: column \"b\" has no value here,"));
}

TEST_CASE("drop leaves out the rows with a missing cell") {
  const Dataset set = read("a,town,y\n1,Rome,1\n?,Rome,2\n3,NA,3\n4,Bonn,\n5,Rome,5\n", Missing::drop);
  CHECK(set.features == Numbers{1, 1, 5, 1});
  CHECK(set.feature_names == Names{"a", "town=Rome"});
  CHECK(set.targets == Numbers{1, 5});
}

TEST_CASE("drop refuses a file of which nothing is left") {
  CHECK(refusal("a,y\n,1\n2,\n", Missing::drop) ==
        "t.csv:1: every row misses a value, expected at least one complete row");
}

TEST_CASE("mean puts the mean of a column's other cells in its missing ones") {
  // (1 + 2 + 6) / 3 = 3
  CHECK(read("a,y\n1,1\n,2\n2,3\nNA,4\n6,5\n", Missing::mean).features == Numbers{1, 3, 2, 3, 6});
}

TEST_CASE("mean puts the most frequent text of a text column in its missing cells") {
  const Dataset set = read("town,y\nRome,1\nBonn,2\nRome,3\n?,4\n", Missing::mean);
  CHECK(set.features == Numbers{0, 1, 1, 0, 0, 1, 0, 1});
}

TEST_CASE("mean takes the first of equally frequent texts") {
  CHECK(read("town,y\nRome,1\nBonn,2\n?,3\n", Missing::mean).features == Numbers{0, 1, 1, 0, 1, 0});
}

TEST_CASE("mean drops the rows without a target, and they do not count for the mean") {
  // (1 + 3) / 2 = 2
  const Dataset set = read("a,y\n1,1\n3,2\n,3\n100,?\n", Missing::mean);
  CHECK(set.features == Numbers{1, 3, 2});
  CHECK(set.targets == Numbers{1, 2, 3});
}

TEST_CASE("mean refuses a column without any value") {
  CHECK(refusal("a,b,y\n1,,1\n2,,2\n", Missing::mean) ==
        "t.csv:1: column \"b\" has no value in any row with a target, expected some; leave it out by [data] ignore = "
        "[\"b\"]");
  CHECK(refusal("a,b,y\n1,,1\n2,5,\n", Missing::mean) ==
        "t.csv:1: column \"b\" has no value in any row with a target, expected some; leave it out by [data] ignore = "
        "[\"b\"]");
}

TEST_CASE("class labels that are texts are numbered in their order") {
  const Dataset set = classes("a,y\n1,dog\n2,cat\n3,dog\n4,ant\n");
  CHECK(set.classes == 3);
  CHECK(set.class_names == Names{"ant", "cat", "dog"});
  CHECK(set.targets == Numbers{2, 1, 2, 0});
}

TEST_CASE("class labels that are numbers are numbered by their value") {
  const Dataset set = classes("a,y\n1,10\n2,9\n3,-1.5\n4,9.0\n");
  CHECK(set.class_names == Names{"-1.5", "9", "10"});
  CHECK(set.targets == Numbers{2, 1, 0, 1});
}

TEST_CASE("class labels with one text among them are all texts") {
  CHECK(classes("a,y\n1,10\n2,9\n3,other\n").class_names == Names{"10", "9", "other"});
}

TEST_CASE("more than 1000 class labels are refused as a regression") {
  std::string text = "a,y\n";
  for (int i = 0; i <= 1000; ++i) text += fmt::format("1,{}\n", i);
  CHECK(refusal(text, Missing::refuse, Task::classification) ==
        "t.csv:1: column \"y\" holds more than 1000 different values, expected a few classes; it looks like a "
        "regression: use a model that predicts a number");
}

TEST_CASE("a single class label is refused") {
  CHECK(refusal("a,y\n1,cat\n2,cat\n", Missing::refuse, Task::classification) ==
        "t.csv:1: column \"y\" holds one value only, cat; expected at least two classes");
}

TEST_CASE("texts as target of a regression are refused with advice") {
  CHECK(refusal("a,y\n1,2\n2,dog\n3,cat\n") ==
        "t.csv:3: column \"y\" holds \"dog\", expected a number; to predict classes use a classification model");
}

TEST_CASE("a class label that is missing is refused, not a class") {
  CHECK(refusal("a,y\n1,cat\n2,?\n", Missing::refuse, Task::classification)
            .starts_with("t.csv:3: column \"y\" has no value here,"));
}

TEST_CASE("the mean of huge numbers is finite") {
  // (1e308 + 1.4e308) / 2 = 1.2e308; the sum is beyond the range of a double.
  CHECK(read("a,y\n1e308,1\n1.4e308,2\n,3\n", Missing::mean).features[2] == Approx(1.2e308));
}

}  // namespace csv_values_test
