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

  /// `true` for URLSession on Linux, which does not meet all requirements of its suite.
  var isForeign: Bool {
    #if os(Linux) && URLSessionOnLinux
      self == .urlSession
    #else
      false
    #endif
  }

  /// `true` if connecting has its own timeout; URLSession has only an idle timeout.
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
