import AggregatorCore
import AggregatorFiles
import AggregatorFoundation
import AggregatorText
import Dispatch
import Synchronization

/// The state of a download, which its readers and the task that receives it share.
final class DownloadTransfer: Sendable {
  private struct State {
    var file: DownloadFile?
    /// The version of the bytes in the file.
    var metadata: DownloadFile.Metadata?
    /// The number of bytes in the file.
    var received = 0
    /// Known once a response shows that it is that of the file.
    var head: Download.Head?
    var version = 0
    var isComplete = false
    /// The end of the bytes that readers have asked for, and of those that they got.
    var (wanted, read) = (0, 0)
    var secrets: [Secret] = []
    var scanner = SecretScanner([])

    var attempts = 0
    /// The task of the last attempt; `nil` if it has ended.
    var task: Task<Void, Never>?
    /// The error of the last attempt.
    var failure: SourceError?
    /// True once a reader knows the failure.
    var isReported = false
    var waiters: [Wakeup] = []
    var isClosed = false

    mutating func wake() {
      for waiter in waiters { waiter.signal() }
      waiters = []
    }
  }

  private static let queue = DispatchQueue(label: "aggregator.downloads", attributes: .concurrent)

  /// The bytes before and after others that show whether they belong to a secret.
  private static let margin = 16 << 10

  /// The most bytes that a reader gets at once.
  private static let maxCount = 16 << 20

  private let request: HTTPRequest
  /// The request without its secrets.
  private let identity: String
  private let transport: any Transport
  private let directory: String
  private let maxBytes: Int
  private let window: Int
  private let state = Mutex(State())
  /// Wakes the task of a transfer that has no room in its window.
  private let demand = Wakeup()

  init(
    _ request: HTTPRequest, over transport: any Transport, into directory: String, maxBytes: Int,
    window: Int
  ) {
    (self.request, self.transport, self.directory) = (request, transport, directory)
    self.maxBytes = maxBytes
    // Less would hold back all bytes for the margin.
    self.window = max(window, 2 * Self.margin)
    let body = request.body.map { String($0.withUnsafeBytes { $0.fnv1a() }, radix: 36) } ?? ""
    identity = "\(request.method.rawValue) \(request.shownAddress) \(body)"
  }

  private var authority: String {
    Address(request.url)?.authority ?? request.url.path(percentEncoded: false)
  }

  // MARK: - Readers

  var currentHead: Download.Head? { state.withLock(\.head) }

  var secrets: [Secret] { state.withLock(\.secrets) }

  func head() async throws(SourceError) -> Download.Head {
    do throws(SourceError) {
      return try await wait { $0.head }
    } catch {
      guard let refusal = error.cause as? Refusal else { throw error }
      return Download.Head(
        response: refusal.response, version: state.withLock(\.version), isRestarted: false,
        length: nil)
    }
  }

  /// The cause of the error of a response that is not successful.
  private struct Refusal: Error { let response: HTTPResponse }

  func bytes(
    at offset: Int, atMost count: Int, of version: Int
  ) async throws(SourceError) -> [UInt8] {
    // Either may come from a cursor, and be any number.
    let start = min(max(offset, 0), maxBytes)
    let wanted = start + min(max(count, 1), Self.maxCount)
    let found = try await wait { [demand] state throws(SourceError) -> Found? in
      guard state.version == version else { throw .versionChanged(of: authority) }
      if state.wanted < wanted {
        state.wanted = wanted
        demand.signal()
      }
      guard state.head != nil, let file = state.file else { return nil }
      let isSettled = state.scanner.isEmpty || state.task == nil
      let end = min(wanted, isSettled ? state.received : state.received - Self.margin)
      guard end > start || state.isComplete else { return nil }
      return Found(file: file, end: max(start, end), scanner: state.scanner)
    }
    let bytes = try await Self.queue.run { () throws(SourceError) in
      try found.bytes(from: start, margin: Self.margin)
    }
    try state.withLock { state throws(SourceError) in
      // It may have begun anew meanwhile.
      guard state.version == version else { throw .versionChanged(of: authority) }
      guard bytes.count == found.end - start else {
        throw SourceError(.storage, "\(found.file.path) was changed by another program")
      }
      state.read = max(state.read, found.end)
    }
    return bytes
  }

  /// Bytes that have arrived.
  private struct Found: Sendable {
    let file: DownloadFile
    let end: Int
    let scanner: SecretScanner

