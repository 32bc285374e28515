# The template of the Homebrew formula. Scripts/formula puts in the repository, the version and the checksums of the
# tarballs, which the release workflow computes; the result is a file of the release, to be copied into a tap.
# It was checked by `ruby -c` only: brew has not run it yet.
class Aggregator < Formula
  desc "Query web APIs from the terminal, even when they are down"
  homepage "@URL@"
  version "@VERSION@"
  license "MIT"

  on_macos do
    depends_on arch: :arm64
    depends_on macos: :sequoia
    url "@URL@/releases/download/v@VERSION@/aggregator-@VERSION@-darwin-arm64.tar.gz"
    sha256 "@SHA256 darwin-arm64@"
  end

  on_linux do
    on_intel do
      url "@URL@/releases/download/v@VERSION@/aggregator-@VERSION@-linux-x86_64.tar.gz"
      sha256 "@SHA256 linux-x86_64@"
    end
    on_arm do
      url "@URL@/releases/download/v@VERSION@/aggregator-@VERSION@-linux-aarch64.tar.gz"
      sha256 "@SHA256 linux-aarch64@"
    end
  end

  def install
    bin.install "bin/aggregator"
    share.install Dir["share/*"]
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/aggregator --version")
    assert_match "Paris", shell_output("#{bin}/aggregator countries show FR --offline --fields capital")
  end
end
