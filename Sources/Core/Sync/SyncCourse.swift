/// What it fetches, of which of upstream's collections, where settings choose.
enum SyncCourse: Hashable, Sendable {
  /// All that there is, again and again; at the end of each pass it is known what has vanished.
  case pass(of: String)
  /// More of what has no end, from where the last sync or ``Intake`` ended.
  case growth(of: String)
}
