import AggregatorCommand
import AggregatorKit

/// What other programs read of ours, read back by strict readers.
extension FuzzTarget {
  static let output = [csv, tsv]

  private static let cells = [
    "a,b", "say \"x\"\r\n", "=1+1", "-3.5", "日本\te\u{301}", "\\t\\x41", "'",
  ]

  /// A cell a line.
  private static let csv = FuzzTarget("csv", texts: cells, tokens: [",", "\"", "\r", "\n", "="]) {
    text in
    let cells = text.split(separator: "\u{1}", omittingEmptySubsequences: false).map(String.init)
    let row = cells.map { $0.csvCell(isRaw: true) }.joined(separator: ",")
    let read = try SeparatedText.csv(row)
    try expect(read.count == 1, "\(read.count) rows instead of one")
    try expect(
      (read.first ?? []).elementsEqual(cells) { Array($0.utf8) == Array($1.safeCell.utf8) },
      "it reads as \(read)")
    for cell in cells {
      let shown = try SeparatedText.csv(cell.csvCell(isRaw: false)).first?.first ?? ""
      let isFormula = shown.utf8.first.map { "=+-@\t\r".utf8.contains($0) } ?? false
      try expect(!isFormula || Double(shown) != nil, "a formula is left: \(shown)")
    }
  }

  private static let tsv = FuzzTarget("tsv", texts: cells, tokens: ["\\", "\t", "\n", "\\x"]) {
    text in
    let escaped = text.tsvEscaped
    let bad = escaped.unicodeScalars.first(where: \.isInvisible)
    try expect(bad == nil, "it has U+\(String(bad?.value ?? 0, radix: 16))")
    let read = try SeparatedText.unescaped(escaped)
    try expect(read == Array(text.utf8), "it reads as another text")
  }
}
