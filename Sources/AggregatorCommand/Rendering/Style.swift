/// Colour and weight, or their absence: the one place that knows the codes (ECMA-48, SGR).
struct Style: Hashable, Sendable {
  /// What a piece of text is, which decides how it looks.
  enum Role: String {
    /// A heading: bold.
    case heading = "1"
    /// What only helps to find the rest, such as a label: dim.
    case label = "2"
    /// The word `error`: red.
    case error = "31"
    /// The word `warning`: yellow.
    case warning = "33"
    /// The word `hint`: cyan.
    case hint = "36"
  }

  /// Whether anything is styled at all.
  let isOn: Bool

  /// Text in the style of its role; the text as it is where styles are off or it is empty.
  func callAsFunction(_ role: Role, _ text: String) -> String {
    isOn && !text.isEmpty ? "\u{1B}[\(role.rawValue)m\(text)\u{1B}[0m" : text
  }
}
