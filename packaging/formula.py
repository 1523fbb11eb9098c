"""Prints the Homebrew formula for the archives in a folder, with their checksums.

usage: formula.py VERSION FOLDER
"""

import hashlib
import pathlib
import sys

PLATFORMS = [
    ("macos", "arm", "aarch64-apple-darwin"),
    ("macos", "intel", "x86_64-apple-darwin"),
    ("linux", "arm", "aarch64-unknown-linux-musl"),
    ("linux", "intel", "x86_64-unknown-linux-musl"),
]
HEAD = '''\
class Foldline < Formula
  desc "Keeps long-running LLM agents inside their context window"
  homepage "https://github.com/foldline/foldline"
  version "{version}"
  license any_of: ["MIT", "Apache-2.0"]
'''
PLATFORM = '''
  on_{system} do
    on_{processor} do
      url "https://github.com/foldline/foldline/releases/download/v{version}/{name}"
      sha256 "{sum}"
    end
  end
'''
REST = '''
  def install
    bin.install "foldline"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/foldline.bash" => "foldline"
    zsh_completion.install "completions/_foldline"
    fish_completion.install "completions/foldline.fish"
  end

  service do
    run [opt_bin/"foldline", "serve"]
    keep_alive crashed: true
    error_log_path var/"log/foldline.log"
  end

  test do
    (testpath/"session.json").write '{"messages":[{"role":"user","content":"hello"}]}'
    system bin/"foldline", "validate", "session.json"
    assert_match version.to_s, shell_output("#{bin}/foldline --version")
  end
end
'''


def main() -> None:
    version, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    parts = []
    for system, processor, triple in PLATFORMS:
        archive = folder / f"foldline-{version}-{triple}.tar.gz"
        if archive.exists():
            digest = hashlib.sha256(archive.read_bytes()).hexdigest()
            fields = {"system": system, "processor": processor, "version": version, "name": archive.name, "sum": digest}
            parts.append(PLATFORM.format(**fields))
    if not parts:
        sys.exit(f"{folder} has no archive of version {version}; build one with packaging/build --only archive")
    print(HEAD.format(version=version) + "".join(parts) + REST, end="")


main()
