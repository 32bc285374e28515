package import AggregatorKit
import AggregatorTestSupport
import Foundation
import Synchronization

/// A JSON API of lamps that says less than it has, or contradicts itself, in one way and in one paging.
///
/// It is honest until ``isHonest`` is false. Deinitialisation stops it.
package final class LyingService: Sendable {
  package enum Paging: String, CaseIterable, Sendable {
    case page, offset, token, link, linkHeader, single
  }

  /// The service's statements beside the rows.
  package enum Extra: String, CaseIterable, Sendable {
    case nothing, total, more
  }

  /// The fault from some page on.
  package enum Lie: String, CaseIterable, Sendable {
    case none
    // Rows are missing.
    case emptyPage = "empty page", emptyPageWithoutTotal = "empty page without a total"
    case missingRow = "missing row", droppedEnd = "dropped end", cap =
      "smaller pages than asked for"
    case shrinkingTotal = "shrinking total", zeroTotal = "total of zero", largerTotal =
      "larger total"
    // Rows repeat.
    case repeatedPage = "repeated page", repeatedID = "repeated ID", cycle =
      "link to an earlier page"
    case firstPageForever = "first page for ever"
    // Rows cannot be read.
    case rowWithoutID = "row without an ID", nullRows = "rows that are null"
    // Errors that look like success.
    case errorWithoutRows = "error with 200", failureWithRows = "success that is false, with rows"
    case graphQLErrors = "errors beside rows", manyErrors = "many errors beside rows", textError =
      "status that is an error"
    // Contradictory ends.
    case moreWithoutNext = "more without a next page", moreAsText =
      "more as text without a next page"
    case emptyObjectToken = "token {}", emptyListToken = "token []", fractionToken = "token 90.5"
    case objectToken = "token with an unknown member", trueToken = "token true"
    case noContent = "204 after a promise", lastWithoutNext = "last page without next"
    // Failures.
    case cutBody = "cut body", serverError = "500", notFound = "404", html = "HTML", rateLimit =
      "429"
    case notJSON = "text"
  }

  package static let count = 57
  package static let pageSize = 10

  package static let ids = (1...count).map(String.init)

  package let paging: Paging
  package let extra: Extra
  package let lie: Lie

  private let server: LoopbackServer
  private let honesty: Honesty

  private final class Honesty: Sendable {
    let isHonest = Mutex(false)
  }

  package init(_ paging: Paging, _ extra: Extra, _ lie: Lie) throws(SourceError) {
    (self.paging, self.extra, self.lie) = (paging, extra, lie)
    let honesty = Honesty()
    self.honesty = honesty
    server = try LoopbackServer { request in
      let lie = honesty.isHonest.withLock(\.self) ? Lie.none : lie
      return Answer(paging, extra, lie, request).reply
    }
  }

  deinit { server.stop() }

  package var isHonest: Bool {
    get { honesty.isHonest.withLock(\.self) }
    set { honesty.isHonest.withLock { $0 = newValue } }
  }

  /// Its name: `page, total: dropped end`.
  package var name: String {
    "\(paging.rawValue)\(extra == .nothing ? "" : ", \(extra.rawValue)"): \(lie.rawValue)"
  }

  /// The manifest of the source.
  package var manifest: String {
    let step =
      switch paging {
      case .page: #""page": "page=1", "size": "limit=10", "paging": "proved""#
      case .offset: #""offset": "offset=0", "size": "limit=10", "paging": "proved""#
      case .token: #""next": "next", "token": "after", "size": "limit=10", "paging": "proved""#
      case .link: #""next": "next", "paging": "proved""#
      case .linkHeader: #""next": "header:Link", "paging": "proved""#
      case .single: #""paging": "single""#
      }
    let extra =
      switch extra {
      case .nothing: ""
      case .total: #", "total": "total""#
      case .more: #", "more": "more""#
      }
    return """
      {"url": "\(server.baseURL)/lamps", "rows": "lamps", "id": "id", "rate": "off", \(step)\(extra), \
      "fields": ["name"]}
      """
  }

  /// All services whose lie shows.
  package static let table: [(Paging, Extra, Lie)] = Paging.allCases.flatMap { paging in
    Extra.allCases.flatMap { extra in
      Lie.allCases.filter { applies($0, paging, extra) }.map { (paging, extra, $0) }
    }
  }

  /// The lies that no client can notice, by what they consist of.
  package static let unnoticeable = [
    "rows that are missing where the service says neither a total nor that there are more",
    "a total that is too small, if it is the same on every page",
    "records that are inserted and removed between two pages, if no ID repeats and no total changes",
    "rows of another collection, or of another time, with IDs of their own",
  ]

  private static func applies(_ lie: Lie, _ paging: Paging, _ extra: Extra) -> Bool {
    let isNamed = [.token, .link, .linkHeader].contains(paging)
    if paging == .single, extra == .more { return false }
    switch lie {
    case .none: return true
    case .emptyPage, .emptyPageWithoutTotal, .droppedEnd:
      // A named page that is empty and names no other one is the end, as far as anybody can know.
      return extra == .total && paging != .single
    case .missingRow: return extra == .total
    case .cap: return extra == .total && paging == .page
    case .shrinkingTotal, .zeroTotal: return extra == .total && paging != .single
    case .largerTotal: return extra == .total
    case .repeatedPage, .firstPageForever:
      return extra != .more && (paging == .page || paging == .offset)
    case .repeatedID, .rowWithoutID: return extra != .more
    case .cycle: return isNamed
    case .nullRows, .errorWithoutRows, .graphQLErrors, .manyErrors, .failureWithRows, .textError:
      return extra == .nothing
    case .moreWithoutNext, .moreAsText:
      return extra == .more && (paging == .token || paging == .link)
    case .emptyObjectToken, .fractionToken, .trueToken: return paging == .token || paging == .link
    case .emptyListToken, .objectToken: return paging == .token
    case .noContent: return isNamed || extra == .more
    case .lastWithoutNext: return paging == .linkHeader
    // Such requests are repeated after a pause.
    case .cutBody, .serverError, .rateLimit:
      return extra == .nothing && (paging == .page || paging == .token)
    case .html, .notJSON: return extra == .nothing
    case .notFound: return extra != .more && paging != .single
    }
  }
}

