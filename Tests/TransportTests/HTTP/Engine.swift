import AggregatorKit
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

/// Gives requests with the standard limits ten minutes: on a busy machine, 30 s passed before one was sent.
private struct LongTimeoutEngine: HTTPEngine {
  private static let timeout = Duration.seconds(600)

  let engine: any HTTPEngine

  func send(_ request: WireRequest) async throws(SourceError) -> HTTPResponse {
    var request = request
    let (limits, standard) = (request.limits, HTTPLimits.standard)
    // A redirect has less time as a whole.
    let isLimited = limits.overall < standard.overall - .seconds(60)
    if (limits.connect, limits.idle) == (standard.connect, standard.idle), !isLimited {
      request.limits = HTTPLimits(
        bodyBytes: limits.bodyBytes, connect: Self.timeout, idle: Self.timeout,
        overall: Self.timeout)
    }
    return try await engine.send(request)
  }
}
