import AggregatorCore
import AggregatorFoundation
import AggregatorStore
import CAggregatorPostgres

extension PostgresConnection {
  /// The channel on which every transaction that changes records sends a notification.
  private static let channel = PostgresSchema.schema

  /// The size of a payload that every server accepts, in bytes.
  private static let maxPayloadSize = 7999

  /// Notifies those who listen of a change of a source, `nil` for all, once the transaction is committed.
  package mutating func enqueueNotification(of source: String?) {
    enqueue(
      "SELECT pg_notify('\(Self.channel)', $1)",
      .text(source.map(Self.payload) ?? Self.payloadOfAll))
  }

  static let payloadOfAll = ""

  static func payload(of source: String) -> String {
    source.nulEscaped.utf8.count <= maxPayloadSize ? source : payloadOfAll
  }

  /// Begins to listen; `false` if nothing would be heard: behind a pool that lends its sessions, or at a
  /// standby.
  mutating func listen() throws(PostgresFailure) -> Bool {
    // A pool invents the process ID that it gives its clients.
    let pid = try rows("SELECT pg_backend_pid()::bigint")[0].integer(0)
    guard pid == Int64(cpq_backend_pid(handle)) else { return false }
    do throws(PostgresFailure) {
      _ = try rows("LISTEN \(Self.channel)")
      return true
    } catch let error where error.state != nil { return false }
  }

  /// Waits for notifications, for some time and no longer than `limit`, and returns their payloads.
  mutating func notifications(within limit: Duration) throws(PostgresFailure) -> Set<String> {
    var state = pollfd(fd: cpq_socket(handle), events: Int16(POLLIN), revents: 0)
    let count = poll(&state, 1, Int32(limit / .milliseconds(1)))
    guard count >= 0 || errno == EINTR, cpq_consume_input(handle) else { throw broken }
    var payloads: Set<String> = []
    while let payload = cpq_next_notification(handle) {
      defer { free(payload) }
      payloads.insert(String(cString: payload))
    }
    return payloads
  }

  /// Numbers of which at least one is another after any change of a source's records and deletions; `nil` if
  /// it has none.
  mutating func contents(of source: String) throws(PostgresFailure) -> String? {
    do throws(PostgresFailure) {
      return try rows(
        """
        SELECT concat_ws(' ', s.last, s.records, s.removed_upstream, coalesce(h.last, 0), t.count, t.hash)
        FROM aggregator_store.sources s
          LEFT JOIN aggregator_store.history h ON h.source = s.number
          CROSS JOIN LATERAL (
            SELECT count(*), sum(hashtextextended(id, 0)::numeric) AS hash
            FROM aggregator_store.tombstones WHERE source = s.number) t
        WHERE s.name = $1 AND (s.records > 0 OR t.count > 0)
        """, .text(source)
      ).first?.text(0)
    } catch let error where error.isSchemaMissing { return nil }
  }
}
