// What nearly every file of weir includes, compiled once a library.  Each file still includes what it uses.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/data/batch.h"
