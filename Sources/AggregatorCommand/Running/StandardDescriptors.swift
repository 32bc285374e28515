import Foundation

/// Standard input, output and error.
enum StandardDescriptors {
  /// Takes the place of those that the caller closed.
  ///
  /// The next file or connection would get their number, and what is meant for a person would go to a
  /// service. They are opened the wrong way round, so that using them fails as if they were closed.
  static func fill() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    where fcntl(descriptor, F_GETFD) < 0 {
      // The system gives the lowest number that is free, which is this one.
      _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
    }
  }
}
