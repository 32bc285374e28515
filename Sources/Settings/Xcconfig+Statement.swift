import AggregatorCore

extension Xcconfig.Statement {
  private static let longestKey = 128

  /// Reads one line.
  ///
  /// `nil` if the line is blank or a comment.
  ///
  /// - Parameter line: The line without its end, in the indices of its file.
  init?(_ line: ArraySlice<UInt8>) {
    guard line.count <= Xcconfig.longestLine else {
      self = .unreadable(XcconfigFault("the line is longer than \(Xcconfig.longestLine) bytes"))
      return
    }
    let content = line.trimmed
    if content.first == UInt8(ascii: "#") {
      self.init(directive: content)
    } else {
      self.init(content: line)
    }
  }

  private init(directive: ArraySlice<UInt8>) {
    self = .unreadable(
      XcconfigFault(
        "the line is no #include", remedy: "write #include \"file\", or // for a comment"))
    var rest = directive.dropFirst().trimmed
    guard rest.starts(with: Array("include".utf8)) else { return }
    rest = rest.dropFirst("include".utf8.count)
    let isOptional = rest.first == UInt8(ascii: "?")
    rest = (isOptional ? rest.dropFirst() : rest).trimmed
    let quote = UInt8(ascii: "\"")
    guard rest.first == quote, let end = rest.dropFirst().firstIndex(of: quote) else { return }
    let path = rest[rest.startIndex + 1..<end]
    let after = rest[(end + 1)...].trimmed
    guard !path.isEmpty, after.isEmpty || after.starts(with: Array("//".utf8)) else { return }
    switch Self.text(path) {
    case .success(let path): self = .include(path, isOptional: isOptional)
    case .failure(let fault): self = .unreadable(fault)
    }
  }

  private init?(content line: ArraySlice<UInt8>) {
    let comment = line.firstRange(of: Array("//".utf8))?.lowerBound ?? line.endIndex
    let content = line[..<comment].trimmed
    guard !content.isEmpty else { return nil }
    switch Self.text(content) {
    case .failure(let fault): self = .unreadable(fault)
    case .success:
      do throws(XcconfigFault) {
        self = .assignment(try Self.assignment(content, comment: comment..<line.endIndex))
      } catch {
        self = .unreadable(error)
      }
    }
  }

  private static func assignment(
    _ content: ArraySlice<UInt8>, comment: Range<Int>
  ) throws(XcconfigFault) -> Xcconfig.Assignment {
    let key = content.prefix(while: \.isKeyByte)
    guard key.count <= longestKey else {
      throw XcconfigFault("the key is longer than \(longestKey) characters")
    }
    var rest = content[key.endIndex...].trimmed
    var isConditional = false
    while !key.isEmpty, rest.first == UInt8(ascii: "[") {
      guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else {
        throw XcconfigFault("the [ after the key has no ]", remedy: "write KEY = value")
      }
      rest = rest[(end + 1)...].trimmed
      isConditional = true
    }
    guard rest.first == UInt8(ascii: "=") else {
      throw content.contains(UInt8(ascii: "="))
        ? XcconfigFault("the line has no key of letters, digits and _ before its =")
        : XcconfigFault("the line has no =", remedy: "write KEY = value, or // for a comment")
    }
    guard let first = key.first, !first.isDigit else {
      throw XcconfigFault("the line has no key before its =", remedy: "write KEY = value")
    }
    var value = rest.dropFirst().trimmed
    while value.last == UInt8(ascii: ";") { value = value.dropLast().trimmed }
    return Xcconfig.Assignment(
      key: String(decoding: key, as: UTF8.self), value: String(decoding: value, as: UTF8.self),
      isConditional: isConditional, valueRange: value.startIndex..<value.endIndex,
      commentRange: comment)
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> Result<String, XcconfigFault> {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return .failure(XcconfigFault("the line is not UTF-8", remedy: "save the file as UTF-8"))
    }
    for byte in bytes where byte.isControl {
      return .failure(
        XcconfigFault(
          byte == 0 ? "the line holds a NUL character" : "the line holds a control character",
          remedy: "remove it"))
    }
    return .success(text)
  }
}

extension ArraySlice<UInt8> {
  /// Without the spaces and tabs at either end; of a blank slice, the empty slice at its end.
  fileprivate var trimmed: Self {
    let rest = drop { $0.isBlank }
    return rest.lastIndex { !$0.isBlank }.map { rest[...$0] } ?? rest
  }
}

extension UInt8 {
  fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }

  fileprivate var isControl: Bool { (self < 0x20 && self != UInt8(ascii: "\t")) || self == 0x7F }

  fileprivate var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }

  /// Whether it may stand in a key: a letter, a digit or `_`.
  var isKeyByte: Bool {
    isDigit || (self | 0x20) &- UInt8(ascii: "a") < 26 || self == UInt8(ascii: "_")
  }
}
