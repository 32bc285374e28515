extension String {
  /// The 64-bit FNV-1a hash of the UTF-8 (draft-eastlake-fnv): the same in every process, unlike
  /// `Hasher`.
  package var fnv1a: UInt64 { utf8.fnv1a() }
}

extension Sequence<UInt8> {
  /// The 64-bit FNV-1a hash of these bytes; of several pieces if the hash so far is given.
  package func fnv1a(from hash: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
    reduce(hash) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
