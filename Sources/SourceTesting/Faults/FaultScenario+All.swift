extension FaultScenario {
  /// All weathers, the fair one first.
  public static let all: [FaultScenario] =
    [fair] + busy + failing + connections + bodies + replies + pages

  /// Nothing is wrong.
  public static let fair = FaultScenario(
    "fair", "Nothing is wrong.", .fair, play: .answer { _ in nil })
}
