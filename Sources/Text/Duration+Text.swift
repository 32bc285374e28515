extension Duration {
  /// A short text, rounded up so that a wait is long enough: `500 ms`, `1.4 s`, `12 s`, `3 min`, `2 h`,
  /// `7 days`.
  package var text: String {
    let milliseconds = (self / .milliseconds(1)).rounded(.up)
    return switch milliseconds {
    case ...0: "0 s"
    case ..<1000: "\(Int(milliseconds)) ms"
    case ..<9_900 where milliseconds.truncatingRemainder(dividingBy: 1000) != 0:
      "\((milliseconds / 100).rounded(.up) / 10) s"
    case ..<120_000: "\(Int((milliseconds / 1000).rounded(.up))) s"
    case ..<7_200_000: "\(Int((milliseconds / 60_000).rounded(.up))) min"
    case 172_800_000..<8.64e15 where milliseconds.truncatingRemainder(dividingBy: 86_400_000) == 0:
      "\(Int(milliseconds / 86_400_000)) days"
    case ..<8.64e15: "\(Int((milliseconds / 3_600_000).rounded(.up))) h"
    default: "a very long time"
    }
  }
}

extension Int {
  /// This number of things: `1 page`, `2 pages`.
  package func of(_ word: String) -> String { "\(self) \(word)\(self == 1 ? "" : "s")" }
}
