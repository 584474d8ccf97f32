#include "data/idx.h"

#include <sys/resource.h>
#include <zlib.h>

#include <limits>
#include <vector>

#include "base/child_process.h"
#include "base/memory.h"
#include "catch.h"
#include "data/binary_files.h"
#include "data/files.h"
#include "data/gzip.h"
#include "data/limits.h"

namespace idx_test {

using namespace simgrad;
using data::Dataset;
using data::Idx;
using data::Task;
using namespace data::test;
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;
using Octets = std::vector<std::uint8_t>;

namespace {

Dataset read(const std::string& samples, const std::string& labels, Task task = Task::regression) {
  Idx idx;
  idx.path = "t.idx";
  idx.labels_path = "l.idx";
  return idx.read(samples, labels, {.task = task});
}

std::string refusal(const std::string& samples, const std::string& labels, Task task = Task::regression) {
  return fault([&] { return read(samples, labels, task); });
}

/// Two images of 2 x 2 unsigned bytes, and their labels.
const std::string images = idx_header(0x08, {2, 2, 2}) + bytes_of(Octets{248, 249, 250, 251, 252, 253, 254, 255}, true);
const std::string labels = idx_header(0x08, {2}) + bytes_of(Octets{7, 3}, true);

std::string gzip(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string text_of(const Octets& bytes) { return {bytes.begin(), bytes.end()}; }

/// These two files, compressed by Python 3.11's gzip.compress(..., mtime=0).
const std::string images_gz = text_of({0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x63, 0x60, 0xe0,
                                       0x60, 0x66, 0x60, 0x60, 0x60, 0x82, 0xe1, 0x1f, 0x3f, 0x7f, 0xfd, 0xfe, 0xf3,
                                       0xf7, 0xdf, 0x7f, 0x00, 0x2d, 0x22, 0x1e, 0x7b, 0x18, 0x00, 0x00, 0x00});
const std::string labels_gz =
    text_of({0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x63, 0x60, 0xe0, 0x60, 0x64,
             0x60, 0x60, 0x60, 0x62, 0x67, 0x06, 0x00, 0x64, 0x6b, 0xd4, 0x43, 0x0a, 0x00, 0x00, 0x00});

const Numbers pixels{248, 249, 250, 251, 252, 253, 254, 255};

}  // namespace

TEST_CASE("IDX images are flattened to rows, and labels become classes") {
  const Folder folder;
  Idx idx;
  idx.path = folder.file("images", images);
  idx.labels_path = folder.file("labels", labels);
  const Dataset set = idx.load({.task = Task::classification});
  CHECK(set.rows == 2);
  CHECK(set.columns == 4);
  CHECK(set.features == pixels);
  CHECK(set.feature_names == Names{"feature_1", "feature_2", "feature_3", "feature_4"});
  CHECK(set.classes == 2);
  CHECK(set.class_names == Names{"3", "7"});
  CHECK(set.targets == Numbers{1, 0});
}

TEST_CASE("gzipped IDX files are read, whatever their names") {
  const Folder folder;
  Idx idx;
  idx.path = folder.file("images", images_gz);
  idx.labels_path = folder.file("labels", labels_gz);
  const Dataset set = idx.load({.task = Task::regression});
  CHECK(set.features == pixels);
  CHECK(set.targets == Numbers{7, 3});
}

TEST_CASE("every type of IDX numbers is read, the most significant byte first") {
  const auto features = [](int type, const std::string& numbers) {
    return read(idx_header(type, {2, 1}) + numbers, labels).features;
  };
  CHECK(features(0x08, bytes_of(Octets{0, 255}, true)) == Numbers{0, 255});
  CHECK(features(0x09, bytes_of(std::vector<std::int8_t>{-128, 127}, true)) == Numbers{-128, 127});
  CHECK(features(0x0B, bytes_of(std::vector<std::int16_t>{-32768, 258}, true)) == Numbers{-32768, 258});
  CHECK(features(0x0C, bytes_of(std::vector<std::int32_t>{-2147483647, 16909060}, true)) ==
        Numbers{-2147483647, 16909060});
  CHECK(features(0x0D, bytes_of(std::vector<float>{-1.5F, 0.1F}, true)) == Numbers{-1.5, double{0.1F}});
  CHECK(features(0x0E, bytes_of(std::vector<double>{-1.5, 0.1}, true)) == Numbers{-1.5, 0.1});
}

TEST_CASE("one dimension is one feature") {
  CHECK(read(idx_header(0x08, {2}) + bytes_of(Octets{5, 6}, true), labels).columns == 1);
}

TEST_CASE("a file that is not IDX is refused") {
  for (const char* bytes : {"", "\x00\x00", "1,2\n3,4\n", "PK\x03\x04"})
    CHECK(refusal(bytes, labels) ==
          "t.idx: does not begin with two zero bytes, a type and a number of dimensions, expected an IDX file");
  CHECK(refusal(idx_header(0x0A, {1}) + "x", labels).starts_with("t.idx: the type of its numbers is 0x0A, expected"));
  CHECK(refusal(idx_header(0x08, {}), labels) ==
        "t.idx: the shape () has no dimension, expected rows, or rows and columns");
  CHECK(refusal(idx_header(0x08, {2, 0}), labels) ==
        "t.idx: the shape (2, 0) holds nothing, expected at least one row and column");
}

TEST_CASE("an IDX file cut short or too long is refused") {
  CHECK(refusal(images.substr(0, 15), labels) ==
        "t.idx: cut short in its header, expected the lengths of 3 dimensions");
  CHECK(refusal(images.substr(0, images.size() - 1), labels) ==
        "t.idx: cut short: 7 bytes behind the header, expected 8 for the shape (2, 2, 2)");
  CHECK(refusal(images + "x", labels) ==
        "t.idx: there are 9 bytes behind the header, expected 8 for the shape (2, 2, 2)");
}

TEST_CASE("an IDX header that announces more than can be held is refused before anything is allocated") {
  CHECK(refusal(idx_header(0x08, {65536, 65536}), labels) ==
        "t.idx: the shape (65536, 65536) is too large, expected at most 2147483648 numbers");
  CHECK(refusal(idx_header(0x08, {4294967295U, 4294967295U, 4294967295U}), labels).find("is too large") !=
        std::string::npos);
  // 2^25 columns are more than the limit on columns alone
  CHECK(refusal(idx_header(0x08, {2, 33554432}) + std::string(67108864, 'x'), labels).find("16777216 columns") !=
        std::string::npos);
}

TEST_CASE("compressed IDX files that are damaged or end early are refused, all cuts of them") {
  for (std::size_t length = 2; length < images_gz.size(); ++length)
    CHECK(refusal(images_gz.substr(0, length), labels).starts_with("t.idx: the compressed data end early"));
  std::string damaged = images_gz;
  damaged[damaged.size() - 8] ^= 1;  // in the check sum
  CHECK(refusal(damaged, labels).starts_with("t.idx: the compressed data are damaged (incorrect data check)"));
  CHECK(refusal("\x1f\x8bxxxxxxxxxxx", labels).starts_with("t.idx: the compressed data are damaged"));
}

TEST_CASE("memory for what is compressed grows with what is there, not with what is claimed") {
  // Room for 2^62 bytes, as a header may claim, would not be had.
  const std::string all = data::inflated(images_gz, std::size_t{1} << 62, "t.idx");
  CHECK(all == data::inflated(images_gz, 1 << 16, "t.idx"));
  CHECK(data::inflated(images_gz, 5, "t.idx") == all.substr(0, 5));
}

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("a compressed IDX file that would not fit into memory is refused before it is unpacked") {
  // 64 MiB of zeros, 64 kB compressed, and 512 MiB of numbers made of them.
  const std::string packed = gzip(idx_header(0x08, {8192, 8192}) + std::string(std::size_t{8192} * 8192, '\0'));
  CHECK(packed.size() < 100'000);
  constexpr std::uintmax_t limit_bytes = 400 << 20;  // enough to unpack it
  const auto end = base::run_in_child([&] {
    const base::MemoryLimit limit(limit_bytes);
    rusage before = {}, after = {};
    getrusage(RUSAGE_SELF, &before);
    std::string text;
    try {
      read(packed, labels);
    } catch (const base::TooMuchMemory& error) {
      text = error.what();
    }
    getrusage(RUSAGE_SELF, &after);
    const bool little = after.ru_maxrss - before.ru_maxrss < 10'000;  // KiB
    return (little ? "little taken: " : "much taken: ") + text;
  });
  CHECK(end.text.starts_with(
      "little taken: t.idx: 8192 rows x 8192 columns, unpacked and as numbers, would take 576 MiB of memory; "
      "expected at most the "));
  CHECK(end.text.ends_with(" MiB that are free"));
}

TEST_CASE("a matrix that would not fit into memory is refused before memory is taken") {
  const std::string fault = base::run_in_child([&]() -> std::string {
                              const base::MemoryLimit limit(100 << 20);
                              try {
                                data::sized_dataset(1 << 20, 15, "x");
                              } catch (const base::TooMuchMemory& error) {
                                return error.what();
                              }
                              return data::sized_dataset(1 << 10, 15, "x").features.empty() ? "no numbers" : "";
                            }).text;
  CHECK(fault.starts_with("x: 1048576 rows x 15 columns would take 128 MiB of memory; expected at most the "));
}
#endif

TEST_CASE("gzip members one behind the other are one file, and padding behind them is ignored") {
  const std::string twice = images_gz + images_gz;
  CHECK(refusal(twice, labels) == "t.idx: there are 9 bytes behind the header, expected 8 for the shape (2, 2, 2)");
  CHECK(read(images_gz + std::string(3, '\0'), labels).features == pixels);
}

TEST_CASE("labels must be one a sample, and as many") {
  CHECK(refusal(images, images) == "l.idx: 4 numbers a row, expected one label");
  CHECK(refusal(images, idx_header(0x08, {3}) + "abc") ==
        "l.idx: 3 labels, expected 2, as many as there are samples in t.idx");
}

TEST_CASE("labels of a classification are whole numbers, of a regression any") {
  const std::string halves = idx_header(0x0E, {2}) + bytes_of(Numbers{1, 0.5}, true);
  CHECK(read(images, halves).targets == Numbers{1, 0.5});
  CHECK(refusal(images, halves, Task::classification) ==
        "l.idx: row 1 is 0.5, expected a whole number, a class; to predict numbers use a regression model");
  CHECK(refusal(images, idx_header(0x08, {2}) + bytes_of(Octets{4, 4}, true), Task::classification) ==
        "l.idx: the label holds one value only, 4; expected at least two classes");
}

TEST_CASE("IDX numbers that are not finite are refused") {
  const Numbers odd{1, std::numeric_limits<double>::infinity()};
  CHECK(refusal(idx_header(0x0E, {2, 1}) + bytes_of(odd, true), labels) ==
        "t.idx: row 1, column 0 is inf, expected a finite number");
}

TEST_CASE("IDX files that do not exist are errors of the environment, either of them") {
  const Folder folder;
  Idx idx;
  idx.path = folder.file("images", images);
  idx.labels_path = folder.path("none");
  CHECK_THROWS_AS(idx.load({}), base::EnvironmentError);
  std::swap(idx.path, idx.labels_path);
  CHECK_THROWS_AS(idx.load({}), base::EnvironmentError);
}

}  // namespace idx_test
