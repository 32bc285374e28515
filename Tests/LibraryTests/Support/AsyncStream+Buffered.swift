extension AsyncStream<Void> {
  /// The number of elements that wait to be read, after which the stream ends.
  func bufferedCount() async -> Int {
    let reading = Task {
      var count = 0
      for await _ in self { count += 1 }
      return count
    }
    reading.cancel()
    return await reading.value
  }
}
