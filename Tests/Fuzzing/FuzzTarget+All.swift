extension FuzzTarget {
  /// Every parser that meets foreign bytes.
  package static let all =
    replies + json + http + images + text + searching + positions + settings + commands + output
    + recordings + store
}
