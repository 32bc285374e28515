import AggregatorKit
import AggregatorTerminal
import Foundation

/// Settings files and their values.
extension FuzzTarget {
  static let settings = [xcconfig, settingsFile, rate]

  private static let known = [
    Setting("SERVICE_URL", .url, default: "https://h", about: "where"),
    Setting("SERVICE_KEY", .secret, about: "the key"),
  ]
  private static let byKey = Dictionary(uniqueKeysWithValues: known.map { ($0.key, $0) })

  private static let files = [
    "// c\nSERVICE_URL = https:/$()/example.org/a // why\nSERVICE_KEY = abc123;\n",
    "A = x\nB = $(A)$(A)\nSERVICE_URL = ${B}/$(inherited)\r\n#include? \"other.xcconfig\"\n",
    "\u{FEFF}SERVICE_URL[sdk=*] = https://cut\n\nA[x=y][z] = \"q\"\n",
  ].map { Array($0.utf8) }

  private static let tokens = [
    "SERVICE_URL", "SERVICE_KEY", "A", "B", " = ", "=", "[", "]", "[sdk=*]", "$", "$(", "${", ")",
    "}",
    "$()", "$(inherited)", "$(SERVICE_KEY)", "$(SERVICE_URL)", "$(A)", "$(B)", "//", "http:", ";",
    "#include \"", "#include? \"a\"", "\n", "\r", "\u{FEFF}",
  ]

  private static func layer(_ bytes: [UInt8]) -> SettingsLayer {
    SettingsLayer(SettingsText("root", bytes: bytes)) { path in
      path.count > 3 ? .missing : .text(SettingsText(path, bytes: bytes))
    }
  }

  private static let settingsFile = FuzzTarget(
    "settings-file", samples: files, tokens: tokens, cost: .medium
  ) { bytes in
    let layer = layer(bytes)
    var expansion = SettingsExpansion(of: layer, settings: byKey) { _ in "below" }
    for setting in known {
      do throws(SourceError) {
        let value = try expansion.value(of: setting.key)
        guard (value?.utf8.count ?? 0) > SettingsExpansion.maxValueLength else { continue }
      } catch {
        try expectHarmless(error)
        continue
      }
      throw BrokenInvariant("\(setting.key) is too long")
    }
    let maxCount = SettingsLayer.maxDiagnostics
    try expect(
      layer.diagnostics.count <= min(maxCount, layer.diagnosticCount), "too many diagnostics")
    for diagnostic in layer.diagnostics { try expectHarmless(diagnostic) }
  }

  /// The first line is the value to set; the rest is the file.
  private static let xcconfig = FuzzTarget(
    "xcconfig", samples: files.map { Array("https://new/$(x);\n".utf8) + $0 }, tokens: tokens
  ) { bytes in
    let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1)
    let (head, file) = (parts.first ?? [], Array(parts.dropFirst().first ?? []))
    let value = String(decoding: head, as: UTF8.self).safeLine
      .trimmingCharacters(in: .whitespaces)
    let isUTF16 = file.starts(with: [0xFE, 0xFF]) || file.starts(with: [0xFF, 0xFE])
    let isQuoted =
      value.utf8.count > 1 && value.first == value.last && "\"'".contains(value.prefix(1))
    guard !value.isEmpty, value.utf8.count < 8000, !isUTF16, !isQuoted else { return }
    let edited = Xcconfig.setting("SERVICE_URL", to: value, in: file)
    // Without includes, which might set it again.
    let layer = SettingsLayer(SettingsText("f", bytes: edited)) { _ in .missing }
    var expansion = SettingsExpansion(of: layer, settings: byKey) { _ in nil }
    let found = try? expansion.value(of: "SERVICE_URL")
    try expect(found == value, "\(value) was set, and \(found ?? "nothing") is read")
    let same = Xcconfig.setting("SERVICE_URL", to: value, in: edited)
    try expect(same == edited, "set again it is another file")
    let removed = Xcconfig.removing("SERVICE_URL", from: edited)
    let isGone = Xcconfig(removed).lines.allSatisfy { line in
      guard case .assignment(let found) = line.statement else { return true }
      return found.key != "SERVICE_URL" || found.isConditional
    }
    try expect(isGone, "it was removed, and is still there")
  }

  private static let rate = FuzzTarget(
    "rate", texts: ["1/s 200/h", "20000/5m", "60/60s"], tokens: ["/", "s", "m", "h", "999999999"]
  ) { text in
    guard let rate = Rate(text) else { return }
    try expect(Rate(rate.description) == rate, "\(rate) reads as another rate")
    let isTrue = rate.bounds.allSatisfy { $0.count > 0 && $0.period >= .seconds(1) }
    try expect(isTrue, "a bound makes no sense")
  }
}
