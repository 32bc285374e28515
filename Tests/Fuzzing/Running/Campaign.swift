import AggregatorSourceTesting

/// Some cases of a target, one after the other.
package struct Campaign: Sendable {
  /// What is tried.
  package let target: FuzzTarget

  /// What the inputs are made from.
  package let seed: UInt64

  /// How long one input may take; `nil` for any time.
  package let patience: Duration?

  /// What came of it.
  package struct Outcome: Sendable, Codable {
    /// How many inputs were tried.
    package var inputs = 0
    /// How long the slowest input took, in milliseconds.
    package var milliseconds = 0.0
    /// Which case that was.
    package var slowest = 0
    /// What was found; the first few.
    package var findings: [Finding] = []

    /// Nothing yet.
    package init() {}
  }

  /// How many findings are enough.
  private static let mostFindings = 3

  /// A campaign.
  package init(of target: FuzzTarget, seed: UInt64, patience: Duration? = .seconds(20)) {
    self.target = target
    self.seed = seed
    self.patience = patience
  }

  /// Tries cases.
  ///
  /// - Parameters:
  ///   - numbers: Which.
  ///   - deadline: When to stop; never by default.
  ///   - progress: Is told of each case before it is tried, so that somebody knows if it never ends.
  /// - Returns: What came of it.
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
      let complaint = await target.complaint(about: input)
      let taken = ContinuousClock.now - begin
      outcome.inputs += 1
      if taken / .milliseconds(1) > outcome.milliseconds {
        (outcome.milliseconds, outcome.slowest) = (taken / .milliseconds(1), number)
      }
      if let complaint {
        let short = await target.shortened(input)
        outcome.findings.append(
          Finding(target: target.name, number: number, what: complaint, input: short))
      } else if let patience, taken > patience {
        outcome.findings.append(
          Finding(target: target.name, number: number, what: "took \(taken)", input: input))
      }
      if outcome.findings.count >= Self.mostFindings { break }
    }
    return outcome
  }
}

extension FuzzTarget {
  /// What is wrong with what the parser made of an input; `nil` if nothing is.
  func complaint(about input: [UInt8]) async -> String? {
    do {
      try await check(input)
      return nil
    } catch { return "\(error)" }
  }

  /// A short input that is complained about as well, made by leaving out parts.
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
        if await complaint(about: candidate) != nil {
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

/// A promise that an input broke.
package struct Finding: Sendable, Codable {
  /// Which parser.
  package let target: String
  /// The case by which it was found.
  package let number: Int
  /// Whether that is the number of a shape, as ``LoadMorePolicy`` has them.
  package let isShape: Bool
  /// What went wrong.
  package let what: String
  /// The shortest input that was found for it, as a text of escapes.
  package let input: String

  /// A finding.
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
  /// These bytes as a text that can be printed, and pasted into Swift; the middle of a long one is left out.
  package var escaped: String {
    let most = 400
    guard count > most else { return self[...].escaped }
    return "\(prefix(most / 2).escaped) … \(count - most) bytes … \(suffix(most / 2).escaped)"
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
