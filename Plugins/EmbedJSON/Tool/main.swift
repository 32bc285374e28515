import Foundation

// aggregator-embed-json INPUT OUTPUT.swift: embeds a file of JSON, CSS, JavaScript or SVG as a Swift string constant.
//
// The literal is raw, so the text needs no escaping, and a `StaticString`, which costs nothing to compile or
// to start (Swift's own `.embedInCode` made an array of bytes that took 86 s for 232 KB). The files of pages, which no
// start of the program reads, are compressed by gzip, in Base64; comments of CSS and JavaScript that have lines of their own
// are left out.

let arguments = CommandLine.arguments
guard arguments.count == 3 else {
  try FileHandle.standardError.write(
    contentsOf: Data("usage: aggregator-embed-json INPUT OUTPUT\n".utf8))
  exit(64)
}
do {
  let input = URL(filePath: arguments[1])
  let name = input.deletingPathExtension().lastPathComponent
  guard name.wholeMatch(of: /[a-z][a-z0-9-]*/) != nil else {
    throw EmbeddingFailure("invalid file name \"\(input.lastPathComponent)\": use a-z, 0-9 and -")
  }
  let data = try Data(contentsOf: input)
  // Fail at build time instead of at run time.
  guard var text = String(validating: data, as: UTF8.self) else {
    throw EmbeddingFailure("\(input.path) is not UTF-8")
  }
  if input.pathExtension == "json" {
    _ = try JSONDecoder().decode(AnyJSON.self, from: data)
    text = text.withoutSpaceBetweenJSON
  } else {
    if ["css", "js"].contains(input.pathExtension) { text = text.withoutLinesOfComments }
    text = try compressed(text, beside: arguments[2]).base64EncodedString()
  }
  // Enough # that no run of them in the text can end the literal.
  let longest = text.split { $0 != "#" }.map(\.count).max() ?? 0
  let fence = String(repeating: "#", count: longest + 1)
  let constant = "bundled" + name.split(separator: "-").map(\.capitalized).joined()
  let source = """
    // Made from \(input.lastPathComponent) by aggregator-embed-json.
    let \(constant): StaticString = \(fence)\"\"\"
    \(text)
    \"\"\"\(fence)

    """
  try Data(source.utf8).write(to: URL(filePath: arguments[2]), options: .atomic)
} catch {
  try FileHandle.standardError.write(contentsOf: Data("error: \(error)\n".utf8))
  exit(1)
}

/// A text in the format of gzip, without name and time, so that the same text gives the same bytes.
func compressed(_ text: String, beside output: String) throws -> Data {
  let file = URL(filePath: "\(output).text")
  try Data(text.utf8).write(to: file)
  defer { try? FileManager.default.removeItem(at: file) }
  let gzip = Process()
  gzip.executableURL = URL(filePath: "/usr/bin/env")
  gzip.arguments = ["gzip", "-9", "-n", "-c", file.path]
  let output = Pipe()
  gzip.standardOutput = output
  try gzip.run()
  let data = try output.fileHandleForReading.readToEnd() ?? Data()
  gzip.waitUntilExit()
  guard gzip.terminationStatus == 0 else { throw EmbeddingFailure("gzip failed for \(file.path)") }
  return data
}

struct EmbeddingFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

extension String {
  /// This CSS or JavaScript without the comments that begin and end with a line.
  var withoutLinesOfComments: String {
    var isComment = false
    let lines = split(separator: "\n", omittingEmptySubsequences: false).filter { line in
      let words = line.drop { $0 == " " }
      if isComment || words.hasPrefix("/*") {
        isComment = !words.contains("*/")
        return !isComment && !words.hasSuffix("*/")
      }
      return !words.hasPrefix("//")
    }
    return lines.joined(separator: "\n")
  }

  /// This JSON without the white space between its values, which each start of the program would read.
  var withoutSpaceBetweenJSON: String {
    var isText = false
    var isEscaped = false
    return String(
      unicodeScalars.filter { scalar in
        defer { isEscaped = isText && !isEscaped && scalar == "\\" }
        if scalar == "\"", !isEscaped { isText.toggle() }
        return isText || ![" ", "\n", "\r", "\t"].contains(scalar)
      })
  }
}

/// Any JSON: decoding it checks the syntax.
struct AnyJSON: Decodable {
  init(from decoder: any Decoder) {}
}
