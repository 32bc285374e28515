import AggregatorKit
import Testing

/// A transport that must not be used.
struct TrappingTransport: Transport {
  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    Issue.record("\(request) was sent")
    throw .because(.unreachable)
  }
}
