/// What to do next.
enum Hint: ExpressibleByStringInterpolation {
  /// What to do, in words.
  case words(String)
  /// What to type after the program's name.
  case command(String)

  /// What to do, in words.
  init(stringLiteral value: String) { self = .words(value) }
}
