import AggregatorKit
import Testing

/// The engines that are compiled in: the suites run over each of them.
enum Engine: String, CaseIterable, CustomTestStringConvertible {
  #if os(Linux)
    case curl
  #endif
  #if canImport(Darwin) || URLSessionOnLinux
    case urlSession
  #endif

  var testDescription: String { rawValue }

  /// Whether this is URLSession on Linux, which cannot do all that its suite asks.
  var isForeign: Bool {
    #if os(Linux) && URLSessionOnLinux
      self == .urlSession
    #else
      false
    #endif
  }

  /// Whether connecting has a limit of its own; URLSession knows only silence.
  var limitsConnecting: Bool { rawValue == "curl" }

  /// A transport with connections of its own.
  func transport() -> HTTPTransport {
    switch self {
    #if os(Linux)
      case .curl: HTTPTransport(engine: CurlEngine())
    #endif
    #if canImport(Darwin) || URLSessionOnLinux
      case .urlSession: HTTPTransport(engine: URLSessionEngine())
    #endif
    }
  }
}
