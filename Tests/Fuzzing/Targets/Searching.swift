import AggregatorKit
import Foundation

/// What people look for, and what it is looked for in.
extension FuzzTarget {
  static let searching = [folded, query]

  private static let words = ["Curaçao", "Ｆｕｌｌ", "한글 ガ ｶﾞ", "İstanbul ẞ Σς", "a  b\u{A0}c"]

  private static let folded = FuzzTarget("folded", texts: words) { text in
    let folded = Folded(text)
    try expect(folded.contains(folded), "it does not contain itself")
    let slowly = text.folding(
      options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil
    ).precomposedStringWithCanonicalMapping
    try expect(folded.text.utf8.elementsEqual(slowly.utf8), "Foundation folds it otherwise")
  }

  private static let query = FuzzTarget("query", texts: words) { text in
    guard let query = try? Query(text) else {
      return try expect(text.allSatisfy(\.isWhitespace), "it is refused although it has words")
    }
    try expect((try? Query(query.text)) == query, "read again it is another query")
    try expect(!query.words.isEmpty, "it has no words")
    // A mark folds to something else where there is a letter before it.
    let isPlain = query.text.allSatisfy { letter in
      letter.isASCII || letter.unicodeScalars.count == 1 && letter.isLetter && letter != "ﾞ"
    }
    let matches = Folded(query.text).containsAll(query.words)
    try expect(matches || !isPlain, "it does not match itself")
  }
}