    func bytes(from start: Int, margin: Int) throws(SourceError) -> [UInt8] {
      guard !scanner.isEmpty else { return try file.bytes(at: start, atMost: end - start) }
      let before = min(start, margin)
      let bytes = try file.bytes(at: start - before, atMost: before + end - start + margin)
      return Array(scanner.masked(bytes).dropFirst(before).prefix(end - start))
    }
  }

  /// Waits until `take` returns something, for which it begins an attempt if none runs.
  ///
  /// - Throws: The errors of `take`; that of an attempt which this call has waited for, or which no call has thrown yet.
  private func wait<Value: Sendable>(
    _ take: (inout State) throws(SourceError) -> Value?
  ) async throws(SourceError) -> Value {
    let wakeup = Wakeup()
    var attempt: Int?
    while true {
      guard !Task.isCancelled else { throw .cancelled }
      let value = try state.withLock { state throws(SourceError) -> Value? in
        if let value = try take(&state) { return value }
        if let failure = state.failure, !state.isReported || attempt == state.attempts {
          state.isReported = true
          throw failure
        }
        if state.task == nil { begin(&state) }
        attempt = state.attempts
        state.waiters.append(wakeup)
        return nil
      }
      if let value { return value }
      await wakeup.wait()
    }
  }

  // MARK: - Attempts

  /// Begins an attempt, in a task that no reader's cancellation or deadline ends.
  private func begin(_ state: inout State) {
    state.attempts += 1
    (state.failure, state.isReported) = (nil, false)
    // It reports to the observer of the call that begins it.
    state.task = Deadline.$current.withValue(nil) {
      Task {
        let result = await Result { () async throws(SourceError) in try await receive() }
        end(with: result)
      }
    }
  }

  private func end(with result: Result<Void, SourceError>) {
    state.withLock { state in
      state.task = nil
      switch result {
      case .success: state.isComplete = true
      case .failure(let error): state.failure = error
      }
      state.wake()
      if state.isClosed { removeUseless(state) }
    }
  }

  /// Ends the transfer; nobody reads any more.
  func close() {
    let task = state.withLock { state in
      state.isClosed = true
      if state.task == nil { removeUseless(state) }
      return state.task
    }
    task?.cancel()
  }

  /// Removes a file that was read, or that cannot be continued.
  private func removeUseless(_ state: State) {
    let isRead = state.isComplete && state.read >= state.received
    if isRead || state.metadata?.response.rangeValidator == nil { state.file?.remove() }
  }

  // MARK: - Receiving

  private func receive() async throws(SourceError) {
    if state.withLock({ $0.file == nil }) { try await open() }
    if let start = state.withLock({ resumption($0) }), try await receive(from: start) { return }
    guard try await receive(from: nil) else {
      throw SourceError(.malformed, "\(authority) sent a part of a file instead of the file")
    }
  }

  private func open() async throws(SourceError) {
    try await Self.queue.run { [self] () throws(SourceError) in
      let file = try DownloadFile(identity, in: directory, atMost: maxBytes)
      let (metadata, size) = (file.metadata, try file.size())
      state.withLock { state in
        (state.file, state.metadata) = (file, metadata)
        if let metadata { state.received = min(size, metadata.length ?? size, maxBytes) }
      }
    }
  }

  /// The first byte to ask for; `nil` if only the whole file can be asked for.
  private func resumption(_ state: State) -> Int? {
    guard let metadata = state.metadata, metadata.response.rangeValidator != nil,
      state.received > 0
    else { return nil }
    // A range must not be empty.
    return state.received == metadata.length ? state.received - 1 : state.received
  }

  /// Receives the file, or what follows on `start`; false if the response is no such range.
  private func receive(from start: Int?) async throws(SourceError) -> Bool {
    let stream = ResponseStream()
    let request = rangeRequest(from: start, into: stream)
    async let result = send(request)
    let head = await stream.head()
    hide(stream.secrets)
    guard let head else { return try isEnd(try await result.get(), from: start) }
    if head.status == 206, let start {
      guard continues(head, at: start) else { return false }
    } else {
      guard head.status == 200 || head.contentRange?.first == 0 else { return false }
      try await restart(head)
    }
    var position = head.status == 206 ? start ?? 0 : 0
    while let bytes = await stream.next() {
      try await store(bytes, at: position)
      position += bytes.count
    }
    _ = try await result.get()
    if let length = state.withLock({ $0.metadata?.length }), position < length {
      throw .cutShort(authority)
    }
    return true
  }

