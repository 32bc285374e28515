import AggregatorCommand
import Paintings
import Quakes

@main
enum Main {
  static func main() { Program("quakes-cli", plugins: [QuakesPlugin(), PaintingsPlugin()]).main() }
}
