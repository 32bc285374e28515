import AggregatorCommand
import Countries
import Goods

@main
enum Main {
  static func main() {
    Program("goods-cli", plugins: [CountriesPlugin(), GoodsPlugin()]).main()
  }
}
