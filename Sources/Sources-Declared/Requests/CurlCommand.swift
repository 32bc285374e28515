package import AggregatorKit

/// The request of a `curl` command line, such as browsers copy and documentation shows.
///
/// The command is not run, and nothing in it is expanded: `$NAME` of a shell becomes `${NAME}`, a setting.
package struct CurlCommand: Hashable, Sendable {
  package var request = SourceRequest()

  /// The names of header fields that a browser adds to every request, and that are not sent.
  package private(set) var leftOut: [String] = []

  private var method: String?
  private var data: [String] = []
  private var sendsDataInURL = false

  /// The most bytes of a command line.
  package static let maxSize = 256 << 10

  package init(_ text: String) throws(SourceError) {
    var reader = ShellReader(text)
    var words = try reader.words()[...]
    // A prompt that was copied, too.
    if words.first == "$" || words.first == "%" { words.removeFirst() }
    guard let program = words.popFirst()?.split(separator: "/").last,
      program == "curl" || program == "curl.exe"
    else { throw Self.invalid("it must begin with curl") }
    while let word = words.popFirst() { try read(word, &words) }
    guard !request.url.isEmpty else { throw Self.invalid("it has no URL") }
    try finish()
  }

  fileprivate static func invalid(_ reason: String, hint: String? = nil) -> SourceError {
    SourceError(
      .invalidRequest, "cannot read the curl command: \(reason)", remedy: hint.map { Remedy($0) })
  }

  // MARK: - Options

  /// Options of how to send or print, which do not change the request.
  private static let ignored: Set<String> = [
    "-s", "--silent", "-S", "--show-error", "-L", "--location", "-i", "--include", "-v",
    "--verbose", "-f", "--fail", "--fail-with-body", "-g", "--globoff", "-N", "--no-buffer", "-#",
    "--progress-bar", "--no-progress-meter", "--compressed", "--http1.1", "--http2", "--http3",
    "--tlsv1.2", "-4", "--ipv4", "-6", "--ipv6",
  ]

  /// The long names of options with a value.
  private static let valued: [Character: String] = [
    "H": "--header", "X": "--request", "d": "--data", "b": "--cookie", "u": "--user",
    "A": "--user-agent", "e": "--referer",
  ]

  private mutating func read(
    _ word: String, _ rest: inout ArraySlice<String>
  ) throws(SourceError) {
    guard word.hasPrefix("-"), word != "-" else { return try setURL(word) }
    if word.hasPrefix("--") { return try readOption(word, nil, &rest) }
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      if let name = Self.valued[letter] {
        let value = letters.isEmpty ? nil : String(letters)
        return try readOption(name, value, &rest)
      }
      try readOption("-\(letter)", nil, &rest)
    }
  }

  private mutating func readOption(
    _ name: String, _ attached: String?, _ rest: inout ArraySlice<String>
  ) throws(SourceError) {
    func value() throws(SourceError) -> String {
      guard let value = attached ?? rest.popFirst() else {
        throw Self.invalid("the value of \(name) is missing")
      }
      return value
    }
    switch name {
    case "--header": try addHeader(value())
    case "--request": method = try value().uppercased()
    case "--data", "--data-ascii", "--data-binary": try addData(value(), name)
    // It takes a leading @ literally.
    case "--data-raw": data.append(try value())
    case "--data-urlencode": data.append(try encodedData(value()))
    case "--json": try addData(value(), name)
    case "--cookie":
      let cookies = try value()
      guard cookies.contains("=") else { throw Self.invalid("cookies in a file cannot be read") }
      request.headers.append(.init(name: "Cookie", value: cookies))
    case "--user":
      let parts = try value().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = parts.first, !name.isEmpty else { throw Self.invalid("the user is missing") }
      request.user = .init(
        name: String(name), password: parts.count > 1 ? String(parts[1]) : nil)
    case "--oauth2-bearer":
      request.headers.append(.init(name: "Authorization", value: "Bearer \(try value())"))
    case "--user-agent": request.headers.append(.init(name: "User-Agent", value: try value()))
    case "--referer": request.headers.append(.init(name: "Referer", value: try value()))
    case "--url": try setURL(value())
    case "-G", "--get": sendsDataInURL = true
    case "-k", "--insecure":
      throw Self.invalid("\(name) is not supported: certificates are always verified")
    case _ where Self.ignored.contains(name): break
    default:
      throw Self.invalid("unknown option \(name)", hint: "remove it if the API does not need it")
    }
  }

  private mutating func setURL(_ url: String) throws(SourceError) {
    guard request.url.isEmpty else {
      throw Self.invalid("it has two URLs, the second is \"\(url.oneLine(atMost: 80))\"")
    }
    request.url = url
  }

  private mutating func addHeader(_ field: String) throws(SourceError) {
    let header = try SourceRequest.Header(parsing: field)
    // curl removes a field without a value.
    if header.value.isEmpty { return }
    if header.isOfBrowser { leftOut.append(header.name) } else { request.headers.append(header) }
  }

  private mutating func addData(_ text: String, _ option: String) throws(SourceError) {
    guard !text.hasPrefix("@") else {
      throw Self.invalid("\(option) names a file", hint: "write the contents of the file instead")
    }
    data.append(text)
  }

  /// `name=text`, `=text` or `text`, percent-encoded but for the name.
  private func encodedData(_ text: String) throws(SourceError) -> String {
    guard let mark = text.firstIndex(where: { $0 == "=" || $0 == "@" }) else {
      return text.percentEncoded
    }
    guard text[mark] == "=" else { throw Self.invalid("--data-urlencode names a file") }
    let value = String(text[text.index(after: mark)...]).percentEncoded
    return mark == text.startIndex ? value : "\(text[..<mark])=\(value)"
  }

  // MARK: - Method and body

  private mutating func finish() throws(SourceError) {
    if sendsDataInURL, !data.isEmpty {
      request.url += (request.url.contains("?") ? "&" : "?") + data.joined(separator: "&")
      data = []
    }
    let method = method ?? (data.isEmpty ? "GET" : "POST")
    switch method {
    case "GET" where data.isEmpty: break
    case "POST" where !data.isEmpty:
      guard let body = JSONText(Data(data.joined(separator: "&").utf8)).map({ JSON($0) })
      else {
        throw Self.invalid("the body is not JSON", hint: "only JSON bodies are supported")
      }
      request.body = body
    case "GET", "POST":
      throw Self.invalid("a \(method) request \(data.isEmpty ? "without" : "with") a body")
    default:
      throw Self.invalid("unsupported method \"\(method)\"", hint: "use GET, or POST with a body")
    }
    // A body is sent as JSON anyway.
    request.headers.removeAll { header in
      header.name.lowercased() == "content-type"
        && (request.body == nil || header.value.lowercased().hasPrefix("application/json"))
    }
  }
}

