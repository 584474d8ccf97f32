/// mutate TARGET COUNT SEED CORPUS [DICTIONARY]: reads COUNT mutated inputs, without a fuzzer or sanitizers: many a
/// second, for readers that start processes. Prints the number of faults; an input with a fault is kept as
/// fault-<target>-<number> in the current directory. Exit 1 at a fault.
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/draw.h"
#include "fuzz/targets.h"

namespace simgrad::fuzz {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The words of a libFuzzer dictionary: one in quotes a line.
std::vector<std::string> words_of(const std::filesystem::path& path) {
  std::vector<std::string> words{
      "0", "-1", "1e308", "1e-320", "nan", "9223372036854775808", "\n", "\"", std::string(1, '\0')};
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    std::string word;
    for (std::size_t i = 1; i + 1 < line.size(); ++i) word += line[i] == '\\' ? line[++i] : line[i];
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

class Mutation {
 public:
  Mutation(const std::filesystem::path& corpus, std::vector<std::string> words, std::uint64_t seed)
      : words_(std::move(words)), dice_(seed) {
    std::set<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(corpus)) files.insert(entry.path());
    for (const auto& file : files) inputs_.push_back(contents(file));
  }

  std::string next() {
    std::string input = one(inputs_);
    const auto changes = dice_.between(1, 1 + static_cast<std::int64_t>(dice_.one_of(6)));
    for (std::int64_t i = 0; i < changes; ++i) change(input);
    constexpr std::size_t longest = 20'000;
    input.resize(std::min(input.size(), longest));
    return input;
  }

 private:
  const std::string& one(const std::vector<std::string>& all) { return all[dice_.one_of(all.size())]; }
  /// A stretch of the text: begin and length.
  std::pair<std::size_t, std::size_t> stretch(const std::string& text, std::size_t longest) {
    const std::size_t at = dice_.one_of(text.size() + 1);
    return {at, std::min(text.size() - at, dice_.one_of(longest) + 1)};
  }
  /// The number around a place: begin and length; an empty one where there is none.
  std::pair<std::size_t, std::size_t> number_near(const std::string& text) {
    const std::size_t from = text.find_first_of("0123456789", dice_.one_of(text.size() + 1));
    if (from == std::string::npos) return {0, 0};
    const std::size_t to = std::min(text.find_first_not_of("0123456789.e", from), text.size());
    return {from, to - from};
  }

  void change(std::string& text) {
    static const std::vector<std::string> numbers{"0",      "1",    "2",          "-1",  "7",
                                                  "1e9",    "1e-9", "1e308",      "0.5", "1e-300",
                                                  "100000", "255",  "2147483648", "1.0", "4294967296"};
    switch (dice_.one_of(8)) {
      case 0:
        if (!text.empty()) text[dice_.one_of(text.size())] = static_cast<char>(dice_.one_of(256));
        break;
      case 1: {
        const auto [at, length] = stretch(text, 30);
        text.erase(at, length);
        break;
      }
      case 2: {
        const auto [at, length] = stretch(text, 60);
        text.insert(dice_.one_of(text.size() + 1), std::string(text, at, length));
        break;
      }
      case 3:
        text.insert(dice_.one_of(text.size() + 1), one(words_));
        break;
      case 4: {
        const std::string& other = one(inputs_);
        const auto [at, length] = stretch(other, 200);
        text.insert(dice_.one_of(text.size() + 1), other, at, length);
        break;
      }
      case 5: {  // another word in a word's place
        const auto [at, length] = stretch(text, 12);
        text.replace(at, length, one(words_));
        break;
      }
      default: {
        const auto [at, length] = number_near(text);
        if (length > 0) text.replace(at, length, one(numbers));
      }
    }
  }

  std::vector<std::string> inputs_;
  std::vector<std::string> words_;
  Dice dice_;
};

/// Ends the process after that much processor time, by SIGPROF, and after ten times as much real time, by SIGALRM: a
/// machine that is busy with other work is no fault of the reader. 0 is no limit.
void limit_time(unsigned cpu_s) {
  const itimerval at{.it_interval = {}, .it_value = {.tv_sec = static_cast<time_t>(cpu_s), .tv_usec = 0}};
  setitimer(ITIMER_PROF, &at, nullptr);
  alarm(10 * cpu_s);
}

/// The input that a child is at, and what it has found, in memory that its parent sees.
struct Shared {
  std::int64_t done = 0;
  std::size_t size = 0;
  std::array<char, 20'000> input{};
  std::array<char, 2'000> fault{};
};

class Reading {
 public:
  Reading(const Target& target, std::int64_t count) : target_(target), count_(count) {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    shared_ = static_cast<Shared*>(memory);
  }

  /// Returns the number of faults.
  int all(const std::filesystem::path& corpus, const std::vector<std::string>& words, std::uint64_t seed) {
    int faults = 0;
    for (std::uint64_t child = 0; shared_->done < count_; ++child) {
      const std::string fault = batch(corpus, words, seed * 1'000'003 + child);
      if (fault.empty()) continue;
      const std::string file = fmt::format("fault-{}-{}", target_.name, faults++);
      std::ofstream(file, std::ios::binary).write(shared_->input.data(), static_cast<std::streamsize>(shared_->size));
      fmt::print("FAULT of {} ({}): {}\n", target_.name, file, fault);
      std::fflush(stdout);
      constexpr int enough = 20;
      if (faults == enough) break;
    }
    return faults;
  }
  std::int64_t done() const { return shared_->done; }

 private:
  /// Some inputs in a child process. Returns the fault that ended it, or "".
  std::string batch(const std::filesystem::path& corpus, const std::vector<std::string>& words, std::uint64_t seed) {
    constexpr std::int64_t at_most = 2000;
    constexpr unsigned longest_s = 30;
    const std::int64_t until = std::min(count_, shared_->done + at_most);
    shared_->fault[0] = '\0';
    const pid_t child = fork();
    if (child == 0) {
      Mutation mutation(corpus, words, seed);
      while (shared_->done < until) {
        const std::string input = mutation.next();
        shared_->size = input.size();
        std::memcpy(shared_->input.data(), input.data(), input.size());
        limit_time(longest_s);
        const std::string fault = fault_of(target_, input);
        ++shared_->done;
        if (fault.empty()) continue;
        fault.copy(shared_->fault.data(), shared_->fault.size() - 1);
        _exit(1);
      }
      limit_time(0);
      std::filesystem::remove_all(files().directory());
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    if (WIFEXITED(status) && WEXITSTATUS(status) == 1) return shared_->fault.data();
    ++shared_->done;
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM))
      return fmt::format("no end after {} s", longest_s);
    return WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status)) : "the process has ended";
  }

  const Target& target_;
  std::int64_t count_;
  Shared* shared_ = nullptr;
};

int mutated(int count, char** arguments) {
  const Target* target = count >= 5 ? fuzz::target(arguments[1]) : nullptr;
  if (!target) {
    fmt::print(stderr, "usage: mutate TARGET COUNT SEED CORPUS [DICTIONARY]\n");
    return 2;
  }
  Reading reading(*target, std::atoll(arguments[2]));
  const int faults =
      reading.all(arguments[4], words_of(count > 5 ? arguments[5] : ""), std::strtoull(arguments[3], nullptr, 10));
  fmt::print("{}: {} mutated inputs, {} faults\n", target->name, reading.done(), faults);
  return faults > 0 ? 1 : 0;
}

}  // namespace
}  // namespace simgrad::fuzz

int main(int count, char** arguments) {
  try {
    return simgrad::fuzz::mutated(count, arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "mutate: {}\n", error.what());
    return 2;
  }
}
