/// A message's contents: an array, and a typed note beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "base/errors.h"
#include "values/tensor.h"

namespace simgrad::cluster {

/// One value of any type, which takes no part in a message's bytes. A small trivial value is copied into the note
/// without an allocation; a larger one is shared and never changed.
class Note {
 public:
  Note() = default;
  template <class T>
  requires(!std::is_same_v<T, Note>) Note(const T& value) {  // NOLINT: a value is a note
    static_assert(is_small<T>, "a larger value is given as std::shared_ptr<const T>");
    ::new (static_cast<void*>(bytes_)) T(value);
    type_ = &type_of<T>;
  }
  template <class T>
  Note(std::shared_ptr<const T> value) : shared_(std::move(value)), type_(&type_of<T>) {  // NOLINT: so is a shared one
    static_assert(!is_small<T>, "a small value is copied");
  }

  /// The value, or null if there is none of that type.
  template <class T>
  const T* find() const {
    if (type_ != &type_of<T>) return nullptr;
    if constexpr (is_small<T>)
      return std::launder(reinterpret_cast<const T*>(bytes_));
    else
      return static_cast<const T*>(shared_.get());
  }

  /// The larger value, kept alive; null if there is none of that type.
  template <class T>
  std::shared_ptr<const T> shared() const {
    const T* const value = find<T>();
    return value ? std::shared_ptr<const T>(shared_, value) : nullptr;
  }

 private:
  static constexpr std::size_t most_bytes = 16;
  template <class T>
  static constexpr bool is_small = std::is_trivially_copyable_v<T> && sizeof(T) <= most_bytes &&
                                   alignof(T) <= alignof(std::int64_t);
  template <class T>
  static constexpr char type_of = 0;  // its address stands for the type

  alignas(std::int64_t) std::byte bytes_[most_bytes] = {};
  std::shared_ptr<const void> shared_;
  const char* type_ = nullptr;
};

struct Packet {
  values::Tensor tensor;
  std::int64_t extra_bytes = 0;  ///< bytes that travel beside the array: rows of data, say
  Note attached = {};

  Packet() = default;
  Packet(values::Tensor carried, Note beside = {})  // NOLINT: a tensor is a packet
      : tensor(std::move(carried)), attached(std::move(beside)) {}

  /// The note, which is of that type.  Errors: InvariantError if it is of another.
  template <class T>
  const T& note() const {
    const T* const found = find_note<T>();
    base::check(found != nullptr, "a packet's note is read as the type that was written");
    return *found;
  }
  /// The note, or null if there is none of that type.
  template <class T>
  const T* find_note() const {
    return attached.find<T>();
  }

  std::int64_t bytes() const { return (tensor ? tensor.size_bytes() : 0) + extra_bytes; }
};

}  // namespace simgrad::cluster
