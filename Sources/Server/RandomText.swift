import AggregatorCore

extension String {
  /// 256 random bits as 64 hexadecimal digits, which nobody guesses.
  package static func randomHexadecimal() -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<4).map { _ in generator.next().text(radix: 16, digits: 16) }.joined()
  }
}
