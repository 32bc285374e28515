import AggregatorCommand
import CountriesSource
import Goods

@main
enum Main {
  static func main() {
    Program("goods-cli", plugins: [CountriesPlugin(), GoodsPlugin()]).main()
  }
}
