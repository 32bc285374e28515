import AggregatorCommand
import AggregatorPlugins

@main
enum Main {
  static func main() { Program("aggregator", plugins: plugins).main() }
}