/// The answer to one request.
private struct Answer {
  private let paging: LyingService.Paging
  private let extra: LyingService.Extra
  private let lie: LyingService.Lie
  private let request: LoopbackRequest

  init(
    _ paging: LyingService.Paging, _ extra: LyingService.Extra, _ lie: LyingService.Lie,
    _ request: LoopbackRequest
  ) {
    (self.paging, self.extra, self.lie, self.request) = (paging, extra, lie, request)
  }

  private static let count = LyingService.count
  private static let size = LyingService.pageSize

  /// The row at which the page begins.
  private var start: Int {
    func number(_ name: String) -> Int? { request.query[name].flatMap { Int($0) } }
    switch paging {
    case .page: return ((number("page") ?? 1) - 1) * Self.size
    case .offset: return number("offset") ?? 0
    case .token: return request.query["after"].flatMap { Int($0.dropFirst()) } ?? 0
    case .link, .linkHeader: return number("from") ?? 0
    case .single: return 0
    }
  }

  private var size: Int { paging == .single ? Self.count : Self.size }

  /// True from the third page on, or in the only one.
  private var lies: Bool { paging == .single || start >= 2 * Self.size }

  /// True for the third page, or the only one.
  private var liesOnce: Bool { paging == .single || start == 2 * Self.size }

  private func row(_ index: Int) -> JSON {
    let id = lie == .repeatedID && index == 24 ? 3 : index + 1
    let members: [JSON.Member] = [
      .init("id", .integer(id)), .init("name", .string("lamp \(index + 1)")),
    ]
    let isNameless = lie == .rowWithoutID && index == 24
    return .object(isNameless ? Array(members.dropFirst()) : members)
  }

  /// The indices of the rows of the page.
  private var indices: [Int] {
    let page = Array(min(start, Self.count)..<min(start + size, Self.count))
    switch lie {
    case .emptyPage, .emptyPageWithoutTotal, .zeroTotal, .shrinkingTotal: return lies ? [] : page
    case .errorWithoutRows, .textError: return liesOnce ? [] : page
    case .droppedEnd: return start >= 50 ? [] : page
    case .missingRow: return page.filter { $0 != 24 }
    case .cap: return Array(page.prefix(7))
    case .repeatedPage: return liesOnce ? Array(10..<20) : page
    case .firstPageForever: return Array(0..<10)
    default: return page
    }
  }

