import AggregatorFoundation

#if canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#endif

extension CommandLine {
  /// The arguments after the name of the program.
  package static var words: [String] {
    // Without slices and sequences, here and below: their types take longer to make than the words to read.
    var words = arguments
    if !words.isEmpty { words.remove(at: 0) }
    return words
  }

  /// The first argument that is not UTF-8, repaired; it could name another file than the one meant.
  package static var firstInvalidWord: String? {
    let words = arguments
    for index in words.indices {
      if let word = unsafeArgv[index], String(validatingCString: word) == nil {
        return words[index]
      }
    }
    return nil
  }

  /// The environment variables of the process, which must not be changed meanwhile.
  package static var variables: [String: String] {
    #if canImport(Glibc) || canImport(Musl)
      // Foundation compares characters to find the first `=`, which takes as long as half of a small command.
      var variables: [String: String] = [:]
      var entries = environ
      while let entry = entries.pointee {
        if let sign = strchr(entry, CInt(UInt8(ascii: "="))) {
          let name = UnsafeRawBufferPointer(start: entry, count: entry.distance(to: sign))
          variables[String(decoding: name, as: UTF8.self)] = String(cString: sign + 1)
        }
        entries += 1
      }
      return variables
    #else
      return ProcessInfo.processInfo.environment
    #endif
  }
}
