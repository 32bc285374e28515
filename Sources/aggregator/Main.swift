import AggregatorCommand

@main
enum Main {
  static func main() { Program("aggregator", plugins: plugins).main() }
}
