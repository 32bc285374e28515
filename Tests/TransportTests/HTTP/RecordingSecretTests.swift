import AggregatorSourceTesting
import Foundation
import Testing

@testable import AggregatorCore
@testable import AggregatorHTTP
@testable import AggregatorKit

@Suite struct RecordingSecretTests {
  static let key = "Canary/6f1e+0c27=ä"

  private let scan = SecretScanner([Secret(key)])

  private func finds(_ text: String) -> Bool { scan.finds(in: Array(text.utf8)) }

  static let forms = [
    "Canary/6f1e+0c27=ä", "CANARY/6F1E+0C27=ä", "Canary%2F6f1e%2B0c27%3D%C3%A4",
    "canary%2f6f1e+0c27=%c3%a4", "Canary%252F6f1e%252B0c27%253D%25C3%25A4",
    #"Canary\/6f1e+0c27=ä"#, #"Canary\/6f1e\u002b0c27\u003D\u00e4"#,
    #"\u0043\u0061nary/6f1e+0c27=\u00E4"#, #"Canary\\\/6f1e+0c27=\\u00e4"#,
    "Canary&#x2F;6f1e&#43;0c27&#x3D;&auml;", "Canary%2F6f1e\\u002b0c27=ä",
    "Can<b>ary/6f1e</b>+0c27=ä", "Canary/6f1e<!-- a > b -->+0c27=ä",
    "Ca\u{AD}nary/6f1e\u{200B}+0c27=ä",
    #"Canary/6f1e\u200b+0c27=\u00e4"#, "Canary/6f1e&lt;i&gt;+0c27=ä", "Canary/6f1e&shy;+0c27=ä",
  ]

  @Test(arguments: forms) func `finds a key in any form`(form: String) {
    #expect(finds(form))
    #expect(finds("{\"echo\": \"<\(form)>\"}"))
    #expect(!finds(form.replacing("6f1e", with: "6f1f").replacing("6F1E", with: "6F1F")))
  }

  @Test(arguments: 0..<300) func `finds a key that was escaped at random`(seed: UInt64) {
    var random = SeededGenerator(seed)
    var text = Self.key
    for _ in 0...Int.random(in: 0...2, using: &random) {
      text = text.unicodeScalars.map { scalar -> String in
        let plain = String(scalar)
        let isSpecial = "%\\&".unicodeScalars.contains(scalar)
        switch Int.random(in: isSpecial ? 0...2 : 0...5, using: &random) {
        case 0: return plain.utf8.map { "%" + Self.hex(UInt32($0), 2, &random) }.joined()
        case 1: return "\\u" + Self.hex(scalar.value, 4, &random)
        case 2: return "&#\(scalar.value);"
        default: return plain
        }
      }.joined()
    }
    #expect(finds("x\(text)y"))
  }

  private static func hex(_ value: UInt32, _ count: Int, _ random: inout SeededGenerator) -> String
  {
    let hex = String(value, radix: 16, uppercase: Bool.random(using: &random))
    return String(repeating: "0", count: max(0, count - hex.count)) + hex
  }

  @Test(arguments: 0...5) func `finds a key inside of base64`(offset: Int) {
    let text = Data((String(repeating: "u", count: offset) + Self.key + ":").utf8)
      .base64EncodedString()
    #expect(finds("Basic \(text)"))
    #expect(finds(text.replacing("+", with: "-").replacing("/", with: "_")))
    #expect(!finds(Data("something else altogether".utf8).base64EncodedString()))
  }

  @Test(arguments: forms + [Data(key.utf8).base64EncodedString()])
  func `replaces a key in any form`(form: String) {
    #expect(scan.redacted("<\(form)|\(form)>") == "<REDACTED|REDACTED>")
  }

