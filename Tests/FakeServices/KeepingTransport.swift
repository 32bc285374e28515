import AggregatorKit

/// The real transport; the service lives as long as it.
struct KeepingTransport<Service: Sendable>: Transport {
  let service: Service

  func send(_ request: HTTPRequest) async throws(SourceError) -> HTTPResponse {
    try await HTTPTransport.standard.send(request)
  }
}
