// MD5 (RFC 1321), for the SQL function of that name; not for anything that must resist an attacker.
#pragma once

#include <string>
#include <string_view>

namespace weir {

// Appends the digest as 32 hexadecimal digits.
void AppendMd5(std::string_view bytes, std::string& out);

}  // namespace weir
