extension String {
  /// The 64-bit FNV-1a hash (draft-eastlake-fnv): the same in every process, unlike `Hasher`.
  package var fnv1a: UInt64 {
    utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