  @Test(arguments: [#"abc%41defgh"ijkl"#, "abc&lt;defgh\"ijkl", "%41x%42abcdef"])
  func `replaces a key that contains an escape itself`(key: String) throws {
    let scan = SecretScanner([Secret(key)])
    #expect(scan.hasEscapedSecret)
    for text in [
      key, key.replacing("\"", with: #"\""#), key.percentEncoded, "%25" + key.dropFirst(),
    ] {
      let isWhole = text.first == key.first || text.hasPrefix("%25") && key.first == "%"
      if isWhole { #expect(scan.redacted("<\(text)>") == "<REDACTED>", "\(text)") }
    }
  }

  @Test func `replaces the token of a secret with a prefix`() {
    let token = "t0k3n/of+mine"
    for secret in [Secret(prefix: "Bearer ", token), Secret(prefix: "Bearer ", Secret(token))] {
      #expect(secret.reveal(\.self) == "Bearer t0k3n/of+mine")
      #expect(secret.description == "set (…)")
      let scan = SecretScanner([secret])
      for form in [
        token, "Bearer \(token)", token.percentEncoded, #"T0K3N\/of\u002bmine"#,
        Data(token.utf8).base64EncodedString(),
      ] {
        #expect(scan.redacted("<\(form)>") == "<REDACTED>")
      }
      #expect(scan.redacted("Bearer of news") == "Bearer of news")
    }
  }

  @Test func `replaces the credentials of a secret for basic authentication`() {
    let basic = Data("ann:correct-horse".utf8).base64EncodedString()
    let scan = SecretScanner([Secret(prefix: "Basic ", basic)])
    for form in ["Basic \(basic)", basic, "ann:correct-horse", "correct-horse"] {
      #expect(scan.redacted("<\(form)>") == "<REDACTED>")
    }
  }

  /// Keys with letters beyond ASCII, with forms in which services echo them.
  static let foreign = [
    ("schlüssel-2024", ["SCHLÜSSEL-2024", "Schlüssel-2024", "SCHLU\u{308}SSEL-2024"]),
    ("SCHLU\u{308}SSEL-2024", ["schlüssel-2024", "SCHLÜSSEL-2024", "schlu\u{308}ssel-2024"]),
    ("überkey-öffnen", ["Überkey-Öffnen", "ÜBERKEY-ÖFFNEN", "U\u{308}berkey-O\u{308}ffnen"]),
    ("große-straße", ["GROSSE-STRASSE", "Große-Straße"]),
    ("ключ-от-дома", ["КЛЮЧ-ОТ-ДОМА", "Ключ-От-Дома"]),
    ("clé\u{323}-secrète", ["CLE\u{323}\u{301}-SECRE\u{300}TE", "CL\u{1EB8}\u{301}-SECRÈTE"]),
  ]

  @Test(arguments: foreign)
  func `replaces a key beyond ASCII in capitals, composed or not`(key: String, echoes: [String]) {
    let scan = SecretScanner([Secret(key)])
    for echo in [key] + echoes {
      let escaped = echo.unicodeScalars.map {
        $0.isASCII ? String($0) : "\\u" + String(0x10000 + $0.value, radix: 16).dropFirst()
      }.joined()
      let references = echo.unicodeScalars.map { $0.isASCII ? String($0) : "&#\($0.value);" }
        .joined()
      for form in [
        echo, echo.percentEncoded, escaped, references, Data(echo.utf8).base64EncodedString(),
      ] {
        #expect(scan.redacted("<\(form)>") == "<REDACTED>", "\(form)")
        #expect(scan.finds(in: Array("x\(form)y".utf8)), "\(form)")
      }
    }
    #expect(scan.redacted("schloss-2024 öffnen großes") == "schloss-2024 öffnen großes")
  }

  @Test func `replaces an echo in capitals in errors and responses`() {
    let scan = SecretScanner([Secret("schlüssel-2024")])
    let error = SourceError(.malformed, "unknown key SCHLÜSSEL-2024", remedy: "not SCHLÜSSEL-2024")
    #expect(scan.redacted(error).message == "unknown key REDACTED")
    #expect(scan.redacted(error).remedy?.text == "not REDACTED")
    let response = HTTPResponse(
      status: 200, headers: [("x-key", "SCHLÜSSEL-2024")],
      body: Data(#"{"key":"SCHL\u00dcSSEL-2024"}"#.utf8))
    #expect(scan.redacted(response).headers.map { $0.value } == ["REDACTED"])
    #expect(String(decoding: scan.redacted(response).body, as: UTF8.self) == #"{"key":"REDACTED"}"#)
  }

  @Test func `scans markup and escapes without an end in linear time`() {
    for part in ["<a", "<!--", "&", "&lt;", "\\u", "%2", "\u{200B}"] {
      #expect(!finds(String(repeating: part, count: 100_000)))
    }
  }

  @Test func `finds a short key and does not replace it`() {
    let scan = SecretScanner([Secret("x1y2"), Secret("")])
    #expect(scan.finds(in: Array("a=X1y2".utf8)))
    #expect(scan.redacted("a=x1y2") == "a=x1y2")
    #expect(!SecretScanner([Secret("")]).finds(in: Array("a".utf8)))
  }
}
