#include "data/npy.h"

#include <limits>
#include <vector>

#include "catch.h"
#include "data/binary_files.h"
#include "data/files.h"

namespace npy_test {

using namespace simgrad;
using data::Dataset;
using data::Npy;
using data::Task;
using namespace data::test;
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

namespace {

Dataset read(const std::string& samples, const std::string& labels, Task task = Task::regression) {
  Npy npy;
  npy.path = "x.npy";
  npy.labels_path = "y.npy";
  return npy.read(samples, labels, {.task = task});
}

std::string refusal(const std::string& samples, const std::string& labels, Task task = Task::regression) {
  return fault([&] { return read(samples, labels, task); });
}

const Numbers six{1.5, -2, 3, 4e-3, 0, 7};
const std::string samples = npy_file(npy_dictionary("<f8", "(3, 2)"), bytes_of(six, false));
const std::string labels =
    npy_file(npy_dictionary("<i8", "(3,)"), bytes_of(std::vector<std::int64_t>{5, -1, 5}, false));

/// The features of a column of three numbers.
template <class T>
auto column(const std::string& descr, const std::vector<T>& values) {
  return read(npy_file(npy_dictionary(descr, "(3,)"), bytes_of(values, descr[0] == '>')), labels).features;
}

/// The error for a file with that dictionary and six doubles.
std::string refused_header(const std::string& dictionary) {
  return refusal(npy_file(dictionary, bytes_of(six, false)), labels);
}

}  // namespace

TEST_CASE("NPY files are read from their paths: samples row by row, labels as classes") {
  const Folder folder;
  Npy npy;
  npy.path = folder.file("x.npy", samples);
  npy.labels_path = folder.file("y.npy", labels);
  const Dataset set = npy.load({.task = Task::classification});
  CHECK(set.rows == 3);
  CHECK(set.columns == 2);
  CHECK(set.features == six);
  CHECK(set.feature_names == Names{"feature_1", "feature_2"});
  CHECK(set.class_names == Names{"-1", "5"});
  CHECK(set.targets == Numbers{1, 0, 1});
}

TEST_CASE("NPY labels of a regression are numbers as they are") {
  const std::string numbers =
      npy_file(npy_dictionary("<f4", "(3, 1)"), bytes_of(std::vector<float>{0.5F, 1, 2}, false));
  CHECK(read(samples, numbers).targets == Numbers{0.5, 1, 2});
  CHECK(refusal(samples, numbers, Task::classification).starts_with("y.npy: row 0 is 0.5, expected a whole number"));
}

TEST_CASE("every type of NPY numbers is read in either byte order") {
  using std::vector;
  for (const char order : {'<', '>'}) {
    const auto named = [&](const char* type) { return order + std::string(type); };
    CHECK(column(named("i2"), vector<std::int16_t>{-2, 258, 0}) == Numbers{-2, 258, 0});
    CHECK(column(named("u2"), vector<std::uint16_t>{65535, 258, 0}) == Numbers{65535, 258, 0});
    CHECK(column(named("i4"), vector<std::int32_t>{-2, 16909060, 0}) == Numbers{-2, 16909060, 0});
    CHECK(column(named("u4"), vector<std::uint32_t>{4294967295U, 1, 0}) == Numbers{4294967295.0, 1, 0});
    CHECK(column(named("i8"), vector<std::int64_t>{-2, 1LL << 40, 0}) == Numbers{-2, 1099511627776.0, 0});
    CHECK(column(named("u8"), vector<std::uint64_t>{1ULL << 63, 1, 0}) == Numbers{9223372036854775808.0, 1, 0});
    CHECK(column(named("f4"), vector<float>{-1.5F, 0.1F, 0}) == Numbers{-1.5, double{0.1F}, 0});
    CHECK(column(named("f8"), vector<double>{-1.5, 0.1, 0}) == Numbers{-1.5, 0.1, 0});
  }
  CHECK(column("|i1", vector<std::int8_t>{-128, 127, 0}) == Numbers{-128, 127, 0});
  CHECK(column("|u1", vector<std::uint8_t>{255, 1, 0}) == Numbers{255, 1, 0});
  CHECK(column("|b1", vector<std::uint8_t>{1, 0, 1}) == Numbers{1, 0, 1});
}

TEST_CASE("versions 2 and 3 of the NPY format have longer lengths") {
  for (const int version : {2, 3})
    CHECK(read(npy_file(npy_dictionary("<f8", "(3, 2)"), bytes_of(six, false), version), labels).features == six);
  CHECK(refusal(npy_file(npy_dictionary("<f8", "(3, 2)"), bytes_of(six, false), 4), labels) ==
        "x.npy: version 4.0 of the NPY format, expected 1, 2 or 3");
}

TEST_CASE("Fortran's order is column by column") {
  const std::string file =
      npy_file(npy_dictionary("<f8", "(3, 2)", true), bytes_of(Numbers{1.5, 3, 0, -2, 4e-3, 7}, false));
  CHECK(read(file, labels).features == six);
  CHECK(refused_header(npy_dictionary("<f8", "(3, 1, 2)", true)) ==
        "x.npy: 3 dimensions in Fortran's order, expected two at most, or C's order; save "
        "numpy.ascontiguousarray(...) of it");
}

TEST_CASE("more than two NPY dimensions are flattened row by row") {
  const Dataset set = read(npy_file(npy_dictionary("<f8", "(3, 1, 2)"), bytes_of(six, false)), labels);
  CHECK(set.columns == 2);
  CHECK(set.features == six);
}

TEST_CASE("a header may have its entries in any order, other quotes, and Python 2's long integers") {
  CHECK(refused_header(R"({"shape":(3L,2L),"fortran_order":False,"descr":"<f8"})").empty());
}

TEST_CASE("NPY types that are no numbers are refused") {
  for (const char* descr : {"|O8", "<f2", "<c16", "<U4", "|S3", "=f8", "|f8", "<b2", "<i3", "f8", "<f1", ""})
    CHECK(refused_header(npy_dictionary(descr, "(3, 2)")) ==
          "x.npy: numbers of type \"" + std::string(descr) +
              "\", expected b1, i1, i2, i4, i8, u1, u2, u4, u8, f4 or f8");
  CHECK(refused_header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (6,), }") ==
        "x.npy: an array of records (descr is a list), expected an array of numbers");
}

