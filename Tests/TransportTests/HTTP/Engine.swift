import AggregatorKit
import AggregatorSourceTesting
import AggregatorURLSession
import Foundation
import Testing

@testable import AggregatorHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The engines that are compiled in: the suites run over each of them.
enum Engine: String, CaseIterable, CustomTestStringConvertible {
  #if os(Linux)
    case curl
  #endif
  case urlSession
  /// A session of the app.
  case appSession

  var testDescription: String { rawValue }

  /// `true` for URLSession on Linux, which does not meet all requirements of its suite.
  var isForeign: Bool {
    #if os(Linux)
      self != .curl
    #else
      false
    #endif
  }

  /// `true` if connecting has its own timeout; URLSession has only an idle timeout.
  var limitsConnecting: Bool { rawValue == "curl" }

  /// A transport with connections of its own.
  func transport() -> HTTPTransport { HTTPTransport(engine: LongTimeoutEngine(engine: engine())) }

  func engine() -> any HTTPEngine {
    switch self {
    #if os(Linux)
      case .curl: CurlEngine()
    #endif
    case .urlSession: URLSessionEngine()
    case .appSession: URLSessionEngine(URLSession(configuration: .default))
    }
  }
}

private struct LongTimeoutEngine: HTTPEngine {
  let engine: any HTTPEngine

  func send(_ request: WireRequest) async throws(SourceError) -> HTTPResponse {
    var request = request
    request.limits = request.limits.withLongTimeouts
    return try await engine.send(request)
  }
}
