/// The version of this package.
package enum Version {
  /// As in `aggregator --version` and in the `User-Agent` of every request.
  package static let current = "0.1.0"
}
