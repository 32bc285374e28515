extension String {
  /// The 64-bit FNV-1a hash of the UTF-8 (draft-eastlake-fnv): the same in every process, unlike
  /// `Hasher`.
  package var fnv1a: UInt64 {
    var text = self
    return text.withUTF8 { UnsafeRawBufferPointer($0).fnv1a() }
  }
}

extension UnsafeRawBufferPointer {
  /// The 64-bit FNV-1a hash of these bytes; of several pieces if the hash so far is given.
  ///
  /// Not of any sequence: without specialization a page took as long as to read its records.
  package func fnv1a(from hash: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
    reduce(hash) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
