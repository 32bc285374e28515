import AggregatorSourceTesting

extension Mutator {
  /// Changes a few bytes.
  func change(_ bytes: inout [UInt8], _ random: inout Seeded) {
    let checkpoint = Int.random(in: 0...bytes.count, using: &random)
    let slice = self.slice(of: bytes, &random)
    switch Int.random(in: 0..<9, using: &random) {
    case 0 where checkpoint < bytes.count:
      bytes[checkpoint] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1 where checkpoint < bytes.count: bytes[checkpoint] = .random(in: 0...255, using: &random)
    case 2: bytes.removeSubrange(slice)
    case 3: bytes.removeSubrange(checkpoint...)
    case 4:
      let isLong = Int.random(in: 0..<10, using: &random) == 0
      let times = isLong ? Int.random(in: 1...2000, using: &random) : 1
      let most = max(1, Self.longest / max(1, slice.count))
      bytes.insert(
        contentsOf: repeatElement(bytes[slice], count: min(times, most)).joined(), at: checkpoint)
    case 5:
      let other = samples.randomElement(using: &random) ?? []
      bytes.replaceSubrange(
        checkpoint..., with: other[self.slice(of: other, &random).lowerBound...])
    case 6: bytes.replaceSubrange(slice, with: Hostile.number(&random).utf8)
    default:
      let token = tokens.randomElement(using: &random) ?? []
      let isReplaced = Bool.random(using: &random)
      bytes.replaceSubrange(isReplaced ? slice : checkpoint..<checkpoint, with: token)
    }
  }

  /// Mostly a short one.
  private func slice(of bytes: [UInt8], _ random: inout Seeded) -> Range<Int> {
    let start = Int.random(in: 0...bytes.count, using: &random)
    let longest = Bool.random(using: &random) ? 8 : bytes.count
    let count = Int.random(in: 0...min(longest, bytes.count - start), using: &random)
    return start..<start + count
  }
}
