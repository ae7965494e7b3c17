// A growing array of plain values, for columns and bytes: what std::vector is, but that resize(n) leaves new values
// uninitialised (kernels write every value anyway) and that growth moves bytes, and of large arrays pages, instead of
// constructing values one by one.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace weir {

template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  Buffer() = default;
  explicit Buffer(size_t size) { resize(size); }
  Buffer(const Buffer& other) { append(other.data_, other.size_); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() { std::free(data_); }

  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  void push_back(T value) {
    if (size_ == capacity_) Grow(size_ + 1);
    data_[size_++] = value;
  }
  void append(const T* values, size_t count) {
    if (count == 0) return;
    if (count > capacity_ - size_) Grow(size_ + count);
    std::memcpy(data_ + size_, values, count * sizeof(T));
    size_ += count;
  }
  void resize(size_t size) {
    if (size > capacity_) Grow(size);
    size_ = size;
  }
  void resize(size_t size, T value) {
    const size_t before = size_;
    resize(size);
    if (size > before) std::fill(data_ + before, data_ + size, value);
  }
  void assign(size_t size, T value) {
    clear();
    resize(size, value);
  }
  void reserve(size_t capacity) {
    if (capacity > capacity_) Reallocate(capacity);
  }
  void clear() { size_ = 0; }
  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  [[gnu::noinline]] void Grow(size_t needed) { Reallocate(std::max({needed, 2 * capacity_, 64 / sizeof(T)})); }
  void Reallocate(size_t capacity) {
    void* moved = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (moved == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace weir