TEST_CASE("a malformed NPY header is refused, and says where") {
  CHECK(refused_header("{'descr': '<f8', 'shape': (3, 2), }") ==
        "x.npy: the header lacks an entry, expected descr, fortran_order and shape");
  CHECK(
      refused_header("{'descr': '<f8', 'descr': '<f8'}").starts_with("x.npy: the header's entry \"descr\", expected"));
  CHECK(refused_header("{'color': 'red'}").starts_with("x.npy: the header's entry \"color\", expected"));
  CHECK(refused_header("{'fortran_order': 0}").ends_with("expected True or False"));
  CHECK(refused_header("{'shape': (3, -2)}").ends_with("expected the length of a dimension"));
  CHECK(refused_header("{'shape': (99999999999999999999,)}").ends_with("expected the length of a dimension"));
  CHECK(refused_header("{'shape': 3}").ends_with("expected \"(\""));
  CHECK(refused_header("{'descr': '<f8").ends_with("expected a text in quotes"));
  CHECK(refused_header(npy_dictionary("<f8", "(3, 2)") + " x").ends_with("expected nothing"));
  CHECK(refused_header("").ends_with("expected \"{\""));
}

TEST_CASE("an NPY file cut short or too long is refused, every cut of it") {
  for (std::size_t length = 0; length < samples.size(); ++length) {
    const std::string text = refusal(samples.substr(0, length), labels);
    CAPTURE(length, text);
    CHECK(text.starts_with("x.npy: "));
    CHECK(text.find(length < 6 ? "expected an NPY file" : "cut short") != std::string::npos);
  }
  CHECK(refusal(samples + "x", labels) ==
        "x.npy: there are 49 bytes behind the header, expected 48 for the shape (3, 2)");
}

TEST_CASE("NPY shapes beyond what can be held, and empty ones, are refused before anything is allocated") {
  CHECK(refused_header(npy_dictionary("<f8", "(9223372036854775807, 9223372036854775807)")).find("is too large") !=
        std::string::npos);
  CHECK(refused_header(npy_dictionary("<f8", "(0, 2)")).find("holds nothing") != std::string::npos);
  CHECK(refused_header(npy_dictionary("<f8", "()")).find("has no dimension") != std::string::npos);
  // a header of 4 GiB in a file of a few bytes
  CHECK(refusal(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13), labels) ==
        "x.npy: cut short in its header, expected 4294967295 bytes of it");
}

TEST_CASE("NPY numbers that are not finite are refused") {
  const Numbers odd{1, 2, std::numeric_limits<double>::quiet_NaN(), 4, 5, 6};
  CHECK(refusal(npy_file(npy_dictionary("<f8", "(3, 2)"), bytes_of(odd, false)), labels) ==
        "x.npy: row 1, column 0 is nan, expected a finite number");
}

TEST_CASE("an NPY file of samples alone serves a clustering") {
  const Folder folder;
  Npy npy;
  npy.path = folder.file("x.npy", samples);
  CHECK(npy.files() == std::vector{npy.path});
  const Dataset set = npy.load({.task = Task::clustering});
  CHECK(set.features == six);
  CHECK(set.targets == Numbers{0, 0, 0});
}

}  // namespace npy_test
