// Traces: what is written is what viewers need, and says what the timeline says.
#include "outputs/timelines/trace.h"

#include <filesystem>

#include "catch.h"
#include "outputs/files/byte_file.h"
#include "outputs/timeline_sample.h"
#include "outputs/timelines/chrome_trace.h"
#include "outputs/trace_reading.h"
#include "scratch.h"
#include "unpacked.h"

namespace trace_test {

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::tests;

namespace {

std::string trace_of(const record::Timeline& timeline, const record::Record& record = {},
                     const TraceOptions& options = {}) {
  std::string text;
  ChromeTrace format([&](std::string_view piece) { text += piece; });
  write_trace(timeline, record, {{"label", "gossip \"x\""}}, options, format);
  return text;
}

}  // namespace

TEST_CASE("a trace has a process per rank, its time on one thread, and each message as sent and as received") {
  const Trace trace(trace_of(two_ranks()));
  CHECK(trace.faults.empty());
  CHECK(trace.about.at("label") == "gossip \"x\"");
  CHECK(trace.processes == std::map<int, std::string>{{1, "rank 0 (host-0)"}, {2, "rank \"1\" (host-1)"}});
  CHECK(trace.lanes == std::map<Trace::Lane, std::string>{
                           {{1, 1}, "time"}, {{1, 10}, "send #1"}, {{2, 1}, "time"}, {{2, 20}, "recv #1"}});
  const auto& time = trace.slices.at({2, 1});
  REQUIRE(time.size() == 3);
  CHECK(time[1].name == "wait:gossip");
  CHECK(time[1].category == "wait");
  CHECK(time[1].from_ns == 1'000'000'000);
  CHECK(time[2].arguments == nlohmann::json{{"step", 0}, {"peer", 0}, {"bytes", 8}});
  CHECK(trace.total_ns(2, "compute") == 1'000'000'000);
  CHECK(trace.total_ns(2, "communicate") == 1'000'000'000);
  REQUIRE(trace.starts.size() == 1);
  CHECK(trace.starts.at(0)[0].process == 1);
  CHECK(trace.finishes.at(0)[0].process == 2);
  CHECK(trace.finishes.at(0)[0].at_ns == 2'999'999'999);
}

TEST_CASE("messages that overlap take lanes of their own, those that follow each other share one") {
  record::Timeline timeline = two_ranks();
  // 0 and 1 overlap; 2 begins as 0 ends.
  timeline.messages = {{0, 1, 8, 0, 2, 0.0, 2.0}, {0, 1, 8, 0, 2, 1.0, 3.0}, {0, 1, 8, 0, 2, 2.0, 3.0}};
  const Trace trace(trace_of(timeline));
  CHECK(trace.faults.empty());
  CHECK(trace.slices.at({1, 10}).size() == 2);
  CHECK(trace.slices.at({1, 11}).size() == 1);
  CHECK(trace.slices.at({2, 20}).size() == 2);
  CHECK(trace.slices.at({2, 21}).size() == 1);
}

TEST_CASE("where a rank has more lanes of sends than there is room for, those of receives come after them") {
  record::Timeline timeline = two_ranks();
  timeline.messages.clear();
  for (int i = 0; i < 15; ++i) timeline.messages.push_back({0, 1, 8, 0, 2, 0.0, 2.0});
  timeline.messages.push_back({1, 0, 8, 0, 2, 0.0, 2.0});
  const Trace trace(trace_of(timeline));
  CHECK(trace.faults.empty());
  CHECK(trace.lanes.at({1, 24}) == "send #15");
  CHECK(trace.lanes.at({1, 25}) == "recv #1");
}

TEST_CASE("with more messages than are to have arrows there are none") {
  CHECK(Trace(trace_of(two_ranks(), {}, {.most_flows = 1})).starts.size() == 1);
  CHECK(Trace(trace_of(two_ranks(), {}, {.most_flows = 0})).starts.empty());
}

TEST_CASE("losses and links' utilisations are counters with their units, within the timeline") {
  record::Record record;
  record.ranks.resize(2);
  record.curve = {
      {0, 0.0, 0, 2.0, {}, {}}, {1, 2.0, 0, 0.5, {}, {}}, {2, 9.0, 0, 0.1, {}, {}}, {3, 2.5, 0, {}, {}, {}}};
  record.link_bins = {{"up-0", 0.0, 1.0, 10.0, 0.25}, {"up-0", 1.0, 2.0, 10.0, 0.5}};
  const Trace trace(trace_of(two_ranks(), record));
  CHECK(trace.faults.empty());
  using Values = std::vector<std::pair<std::int64_t, double>>;
  CHECK(trace.counters.at("loss") == Values{{0, 2.0}, {2'000'000'000, 0.5}});
  CHECK(trace.counters.at("link up-0 utilisation [%]") ==
        Values{{0, 25.0}, {1'000'000'000, 50.0}, {2'000'000'000, 0.0}});
  CHECK(trace.processes.at(3) == "run");
}

TEST_CASE("a file whose name ends in .gz is packed, unpacks to what was written, and is the same when written again") {
  const Scratch scratch;
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += fmt::format("{}\n", i * 7919 % 10007);  // more than a block
  const auto write = [&](const std::string& name) {
    ByteFile file(scratch.path() + "/" + name);
    for (std::size_t at = 0; at < text.size(); at += 1000) file.write(std::string_view(text).substr(at, 1000));
    file.close();
    return contents(scratch.path() + "/" + name);
  };
  CHECK(write("a.json") == text);
  const std::string packed = write("a.json.gz");
  CHECK(packed.size() < text.size());
  CHECK(unpacked(scratch.path() + "/a.json.gz") == text);
  CHECK(write("b.json.gz") == packed);
}

TEST_CASE("a file that is not completed leaves nothing, and the error of one that cannot be made names it") {
  const Scratch scratch;
  { ByteFile(scratch.path() + "/half").write("x"); }
  CHECK(std::filesystem::is_empty(scratch.path()));
  CHECK_THROWS_WITH(ByteFile(scratch.path() + "/none/x"),
                    scratch.path() + "/none/x: cannot be written: No such file or directory");
}

}  // namespace trace_test
