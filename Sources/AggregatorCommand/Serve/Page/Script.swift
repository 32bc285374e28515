enum Script {
  static let text = ""
}