extension SourceRequest.Header {
  /// Header fields of every browser, or of one connection or reply.
  private static let ofBrowsers: Set<String> = [
    "authority", "user-agent", "accept-encoding", "accept-language", "connection", "content-length",
    "host", "priority", "origin", "referer", "dnt", "te", "pragma", "cache-control", "keep-alive",
    "proxy-connection", "upgrade-insecure-requests", "if-none-match", "if-modified-since", "range",
  ]

  fileprivate var isOfBrowser: Bool {
    let name = name.lowercased()
    return Self.ofBrowsers.contains(name) || name.hasPrefix("sec-")
      || name == "accept" && value == "*/*"
  }
}

/// Splits the first command of a text into words, as `sh` and `bash` do.
private struct ShellReader {
  private var rest: Substring
  private var word = ""
  private var complete: [String] = []

  /// True inside a word, even an empty one such as `''`.
  private var isInside = false

  init(_ text: String) { rest = Substring(text.replacing("\r\n", with: "\n")) }

  mutating func words() throws(SourceError) -> [String] {
    if rest.contains(/\s\^(\n|")/) {
      throw CurlCommand.invalid(
        "it is quoted for Windows, with \"^\"", hint: "copy it as cURL (bash)")
    }
    while let character = rest.popFirst() {
      switch character {
      case "\\":
        // At the end of a line it continues the command.
        if let next = rest.popFirst(), next != "\n" { put(next) }
      case "'": try readQuoted { _ in nil }
      case "\"": try readDoubleQuoted()
      case "$": try readDollar(inQuotes: false)
      case "`": throw Self.substitution
      case " ", "\t": endWord()
      case "\n", ";", "&":
        // Within a word it is part of a URL that is not quoted.
        if isInside, character == "&", rest.first?.isWhitespace == false {
          put(character)
          continue
        }
        endWord()
        if complete.isEmpty { continue }
        guard rest.allSatisfy(\.isWhitespace) else {
          throw CurlCommand.invalid("there is more than one command")
        }
        return complete
      case "|" where !isInside, ">" where !isInside, "<" where !isInside: return complete
      case "#" where !isInside: rest = rest.drop { $0 != "\n" }
      default: put(character)
      }
    }
    endWord()
    return complete
  }

  private static var substitution: SourceError {
    CurlCommand.invalid("commands in it are not run", hint: "write their output instead")
  }

  private mutating func put(_ character: Character) {
    word.append(character)
    isInside = true
  }

  private mutating func endWord() {
    if isInside { complete.append(word) }
    (word, isInside) = ("", false)
  }

  /// Reads to the closing `'`; `escape` replaces a backslash and what follows.
  private mutating func readQuoted(
    _ escape: (inout Substring) -> String?
  ) throws(SourceError) {
    isInside = true
    while let character = rest.popFirst() {
      if character == "'" { return }
      if character == "\\", let text = escape(&rest) {
        word += text
      } else {
        word.append(character)
      }
    }
    throw CurlCommand.invalid("a quote is not closed")
  }

  private mutating func readDoubleQuoted() throws(SourceError) {
    isInside = true
    while let character = rest.popFirst() {
      switch character {
      case "\"": return
      case "$": try readDollar(inQuotes: true)
      case "`": throw Self.substitution
      case "\\" where rest.first.map { "\\\"$`\n".contains($0) } ?? false:
        if let next = rest.popFirst(), next != "\n" { word.append(next) }
      default: word.append(character)
      }
    }
    throw CurlCommand.invalid("a quote is not closed")
  }

  /// Reads the text after a `$`: `'…'` with escapes, or a variable.
  private mutating func readDollar(inQuotes: Bool) throws(SourceError) {
    if !inQuotes, rest.first == "'" {
      rest.removeFirst()
      return try readQuoted(Self.unescaped)
    }
    if rest.first == "(" { throw Self.substitution }
    guard let match = rest.prefixMatch(of: /\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*)/)
    else { return put("$") }
    let name = match.output.1 ?? match.output.2 ?? ""
    guard name.first?.isUppercase == true, !name.contains(where: \.isLowercase) else {
      throw CurlCommand.invalid(
        "the shell variable \"\(name)\" is unknown", hint: "write its value instead")
    }
    rest = rest[match.range.upperBound...]
    word += "${\(name)}"
    isInside = true
  }

  /// The character of an escape sequence in `$'…'`, after its backslash; `nil` for none.
  private static func unescaped(_ rest: inout Substring) -> String? {
    let simple: [Character: String] = [
      "n": "\n", "t": "\t", "r": "\r", "a": "\u{7}", "b": "\u{8}", "e": "\u{1B}", "E": "\u{1B}",
      "f": "\u{C}", "v": "\u{B}", "\\": "\\", "'": "'", "\"": "\"", "?": "?",
    ]
    if let text = rest.first.flatMap({ simple[$0] }) {
      rest.removeFirst()
      return text
    }
    let number = /x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|[0-7]{1,3}/
    guard let match = rest.prefixMatch(of: number) else { return nil }
    let hexadecimal = match.output.1 ?? match.output.2 ?? match.output.3
    let code = UInt32(hexadecimal ?? match.output.0, radix: hexadecimal == nil ? 8 : 16)
    guard let scalar = code.flatMap(Unicode.Scalar.init) else { return nil }
    rest = rest[match.range.upperBound...]
    return String(scalar)
  }
}
