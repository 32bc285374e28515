import AggregatorKit
import DeclaredSource

extension Prober {
  /// A time after all changes.
  private static let future = "2999-12-31T00:00:00Z"

  /// Leaves out `since` if the service ignores its parameter: after all changes there must be no rows, and after one of the
  /// first page no older ones.
  func proveChanges(
    _ proposal: inout Proposal, _ first: Sample
  ) async throws(SourceError) {
    guard let changes = proposal.manifest.changes, let name = changes.parameter,
      !proposal.hasNoRows
    else { return }
    let marks = first.rows.compactMap(changes.mark).sorted {
      changes.tracking.isEarlier($0, than: $1)
    }
    func leaveOut(_ reason: String) {
      proposal.manifest.changes = nil
      proposal.note("since", "–", reason)
      proposal.warnings.append("every sync will read everything: \(reason)")
    }
    guard !marks.isEmpty else {
      return leaveOut("no row has a time or a number at \"\(changes.field)\"")
    }
    var future = changes.tracking
    // A number that grows with each change has no far future.
    let isTime = ChangeTracking.isTime(marks[0])
    if isTime, future.format == nil, Int(marks[0]) != nil {
      future.format = marks[0].utf8.count > 10 ? .unixMilliseconds : .unix
    }
    let manifest = proposal.manifest
    let last = isTime ? future.parameter(for: Self.future) : "999999999999999"
    let none = try await fetch(manifest, at: .first, &proposal, setting: (name, last))
    switch none {
    case .success(let sample) where !sample.rows.isEmpty:
      return leaveOut(
        "the service ignores \"\(name)\": \(sample.rows.count.of("row")) for \(last)")
    case .failure(let error) where error.code != SourceError.Code.rejected:
      let reason = "not proved: \(error.message)"
      proposal.note("since", name, reason)
      return proposal.warnings.append("\"since\" is \(reason)")
    case .success, .failure: break
    }
    let asked = future.parameter(for: marks[marks.count / 2])
    let some = try await fetch(manifest, at: .first, &proposal, setting: (name, asked))
    if proposal.isOutOfTime, case .failure(let error) = some {
      let reason = "not proved: \(error.message)"
      proposal.note("since", name, reason)
      return proposal.warnings.append("\"since\" is \(reason)")
    }
    let rows = (try? some.get())?.rows ?? []
    guard
      rows.compactMap(changes.mark).allSatisfy({
        !changes.tracking.isEarlier($0, thanAskedBy: asked)
      })
    else {
      return leaveOut("the service sent rows that are older than \"\(name)\" asked for")
    }
    proposal.note("since", name, "no rows for \(last), \(rows.count) since \(asked)")
  }
}
