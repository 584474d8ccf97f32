#include "data/csv.h"

#include <vector>

#include "catch.h"
#include "data/files.h"

namespace csv_test {

using namespace simgrad;
using data::Csv;
using data::Dataset;
using data::Task;
using data::test::fault;
using data::test::Folder;
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

namespace {

Dataset read(const std::string& text, Csv csv = {}, Task task = Task::regression) {
  csv.path = "t.csv";
  return csv.read(text, {.task = task});
}

std::string refusal(const std::string& text, const Csv& csv = {}, Task task = Task::regression) {
  return fault([&] { return read(text, csv, task); });
}

/// Options beside their defaults; Csv has a base class, so designators do not reach its fields.
Csv with(auto change) {
  Csv csv;
  change(csv);
  return csv;
}

}  // namespace

TEST_CASE("columns to ignore are no features, whatever they hold, and the last of the others is the target") {
  const std::string text = "id,a,name,b,y,comment\n7,1,?,2,3,x\n8,4,ann,5,6,\n";
  const Dataset set = read(text, with([](Csv& csv) { csv.ignore = {"id", "2", "comment"}; }));
  CHECK(set.feature_names == Names{"a", "b"});
  CHECK(set.features == Numbers{1, 2, 4, 5});
  CHECK(set.targets == Numbers{3, 6});
}

TEST_CASE("columns to ignore that are not there, are the target, or leave nothing are refused") {
  const std::string text = "id,a,y\n1,2,3\n";
  const auto ignoring = [](Names names) { return with([&](Csv& csv) { csv.ignore = std::move(names); }); };
  CHECK(refusal(text, ignoring({"ids"})) ==
        "t.csv:1: unknown ignored column \"ids\"; did you mean \"id\"? Known: id, a, y");
  CHECK(refusal(text, with([](Csv& csv) {
                  csv.ignore = {"y"};
                  csv.target = "y";
                })) == "t.csv:1: column \"y\" is the target and to be ignored; leave it out of \"ignore\"");
  CHECK(refusal(text, ignoring({"id", "a"})) ==
        "t.csv:1: one column is not ignored, expected a target and at least one feature");
  CHECK(refusal(text, ignoring({"id", "a", "y"})) == "t.csv:1: every column is to be ignored, expected some to remain");
  CHECK(refusal(text, ignoring({"id"}), Task::recommendation) ==
        "t.csv: ratings read the columns user, item and target alone; leave \"ignore\" out");
}

TEST_CASE("columns that are constant or look like an identifier are noted, with the option that leaves them out") {
  std::string text = "id,size,one,city,y\n";
  for (int row = 0; row < 20; ++row)
    text += std::to_string(100 + row) + "," + std::to_string(row) + ".5,7," + (row % 2 == 0 ? "a" : "b") + ",1\n";
  CHECK(
      read(text).notes ==
      Names{
          "t.csv:1: column \"id\" has a different integer in every row; it looks like an identifier; to leave it out: "
          "[data] ignore = [\"id\"]",
          "t.csv:1: column \"one\" has one value in all rows; to leave it out: [data] ignore = [\"one\"]"});
  CHECK(read(text, with([](Csv& csv) { csv.ignore = {"id", "one"}; })).notes.empty());
  // Few rows differ by chance.
  CHECK(read("id,x,y\n1,5,1\n2,6,1\n3,5,1\n").notes.empty());
  // A first row without names would be lost unnoticed.
  CHECK(
      read("50.1,Bonn,300\n60.2,Bonn,350\n70,Essen,410\n").notes ==
      std::vector<std::string>{"t.csv:1: the names of columns of numbers are numbers, such as 50.1; if this line is a "
                               "row, set [data] header = false"});
  CHECK(read("50.1,Bonn,price\n60.2,Bonn,350\n70,Essen,410\n").notes.empty());
}

TEST_CASE("a CSV file is read from its path") {
  const Folder folder;
  Csv csv;
  csv.path = folder.file("houses.csv", "area,rooms,price\n100,4,250\n80,3,200\n");
  const Dataset set = csv.load({});
  CHECK(set.rows == 2);
  CHECK(set.columns == 2);
  CHECK(set.classes == 0);
  CHECK(set.features == Numbers{100, 4, 80, 3});
  CHECK(set.targets == Numbers{250, 200});
  CHECK(set.feature_names == Names{"area", "rooms"});
  CHECK(set.target_name == "price");
}

TEST_CASE("the last line of a CSV file needs no line end") { CHECK(read("a,y\n1,2\n3,4").targets == Numbers{2, 4}); }

TEST_CASE("CRLF and CR end a CSV line as LF does") {
  CHECK(read("a,y\r\n1,2\r\n3,4\r\n").features == Numbers{1, 3});
  CHECK(read("a,y\r1,2\r3,4\r").features == Numbers{1, 3});
  CHECK(refusal("a,y\r\n1,2\r\n3\r\n") == "t.csv:3:2: 1 cell, expected 2 as in line 1");
}

TEST_CASE("a UTF-8 byte order mark is no part of a CSV header") {
  CHECK(read("\xEF\xBB\xBF"
             "a,y\n1,2\n")
            .feature_names == Names{"a"});
}

TEST_CASE("blank CSV lines are skipped and still counted") {
  CHECK(read("\n  \na,y\n\n1,2\n\t\n3,4\n\n").features == Numbers{1, 3});
  CHECK(refusal("\na,y\n\n1,2\n\n3\n") == "t.csv:6:2: 1 cell, expected 2 as in line 2");
}

TEST_CASE("numbers may have blanks around them and a leading plus") {
  CHECK(read("a,b,c,y\n +1.5 ,\t-2e-3, 3.,.5\n").features == Numbers{1.5, -2e-3, 3.0});
}

TEST_CASE("a quoted CSV cell holds separators, line ends and doubled quotes") {
  const Dataset set = read("\"a,b\",c,y\n\"say \"\"hi\"\"\",\"two\nlines\",1\n\"x,y\",\"\"\"\",2\n");
  CHECK(set.feature_names == Names{"a,b=say \"hi\"", "a,b=x,y", "c=\"", "c=two\nlines"});
  CHECK(set.features == Numbers{1, 0, 0, 1, 0, 1, 1, 0});
}

TEST_CASE("a quoted number is a number") { CHECK(read("a,y\n\"1\",\"2\"\n").features == Numbers{1}); }

TEST_CASE("line numbers go on behind line ends inside quotes") {
  CHECK(refusal("a,y\n\"1\n\r\n2\r\",2\n3\n") == "t.csv:6:2: 1 cell, expected 2 as in line 1");
}

TEST_CASE("a quote that is never closed is refused at the line it stands in") {
  CHECK(refusal("a,y\n1,2\n3,\"4\n5,6\n") ==
        "t.csv:3: a cell starts with a quote that is never closed, expected a second quote");
}

TEST_CASE("text behind a closing quote is refused") {
  CHECK(refusal("a,y\n\"1\"x,2\n") == "t.csv:2: \"x\" behind a closing quote, expected \",\" or the end of the line");
}

TEST_CASE("CSV rows of another length are refused with both counts") {
  CHECK(refusal("a,b,y\n1,2,3\n4,5\n") == "t.csv:3:4: 2 cells, expected 3 as in line 1");
  CHECK(refusal("a,b,y\n1,2,3,\n") == "t.csv:2:7: 4 cells, expected 3 as in line 1");
}

TEST_CASE("a CSV file without rows is refused") {
  CHECK(refusal("") == "t.csv:1: no rows, expected at least one");
  CHECK(refusal("\n\n") == "t.csv:1: no rows, expected at least one");
  CHECK(refusal("a,y\n") == "t.csv:1: no rows behind the header, expected at least one");
}

TEST_CASE("a CSV file of one column is refused with a word on the separator") {
  CHECK(refusal("a y\n1 2\n") ==
        "t.csv:1: one column, expected a target and at least one feature; is \",\" the right separator?");
}

TEST_CASE("a NUL byte is refused: the file is no text") {
  CHECK(refusal(std::string("a,y\n1,\0", 7)) == "t.csv:2: a NUL byte, expected text in UTF-8 or ASCII");
}

TEST_CASE("another separator may be chosen, a tab too") {
  CHECK(read("a;y\n1;2\n", with([](Csv& c) { c.separator = ";"; })).features == Numbers{1});
  CHECK(read("a\tb\ty\n1\t2\t3\n", with([](Csv& c) { c.separator = "\t"; })).features == Numbers{1, 2});
}

TEST_CASE("a line of tabs has cells when the tab is the separator") {
  CHECK(refusal("a\tb\ty\n\t\t\n", with([](Csv& c) { c.separator = "\t"; }))
            .starts_with("t.csv:2: column \"a\" has no value here"));
}

TEST_CASE("a separator of two bytes is refused") {
  CHECK(refusal("a,y\n1,2\n", with([](Csv& c) { c.separator = ", "; })) ==
        "t.csv: the separator is \", \", expected one byte such as \",\", \";\" or a tab");
}

TEST_CASE("without a header the columns are called by their zero-based index") {
  const Dataset set = read("1,2,3\n4,5,6\n", with([](Csv& c) { c.header = false; }));
  CHECK(set.rows == 2);
  CHECK(set.feature_names == Names{"column_0", "column_1"});
  CHECK(set.target_name == "column_2");
}

TEST_CASE("a header of numbers is refused: it is most likely a row") {
  CHECK(refusal("1,2\n3,4\n") ==
        "t.csv:1: numbers, expected the columns' names; if the file has none, set header = false");
}

TEST_CASE("a CSV target is chosen by name") {
  const Dataset set = read("y,a\n1,2\n", with([](Csv& c) { c.target = "y"; }));
  CHECK(set.targets == Numbers{1});
  CHECK(set.features == Numbers{2});
}

TEST_CASE("a CSV target is chosen by zero-based index") {
  CHECK(read("a,b,c\n1,2,3\n", with([](Csv& c) { c.target = "1"; })).target_name == "b");
}

TEST_CASE("a number as target means the column of that name before the index") {
  CHECK(read("a,b,1\n5,6,7\n", with([](Csv& c) { c.target = "1"; })).targets == Numbers{7});
}

TEST_CASE("an unknown target is refused with the name that was meant") {
  const std::string text = refusal("area,price,rooms\n1,2,3\n", with([](Csv& c) { c.target = "prise"; }));
  CHECK(text.starts_with("t.csv:1: unknown target column \"prise\"; did you mean \"price\"?"));
}

TEST_CASE("a target index beyond the columns is refused") {
  const std::string expected = "t.csv:1: target column 3, expected a name or an index from 0 to 2";
  CHECK(refusal("a,b,c\n1,2,3\n", with([](Csv& c) { c.target = "3"; })) == expected);
  CHECK(refusal("a,b,c\n1,2,3\n", with([](Csv& c) { c.target = "99999999999999999999"; })) ==
        "t.csv:1: target column 99999999999999999999, expected a name or an index from 0 to 2");
}

TEST_CASE("a target name that two columns share is refused") {
  CHECK(refusal("y,a,y\n1,2,3\n", with([](Csv& c) { c.target = "y"; })) ==
        "t.csv:1: 2 columns are called \"y\", expected one; give the zero-based index of the target column");
}

TEST_CASE("a CSV file that does not exist is an error of the environment with the system's reason") {
  const Folder folder;
  Csv csv;
  csv.path = folder.path("none.csv");
  try {
    (void)csv.load({});
    FAIL("nothing thrown");
  } catch (const base::EnvironmentError& error) {
    CHECK(std::string(error.what()) == csv.path + ": cannot be opened: No such file or directory");
  }
}

TEST_CASE("a directory in place of a file is an error of the environment with the system's reason") {
  const Folder folder;
  Csv csv;
  csv.path = folder.path("");
  try {
    (void)csv.load({});
    FAIL("nothing thrown");
  } catch (const base::EnvironmentError& error) {
    CHECK(std::string(error.what()) == csv.path + ": is a directory; expected a regular file");
  }
}

TEST_CASE("a quote inside long or strange cells is shown cut and without control characters") {
  // 40 bytes are shown; byte 40 is the first half of the two bytes of an e with an acute accent.
  const std::string cell = "\x01" + std::string(38, 'q') + "\xC3\xA9tail";
  CHECK(refusal("a,y\n1,1\n2,2\n" + cell + ",3\n") ==
        "t.csv:4: column \"a\" holds \"?" + std::string(38, 'q') + "...\", expected a number as in most of its cells");
}

}  // namespace csv_test