  private func rangeRequest(from start: Int?, into stream: ResponseStream) -> HTTPRequest {
    var request = request
    request.responseStream = stream
    request.headers.removeAll {
      ["accept-encoding", "range", "if-range"].contains($0.name.lowercased())
    }
    request.headers.append(.init("Accept-Encoding", "identity"))
    if let start, let validator = state.withLock({ $0.metadata?.response.rangeValidator }) {
      request.headers += [
        .init("Range", "bytes=\(start)-"), .init("If-Range", .plain(validator)),
      ]
    }
    return request
  }

  private func send(_ request: HTTPRequest) async -> Result<HTTPResponse, SourceError> {
    defer { request.responseStream?.finish() }
    return await Result { () async throws(SourceError) in try await transport.send(request) }
  }

  private func hide(_ secrets: [Secret]) {
    state.withLock { state in
      let new = secrets.filter { !state.secrets.contains($0) }
      guard !new.isEmpty else { return }
      state.secrets += new
      state.scanner = SecretScanner(state.secrets)
    }
  }

  /// True if a response without a body of the file means that there are no bytes from `start` on, false for another
  /// answer to a range.
  ///
  /// - Throws: The error of any other response, caused by ``Refusal``.
  private func isEnd(_ response: HTTPResponse, from start: Int?) throws(SourceError) -> Bool {
    if response.status == 416, let start {
      return state.withLock { state in
        guard response.contentRange?.total == start else { return false }
        show(&state, isRestarted: false)
        return true
      }
    }
    var refusal = SourceError(.malformed, "\(authority) sent no file (\(response.status))")
    do throws(SourceError) {
      _ = try response.checked(by: authority, now: Now.current.date)
    } catch {
      refusal = error
    }
    refusal.cause = Refusal(response: response)
    throw refusal
  }

  /// True if a response continues the bytes in the file, which readers may have then.
  private func continues(_ response: HTTPResponse, at start: Int) -> Bool {
    state.withLock { state in
      guard let metadata = state.metadata, let range = response.contentRange, range.first == start,
        [nil, metadata.length ?? range.total].contains(range.total),
        [nil, metadata.response.header("etag")].contains(response.header("etag"))
      else { return false }
      state.metadata?.length = metadata.length ?? range.total
      show(&state, isRestarted: false)
      return true
    }
  }

  /// Begins a version of the file with its first response.
  private func restart(_ response: HTTPResponse) async throws(SourceError) {
    let metadata = DownloadFile.Metadata(identity, response)
    let isRestarted = state.withLock { state in
      let isRestarted = state.head != nil || state.received > 0
      if state.head != nil { state.version += 1 }
      (state.head, state.metadata) = (nil, metadata)
      (state.received, state.wanted, state.read) = (0, 0, 0)
      state.wake()
      return isRestarted
    }
    let file = state.withLock(\.file)
    try await Self.queue.run { () throws(SourceError) in try file?.restart(metadata) }
    state.withLock { show(&$0, isRestarted: isRestarted) }
  }

  private func show(_ state: inout State, isRestarted: Bool) {
    guard state.head == nil, let metadata = state.metadata else { return }
    state.head = Download.Head(
      response: metadata.response, version: state.version, isRestarted: isRestarted,
      length: metadata.length)
    state.wake()
  }

  /// Writes bytes, and waits until they are within the window.
  private func store(_ bytes: [UInt8], at position: Int) async throws(SourceError) {
    let (file, kept) = (state.withLock(\.file), bytes.prefix(max(0, maxBytes - position)))
    try await Self.queue.run { () throws(SourceError) in try file?.write(kept, at: position) }
    let end = position + kept.count
    state.withLock { state in
      state.received = max(state.received, end)
      state.wake()
    }
    guard kept.count == bytes.count else {
      var error = SourceError.tooLarge(maxBytes, "the file from \(authority)")
      error.remedy = Remedy("allow a larger file", .allowMoreBytes)
      throw error
    }
    while state.withLock({ end - $0.wanted > window }), !Task.isCancelled { await demand.wait() }
  }
}

extension SourceError {
  fileprivate static func versionChanged(of authority: String) -> SourceError {
    SourceError(
      .invalidCursor, "the file from \(authority) has changed since its first bytes were read",
      remedy: "start over", cause: Download.VersionChanged())
  }
}
