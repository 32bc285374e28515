import AggregatorFoundation

extension UnsafeRawBufferPointer {
  /// The first occurrence of `needle`; `nil` if there is none, or if it is empty.
  package func offset(of needle: [UInt8], from start: Int = 0) -> Int? {
    guard let base = baseAddress, let first = needle.first else { return nil }
    var at = start
    // Glibc's module does not export memmem; memchr skips most of the bytes as quickly.
    while at + needle.count <= count,
      let found = memchr(base + at, Int32(first), count - at - needle.count + 1)
    {
      at = UnsafeRawPointer(found) - base
      if memcmp(base + at, needle, needle.count) == 0 { return at }
      at += 1
    }
    return nil
  }
}
