/// libFuzzer's entry. SIMGRAD_FUZZ_TARGET names the reader that gets the inputs.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzz/targets.h"

namespace {

const simgrad::fuzz::Target& chosen() {
  const char* name = std::getenv("SIMGRAD_FUZZ_TARGET");
  const auto* target = name ? simgrad::fuzz::target(name) : nullptr;
  if (target) return *target;
  std::fputs("SIMGRAD_FUZZ_TARGET must be one of:", stderr);
  for (const auto& each : simgrad::fuzz::targets()) std::fprintf(stderr, " %s", std::string(each.name).c_str());
  std::fputs("\n", stderr);
  std::exit(2);
}

}  // namespace

// libFuzzer prescribes the name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const simgrad::fuzz::Target& target = chosen();
  const std::string input(reinterpret_cast<const char*>(bytes), size);
  if (const std::string fault = simgrad::fuzz::fault_of(target, input); !fault.empty()) {
    std::fprintf(stderr, "FAULT of %s: %s\n", std::string(target.name).c_str(), fault.c_str());
    std::abort();
  }
  return 0;
}
