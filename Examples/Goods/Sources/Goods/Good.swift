import AggregatorKit

/// A product of DummyJSON's shop.
public struct Good: SourceRecord {
  public let id: Int
  public let title: String
  public let brand: String?
  public let category: String?
}
