// The part of Foundation that everything else uses: values such as URL, Data and Date, JSON coding, and files.
//
// On Linux, all of Foundation brings ICU: 60 MB in a static binary, and 2 ms at each start.
#if canImport(FoundationEssentials)
  @_exported public import FoundationEssentials
#else
  @_exported public import Foundation
#endif
// Foundation exports the C library, and its essentials do not.
#if canImport(Glibc)
  @_exported public import Glibc
#elseif canImport(Musl)
  @_exported public import Musl
#endif
