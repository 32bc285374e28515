public import AggregatorImages

/// How a person sees a record on a terminal, in a list and alone.
public struct Layout<Item>: Sendable {
  /// How a record looks in a list.
  public enum Row: Sendable {
    /// One line of a table whose columns are the fields shown.
    case columns
    /// A block: a heading on the left that wraps when it is long, a badge at the right edge that is
    /// never cut, and a detail below, indented.
    case block(
      heading: @Sendable (Item) -> String, badge: @Sendable (Item) -> String,
      detail: @Sendable (Item) -> String?)
  }

  /// How a record looks in a list.
  public let row: Row

  /// The names of the fields that a record shows alone, in order, one label and value a line.
  public let card: [String]

  /// The address of a record's page for people; `nil` if records have none.
  public let link: (@Sendable (Item) -> String?)?

  /// The addresses of a record's image in a size, best first; `nil` if records have none.
  ///
  /// They may be as the service wrote them: what is no address is passed over.
  public let images: (@Sendable (Item, ImageSize) -> [String])?

  /// A layout.
  ///
  /// - Parameters:
  ///   - row: How a record looks in a list; a line of a table by default.
  ///   - card: The names of the fields that a record shows alone, in order.
  ///   - link: The address of a record's page for people; `nil` if records have none.
  ///   - images: The addresses of a record's image in a size, best first; `nil` if records have none.
  public init(
    _ row: Row = .columns, card: [String], link: (@Sendable (Item) -> String?)? = nil,
    images: (@Sendable (Item, ImageSize) -> [String])? = nil
  ) {
    self.row = row
    self.card = card
    self.link = link
    self.images = images
  }
}
