extension String {
  /// This text in single quotes, as one word of a POSIX shell.
  package var shellQuoted: String { "'\(replacing("'", with: #"'\''"#))'" }
}
