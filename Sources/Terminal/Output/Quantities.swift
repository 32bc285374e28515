package import AggregatorKit

extension Plugin {
  package var noun: RecordNoun { RecordNoun(name) }
}

extension Int {
  /// This number of bytes, rounded: `512 bytes`, `3.2 kB`, `12 MB`.
  package var byteCount: String {
    guard self >= 1024 else { return of("byte") }
    var amount = Double(self) / 1024
    var units = ["kB", "MB", "GB", "TB"][...]
    while amount >= 1000, units.count > 1 {
      amount /= 1024
      units = units.dropFirst()
    }
    let tenths = Int((amount * 10).rounded())
    let digits =
      tenths < 100 && tenths % 10 != 0 ? "\(tenths / 10).\(tenths % 10)" : "\((tenths + 5) / 10)"
    return "\(digits) \(units.first ?? "")"
  }
}
