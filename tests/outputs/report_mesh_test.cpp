// Stages of a cut model in the report.
#include "catch.h"
#include "outputs/report/charts/memory.h"
#include "outputs/report/charts/mesh.h"
#include "report_sample.h"

namespace report_mesh_test {

using namespace simgrad;
using namespace simgrad::outputs;
using namespace simgrad::outputs::report;
using record::TimePart;

namespace {

/// Two stages of one rank in four steps of 2.5 seconds: 6 s of passes, and bubbles of so many seconds.
Run in_stages(const std::string& label, std::array<double, 2> bubble_s, std::optional<double> tensor_s = {}) {
  Run run = sample_run(label, 2, {7.0, 0.0, 3.0, 0.0});
  run.record.simulated_s = 10.0;
  run.record.steps = 4;
  for (std::size_t r = 0; r < 2; ++r) {
    record::RankUse& rank = run.record.ranks[r];
    rank.parts[TimePart::compute_gradient] = 6.0;
    rank.parts[TimePart::compute_update] = 0.5;
    rank.mesh = {.tensor = 0,
                 .data = 0,
                 .pipeline = static_cast<std::int64_t>(r),
                 .bubble_s = bubble_s[r],
                 .hop_s = 0.25,
                 .tensor_s = tensor_s};
    rank.memory.fill(0.0);
    rank.memory[0] = 1e9;
    rank.memory_bytes = 1e9;
  }
  run.record.bubble_s = 0.5 * (bubble_s[0] + bubble_s[1]);
  run.record.bubble_share = *run.record.bubble_s / 10.0;
  run.record.dimensions = {{"pipeline", "nic", 2, 800, 0.1, 0.2}};
  return run;
}

std::string told(std::vector<Run> runs) { return mesh(report_model(results_of(std::move(runs))))->sentence; }

/// Ranks of a mesh, with tensor innermost, then data, then pipeline; rank r on host r.
record::Record ranks_of(std::int64_t tensor, std::int64_t data, std::int64_t pipeline) {
  record::Record record;
  for (std::int64_t r = 0; r < tensor * data * pipeline; ++r) {
    record::RankUse& rank = record.ranks.emplace_back();
    rank.host = r;
    rank.mesh.tensor = r % tensor;
    rank.mesh.data = r / tensor % data;
    rank.mesh.pipeline = r / tensor / data;
  }
  return record;
}

void join(record::Record& record, const std::string& link_class, const std::string& from, const std::string& to) {
  const std::string link = link_class + "-" + std::to_string(record.links.size());
  record.links.push_back({.link = link, .link_class = link_class});
  record.wires.push_back({link, from, to});
}

/// Hosts of so many devices, whose NICs, one a device, end at as many switches.
void wire_gpu_hosts(record::Record& record, std::size_t devices) {
  for (std::size_t r = 0; r < record.ranks.size(); ++r) {
    const std::string host = "host-" + std::to_string(r);
    join(record, "nic", host, "rail-" + std::to_string(r % devices));
    join(record, "nvlink", host, "inside-" + std::to_string(r / devices));
  }
}

std::vector<std::int64_t> boxes_of_level(const MeshPicture& picture, std::size_t level) {
  std::vector<std::int64_t> boxes;
  for (const MeshPicture::Rank& rank : picture.ranks) boxes.push_back(rank.boxes[level]);
  return boxes;
}

std::vector<std::string> drawn_along(const MeshPicture& picture) {
  std::vector<std::string> names;
  for (const MeshPicture::Dimension& dimension : picture.dimensions)
    if (dimension.drawn) names.push_back(dimension.name);
  return names;
}

}  // namespace

TEST_CASE("the picture of a small mesh has all ranks at their places, in the hosts that their cables show") {
  record::Record record = ranks_of(4, 1, 2);
  wire_gpu_hosts(record, 4);
  const MeshPicture picture = mesh_picture(record);
  CHECK(picture.ranks_in_all == 8);
  REQUIRE(picture.ranks.size() == 8);
  REQUIRE(picture.dimensions.size() == 2);  // not data, which has one place
  CHECK(picture.dimensions[0] == MeshPicture::Dimension{"tensor", 4, true});
  CHECK(picture.dimensions[1] == MeshPicture::Dimension{"pipeline", 2, true});
  CHECK(picture.ranks[6].rank == 6);
  CHECK(picture.ranks[6].stage == 1);
  CHECK(picture.ranks[6].places == std::vector<std::int64_t>{2, 1});
  // The rails would leave more boxes, of two ranks each, but join different hosts.
  REQUIRE(picture.levels.size() == 1);
  CHECK(picture.levels[0] == MeshPicture::Level{"nvlink", 2});
  CHECK(boxes_of_level(picture, 0) == std::vector<std::int64_t>{0, 0, 0, 0, 1, 1, 1, 1});
}

TEST_CASE("racks are boxes around hosts of several ranks, and one switch for all is none") {
  record::Record record = ranks_of(2, 2, 2);
  for (std::size_t r = 0; r < 8; ++r) record.ranks[r].host = static_cast<std::int64_t>(r / 2);
  for (int host = 0; host < 4; ++host) join(record, "nic", "host-" + std::to_string(host), host < 2 ? "a" : "b");
  const MeshPicture apart = mesh_picture(record);
  REQUIRE(apart.levels.size() == 2);
  CHECK(apart.levels[0] == MeshPicture::Level{"", 4});
  CHECK(apart.levels[1] == MeshPicture::Level{"nic", 2});
  CHECK(boxes_of_level(apart, 0) == std::vector<std::int64_t>{0, 0, 1, 1, 2, 2, 3, 3});
  CHECK(boxes_of_level(apart, 1) == std::vector<std::int64_t>{0, 0, 0, 0, 1, 1, 1, 1});
  record.wires[2].to = record.wires[3].to = "a";
  CHECK(mesh_picture(record).levels.size() == 1);
}

TEST_CASE("of more than 64 ranks one replica is drawn, or a part of it, with places 0 along the other dimensions") {
  const MeshPicture all = mesh_picture(ranks_of(8, 2, 4));
  CHECK(all.ranks.size() == 64);
  CHECK(drawn_along(all) == std::vector<std::string>{"tensor", "data", "pipeline"});
  const MeshPicture replica = mesh_picture(ranks_of(4, 32, 4));
  CHECK(replica.ranks_in_all == 512);
  REQUIRE(replica.ranks.size() == 16);
  CHECK(replica.dimensions[1] == MeshPicture::Dimension{"data", 32, false});
  CHECK(drawn_along(replica) == std::vector<std::string>{"tensor", "pipeline"});
  for (const MeshPicture::Rank& rank : replica.ranks) CHECK(rank.places[1] == 0);
  CHECK(replica.ranks[5].rank == 129);  // t1 d0 p1: 1 + 4 x (0 + 32 x 1)
  const MeshPicture stages = mesh_picture(ranks_of(8, 2, 16));
  CHECK(stages.ranks.size() == 16);
  CHECK(drawn_along(stages) == std::vector<std::string>{"pipeline"});
  const MeshPicture long_one = mesh_picture(ranks_of(1, 2, 100));
  REQUIRE(long_one.ranks.size() == 64);
  CHECK(long_one.ranks.back().places == std::vector<std::int64_t>{0, 63});
}

TEST_CASE("rows with equal meshes have one picture") {
  const auto chart = mesh(report_model(results_of({in_stages("a", {1.0, 2.0}), in_stages("b", {2.0, 3.0})})));
  REQUIRE(chart);
  CHECK(chart->pictures.size() == 1);
  CHECK(chart->rows[1].picture == 0);
  REQUIRE(chart->pictures[0].ranks.size() == 2);
  CHECK(chart->pictures[0].ranks[1].places == std::vector<std::int64_t>{1});
}

TEST_CASE("the causes of a stage's step add up to it, and the rest is not any of the others") {
  const auto chart = mesh(report_model(results_of({in_stages("a", {1.0, 2.0}, 0.5)})));
  REQUIRE(chart);
  REQUIRE(chart->rows.size() == 1);
  REQUIRE(chart->rows[0].stages.size() == 2);
  const std::vector<double> second{1.5, 0.125, 0.0625, 0.5, 0.125, 0.1875};  // a quarter of 6, 0.5, 0.25, 2, 0.5, 0.75
  CHECK(chart->rows[0].stages[1].stage == 1);
  REQUIRE(chart->causes.size() == second.size());  // no context or expert ranks
  for (std::size_t k = 0; k < second.size(); ++k)
    CHECK(chart->rows[0].stages[1].step_s[k] == Approx(second[k]).epsilon(1e-12));
  CHECK(chart->causes[3] == MeshCause::bubble);
  CHECK(chart->rows[0].stages[0].step_s[3] == 0.25);
  CHECK(chart->rows[0].stages[0].memory_bytes == 1e9);
  REQUIRE(chart->rows[0].links.size() == 1);
  CHECK(chart->rows[0].links[0].bytes == 200);  // of a step
  REQUIRE(chart->table.rows.size() == 2);
  CHECK(chart->table.rows[1][6].number == 0.5);
}

TEST_CASE("collectives of context and expert ranks are causes of their own where there are any") {
  Run run = in_stages("a", {1.0, 2.0}, 0.5);
  run.record.ranks[1].mesh.context_s = 0.125;
  run.record.ranks[1].mesh.expert_s = 0.25;
  run.record.ranks[1].mesh.data_s = 0.125;
  const auto chart = mesh(report_model(results_of({run})));
  REQUIRE(chart);
  REQUIRE(chart->causes.size() == mesh_causes);
  const std::vector<double>& step_s = chart->rows[0].stages[1].step_s;
  CHECK(step_s[static_cast<std::size_t>(MeshCause::context)] == 0.03125);
  CHECK(step_s[static_cast<std::size_t>(MeshCause::expert)] == 0.0625);
  CHECK(step_s[static_cast<std::size_t>(MeshCause::rest)] == Approx(0.0625).epsilon(1e-12));
}

TEST_CASE("communication among replicas that no pass hides is a cause of its own where there are replicas") {
  Run run = in_stages("a", {1.0, 2.0}, 0.5);
  for (record::RankUse& rank : run.record.ranks) rank.mesh.data_s = 0.3;
  const auto chart = mesh(report_model(results_of({run})));
  REQUIRE(chart);
  REQUIRE(chart->causes.size() == 7);
  CHECK(chart->causes[4] == MeshCause::data);
  CHECK(chart->rows[0].stages[1].step_s[4] == Approx(0.075).epsilon(1e-12));   // a quarter of 0.3
  CHECK(chart->rows[0].stages[1].step_s[6] == Approx(0.1125).epsilon(1e-12));  // of 0.75, as before, less 0.3
  CHECK(chart->sentence ==
        "a waits for other stages, which is the bubble, for 15 % of its time, and is in collectives "
        "of tensor ranks for 5 %, and in communication among replicas that no pass hides for 3 %.");
}

TEST_CASE("the sentence tells the largest bubble and the smallest") {
  CHECK(told({in_stages("a", {1.0, 2.0})}) == "a waits for other stages, which is the bubble, for 15 % of its time.");
  CHECK(told({in_stages("a", {1.0, 2.0}), in_stages("b", {2.0, 3.0}, 0.5)}) ==
        "b waits for other stages, which is the bubble, for 25 % of its time, and is in collectives of tensor ranks "
        "for 5 %; a waits the least, for 15 %.");
}

TEST_CASE("a model that is not cut has no stages in the report") {
  CHECK_FALSE(mesh(report_model(results_of({sample_run("a", 2, {7.0, 0.0, 3.0, 0.0})}))));
}

TEST_CASE("ranks of different stages are apart in the memory chart, under the names of their stages") {
  const auto chart = memory(report_model(results_of({in_stages("a", {1.0, 2.0})})));
  REQUIRE(chart);
  REQUIRE(chart->rows[0].ranks.size() == 2);
  CHECK(chart->rows[0].ranks[0].name == "stage 0: rank 0");
  CHECK(chart->rows[0].ranks[1].name == "stage 1: rank 1");
}

}  // namespace report_mesh_test
