import AggregatorCommand

@main
enum Main {
  static func main() async { await Program("aggregator", plugins: plugins).main() }
}
