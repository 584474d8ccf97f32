/// Storage for the numbers of one value, aligned to a cache line. It starts uninitialised, because every kernel writes
/// all of its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace simgrad::values {

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t size)
      : numbers_(static_cast<double*>(::operator new(static_cast<std::size_t>(size) * sizeof(double), alignment))) {}

  explicit operator bool() const { return numbers_ != nullptr; }
  double* data() const { return numbers_.get(); }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(double* numbers) const { ::operator delete(numbers, alignment); }
  };
  std::unique_ptr<double, Free> numbers_;
};

}  // namespace simgrad::values
