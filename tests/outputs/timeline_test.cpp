// Timelines as files: written, read back, refused.
#include "outputs/timelines/timeline.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>

#include "base/errors.h"
#include "catch.h"
#include "outputs/files/byte_file.h"
#include "outputs/results.h"
#include "outputs/timeline_sample.h"
#include "record/time_part.h"
#include "scratch.h"
#include "unpacked.h"

namespace timeline_test {

using namespace simgrad;
using namespace simgrad::outputs;

TEST_CASE("a timeline that is written and read back is the same") {
  record::Timeline before = tests::two_ranks();
  before.spans[3].cause = static_cast<int>(record::TimePart::wait_gradient);
  const std::string text = timeline_json(before, "a1");
  const record::Timeline after = timeline_from_json(parse_json(text), "a1");
  CHECK(timeline_json(after, "a1") == text);
  CHECK(after.spans.size() == before.spans.size());
  CHECK(after.spans[1].kind == record::Activity::communicate);
  CHECK(after.spans[1].to_s == before.spans[1].to_s);
  CHECK(after.spans[2].cause == -1);
  CHECK(after.spans[3].cause == before.spans[3].cause);
  CHECK(after.messages[0].target == 1);
  CHECK(after.rank_names == before.rank_names);
  CHECK(after.whole);
}

TEST_CASE("a timeline has micro-batches where a span has one, and only there") {
  record::Timeline before = tests::two_ranks();
  CHECK(timeline_json(before, "a1").find("micro") == std::string::npos);
  before.spans[1].micro = 3;
  const std::string text = timeline_json(before, "a1");
  const record::Timeline after = timeline_from_json(parse_json(text), "a1");
  CHECK(after.spans[0].micro == -1);
  CHECK(after.spans[1].micro == 3);
  CHECK(timeline_json(after, "a1") == text);
}

TEST_CASE("a timeline's file is packed, equal for equal timelines, and read back only if it is whole") {
  const tests::Scratch scratch;
  const std::string file = timeline_file(scratch.path(), "a1"), directory = scratch.path();
  const auto read = [&]() -> std::string {
    try {
      const auto timeline = read_timeline(directory, "a1");
      return timeline ? timeline_json(*timeline, "a1") : "none";
    } catch (const std::runtime_error& fault) {
      return fault.what();
    }
  };
  CHECK(read() == "none");
  CHECK_FALSE(has_timeline(directory, "a1"));
  std::filesystem::create_directory(directory + "/timelines");
  write_timeline(directory, tests::two_ranks(), "a1");
  CHECK(file == directory + "/timelines/a1.json.gz");
  const std::string whole = read_file(file);
  CHECK(whole.size() < timeline_json(tests::two_ranks(), "a1").size() / 2);
  CHECK(tests::unpacked(file) == timeline_json(tests::two_ranks(), "a1"));
  CHECK(read() == timeline_json(tests::two_ranks(), "a1"));
  CHECK(has_timeline(directory, "a1"));
  write_timeline(directory, tests::two_ranks(), "a1");
  CHECK(read_file(file) == whole);
  for (std::size_t size = 2; size < whole.size(); size += 5) {
    scratch.write("timelines/a1.json.gz", whole.substr(0, size));
    CHECK_FALSE(has_timeline(directory, "a1"));
    CHECK(read() == file + ": is cut short or damaged; type simgrad run again");
  }
  scratch.write("timelines/a1.json.gz", "");
  CHECK(read().starts_with(file));
  CHECK_FALSE(has_timeline(directory, "a1"));
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  CHECK(read() == file + ": is a directory; expected a regular file");
  CHECK_FALSE(has_timeline(directory, "a1"));
}

TEST_CASE("a timeline with columns of unlike lengths or names out of bounds is refused with the member's name") {
  const auto refusal = [](auto change) {
    auto json = parse_json(timeline_json(tests::two_ranks(), "a1"));
    change(json);
    try {
      timeline_from_json(json, "a1");
    } catch (const base::EnvironmentError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(refusal([](auto& json) { json["spans"]["rank"].push_back(1); }) ==
        "timeline: \"lane\" has 5 entries, expected 6");
  CHECK(refusal([](auto& json) { json["spans"]["kind"][0] = 4; }) == "timeline: there is no kind 4 of span");
  CHECK(refusal([](auto& json) { json["spans"]["cause"][0] = 3; }) == "timeline: there is no cause 3 of waiting");
  CHECK(refusal([](auto& json) { json["spans"].erase("cause"); }) == "accepted");  // an older file
  CHECK(refusal([](auto& json) { json["spans"]["name"][0] = 99; }) == "timeline: there is no name 99");
  CHECK(refusal([](auto& json) { json["spans"]["from_s"][0] = "x"; }) ==
        "timeline: \"from_s\" has another type than expected");
  CHECK(refusal([](auto& json) { json.erase("messages"); }) == "timeline: \"messages\" is missing");
  CHECK(refusal([](auto& json) { json["schema"] = 2; }) == "timeline: \"schema\" is not 1");
  CHECK(refusal([](auto& json) { json["run"] = "b2"; }) ==
        "timeline: the file belongs to run b2, expected a1; type simgrad run again");
  CHECK(refusal([](auto& json) { json["rank_names"].erase(0); }) ==
        "timeline: \"rank_names\" and \"ranks\" have different lengths");
}

TEST_CASE("a timeline's file that unpacks to more than a timeline has is refused, and is none") {
  const tests::Scratch scratch;
  const std::string file = timeline_file(scratch.path(), "a1"), whole = timeline_json(tests::two_ranks(), "a1");
  std::filesystem::create_directory(scratch.path() + "/timelines");
  const std::string start = whole.substr(0, whole.find("\"from_s\""));
  {
    ByteFile bomb(file);
    bomb.write(start);
    const std::string blanks(std::size_t{1} << 20, ' ');
    for (int i = 0; i < 64; ++i) bomb.write(blanks);
    bomb.write(whole.substr(start.size()));
    bomb.close();
  }
  CHECK(std::filesystem::file_size(file) < 100'000);
  CHECK_FALSE(has_timeline(scratch.path(), "a1"));
  CHECK_THROWS_WITH(read_timeline(scratch.path(), "a1"),
                    file + ": unpacks to more than 16777216 bytes, the most that simgrad writes there");
  CHECK(begins_as_timeline(file, "a1"));
  CHECK_FALSE(begins_as_timeline(file, "a2"));
}

TEST_CASE("a timeline that could not be read again is not written") {
  const tests::Scratch scratch;
  record::Timeline timeline = tests::two_ranks();
  timeline.rank_names[0].assign(timeline_bytes_most, 'x');
  CHECK_THROWS_AS(write_timeline(scratch.path(), timeline, "a1"), base::EnvironmentError);
  CHECK_FALSE(std::filesystem::exists(timeline_file(scratch.path(), "a1")));
}

TEST_CASE("a timeline behind a link or a pipe is none, and a pipe keeps nobody waiting") {
  const tests::Scratch scratch;
  std::filesystem::create_directory(scratch.path() + "/timelines");
  write_timeline(scratch.path(), tests::two_ranks(), "a1");
  std::filesystem::create_symlink(timeline_file(scratch.path(), "a1"), timeline_file(scratch.path(), "a2"));
  REQUIRE(mkfifo(timeline_file(scratch.path(), "a3").c_str(), 0600) == 0);
  alarm(20);  // one that waits ends the test
  CHECK(has_timeline(scratch.path(), "a1"));
  for (const char* run : {"a2", "a3"}) {
    CHECK_FALSE(has_timeline(scratch.path(), run));
    CHECK_THROWS_AS(read_timeline(scratch.path(), run), std::runtime_error);
  }
  alarm(0);
}

}  // namespace timeline_test
