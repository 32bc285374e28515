package import AggregatorCore

/// HTTP over a client of the app, of which only the overall time and the size of the body are limited.
struct ClosureEngine: HTTPEngine {
  let body: @Sendable (WireRequest) async throws -> HTTPResponse

  func send(_ request: WireRequest) async throws(SourceError) -> HTTPResponse {
    if Task.isCancelled { throw .cancelled }
    Departure.current?.note()
    let limits = request.limits
    let end = ContinuousClock.now + limits.overall
    let result = await withTaskGroup(of: Result<HTTPResponse, SourceError>.self) { group in
      group.addTask {
        do {
          return .success(try await body(request))
        } catch {
          return .failure(SourceError(ofClient: error, authority: request.address.authority))
        }
      }
      group.addTask {
        await ContinuousClock().reaches(end)
          ? .failure(.unfinished(request.address.authority, within: limits.overall))
          : .failure(.cancelled)
      }
      defer { group.cancelAll() }
      return await group.next() ?? .failure(.cancelled)
    }
    let response = try result.get()
    guard response.body.count <= limits.bodyBytes else { throw .tooLarge(limits.bodyBytes) }
    return response
  }
}

/// An error of an HTTP client that says what has failed.
package protocol ClientError: Error {
  /// The same as an error of a source, without the client's text, which may contain the URL.
  func sourceError(authority: String) -> SourceError
}

extension SourceError {
  fileprivate init(ofClient error: any Error, authority: String) {
    switch error {
    case let error as SourceError: self = error
    case is CancellationError: self = .cancelled
    case let error as any ClientError: self = error.sourceError(authority: authority)
    default: self = .broken(authority)
    }
  }
}
