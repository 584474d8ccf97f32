#include "data/libsvm.h"

#include <vector>

#include "catch.h"
#include "data/files.h"

namespace libsvm_test {

using namespace simgrad;
using data::Dataset;
using data::Libsvm;
using data::Task;
using data::test::fault;
using data::test::Folder;
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

namespace {

Dataset read(const std::string& text, Task task = Task::regression) {
  Libsvm libsvm;
  libsvm.path = "t.svm";
  return libsvm.read(text, {.task = task});
}

std::string refusal(const std::string& text, Task task = Task::regression) {
  return fault([&] { return read(text, task); });
}

}  // namespace

TEST_CASE("a LIBSVM file is read from its path into a dense matrix") {
  const Folder folder;
  Libsvm libsvm;
  libsvm.path = folder.file("t.svm", "1.5 1:2 3:4\n-2 2:+7e-1\n");
  const Dataset set = libsvm.load({});
  CHECK(set.rows == 2);
  CHECK(set.columns == 3);
  CHECK(set.features == Numbers{2, 0, 4, 0, 0.7, 0});
  CHECK(set.targets == Numbers{1.5, -2});
  CHECK(set.feature_names == Names{"feature_1", "feature_2", "feature_3"});
}

TEST_CASE("an index 0 anywhere makes all LIBSVM indices count from 0") {
  const Dataset set = read("1 1:5\n2 0:6\n");
  CHECK(set.feature_names == Names{"feature_0", "feature_1"});
  CHECK(set.features == Numbers{0, 5, 6, 0});
}

TEST_CASE("comments, query ids, blank lines and CRLF mean nothing in a LIBSVM file") {
  const Dataset set = read("# head\r\n\r\n1 qid:3 1:5 # tail 9:9\r\n  2\t 2:6  \r\n");
  CHECK(set.features == Numbers{5, 0, 0, 6});
  CHECK(set.targets == Numbers{1, 2});
}

TEST_CASE("indices that count from 0 are noted, since those of the format count from 1") {
  CHECK(read("1 0:5\n2 1:1\n").notes ==
        std::vector<std::string>{
            "t.svm: an index is 0, though LIBSVM's indices begin at 1: all indices are taken to count from 0"});
  CHECK(read("1 1:5\n2 2:1\n").notes.empty());
}

TEST_CASE("a LIBSVM line without entries is a row of zeros") { CHECK(read("1 1:5\n2\n").features == Numbers{5, 0}); }

TEST_CASE("labels -1 and +1 become the classes 0 and 1") {
  const Dataset set = read("+1 1:1\n-1 1:2\n+1 1:3\n", Task::classification);
  CHECK(set.classes == 2);
  CHECK(set.class_names == Names{"-1", "1"});
  CHECK(set.targets == Numbers{1, 0, 1});
}

TEST_CASE("a LIBSVM file of one class is refused") {
  CHECK(refusal("1 1:1\n1 1:2\n", Task::classification) ==
        "t.svm:1: the label holds one value only, 1; expected at least two classes");
}

TEST_CASE("a LIBSVM line without a label is refused") {
  CHECK(refusal("1 1:1\n1:1 2:2\n") == "t.svm:2: found \"1:1\", expected a number as the line's label");
}

TEST_CASE("an index twice in a LIBSVM line is refused") {
  CHECK(refusal("1 1:1 2:2 2:3\n") == "t.svm:1: found \"2:3\", expected each index once in a line");
}

TEST_CASE("descending LIBSVM indices are refused") {
  CHECK(refusal("1 1:1\n1 5:1 3:2\n") == "t.svm:2: found \"3:2\", expected ascending indices, not one below 5");
}

TEST_CASE("a text that is not a pair of index and value is refused") {
  for (const char* pair : {"5", "x:1", "-1:2", "1.5:2", ":2", "99999999999999999999:1", "9223372036854775807:1"})
    CHECK(refusal(std::string("1 ") + pair + "\n") ==
          std::string("t.svm:1: found \"") + pair + "\", expected index:value with an index from 0");
}

TEST_CASE("a LIBSVM value that is no finite number is refused") {
  for (const char* pair : {"1:", "1:x", "1:nan", "1:inf", "1:1e999", "1:2:3"})
    CHECK(refusal(std::string("1 1:1\n1 ") + pair + "\n") ==
          std::string("t.svm:2: found \"") + pair + "\", expected a finite number behind the colon");
}

TEST_CASE("a LIBSVM file without rows or without entries is refused") {
  CHECK(refusal("# nothing\n") == "t.svm:1: no rows, expected at least one");
  CHECK(refusal("1\n2\n") == "t.svm:1: no row has a feature, expected index:value pairs");
}

TEST_CASE("a LIBSVM file too sparse for a dense matrix is refused before it is allocated") {
  // 2 rows x 3e9 columns x 8 bytes / 2^30 = 44.7 GiB
  CHECK(refusal("1 1:1\n2 3000000000:1\n") ==
        "t.svm:2: as a dense matrix: 2 rows x 3000000000 columns would take 44.7 GiB; the limits are 16 GiB and "
        "16777216 columns");
  CHECK(refusal("1 9223372036854775806:1\n").starts_with("t.svm:1: as a dense matrix: 1 rows x 9223372036854775806"));
}

TEST_CASE("a LIBSVM file that does not exist is an error of the environment") {
  const Folder folder;
  Libsvm libsvm;
  libsvm.path = folder.path("none");
  CHECK_THROWS_AS(libsvm.load({}), base::EnvironmentError);
}

TEST_CASE("as sparse rows a LIBSVM file has its entries, without values where all are one") {
  const Folder folder;
  Libsvm libsvm;
  libsvm.path = folder.path("t.svm");
  folder.file("t.svm", "+1 1:1 4000000000:1\n-1 7:1 9:1 # a comment\n");
  const data::Request wanted{.task = Task::classification, .sparse = true};
  const Dataset ones = libsvm.load(wanted);
  CHECK(ones.rows == 2);
  CHECK(ones.columns == 4'000'000'000);
  CHECK(ones.fields == 2);
  CHECK(ones.sparse.keys == std::vector<std::uint32_t>{0, 3'999'999'999, 6, 8});
  CHECK(ones.sparse.values.empty());
  CHECK(ones.sparse.starts == std::vector<std::int64_t>{0, 2, 4});
  CHECK(ones.targets == std::vector<double>{1.0, 0.0});

  folder.file("t.svm", "1 1:1 2:1\n2 3:0.5\n1\n");
  const Dataset valued = libsvm.load(wanted);
  CHECK(valued.sparse.values == std::vector<double>{1.0, 1.0, 0.5});
  CHECK(valued.sparse.starts == std::vector<std::int64_t>{0, 2, 3, 3});
  CHECK(valued.fields == 0);

  folder.file("t.svm", "1 1:1\n2 4294967297:1\n");
  CHECK(fault([&] { return libsvm.load(wanted); }).find("t.svm:2: index 4294967297; expected at most 4294967296") !=
        std::string::npos);
}

TEST_CASE("a sparse LIBSVM file of many blocks is read as one of a single block, with its line numbers") {
  const Folder folder;
  std::string text;
  for (int row = 0; row < 300'000; ++row)
    text +=
        (row % 2 ? "1 " : "0 ") + std::to_string(row % 1000 + 1) + ":1 " + std::to_string(2000 + row % 77) + ":0.25\n";
  REQUIRE(text.size() > (4u << 20));
  Libsvm libsvm;
  libsvm.path = folder.path("t.svm");
  folder.file("t.svm", text);
  const data::Request wanted{.task = Task::classification, .sparse = true};
  const Dataset blocks = libsvm.load(wanted), whole = libsvm.read(text, wanted);
  CHECK(blocks.rows == 300'000);
  CHECK(blocks.sparse.keys == whole.sparse.keys);
  CHECK(blocks.sparse.values == whole.sparse.values);
  CHECK(blocks.targets == whole.targets);
  folder.file("t.svm", text + "1 x:1\n");
  CHECK(fault([&] { return libsvm.load(wanted); }).find("t.svm:300001: found") != std::string::npos);
}

}  // namespace libsvm_test
