// Devices in scenarios: what they set, and what is refused.
#include <map>

#include "cluster/topologies/gpu_hosts.h"
#include "cluster/topologies/pod.h"
#include "experiment/refused.h"

namespace devices_test {

using namespace simgrad;
using namespace simgrad::experiment;

/// `small` with lines in [cluster], and more sections behind it.
std::string with(const std::string& cluster, const std::string& rest = "") {
  std::string text = small + rest + ring_allreduce;
  return text.insert(text.find("[data]"), cluster + "\n");
}

TEST_CASE("a device gives links their bandwidth unless the scenario does") {
  const auto settings = [](const std::string& cluster) { return planned(with(cluster)).runs.front().settings; };
  CHECK(settings("device = \"a100_80gb\"")->cluster.host_spec.bandwidth_bytes_per_s == 25e9);
  CHECK(settings("device = \"a100_80gb\"\nbandwidth = \"100Gbps\"")->cluster.host_spec.bandwidth_bytes_per_s == 12.5e9);
  const auto nvlink = [&](const std::string& cluster) {
    return dynamic_cast<const cluster::Pod&>(*settings(cluster)->cluster.topology).nvlink_bandwidth_bytes_per_s;
  };
  CHECK(nvlink("topology = \"pod\"") == 450e9);
  CHECK(nvlink("device = \"a100_80gb\"\ntopology = \"pod\"") == 300e9);
  CHECK(nvlink("device = \"a100_80gb\"\ntopology = { kind = \"pod\", nvlink_bandwidth = \"1GB/s\" }") == 1e9);
}

TEST_CASE("a device of the catalogue gives its hosts their NICs unless the scenario does") {
  const auto settings = [](const std::string& cluster) { return planned(with(cluster)).runs.front().settings; };
  const auto nics = [&](const std::string& cluster) {
    const auto of = settings(cluster);
    const cluster::Topology& topology = *of->cluster.topology;
    const auto* const pod = dynamic_cast<const cluster::Pod*>(&topology);
    return pod ? pod->nics : dynamic_cast<const cluster::GpuHosts&>(topology).nics;
  };
  CHECK(nics("topology = \"gpu_hosts\"") == 1);
  CHECK(nics("device = \"a100_80gb\"\ntopology = \"gpu_hosts\"") == 8);  // 200 Gbit/s a GPU
  CHECK(nics("device = \"h100\"\ntopology = { kind = \"gpu_hosts\", devices = 4 }") == 4);
  CHECK(nics("device = \"v100_32gb\"\ntopology = \"gpu_hosts\"") == 4);  // 100 Gbit/s for two GPUs
  CHECK(nics("device = \"v100_32gb\"\ntopology = { kind = \"gpu_hosts\", devices = 1 }") == 1);
  CHECK(nics("device = \"h100\"\ntopology = { kind = \"gpu_hosts\", nics = 2 }") == 2);
  CHECK(nics("device = \"a10g\"\ntopology = \"gpu_hosts\"") == 1);  // 100 Gbit/s for eight GPUs
  CHECK(nics("device = \"l40s\"\ntopology = \"gpu_hosts\"") == 4);  // 400 Gbit/s for eight GPUs
  CHECK(nics("device = { kind = \"tpu_v4\", float64 = \"1TF\" }\ntopology = \"gpu_hosts\"") == 1);  // no source tells
  CHECK(nics("device = { kind = \"custom\", float64 = \"1TF\", memory_bandwidth = \"1TB/s\" }\ntopology = "
             "\"gpu_hosts\"") == 1);
  CHECK(nics("topology = \"pod\"") == 8);
  CHECK(nics("device = \"v100_32gb\"\ntopology = \"pod\"") == 4);
  CHECK(nics("topology = \"gpu_hosts\"\n[[cluster.hosts]]\nclass = \"a\"\ndevice = \"h100\"") == 8);
  // Each of a TPU's six links; the network's default is a gigabit.
  CHECK(settings("device = { kind = \"tpu_v4\", float64 = \"1TF\" }")->cluster.host_spec.bandwidth_bytes_per_s == 50e9);
}

TEST_CASE("a device of the catalogue has what trainings get, and an efficiency of one's own replaces all of it") {
  const auto device = [](const std::string& text) {
    return *planned(with("device = " + text)).runs.front().settings->cluster.device_of(0);
  };
  const cluster::Device catalogued = device("\"a100_80gb\"");
  CHECK(catalogued.efficiency == 0.7059);
  CHECK(catalogued.half_size == 130.0);  // 0.85 x 312 / 2.039
  CHECK(catalogued.attention_efficiency() == 0.3941);
  const cluster::Device own = device("{ kind = \"a100_80gb\", efficiency = 0.5 }");
  CHECK(own.large_products() == 0.5);
  CHECK_FALSE(own.attention);
  CHECK(own.half_size == 0.0);
  const cluster::Device largest = device("{ kind = \"a100_80gb\", efficiency = \"peak_product\", half_size = 7.0 }");
  CHECK_FALSE(largest.efficiency);
  CHECK(largest.large_products() == 0.87);  // 271 of 312 TF
  CHECK_FALSE(largest.attention);
  CHECK(largest.half_size == 7.0);
  CHECK(device("{ kind = \"a100_80gb\", attention_efficiency = 0.7 }").half_size == 130.0);
  CHECK(device("\"h100\"").float8_efficiency == 0.5092);
  CHECK_FALSE(device("{ kind = \"h100\", efficiency = 0.5 }").float8_efficiency);
  CHECK(device("{ kind = \"h100\", efficiency = 0.5, float8_efficiency = 0.4 }").float8_share() == Approx(0.8));
  CHECK(device("{ kind = \"mi300x\", float8_efficiency = 0.18 }").float8_share() == Approx(0.5));
  check_refused_text(with("device = { kind = \"h100\", efficiency = \"best\" }"), "a number or \"peak_product\"");
  check_refused_text(with("device = { kind = \"h100\", float8_efficiency = 1.5 }"), "at most 1");
  check_refused_text(with("device = { kind = \"a100_80gb\", float8_efficiency = 0.5 }"),
                     "the device multiplies no float8 numbers, but float64, float32, float16, bfloat16");
}

TEST_CASE("a class of hosts has its own device, or its speed, or the cluster's device") {
  const auto plan = planned(with(
      "device = { kind = \"h100\", efficiency = 0.5 }\n[[cluster.hosts]]\nclass = \"old\"\ndevice = \"v100_32gb\"\n"
      "[[cluster.hosts]]\nclass = \"plain\"\nspeed = \"1TF\""));
  const cluster::Options& options = plan.runs.front().settings->cluster;
  REQUIRE(options.device_of(0));
  CHECK(options.device_of(0)->peak(cluster::ProductFormat::float16) == 125e12);
  CHECK(options.device_of(1) == nullptr);
  CHECK(options.speed(1) == 1e12);
  REQUIRE(options.device_of(2));
  CHECK(options.device_of(2)->efficiency == 0.5);
  CHECK(options.device_of(2)->memory_bytes == 80e9);
  // bytes a second / (3 numbers of 8 bytes)
  CHECK(options.speed(2) == Approx(3350e9 / 24).epsilon(1e-12));
}

TEST_CASE("a host of each device of the catalogue does a multiply-add as fast as its memory brings three numbers") {
  // GB/s, as in cluster/device_catalogue_test.cpp, from the data sheets.
  const std::map<std::string_view, double> memory_bandwidth{
      {"v100_32gb", 900}, {"a100_40gb", 1555}, {"a100_80gb", 2039}, {"h100", 3350},     {"h200", 4800},
      {"b200", 8000},     {"mi300x", 5300},    {"rtx_3090", 936},   {"rtx_4090", 1008}, {"a10g", 600},
      {"l4", 300},        {"l40s", 864},       {"t4", 320},         {"tpu_v4", 1200},   {"cpu_host", 409.6}};
  std::size_t seen = 0;
  for (const auto& entry : cluster::devices().entries()) {
    const auto found = memory_bandwidth.find(entry.about.kind);
    if (found == memory_bandwidth.end()) continue;
    ++seen;
    CAPTURE(entry.about.kind);
    CHECK_FALSE(entry.about.source.empty());
    const std::string float64 = entry.make()->peak(cluster::ProductFormat::float64) ? "" : ", float64 = \"1TF\"";
    const auto plan = planned(with("device = { kind = \"" + std::string(entry.about.kind) + "\"" + float64 + " }"));
    CHECK(plan.runs.front().settings->cluster.speed(0) == Approx(found->second * 1e9 / 24).epsilon(1e-12));
  }
  CHECK(seen == memory_bandwidth.size());
}

TEST_CASE("contradictions of devices are refused with what would do") {
  check_refused_text(with("device = \"a100_80gb\"\nspeed = \"1TF\""), "\"speed\" contradicts \"device\"");
  check_refused_text(with("[[cluster.hosts]]\nclass = \"x\"\ndevice = \"h100\"\nspeed = \"1TF\""),
                     "\"speed\" contradicts \"device\"");
  check_refused_text(with("device = \"custom\""), "a custom device needs a memory_bandwidth");
  check_refused_text(with("device = { kind = \"custom\", memory_bandwidth = \"1TB/s\" }"),
                     "a custom device needs a peak");
  check_refused_text(with("device = \"a100_90gb\""), "did you mean \"a100_40gb\"?");
}

TEST_CASE("a device whose memory has no bandwidth is refused") {
  const std::string why = "memory_bandwidth must be above 0 and at most 1EBps, found \"0bps\"";
  check_refused_text(with("device = { kind = \"a100_80gb\", memory_bandwidth = \"0bps\" }"), why);
  check_refused_text(with("device = { kind = \"custom\", float32 = \"1TF\", memory_bandwidth = \"0bps\" }"), why);
  check_refused_text(
      with("[[cluster.hosts]]\nclass = \"x\"\ndevice = { kind = \"h100\", memory_bandwidth = \"0bps\" }"), why);
  CHECK(planned(with("device = { kind = \"a100_80gb\", memory_bandwidth = \"1bps\" }")).runs.size() == 1);
}

TEST_CASE("a precision that a device lacks is refused with those that it has") {
  check_refused_text(
      with("device = \"v100_32gb\"", "[training]\nprecision = \"bfloat16\"\n"),
      "precision = \"bfloat16\" multiplies bfloat16 numbers, but the device \"v100_32gb\" has no peak for "
      "them; it has peaks for float64, float32, float16: choose one of these");
  check_refused_text(
      with("[[cluster.hosts]]\nclass = \"old\"\ndevice = \"a100_40gb\"", "[training]\nprecision = \"float8\"\n"),
      "the device \"a100_40gb\" of the class \"old\" has no peak for them");
  CHECK(
      planned(with("device = { kind = \"v100_32gb\", bfloat16 = \"100TF\" }", "[training]\nprecision = \"bfloat16\"\n"))
          .runs.size() == 1);
}

TEST_CASE("tokens end only runs whose samples have tokens") {
  std::string text = with("");
  text.replace(text.find("steps = 2"), 9, "tokens = 1e6");
  check_refused_text(text, "stop.tokens counts tokens, but samples of least_squares have none");
}

}  // namespace devices_test
