import Testing

@testable import AggregatorCore
@testable import AggregatorKit

/// All decisions of pagination, without any waiting.
@Suite
struct CourseTests {
  private func course(
    size: Int = 10, after cursor: PageCursor? = nil, _ bound: PaginationBound = PaginationBound()
  ) -> PaginationState<Note> {
    PaginationState(matching: nil, after: cursor, size: size, bound: bound)
  }

  @Test func `ends when the source has no more pages`() {
    var course = course()
    #expect(course.take(.notes(1...10, next: .place(1))).end == nil)
    #expect(course.take(.notes(11...12)).end == .exhausted)
    #expect(course.request == nil)
  }

  @Test(arguments: 1...40)
  func `ends at the requested number of records`(wanted: Int) throws {
    var course = course(size: 7, PaginationBound(items: wanted))
    var ids: [Int] = []
    var end: PaginationEnd?
    while let request = course.request {
      #expect(request.limit == min(7, wanted - ids.count))
      let step = course.take(
        .notes(ids.count..<ids.count + request.limit, next: .place(ids.count + 1)))
      ids += step.items.map(\.id)
      end = step.end
    }
    #expect(ids == Array(0..<wanted))
    #expect(end == .itemLimit)
  }

  @Test func `goes on in a copy without the records that were delivered`() throws {
    var course = course(PaginationBound(items: 44, pages: 5))
    for page in 0..<4 {
      _ = course.take(.notes(page * 10 + 1...page * 10 + 10, next: .place(page + 1)))
    }
    var copy = try #require(course.continuedInCopy())
    var (ids, start) = ([Int](), 1)
    while let request = copy.request {
      let step = copy.take(.notes(start..<start + request.limit, next: .place(start)))
      start += request.limit
      ids += step.items.map(\.id)
      #expect(step.end == (ids.count == 4 ? .itemLimit : nil))
    }
    #expect(ids == [41, 42, 43, 44])
    #expect(copy.continuedInCopy() == nil)
  }

  @Test func `goes on in a copy up to the number of pages`() throws {
    var course = course(PaginationBound(pages: 3))
    _ = course.take(.notes(1...10, next: .place(1)))
    var copy = try #require(course.continuedInCopy())
    let ends = (0..<3).map { page in
      copy.take(.notes(page * 10 + 1...page * 10 + 10, next: .place(page + 11))).end
    }
    #expect(ends == [nil, nil, .pageLimit])
    #expect(copy.request == nil)
  }

  @Test func `drops records of a page above the bound`() {
    var course = course(PaginationBound(items: 4))
    let step = course.take(.notes([1, 1, 2, 3, 4, 5, 6], next: .place(1)))
    #expect(step.items.map(\.id) == [1, 2, 3, 4])
    #expect(step.end == .itemLimit)
  }

  @Test func `ends after the allowed number of pages`() {
    var course = course(PaginationBound(pages: 2))
    #expect(course.take(.notes(1...3, next: .place(1))).end == nil)
    #expect(course.take(.notes(4...6, next: .place(2))).end == .pageLimit)
  }

  @Test(arguments: 1...5, [0, 1, 3])
  func `ends if cursors form a cycle of any length`(length: Int, lead: Int) {
    var course = course()
    var places: [Int?] = [nil]
    var end: PaginationEnd?
    while end == nil, places.count < 50 {
      let page = places.count - 1
      // The start, which has no cursor, and `lead` more pages come before the circle.
      let next = page < lead ? page : lead + (page - lead) % length
      end = course.take(.notes([page], next: .place(next))).end
      places.append(next)
    }
    #expect(end == .cycle(length: length))
    #expect(places.count == lead + length + 2)
  }

  @Test func `ends if a page leads back to the first cursor`() {
    var course = course(after: .place(7))
    #expect(course.take(.notes(1...3, next: .place(8))).end == nil)
    #expect(course.take(.notes(4...6, next: .place(7))).end == .cycle(length: 2))
  }

  @Test(arguments: [[Int](), [1, 2, 3]])
  func `ends after three pages in a row without new records`(ids: [Int]) {
    var course = course()
    _ = course.take(.notes(1...3, next: .place(1)))
    #expect(course.take(.notes(ids, next: .place(2))).end == nil)
    #expect(course.take(.notes(ids, next: .place(3))).end == nil)
    #expect(course.take(.notes(ids, next: .place(4))).end == .nothingNew(pages: 3))
  }

  @Test func `continues after one or two pages without new records`() {
    var course = course()
    for page in 0..<30 {
      let ids = page % 3 == 2 ? [page] : []
      #expect(course.take(.notes(ids, next: .place(page + 1))).end == nil)
    }
  }

  @Test func `counts hidden records as progress`() {
    var course = course()
    for page in 0..<30 {
      #expect(course.take(.notes([], next: .place(page + 1), hidden: 10)).end == nil)
    }
  }

  /// A page of which deleted records were left out.
  private func shortened(
    _ ids: some Sequence<Int>, hidden: Int, next: PageCursor?
  ) -> Page<Note> {
    var page = Page<Note>.notes(ids, next: next, hidden: hidden)
    page.isShortened = true
    return page
  }

