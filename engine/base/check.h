// Assertions that stay in release builds: a broken invariant of weir stops the process with both values printed.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace weir {

template <class A, class B>
[[noreturn]] void CheckFailed(const char* file, int line, const char* text, const A& a, const B& b) {
  std::ostringstream out;
  out << file << ":" << line << ": bug in weir: " << text << " (" << a << " vs. " << b << ")\n";
  std::fputs(out.str().c_str(), stderr);
  std::abort();
}

}  // namespace weir

#define WEIR_CHECK(condition)                                                          \
  do {                                                                                 \
    if (!(condition)) ::weir::CheckFailed(__FILE__, __LINE__, #condition, false, true); \
  } while (false)
#define WEIR_CHECK_OP(a, op, b)                                                                   \
  do {                                                                                            \
    const auto& weir_a = (a);                                                                     \
    const auto& weir_b = (b);                                                                     \
    if (!(weir_a op weir_b)) ::weir::CheckFailed(__FILE__, __LINE__, #a " " #op " " #b, weir_a, weir_b); \
  } while (false)
#define WEIR_CHECK_EQ(a, b) WEIR_CHECK_OP(a, ==, b)
#define WEIR_CHECK_LT(a, b) WEIR_CHECK_OP(a, <, b)
#define WEIR_CHECK_LE(a, b) WEIR_CHECK_OP(a, <=, b)
