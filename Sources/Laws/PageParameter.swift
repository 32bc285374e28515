import AggregatorKit

/// The parameter in which the requests of a list count its pages or rows.
struct PageParameter: Sendable {
  private let parameter: RESTParameter

  /// The number of the first request; `nil` if that has none, as where links lead to the other pages.
  private let first: Int?
  private let step: Int
  private let last: Int

  /// `nil` unless the requests differ in one number alone.
  init?(of requests: [HTTPRequest]) {
    let values = requests.map(\.values)
    guard let first = values.first, values.count > 1 else { return nil }
    // The first request of a list with links names no page.
    let start = values.count > 2 && first.count < values[1].count ? 1 : 0
    let (one, other) = (values[start], values[start + 1])
    let changed = other.keys.filter { one[$0] != other[$0] }
    guard changed.count == 1, one.count == other.count, let parameter = changed.first,
      let number = one[parameter].flatMap({ Int($0) }),
      let next = other[parameter].flatMap({ Int($0) }), next > number,
      let last = values.last?[parameter].flatMap({ Int($0) }), last >= next
    else { return nil }
    self.parameter = parameter
    self.first = start == 0 ? number : nil
    step = next - number
    self.last = last
  }

  /// The number before the first one; `nil` if there is none.
  var before: Int? { first.flatMap { $0 > 0 ? max($0 - step, 0) : nil } }

  /// The number after the last page, which has so many rows.
  func after(_ rows: Int) -> Int { last + (step > 1 && rows > 0 ? rows : step) }

  /// The number of the second page, if the first one has so many rows.
  func second(_ rows: Int) -> Int { (first ?? last) + (step > 1 ? rows : step) }

  /// The same request for the page with that number.
  func request(_ request: HTTPRequest, at number: Int) -> HTTPRequest {
    request.setting(parameter, to: "\(number)")
  }

  /// The page with that number: `page=3`.
  func text(at number: Int) -> String {
    switch parameter {
    case .query(let name): "\(name)=\(number)"
    case .body(let path): "\(path.joined(separator: "."))=\(number)"
    }
  }
}

extension HTTPRequest {
  /// The values that may be shown, of the query and of the members of a JSON body.
  fileprivate var values: [RESTParameter: String] {
    let own = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
    var values: [RESTParameter: String] = [:]
    for item in own { values[.query(item.name)] = item.value }
    for item in query {
      if case .plain(let text) = item.value { values[.query(item.name)] = text }
    }
    if let body, let json = JSON(reading: body) { json.addValues(at: [], to: &values) }
    return values
  }
}

extension JSON {
  fileprivate func addValues(at path: [String], to values: inout [RESTParameter: String]) {
    switch self {
    case .object(let members):
      for member in members { member.value.addValues(at: path + [member.name], to: &values) }
    case .string(let text): values[.body(path)] = text
    default: values[.body(path)] = text
    }
  }
}
