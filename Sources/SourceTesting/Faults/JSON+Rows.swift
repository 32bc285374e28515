package import AggregatorKit

extension JSON {
  /// The rows of a reply: its largest list of objects; `nil` if there is none.
  package var rows: [JSON]? { rowsPath().map { value(at: $0.path) }?.elements }

  /// This value with other rows; `nil` if there are none, or if they stay the same.
  package func replacingRows(_ change: ([JSON]) -> [JSON]) -> JSON? {
    guard let path = rowsPath()?.path, let rows = value(at: path).elements else { return nil }
    let changed = change(rows)
    // `nil` in a conditional expression would be JSON's null.
    guard changed != rows else { return nil }
    return replacing(path[...], with: .array(changed))
  }

  /// This value with smaller totals; `nil` if it has none.
  package func dividingTotals(by divisor: Int) -> JSON? {
    let names: Set = ["total", "totalcount", "totalresults", "numberoftotalresults", "count"]
    guard case .object(let members) = self else { return nil }
    var changed = false
    let smaller = members.map { member -> Member in
      let name = member.name.lowercased().filter(\.isLetter)
      if names.contains(name), case .integer(let total) = member.value {
        changed = true
        return Member(member.name, .integer(total / divisor))
      }
      guard case .object = member.value, let value = member.value.dividingTotals(by: divisor)
      else { return member }
      changed = true
      return Member(member.name, value)
    }
    guard changed else { return nil }
    return .object(smaller)
  }

  private var elements: [JSON]? { if case .array(let elements) = self { elements } else { nil } }

  /// The path to the rows, and their number; ignores lists within rows.
  private func rowsPath() -> (path: [String], count: Int)? {
    switch self {
    case .array(let elements):
      let isRows = elements.contains { if case .object = $0 { true } else { false } }
      return isRows ? ([], elements.count) : nil
    case .object(let members):
      let paths = members.compactMap { member in
        member.value.rowsPath().map { (path: [member.name] + $0.path, count: $0.count) }
      }
      return paths.max { $0.count < $1.count }
    default: return nil
    }
  }

  private func value(at path: [String]) -> JSON { path.reduce(self) { $0[$1] ?? .null } }

  private func replacing(_ path: ArraySlice<String>, with value: JSON) -> JSON {
    guard let name = path.first, case .object(let members) = self else { return value }
    return .object(
      members.map { member in
        member.name == name
          ? Member(name, member.value.replacing(path.dropFirst(), with: value)) : member
      })
  }
}
