// Every published transformer on 64 devices, with nothing but the catalogue's numbers: it is accepted, or a real
// system would refuse it, too.
#include "experiment/refused.h"
#include "models/transformer_options.h"

namespace presets_test {

using namespace simgrad;
using namespace simgrad::experiment;

namespace {

/// Why it is not accepted; or empty.
std::string refusal(const std::string& preset, const std::string& strategy, int tensor) {
  try {
    planned(
        "[cluster]\nworkers = 64\ndevice = \"h100\"\ntopology = \"gpu_hosts\"\n[model]\nkind = \"transformer\"\npreset "
        "= \"" +
        preset + "\"\n[training]\nnumbers = false\nprecision = \"bfloat16\"\nbatch_size = 64\n[parallel]\ntensor = " +
        std::to_string(tensor) + "\n[stop]\nsteps = 1\n[[strategy]]\nkind = \"" + strategy + "\"\n");
  } catch (const base::ScenarioError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("every preset is accepted on 64 devices, but where memory is short or heads do not divide") {
  int runs = 0;
  for (const models::PresetEntry& preset : models::transformer_presets())
    for (const char* strategy : {"allreduce", "zero", "fsdp"})
      for (const int tensor : {1, 8}) {
        CAPTURE(preset.name.name, strategy, tensor);
        const std::string why = refusal(std::string(preset.name.name), strategy, tensor);
        if (why.empty()) {
          ++runs;
          continue;
        }
        // Megatron-LM asks that the tensor ranks divide the heads, and a device's memory has an end.
        const bool heads =
            preset.shape.heads % tensor != 0 && why.find("do not divide among tensor") != std::string::npos;
        CHECK((heads || why.find("a worker needs ") != std::string::npos));
      }
  CHECK(runs > 20);
}

}  // namespace presets_test
