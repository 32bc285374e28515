import AggregatorSourceTesting

/// Checks a range of cases of one target.
package struct Campaign: Sendable {
  package let target: FuzzTarget

  package let seed: UInt64

  /// The time limit for one input; `nil` for none.
  package let timeLimit: Duration?

  package struct Outcome: Sendable, Codable {
    /// The number of inputs checked.
    package var inputs = 0
    /// The time of the slowest input, in milliseconds.
    package var milliseconds = 0.0
    /// The number of the slowest case.
    package var slowest = 0
    /// The first few findings.
    package var findings: [Finding] = []

    package init() {}
  }

  private static let maxFindings = 3

  package init(of target: FuzzTarget, seed: UInt64, timeLimit: Duration? = .seconds(20)) {
    self.target = target
    self.seed = seed
    self.timeLimit = timeLimit
  }

  /// Checks cases until the deadline.
  ///
  /// - Parameter progress: Called with each case before it is checked, to identify one that hangs.
  @concurrent package func run(
    _ numbers: Range<Int>, until deadline: ContinuousClock.Instant? = nil,
    progress: @Sendable (Int) -> Void = { _ in }
  ) async -> Outcome {
    var outcome = Outcome()
    for number in numbers {
      let start = ContinuousClock.now
      if let deadline, start >= deadline { break }
      let input = target.input(of: number, seed: seed)
      progress(number)
      let begin = ContinuousClock.now
      let failure = await target.failure(for: input)
      let taken = ContinuousClock.now - begin
      outcome.inputs += 1
      if taken / .milliseconds(1) > outcome.milliseconds {
        (outcome.milliseconds, outcome.slowest) = (taken / .milliseconds(1), number)
      }
      if let failure {
        let short = await target.shortened(input)
        outcome.findings.append(
          Finding(target: target.name, number: number, what: failure, input: short))
      } else if let timeLimit, taken > timeLimit {
        outcome.findings.append(
          Finding(target: target.name, number: number, what: "took \(taken)", input: input))
      }
      if outcome.findings.count >= Self.maxFindings { break }
    }
    return outcome
  }
}

extension FuzzTarget {
  /// The finding for an input; `nil` if all invariants hold.
  func failure(for input: [UInt8]) async -> String? {
    do {
      try await check(input)
      return nil
    } catch { return "\(error)" }
  }

  /// A shorter input that also fails, found by removing parts.
  func shortened(_ input: [UInt8]) async -> [UInt8] {
    var best = input
    let deadline = ContinuousClock.now + .seconds(5)
    var size = max(1, input.count / 2)
    while ContinuousClock.now < deadline {
      var isShorter = false
      var start = 0
      while start < best.count, ContinuousClock.now < deadline {
        var candidate = best
        candidate.removeSubrange(start..<min(start + size, best.count))
        if await failure(for: candidate) != nil {
          best = candidate
          isShorter = true
        } else {
          start += size
        }
      }
      if size == 1, !isShorter { break }
      size = max(1, size / 2)
    }
    return best
  }
}

/// An input that breaks an invariant.
package struct Finding: Sendable, Codable {
  package let target: String
  /// The number of the case, or of the shape.
  package let number: Int
  /// True if ``number`` is the number of a shape of ``GrowthSearch``.
  package let isShape: Bool
  /// The broken invariant.
  package let what: String
  /// The shortest failing input, escaped.
  package let input: String

  package init(
    target: String, number: Int, isShape: Bool = false, what: String, input: [UInt8]
  ) {
    self.target = target
    self.number = number
    self.isShape = isShape
    self.what = what
    self.input = input.escaped
  }
}

extension [UInt8] {
  /// Printable text that can be pasted into Swift; the middle of a long input is omitted.
  package var escaped: String {
    let maxBytes = 400
    guard count > maxBytes else { return self[...].escaped }
    return
      "\(prefix(maxBytes / 2).escaped) … \(count - maxBytes) bytes … \(suffix(maxBytes / 2).escaped)"
  }
}

extension ArraySlice<UInt8> {
  fileprivate var escaped: String {
    guard let text = String(validating: self, as: UTF8.self) else {
      return "bytes [" + map { "0x" + String($0, radix: 16) }.joined(separator: ", ") + "]"
    }
    return "\"" + text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined() + "\""
  }
}
