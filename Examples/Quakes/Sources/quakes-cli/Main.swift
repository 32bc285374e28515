import AggregatorCommand
import Quakes

@main
enum Main {
  static func main() { Program("quakes-cli", plugins: [QuakesPlugin()]).main() }
}
