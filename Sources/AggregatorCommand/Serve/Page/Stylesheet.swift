enum Stylesheet {
  static let text = ""
}
