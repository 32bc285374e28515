import AggregatorFilters
import AggregatorKit
import Testing

@testable import AggregatorSelection

@Suite struct RangeBoundsTests {
  @Test func `bounds are compared by their numbers or times, and by what they include`() throws {
    func bounds(_ text: String) throws -> RangeBounds {
      try #require(RangeBounds(try TypedFilter(text).conjuncts))
    }
    for (all, part, result) in [
      ("d=2024", "d=2024-03", "d=2024-03"), ("d=2024-03", "d>=2024 and d<2025", "d=2024-03"),
      ("d>=2023 and d<2025", "d>=2022 and d<2024", "d>=2023 and d<2024"),
      ("d>last week", "d=2024-03", "d=2024-03"),
      ("n>10", "n>=10 and n<20", "n>10 and n<20"), ("n>=10", "n>10", "n>10"),
      ("n<20", "n>=10 and n<=20", "n>=10 and n<20"), ("n>9", "n>=10", "n>=10"),
      ("d<=2024-03-05", "d>=2024-03", "d>=2024-03 and d<=2024-03-05"),
    ] {
      #expect(try bounds(part).within(try bounds(all)).condition == result, "\(all) \(part)")
    }
  }
}
