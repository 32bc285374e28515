extension Weather {
  /// All weathers, the fair one first.
  public static let all: [Weather] =
    [fair] + busy + failing + connections + bodies + replies + pages

  /// Nothing is wrong.
  public static let fair = Weather(
    "fair", "Nothing is wrong.", .fair, play: .answer { _ in nil })
}
