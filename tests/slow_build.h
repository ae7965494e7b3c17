// Builds with a sanitizer are many times slower: their tests look at fewer random inputs.
#pragma once

namespace weir::testing {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSlowBuild = true;
#else
inline constexpr bool kSlowBuild = false;
#endif

}  // namespace weir::testing
