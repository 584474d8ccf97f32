#include "base/memory.h"

#include <filesystem>
#include <fstream>
#include <new>

#include "base/child_process.h"
#include "catch.h"

namespace memory_test {

using simgrad::base::available_memory_bytes;

namespace {

namespace fs = std::filesystem;

/// A tree of files as /proc and /sys have them, removed at the end.
class Machine {
 public:
  Machine() {
    std::string name = (fs::temp_directory_path() / "simgrad-memory-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    root = name;
  }
  ~Machine() { fs::remove_all(root); }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root + file).substr(0, (root + file).rfind('/')));
    std::ofstream(root + file) << text;
  }
  std::string root;
};

}  // namespace

TEST_CASE("available memory is what the system has, or what a control group leaves of its limit") {
  const Machine machine;
  CHECK_FALSE(available_memory_bytes(machine.root));
  machine.write("/proc/meminfo", "MemTotal:  900 kB\nMemFree:   100 kB\nMemAvailable:    500 kB\nBuffers: 1 kB\n");
  CHECK(available_memory_bytes(machine.root) == 500.0 * 1024.0);
  machine.write("/proc/self/cgroup", "1:name=systemd:/x\n0::/jobs/one\n");
  CHECK(available_memory_bytes(machine.root) == 500.0 * 1024.0);
  machine.write("/sys/fs/cgroup/jobs/one/memory.max", "max\n");
  machine.write("/sys/fs/cgroup/jobs/one/memory.current", "1000\n");
  CHECK(available_memory_bytes(machine.root) == 500.0 * 1024.0);
  machine.write("/sys/fs/cgroup/jobs/memory.max", "300000\n");
  machine.write("/sys/fs/cgroup/jobs/memory.current", "100000\n");
  CHECK(available_memory_bytes(machine.root) == 200'000.0);
  // A cache of files gives way.
  machine.write("/sys/fs/cgroup/jobs/memory.stat", "anon 30000\ninactive_file 50000\nactive_file 20000\nslab 1\n");
  CHECK(available_memory_bytes(machine.root) == 270'000.0);
  machine.write("/sys/fs/cgroup/jobs/one/memory.max", "900\n");  // more is taken than the limit by now
  CHECK(available_memory_bytes(machine.root) == 0.0);
}

#ifndef __SANITIZE_ADDRESS__
TEST_CASE("a limit of memory is what is left of it, ends with its object, and does not raise another") {
  using simgrad::base::MemoryLimit;
  const std::string seen = simgrad::base::run_in_child([] {
                             const double before = *available_memory_bytes();
                             std::string text;
                             {
                               const MemoryLimit limit(100 << 20);
                               text += *available_memory_bytes() <= 100 << 20 ? "limited " : "free ";
                               try {
                                 text += std::string(200 << 20, 'x')[0];
                               } catch (const std::bad_alloc&) {
                                 text += "none ";
                               }
                               const MemoryLimit higher(std::uintmax_t{1} << 40);
                               text += *available_memory_bytes() <= 100 << 20 ? "limited " : "free ";
                             }
                             text += *available_memory_bytes() > before / 2 ? "free" : "limited";
                             return text;
                           }).text;
  CHECK(seen == "limited none limited free");
}
#endif

}  // namespace memory_test
