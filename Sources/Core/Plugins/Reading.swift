/// Which tiers a caller is willing to be answered by.
public enum Reading: Hashable, Sendable {
  /// The service, else what is at hand.
  case normal
  /// What is at hand. Opens no socket.
  case offline
  /// The service, even if it has failed so often that it would be left alone; else what is at hand.
  case refresh
  /// The service or nothing.
  case noFallback
}