  private var total: Int? {
    guard extra == .total else { return nil }
    switch lie {
    case .emptyPageWithoutTotal where lies: return nil
    case .shrinkingTotal where lies: return 20
    case .zeroTotal where lies: return 0
    case .largerTotal: return 99
    default: return Self.count
    }
  }

  /// The row at which the next page begins; `nil` at the end.
  private var next: Int? {
    if lie == .cycle, liesOnce { return 10 }
    let isOver =
      switch lie {
      case .emptyPage, .emptyPageWithoutTotal, .zeroTotal, .shrinkingTotal: lies
      case .droppedEnd: start >= 50
      case .moreWithoutNext, .moreAsText, .emptyObjectToken, .emptyListToken, .fractionToken,
        .objectToken, .trueToken, .lastWithoutNext:
        liesOnce
      default: false
      }
    return isOver || start + size >= Self.count ? nil : start + size
  }

  private var more: JSON {
    let saysMore = next != nil || lies && [.moreWithoutNext, .moreAsText].contains(lie)
    return lie == .moreAsText ? .string(saysMore ? "true" : "false") : .bool(saysMore)
  }

  /// The value that names the next page.
  private var nextValue: JSON {
    if liesOnce {
      switch lie {
      case .emptyObjectToken: return [:]
      case .emptyListToken: return []
      case .fractionToken: return .number(90.5)
      case .objectToken: return ["cursor": "t30"]
      case .trueToken: return true
      default: break
      }
    }
    guard let next else { return .null }
    return paging == .token ? .string("t\(next)") : .string("/lamps?from=\(next)")
  }

  private var body: JSON {
    var members: [JSON.Member] = []
    if extra == .more { members.append(.init("more", more)) }
    if let total { members.append(.init("total", .integer(total))) }
    let isNull = lie == .nullRows && liesOnce
    members.append(.init("lamps", isNull ? .null : .array(indices.map(row))))
    if paging == .token || paging == .link { members.append(.init("next", nextValue)) }
    guard liesOnce else { return .object(members) }
    switch lie {
    case .errorWithoutRows:
      members += [.init("success", false), .init("error", "the lamps are being counted")]
    case .textError: members += [.init("status", "error"), .init("message", "no lamps today")]
    case .failureWithRows: members.append(.init("ok", false))
    case .graphQLErrors: members.append(.init("errors", [["message": "a shard is down"]]))
    case .manyErrors:
      // So long that the name is far from both ends.
      let errors = (1...100).map { JSON.string("shard \($0) is down, and its lamps are missing") }
      members += [
        .init("about", .string(String(repeating: "light ", count: 500))),
        .init("errors", .array(errors)),
      ]
    default: break
    }
    return .object(members)
  }

  var reply: LoopbackReply {
    guard request.path == "/lamps" else { return .json("{}", status: 404) }
    if lies {
      switch lie {
      case .cutBody: return .cut(body.text)
      case .serverError: return .json(#"{"message": "down"}"#, status: 500)
      case .notFound: return .json(#"{"message": "no such page"}"#, status: 404)
      case .html: return .html(title: "Maintenance")
      case .notJSON: return .ok(Data("Service unavailable".utf8))
      case .rateLimit: return .json(#"{"message": "slow down"}"#, status: 429)
      case .noContent: return .status(204)
      default: break
      }
    }
    var headers = [("Content-Type", "application/json")]
    if paging == .linkHeader {
      let links = [
        next.map { "</lamps?from=\($0)>; rel=\"next\"" },
        start + size < Self.count ? "</lamps?from=50>; rel=\"last\"" : nil,
      ].compactMap(\.self)
      if !links.isEmpty { headers.append(("Link", links.joined(separator: ", "))) }
    }
    return .status(200, body.text, headers: headers)
  }
}

extension LoopbackReply {
  /// JSON whose connection breaks in the middle.
  fileprivate static func cut(_ text: String) -> LoopbackReply {
    .cut(after: Data(text.utf8.prefix(text.utf8.count / 2)), of: text.utf8.count)
  }
}
