// CSV files with other separators and with decimal commas: what reads them, and what an error says to write.
#include <fmt/format.h>

#include <vector>

#include "catch.h"
#include "data/csv.h"
#include "data/encoding.h"
#include "data/files.h"
#include "data/new_rows.h"

namespace csv_form_test {

using namespace simgrad;
using data::Csv;
using data::Dataset;
using data::Task;
using data::test::fault;
using data::test::Folder;
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

namespace {

/// As Excel writes it where the comma is decimal.
const std::string european =
    "\xEF\xBB\xBF"
    "alcohol;sugar;quality\n9,4;1,9;5\n9,8;2,6;5,5\n10,1;2,2;6\n";

Csv form(const std::string& separator, std::optional<std::string> decimal = {}) {
  Csv csv;
  csv.path = "t.csv";
  csv.separator = separator;
  csv.decimal = std::move(decimal);
  return csv;
}

Dataset read(const std::string& text, const Csv& csv, Task task = Task::regression) {
  return csv.read(text, {.task = task});
}

std::string refusal(const std::string& text, const Csv& csv, Task task = Task::regression) {
  return fault([&] { return read(text, csv, task); });
}

}  // namespace

TEST_CASE("a file with semicolons and decimal commas is read by two keys") {
  const Dataset set = read(european, form(";", ","));
  CHECK(set.feature_names == Names{"alcohol", "sugar"});
  CHECK(set.features == Numbers{9.4, 1.9, 9.8, 2.6, 10.1, 2.2});
  CHECK(set.targets == Numbers{5.0, 5.5, 6.0});
  CHECK(read("a,y\n\"-1,5e2\",\"+,5\"\n", form(",", ",")).features == Numbers{-150.0});
  CHECK(read("0,5;1\n2;3\n",
             [] {
               Csv csv = form(";", ",");
               csv.header = false;
               return csv;
             }())
            .features == Numbers{0.5, 2.0});
}

TEST_CASE("where another separator cuts all lines alike, the error has the keys to write") {
  CHECK(
      refusal(european, form(",")) ==
      "t.csv:2:3: 3 cells, expected 1 as in line 1; cells seem to be separated by \";\": set [data] separator = \";\" "
      "and decimal = \",\"");
  CHECK(refusal("a;y\n1;2\n", form(",")) ==
        "t.csv:1: one column, expected a target and at least one feature; cells seem to be separated by \";\": set "
        "[data] separator = \";\"");
  CHECK(refusal("a\ty\n1\t2\n", form(",")) ==
        "t.csv:1: one column, expected a target and at least one feature; cells seem to be separated by \"\\t\": set "
        "[data] separator = \"\\t\"");
  CHECK(refusal("\"a, b\";\"y\"\n\"1\";\"2\"\n", form(",")) ==
        "t.csv:1: \";\" behind a closing quote, expected \",\" or the end of the line; cells seem to be separated by "
        "\";\": set [data] separator = \";\"");
  CHECK(refusal("u;i;r\n1;2;3\n", form(","), Task::recommendation) ==
        "t.csv:1: 1 column, expected three at least: user, item and rating; cells seem to be separated by \";\": set "
        "[data] separator = \";\"");
  CHECK(refusal("a,y\n1,2\n", form(";")) ==
        "t.csv:1: one column, expected a target and at least one feature; cells seem to be separated by \",\": set "
        "[data] separator = \",\"");
}

TEST_CASE("no other separator is named where the present one cuts the first lines, or none cuts them") {
  // Each line has one semicolon, and two commas.
  const std::string text = "a,b,y\nx;1,2,3\nx;4,5,6\n";
  CHECK(refusal(text + "7,8\n", form(",")) == "t.csv:4:4: 2 cells, expected 3 as in line 1");
  CHECK(refusal("a\n1\n", form(",")) ==
        "t.csv:1: one column, expected a target and at least one feature; is \",\" the right separator?");
  CHECK(refusal("a b;c\n1\n2;;3\n", form(",")).ends_with("is \",\" the right separator?"));
}

TEST_CASE("columns of numbers with a decimal comma are refused with the key to write, and are texts if it says so") {
  CHECK(refusal("a;y\n1,5;1\n2,5;2\n", form(";")) ==
        "t.csv:2: column \"a\" holds \"1,5\", expected a number; for a decimal comma set [data] decimal = \",\", and "
        "for texts decimal = \".\"");
  CHECK(refusal("a;y\n1;1,5\n2;2\n", form(";")) ==
        "t.csv:2: column \"y\" holds \"1,5\", expected a number; to predict classes use a classification model; for a "
        "decimal comma set [data] decimal = \",\"");
  CHECK(refusal("a;y\n1;1\n2;2\n3,5;3\n", form(";")) ==
        "t.csv:4: column \"a\" holds \"3,5\", expected a number as in most of its cells; for a decimal comma set "
        "[data] decimal = \",\"");
  CHECK(read("a;y\n1,5;1\n2,5;2\n", form(";", ".")).feature_names == Names{"a=1,5", "a=2,5"});
  CHECK(read("a;y\n1,5;1\nx;2\n", form(";")).feature_names == Names{"a=1,5", "a=x"});  // a category after all
}

TEST_CASE("under a decimal comma a point is no part of a number, for it may separate thousands") {
  CHECK(refusal("a;y\n1,5;1\n1.234;2\n2,5;3\n", form(";", ",")) ==
        "t.csv:3: column \"a\" holds \"1.234\", expected a number as in most of its cells; for a decimal point set "
        "[data] decimal = \".\"");
  CHECK(refusal("a;y\n1,5;1\n1.234,5;2\n2,5;3\n", form(";", ",")) ==
        "t.csv:3: column \"a\" holds \"1.234,5\", expected a number as in most of its cells");
  CHECK(refusal("a;y\n1;2\n", form(";", "comma")) == "t.csv: decimal is \"comma\", expected \".\" or \",\"");
}

TEST_CASE("further rows are read with the training's separator and decimal sign, and another form is named") {
  const Dataset set = read(european, form(";", ","));
  data::Encoding encoding = *set.encoding;
  encoding.features = set.columns;
  const Folder folder;
  const auto rows_of = [&](const std::string& text) {
    Numbers all;
    read_new_rows(encoding, folder.file("new.csv", text), data::Unseen::refuse, [&](data::NewRows& block) {
      all.insert(all.end(), block.rows.features.begin(), block.rows.features.end());
    });
    return all;
  };
  CHECK(rows_of("sugar;alcohol\n1,5;8,25\n") == Numbers{8.25, 1.5});
  const std::string file = folder.path("new.csv");
  CHECK(fault([&] { return rows_of("alcohol;sugar\n8.5;1,5\n"); }) ==
        file +
            ":2:1: column \"alcohol\" holds \"8.5\", expected a finite number; numbers of the training have \",\" "
            "before their fraction");
  CHECK(fault([&] { return rows_of("alcohol,sugar\n8;1\n7,6\n"); }) ==
        file + ":2:3: 2 cells, expected 1 as in line 1");  // no separator cuts all lines
  CHECK(fault([&] { return rows_of("alcohol|sugar\n8;1|2\n"); }) ==
        file +
            ":2:3: 2 cells, expected 1 as in line 1; cells seem to be separated by \"|\", but those of the training "
            "are separated by \";\"");
}

TEST_CASE("text columns that become many features are noted, with what they look like") {
  const auto note = [](int values, int rows, int others, const std::function<std::string(int)>& text) {
    std::string all = "t";
    for (int j = 0; j < others; ++j) all += fmt::format(",x{}", j);
    all += ",y\n";
    for (int row = 0; row < rows; ++row) {
      all += text(row % values);
      for (int j = 0; j < others; ++j) all += fmt::format(",{}.5", (row * (j % 5 + 1)) % 7);
      all += fmt::format(",{}\n", row);
    }
    const Names notes = read(all, form(",")).notes;
    return notes.empty() ? "" : notes.front();
  };
  const auto end = "; to leave it out: [data] ignore = [\"t\"]";
  CHECK(note(28, 280, 2, [](int k) { return fmt::format("2024-02-{:02}", k + 1); }) ==
        std::string("t.csv:1: column \"t\" has 28 different texts, which become 28 of the 30 features; it looks like a "
                    "date") +
            end);
  for (const char* date : {"{}.1.24", "1/{}/2024", "2024/1/{} 10:30", "2024-01-{}T10:30:00"})
    CHECK(note(12, 280, 20, [&](int k) { return fmt::format(fmt::runtime(date), k + 1); }).find("like a date") !=
          std::string::npos);
  for (const char* other : {"1-{}", "10.0.0.{}", "a{}-1-2024", "2024-1/{}", "1.1.{}x", "123-12-{}"})
    CHECK(note(12, 280, 20, [&](int k) { return fmt::format(fmt::runtime(other), k + 10); }) ==
          std::string("t.csv:1: column \"t\" has 12 different texts, which become 12 of the 32 features") + end);
  const auto letters = [](int k) { return fmt::format("n{}", k); };
  // More than half of at least 20 rows differ: 11 of 20, not 10.
  CHECK(
      note(11, 20, 40, letters) ==
      std::string("t.csv:1: column \"t\" has 11 different texts, which become 11 of the 51 features; it looks like an "
                  "identifier") +
          end);
  CHECK(note(11, 22, 40, letters).find("identifier") == std::string::npos);
  // Ten texts are few, unless they are more than half of the features; four are always few.
  CHECK(note(10, 280, 10, letters).empty());
  CHECK(note(10, 280, 9, letters).find("10 of the 19 features") != std::string::npos);
  CHECK(note(5, 280, 4, letters).find("5 of the 9 features") != std::string::npos);
  CHECK(note(4, 280, 1, letters).empty());
}

}  // namespace csv_form_test
