// Finds out whether this program is built with a sanitizer, which needs memory and time of its own.
#pragma once

#if defined(__has_feature)
#define STRIA_TEST_HAS_FEATURE(x) __has_feature(x)
#else
#define STRIA_TEST_HAS_FEATURE(x) 0
#endif

namespace stria {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || STRIA_TEST_HAS_FEATURE(address_sanitizer) || \
    STRIA_TEST_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace stria

#undef STRIA_TEST_HAS_FEATURE
