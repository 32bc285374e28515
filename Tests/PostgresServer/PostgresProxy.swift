import AggregatorSourceTesting
import Foundation
import Synchronization

/// A port of 127.0.0.1 between clients and a server, whose connections a test can disturb.
public final class PostgresProxy: Sendable {
  /// The side that sends.
  public enum Side: Sendable {
    case client
    case server
  }

  public enum Fault: Hashable, Sendable {
    /// Cuts a connection, once, after this many bytes of one side have been forwarded.
    case cut(after: Int, from: Side)
    /// Forwards nothing more of one side after this many bytes, until the fault is another one.
    case hold(after: Int, from: Side)
    /// Forwards each piece of one side later.
    case delay(Duration, from: Side)

    fileprivate var side: Side {
      switch self {
      case .cut(_, let side), .hold(_, let side), .delay(_, let side): side
      }
    }
  }

  private struct State {
    var fault: Fault?
    /// The bytes of each side since the fault was set, over all connections.
    var forwarded: [Side: Int] = [:]
    var links: [Int: Link] = [:]
    var connections = 0
    var faultsInjected = 0
  }

  public let port: Int

  private let state = Mutex(State())
  private let shutdownSignal: ShutdownSignal

  public convenience init(before server: PostgresServer) throws {
    try self.init(before: server.port)
  }

  init(before destination: Int) throws {
    let listener = try LoopbackSocket.listening()
    port = listener.port
    shutdownSignal = try ShutdownSignal()
    let door = Door(listener)
    Thread.detachNewThread { [weak self, shutdownSignal] in
      while shutdownSignal.wait(for: door.socket.descriptor, POLLIN) != nil {
        guard let client = door.socket.accepted() else { continue }
        guard let server = try? LoopbackSocket.connecting(to: destination) else { continue }
        self?.add(Link(client: client, server: server))
      }
    }
  }

  deinit { shutdownSignal.send() }

  /// The number of connections so far.
  public var connectionCount: Int { state.withLock(\.connections) }

  /// The number of times that bytes were held, or a connection cut, for a fault.
  public var faultsInjected: Int { state.withLock(\.faultsInjected) }

  /// The number of bytes of a side since the last fault was injected.
  public func bytes(from side: Side) -> Int { state.withLock { $0.forwarded[side, default: 0] } }

  /// Disturbs the connections from now on, with the bytes counted from here; `nil` to stop.
  public func inject(_ fault: Fault?) {
    state.withLock { state in
      state.fault = fault
      state.forwarded = [:]
    }
  }

  /// Cuts all connections.
  public func cutAll() {
    for link in state.withLock({ $0.links.values.map(\.self) }) { link.cut() }
  }

  /// Ends all connections, and refuses further ones.
  public func stop() {
    shutdownSignal.send()
    cutAll()
  }

  private func add(_ link: Link) {
    let number = state.withLock { state in
      state.connections += 1
      state.links[state.connections] = link
      return state.connections
    }
    for side in [Side.client, .server] {
      Thread.detachNewThread { [self, shutdownSignal] in
        forward(from: side, on: link, shutdownSignal)
        link.cut()
        state.withLock { $0.links[number] = nil }
      }
    }
  }

  private func forward(from side: Side, on link: Link, _ shutdownSignal: ShutdownSignal) {
    let (source, target) = link.descriptors(from: side)
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while shutdownSignal.wait(for: source, POLLIN) != nil {
      let count = recv(source, &buffer, buffer.count, 0)
      if count < 0, errno == EAGAIN || errno == EINTR { continue }
      guard count > 0 else { return }
      var rest = buffer[..<count]
      while !rest.isEmpty {
        let allowed = admit(rest.count, from: side)
        if let delay = allowed.delay {
          guard shutdownSignal.wait(for: -1, 0, atMost: delay) != nil, !link.isCut else { return }
        }
        let isSent = rest.prefix(allowed.count).withUnsafeBytes {
          shutdownSignal.send($0, on: target)
        }
        guard isSent else { return }
        if allowed.isCut { return }
        rest = rest.dropFirst(allowed.count)
      }
    }
  }

  /// The bytes of a piece that may go on, and when.
  private func admit(_ count: Int, from side: Side) -> (count: Int, delay: Duration?, isCut: Bool) {
    state.withLock { state in
      let before = state.forwarded[side, default: 0]
      guard let fault = state.fault, fault.side == side else {
        state.forwarded[side] = before + count
        return (count, nil, false)
      }
      switch fault {
      case .delay(let time, _): return (count, time, false)
      case .cut(let limit, _):
        let allowed = min(count, max(0, limit - before))
        state.forwarded[side] = before + allowed
        guard before + allowed >= limit else { return (allowed, nil, false) }
        state.faultsInjected += 1
        state.fault = nil
        return (allowed, nil, true)
      case .hold(let limit, _):
        let allowed = min(count, max(0, limit - before))
        state.forwarded[side] = before + allowed
        guard allowed == 0 else { return (allowed, nil, false) }
        if before == limit { state.faultsInjected += 1 }
        state.forwarded[side] = limit + 1
        // Asks again soon: the fault may have ended, or the connection.
        return (0, .milliseconds(10), false)
      }
    }
  }

  /// The listening socket, which a closure cannot consume.
  private final class Door: Sendable {
    let socket: LoopbackSocket
    init(_ socket: consuming LoopbackSocket) { self.socket = socket }
  }

  /// The two sockets of a connection, closed when both threads have ended.
  private final class Link: Sendable {
    private let client: LoopbackSocket
    private let server: LoopbackSocket
    private let ended = Mutex(false)

    init(client: consuming LoopbackSocket, server: consuming LoopbackSocket) {
      self.client = client
      self.server = server
    }

    var isCut: Bool { ended.withLock(\.self) }

    func descriptors(from side: Side) -> (source: Int32, target: Int32) {
      side == .client
        ? (client.descriptor, server.descriptor) : (server.descriptor, client.descriptor)
    }

    /// Ends both connections; their threads notice.
    func cut() {
      ended.withLock { $0 = true }
      for descriptor in [client.descriptor, server.descriptor] {
        shutdown(descriptor, Int32(SHUT_RDWR))
      }
    }
  }
}
