/// What can be wrong with an answer of Comic Vine that says that all is well.
public enum ComicVineQuirk: CaseIterable, Sendable {
  /// Promises 945 rows and sends none.
  case emptyPromise
  /// `number_of_page_results` is not the number of rows.
  case miscounted
  /// `number_of_total_results` is less than what was sent.
  case lowTotal
  /// The first page lacks its last row, which is nowhere else either.
  case shortPage
  /// Every later page begins with the last row of the one before.
  case shifting
  /// The second, third and fourth row of the first page cannot be read: a name is null, an id is text,
  /// a row is null.
  case badRows
  /// Whatever the offset or page, the first rows come.
  case ignoresOffset
  /// Sends pages of 7 rows, and says so, whatever the limit.
  case ownLimit
  /// Sends 3 rows more than its `limit` says.
  case generous
  /// `results` is an object where a list belongs, and a list where an object does.
  case wrongShape
}
