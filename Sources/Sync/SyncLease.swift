public import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import Synchronization

/// The name of this process among the workers of a store.
package enum SyncWorker {
  package static let name: String = {
    var bytes = [CChar](repeating: 0, count: 256)
    let isKnown = gethostname(&bytes, bytes.count - 1) == 0
    let host = bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return "\(isKnown ? String(decoding: host, as: UTF8.self) : "?"):\(getpid())"
  }()

  /// True if a worker is a process of this machine that has ended.
  ///
  /// Containers that share the name of a machine do not see each other's processes: one that was seen at work lately has not
  /// ended, whatever this says.
  package static func hasEnded(_ worker: String) -> Bool {
    let (parts, own) = (worker.split(separator: ":"), name.split(separator: ":"))
    guard parts.count == 2, parts[0] == own[0], own[0] != "?", let process = pid_t(parts[1]),
      process > 0
    else { return false }
    return kill(process, 0) != 0 && errno == ESRCH
  }
}

/// The right to sync a source alone, which expires if it is not renewed; the text of a checkpoint.
struct SyncLease: Hashable, Codable, Sendable {
  let worker: String
  /// Tells the leases of one worker apart.
  let id: String
  /// In milliseconds since 1970.
  var expires: Int64

  private enum CodingKeys: String, CodingKey { case worker = "w", id = "i", expires = "e" }

  /// The name of the checkpoint that keeps it, given that of the sync.
  static func checkpoint(of sync: String) -> String { "lease \(sync)" }

  var text: String { (try? CanonicalJSON.text(of: self)) ?? "" }

  func isValid(at now: Date) -> Bool { Double(expires) > now.timeIntervalSince1970 * 1000 }
}

extension SyncLease {
  init?(_ text: String?) {
    guard let text, let lease = try? JSONText(Data(text.utf8))?.read(SyncLease.self) else {
      return nil
    }
    self = lease
  }
}

/// The syncs under way in a store that machines share.
public struct SyncActivity: Hashable, Sendable {
  /// The machines and processes that fetch now, and the number of pages that each of them has leased; `nil` for
  /// one that fetches alone.
  public let workers: [String: Int?]

  /// The number of pages that are stored; `nil` if one worker fetches alone.
  public let pages: Int?

  /// The number of pages of the whole pass, if it is known.
  public let pageCount: Int?
}

extension Sync {
  /// Who works on this source in a store that machines share; `nil` if nobody does.
  public func activity() async throws(SourceError) -> SyncActivity? {
    let (store, source) = (recordStore.store, recordStore.source)
    let text = try await store.checkpoint(checkpointName, of: source)
    if let pass = text.flatMap({ PartitionPass($0, at: now()) }) {
      let workers = pass.leases.workers(at: now())
      return workers.isEmpty
        ? nil : SyncActivity(workers: workers, pages: pass.pages, pageCount: nil)
    }
    let pass = text.flatMap { SharedPass($0, at: now()) }
    if let pass {
      let workers = pass.leases.workers(at: now())
      guard !workers.isEmpty else { return nil }
      return SyncActivity(
        workers: workers, pages: pass.pages,
        pageCount: pass.progress.total.map { ($0 + pass.size - 1) / pass.size })
    }
    let lease = try await store.checkpoint(SyncLease.checkpoint(of: checkpointName), of: source)
    guard let lease = SyncLease(lease), lease.isValid(at: now()) else { return nil }
    return SyncActivity(workers: [lease.worker: nil], pages: nil, pageCount: nil)
  }

  private static var leaseTime: Duration { SharedSync<Item>.leaseTime }

  /// Runs `body` as the only worker, or waits until the other one has finished; `isFinished` tells if it has done all.
  func holdingLease(
    waits: Bool, isFinished: () async throws(SourceError) -> Bool,
    _ body: () async -> SyncResult
  ) async -> SyncResult {
    let id = String(UInt64.random(in: .min ... .max), radix: 36)
    var hasWaited = false
    while true {
      do throws(SourceError) {
        guard let other = try await takeLease(id) else {
          // The other worker has fetched all that there was.
          if hasWaited, try await isFinished() {
            await releaseLease(id)
            var result = SyncResult()
            result.isComplete = isFull
            return result
          }
          return await renewingLease(id, body)
        }
        guard waits else {
          throw SourceError(
            .busy, "being synced by \(other.worker)",
            remedy: "wait for it: its pages can only be fetched one after another")
        }
        hasWaited = true
        observer(.waiting(.seconds(1), reason: "\(other.worker) is syncing"))
        do { try await clock.sleep(for: .seconds(1)) } catch { throw SourceError.cancelled }
      } catch {
        var result = SyncResult()
        result.failure = error
        return result
      }
    }
  }

  /// True if no full sync is under way.
  func isFullFinished() async throws(SourceError) -> Bool {
    let checkpoint = try await recordStore.store.checkpoint(checkpointName, of: recordStore.source)
    return checkpoint == nil || checkpoint == UpstreamLoader<Item>.end
  }

  private func renewingLease(_ id: String, _ body: () async -> SyncResult) async -> SyncResult {
    let result = await withTaskGroup(of: Void.self) { group in
      group.addTask {
        while (try? await clock.sleep(for: Self.leaseTime / 3)) != nil {
          // If the store cannot be reached, the lease expires, and another worker goes on.
          _ = try? await takeLease(id)
        }
      }
      defer { group.cancelAll() }
      return await body()
    }
    await releaseLease(id)
    return result
  }

  /// Takes the lease or renews it; returns that of another worker, if it is valid.
  private func takeLease(_ id: String) async throws(SourceError) -> SyncLease? {
    let other = Mutex<SyncLease?>(nil)
    try await changeLease { text, now in
      let found = SyncLease(text)
      let valid = found.flatMap { $0.id != id && $0.isValid(at: now) ? $0 : nil }
      other.withLock { $0 = valid }
      guard valid == nil else { return nil }
      let end = now.addingTimeInterval(Self.leaseTime / .seconds(1))
      let expires = Int64(end.timeIntervalSince1970 * 1000)
      return .some(SyncLease(worker: worker, id: id, expires: expires).text)
    }
    return other.withLock(\.self)
  }

  /// Gives the lease back, also if the task is cancelled.
  private func releaseLease(_ id: String) async {
    await Task {
      try? await changeLease { text, _ in SyncLease(text)?.id == id ? .some(nil) : nil }
    }.value
  }

  /// `change` returns the new text in an optional; `nil` to leave it.
  private func changeLease(
    _ change: @escaping @Sendable (_ text: String?, _ now: Date) -> String??
  ) async throws(SourceError) {
    let name = SyncLease.checkpoint(of: checkpointName)
    var batch = StoreBatch([])
    batch.decision = CheckpointDecision(name: name) { text, time in
      change(text, time ?? now()).map { (CheckpointUpdate(name, from: text, to: $0), false) }
    }
    _ = try await recordStore.save(batch, at: now())
  }
}
