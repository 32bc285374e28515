import AggregatorKit

extension Exchange {
  /// Names of totals, most certain first; `count` may also be the number of rows of the page.
  private static let totalNames = [
    "total", "totalcount", "totalresults", "totalitems", "totalrecords", "totalhits", "totalsize",
    "totalresultscount", "totaldocs", "totalobjects",
    "totalelements", "totalrows", "numfound", "resultcount", "resultscount", "recordcount", "found",
    "hits",
    "matches", "itemcount", "results", "records", "count", "size",
  ]

  private static let totalHeaders = [
    "x-total-count", "x-total", "x-wp-total", "total-count", "x-result-count", "x-total-results",
  ]

  /// True if the response says the number of all records by a name that cannot mean that of its page.
  func saysTotal(rows path: JSONPath) -> Bool {
    switch totalPath(rowCount: 0, rows: path) {
    case .body(let path)?:
      normalized(path.lastName).hasPrefix("total") || normalized(path.lastName) == "numfound"
    case nil: false
    default: true
    }
  }

  /// Where the number of all records is; `nil` if the response does not say it.
  ///
  /// `rowCount` is the number of rows of this page, and `path` where they are.
  func totalPath(rowCount: Int, rows path: JSONPath) -> Manifest.ResponsePath? {
    if let name = Self.totalHeaders.first(where: {
      header($0).flatMap { Int($0) } ?? -1 >= rowCount
    }) {
      return .header(canonicalHeader(name))
    }
    let candidates = envelopeScalars(outside: path).compactMap { scalar -> (Scalar, Int)? in
      guard let value = scalar.integer, value >= rowCount,
        let rank = Self.totalNames.firstIndex(of: normalized(scalar.name))
      else { return nil }
      return (scalar, rank)
    }
    // Of `count` and `total` the second is the total; of equal names the one nearest to the rows.
    let best = candidates.min { one, other in
      (one.1, distance(one.0.path, path)) < (other.1, distance(other.0.path, path))
    }
    return best.map { .body($0.0.path) }
  }

  /// The scalars of the document outside of its rows, down to a usual depth, also in an envelope that is a
  /// list: `[{"total": 7}, […]]`.
  func envelopeScalars(outside rows: JSONPath) -> [Scalar] {
    let scalars: [Scalar]
    if case .array(let elements) = document, rows != .root, elements.count <= 4 {
      scalars = elements.indices.flatMap {
        elements[$0].scalars(below: JSONPath([.member(String($0))]), depth: 3)
      }
    } else {
      scalars = document.scalars(depth: 4)
    }
    return scalars.filter { !$0.path.components.starts(with: rows.components) || rows == .root }
  }

  private func distance(_ path: JSONPath, _ rows: JSONPath) -> Int {
    let shared = zip(path.components, rows.components).prefix { $0 == $1 }.count
    return path.components.count + rows.components.count - 2 * shared
  }

  private func canonicalHeader(_ name: String) -> String {
    name.split(separator: "-").map { $0 == "wp" ? "WP" : $0.lowercased().capitalizedFirst }.joined(
      separator: "-")
  }
}
