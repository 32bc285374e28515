/// What can be wrong with the lists of the products service.
public enum ProductsQuirk: CaseIterable, Sendable {
  /// After every list a new product is there, in front of all others.
  case growing
  /// The second, third and fourth row of a list cannot be read: no id, a number for an id, null.
  case badRows
  /// Whatever is to be skipped, the first rows come.
  case ignoresSkip
  /// Sends three rows more than it was asked for.
  case generous
  /// A single product is always the same, whatever its id.
  case wrongProduct
}

/// What the service wraps around its rows: it changed over the years.
public enum ProductsEra: CaseIterable, Sendable {
  /// `{"products": […]}` and `{"product": {…}}`, since March 2022.
  case products
  /// `{"posts": […]}` and `{"post": {…}}`.
  case posts
  /// `[…]` and `{"post": {…}}`.
  case bare
}
