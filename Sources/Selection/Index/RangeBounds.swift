package import AggregatorFilters
import AggregatorKit

/// The bounds of a range of values.
package struct RangeBounds: Equatable, Sendable {
  package struct Bound: Equatable, Sendable {
    let field: String
    let comparison: Comparison
    let value: String

    package var condition: String { "\(field.asField)\(comparison.rawValue)\(value)" }

    /// True if it comes after another one of the same end; false where it is unknown, as of `last week`.
    func isAfter(_ other: Bound) -> Bool {
      if let own = Double(value), let end = Double(other.value) {
        return own > end || own == end && isPastValue && !other.isPastValue
      }
      // All of 2024 is in what ends with it.
      func start(_ bound: Bound) -> Double? {
        Period(bound.value).map { bound.isPastValue ? $0.end : $0.start }
      }
      guard let own = start(self), let other = start(other) else { return false }
      return own > other
    }

    /// True if the range begins or ends behind its value.
    private var isPastValue: Bool { [.lessOrEqual, .greater].contains(comparison) }
  }

  /// `nil` if it has no end there.
  package private(set) var lower: Bound?
  package private(set) var upper: Bound?

  package init(lower: Bound?, upper: Bound?) { (self.lower, self.upper) = (lower, upper) }

  /// `nil` for all values.
  package var condition: String? {
    if let lower, let upper, lower.value == upper.value {
      return "\(lower.field.asField)=\(lower.value)"
    }
    let conditions = [lower, upper].compactMap(\.self).map(\.condition)
    return conditions.isEmpty ? nil : conditions.joined(separator: " and ")
  }

  /// The part of a range that is in another one, of which it is a part but for its ends.
  package func within(_ all: RangeBounds?) -> RangeBounds {
    var part = self
    if let least = all?.lower, lower.map({ least.isAfter($0) }) ?? true { part.lower = least }
    if let most = all?.upper, upper.map({ $0.isAfter(most) }) ?? true { part.upper = most }
    return part
  }

  /// `nil` for filters that are no range.
  package init?(_ filters: [TypedFilter]) {
    for filter in filters {
      guard case .condition(let condition) = filter, let value = condition.values.first else {
        return nil
      }
      func bound(_ comparison: Comparison, _ value: String) -> Bound {
        Bound(field: condition.field, comparison: comparison, value: value)
      }
      switch condition.test {
      case .compare(let comparison, _) where [.greater, .greaterOrEqual].contains(comparison):
        guard lower == nil else { return nil }
        lower = bound(comparison, value)
      case .compare(let comparison, _) where [.less, .lessOrEqual].contains(comparison):
        guard upper == nil else { return nil }
        upper = bound(comparison, value)
      case .compare(.equal, _) where filters.count == 1 && !value.isEmpty,
        .range where filters.count == 1:
        (lower, upper) = (
          bound(.greaterOrEqual, value), bound(.lessOrEqual, condition.values.last ?? value)
        )
      case .compare, .range, .oneOf, .pattern: return nil
      }
    }
    guard lower != nil || upper != nil else { return nil }
  }
}