  @Test func `fills pages that lack deleted records if the bound says so`() {
    var course = course(.filledPages(1))
    #expect(course.take(shortened([], hidden: 10, next: .place(10))).end == nil)
    #expect(course.request?.limit == 10)
    #expect(course.take(shortened(11...18, hidden: 2, next: .place(20))).end == nil)
    #expect(course.request?.limit == 2)
    #expect(course.take(shortened([21], hidden: 1, next: .place(22))).end == nil)
    #expect(course.request == PageRequest(after: .place(22), limit: 1))
    #expect(course.take(.notes([23], next: .place(23))).end == .pageLimit)
    #expect(course.request == nil)

    var plain = self.course(PaginationBound(pages: 1))
    #expect(plain.take(shortened([1], hidden: 9, next: .place(10))).end == .pageLimit)
  }

  @Test func `fills pages up to the number of records, and counts those that are whole`() {
    var course = course(.filledPages(2, items: 20))
    #expect(course.take(shortened(1...7, hidden: 3, next: .place(10))).end == nil)
    #expect(course.take(.notes(11...20, next: .place(20))).end == nil)
    #expect(course.request?.limit == 3)
    #expect(course.take(.notes(21...23, next: .place(23))).end == .itemLimit)
  }

  @Test func `fills no page that ends where a scan does`() {
    var course = course(.filledPages(1))
    var page = shortened([1], hidden: 99, next: .place(100))
    page.warnings = [Warning(.scanned, "searched only the first 100 records")]
    #expect(course.take(page).end == .pageLimit)
  }

  @Test func `fills a page that has records with a number of others, and an empty one with any`() {
    var course = course(size: 100, .filledPages(1))
    for number in 1...200 {
      #expect(course.take(shortened([], hidden: 9, next: .place(number))).end == nil)
    }
    var count = 0
    while course.request != nil, count < 1000 {
      count += 1
      _ = course.take(shortened([count], hidden: 1, next: .place(1000 + count)))
    }
    #expect(10..<50 ~= count)
  }

  @Test func `drops records returned before`() {
    var course = course()
    #expect(course.take(.notes([1, 2, 2], next: .place(1))).items.map(\.id) == [1, 2])
    let step = course.take(.notes([2, 3, 1, 4]))
    #expect(step.items.map(\.id) == [3, 4])
    #expect(step.page.records.map(\.id) == [2, 3, 1, 4])
  }

  @Test(
    arguments: [
      (0, nil, nil, []), (1, nil, nil, [10]), (4, nil, nil, [10, 10, 10, 10]),
      (4, 25, nil, [10, 5]), (4, 20, nil, [10]), (4, 11, nil, [1]), (4, nil, 3, [10, 10]),
      (0, 25, 3, []), (9, 1000, 4, [10, 10, 10]),
    ] as [(Int, Int?, Int?, [Int])])
  func `requests nothing beyond its bound`(
    ahead: Int, items: Int?, pages: Int?, limits: [Int]
  ) {
    var course = course(PaginationBound(items: items, pages: pages))
    _ = course.take(.notes(1...10, next: .place(10)))
    let requests = course.requests(atMost: ahead) { count, request in
      .place((request.cursor?.place ?? 0) + count)
    }
    #expect(requests.map(\.limit) == limits)
    #expect(requests.map(\.cursor?.place) == limits.indices.map { 10 + 10 * $0 })
  }

  @Test func `predicts no cursor twice`() throws {
    var course = course()
    _ = course.take(.notes(1...10, next: .place(10)))
    var guesses = 0
    func requests(after earlier: [PageRequest]) -> [PageRequest] {
      course.requests(atMost: 4, after: earlier) { count, request in
        guesses += 1
        return .place((request.cursor?.place ?? 0) + count)
      }
    }
    let first = requests(after: [])
    #expect((first.count, guesses) == (4, 3))
    _ = course.take(.notes(11...20, next: .place(20)))
    let second = requests(after: Array(first.dropFirst()))
    #expect(second.map(\.cursor?.place) == [20, 30, 40, 50])
    #expect(guesses == 4)
    // Where they did not come true, they are worth nothing.
    _ = course.take(.notes(21...30, next: .place(31)))
    #expect(requests(after: Array(second.dropFirst())).map(\.cursor?.place) == [31, 41, 51, 61])
    #expect(guesses == 7)
  }

  @Test func `requests only the certain page if none can be predicted`() {
    var course = course()
    _ = course.take(.notes(1...10, next: .place(10)))
    let requests = course.requests(atMost: 8) { _, _ in nil }
    #expect(requests == [PageRequest(after: .place(10), limit: 10)])
  }

  @Test func `requests nothing after the end`() {
    var course = course()
    _ = course.take(.notes(1...10))
    #expect(course.requests(atMost: 8) { _, _ in .place(1) }.isEmpty)
  }

  @Test(arguments: [
    (PaginationEnd.exhausted, false, "no more records"),
    (.itemLimit, false, "record limit reached"),
    (.pageLimit, false, "page limit reached"),
    (.cycle(length: 1), true, "a page links to itself"),
    (.cycle(length: 2), true, "pages repeat in a cycle of 2"),
    (.nothingNew(pages: 3), true, "3 consecutive pages had no new records"),
  ])
  func `reports why it ended`(end: PaginationEnd, isWithoutProgress: Bool, words: String) {
    #expect(end.isWithoutProgress == isWithoutProgress)
    #expect(end.text == words)
  }
}
