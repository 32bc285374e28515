import AggregatorKit

extension Observer {
  /// One line for every request, once it is over, and for every wait before it begins.
  ///
  /// What is known comes first: an address may be too long for its line.
  ///
  /// - Parameter diagnostics: Where the lines go.
  init(tracing diagnostics: Diagnostics) {
    self.init { event in
      switch event {
      case .received(let status, let bytes, let time, let address):
        diagnostics.trace("\(status), \(bytes) bytes in \(time.text): \(address)")
      case .lost(let error, let time, let address):
        diagnostics.trace("\(error.message) after \(time.text): \(address)")
      case .waiting(let time, let reason): diagnostics.trace("waiting \(time.text): \(reason)")
      // Who answered is said anyway.
      case .asked, .answered, .failed, .fellBack, .retrying, .sent: break
      }
    }
  }
}
