#include "engine/data/array_codec.h"

namespace weir {
namespace {

template <class T>
void AppendRaw(T value, std::string& out) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof bytes);
}

// Reads the value at the front of `bytes` and drops it.  The bytes are our own: a short one is a broken invariant.
template <class T>
T TakeRaw(std::string_view& bytes) {
  WEIR_CHECK_LE(sizeof(T), bytes.size());
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  bytes.remove_prefix(sizeof value);
  return value;
}

}  // namespace

void AppendArray(const Column& elements, size_t from, size_t count, std::string& out) {
  WEIR_CHECK_LE(from + count, elements.size());
  AppendRaw(static_cast<uint32_t>(count), out);
  for (size_t row = from; row < from + count; ++row) {
    if (elements.IsNull(row)) {
      out += '\0';
      continue;
    }
    out += '\1';
    switch (elements.physical()) {
      case Physical::kBool:
        out += elements.bools()[row] != 0 ? '\1' : '\0';
        break;
      case Physical::kInt64:
        AppendRaw(elements.ints()[row], out);
        break;
      case Physical::kDouble:
        AppendRaw(elements.doubles()[row], out);
        break;
      case Physical::kInt128:
        AppendRaw(elements.wides()[row], out);
        break;
      case Physical::kText:
        AppendRaw(elements.texts()[row].size, out);
        out.append(elements.text(row));
        break;
    }
  }
}

// A NULL row's text is empty, and kernels read every row: it counts as an empty array.
size_t ArraySize(std::string_view value) { return value.empty() ? 0 : TakeRaw<uint32_t>(value); }

void DecodeArray(std::string_view value, Column& elements) {
  if (value.empty()) return;
  const size_t count = TakeRaw<uint32_t>(value);
  for (size_t i = 0; i < count; ++i) {
    if (TakeRaw<char>(value) == 0) {
      elements.AppendNull();
      continue;
    }
    switch (elements.physical()) {
      case Physical::kBool:
        elements.AppendBool(TakeRaw<char>(value) != 0);
        break;
      case Physical::kInt64:
        elements.AppendInt(TakeRaw<int64_t>(value));
        break;
      case Physical::kDouble:
        elements.AppendDouble(TakeRaw<double>(value));
        break;
      case Physical::kInt128:
        elements.AppendWide(TakeRaw<Int128>(value));
        break;
      case Physical::kText: {
        const size_t size = TakeRaw<uint32_t>(value);
        WEIR_CHECK_LE(size, value.size());
        elements.AppendText(value.substr(0, size));
        value.remove_prefix(size);
        break;
      }
    }
  }
}

}  // namespace weir
