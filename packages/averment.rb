# Filled by `tools/dist` with the version and the checksums of a release.
class Averment < Formula
  desc "Checks what AI agents did against rules"
  homepage "https://github.com/averment/averment"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "https://github.com/averment/averment/releases/download/v#{version}/aver-aarch64-apple-darwin.tar.gz"
      sha256 "@aarch64-apple-darwin@"
    end
    on_intel do
      url "https://github.com/averment/averment/releases/download/v#{version}/aver-x86_64-apple-darwin.tar.gz"
      sha256 "@x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/averment/averment/releases/download/v#{version}/aver-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "https://github.com/averment/averment/releases/download/v#{version}/aver-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "aver"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/aver.bash" => "aver"
    zsh_completion.install "completions/_aver"
    fish_completion.install "completions/aver.fish"
  end

  test do
    (testpath/"rule.assert").write "never refund\n"
    (testpath/"run.json").write '{"calls": [{"tool": "lookup", "args": {}}]}'
    system bin/"aver", "lint", "rule.assert"
    assert_match version.to_s, shell_output("#{bin}/aver --version")
  end
end
