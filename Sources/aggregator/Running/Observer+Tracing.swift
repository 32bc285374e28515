import Core

extension Observer {
  /// One line for everything that takes time or changes who answers.
  ///
  /// - Parameter diagnostics: Where the lines go.
  init(tracing diagnostics: Diagnostics) {
    self.init { event in
      switch event {
      case .sent(let method, let address): diagnostics.trace("→ \(method) \(address)")
      case .received(let status, let bytes, let time, _):
        diagnostics.trace("← \(status), \(bytes) bytes in \(time.inWords)")
      case .lost(let error, let time, _):
        diagnostics.trace("← \(error.message) after \(time.inWords)")
      case .waiting(let time, let reason): diagnostics.trace("waiting \(time.inWords): \(reason)")
      case .fellBack(let error): diagnostics.trace("falling back: \(error.message)")
      case .answered(let source, let call, let provenance, let count):
        diagnostics.trace("\(source) \(call): \(count) \(provenance.origin.rawValue)")
      case .failed(let source, let call, let error):
        diagnostics.trace("\(source) \(call): \(error.message)")
      case .asked: break
      }
    }
  }
}
