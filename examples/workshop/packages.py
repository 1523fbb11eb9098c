"""The packages of the fictional virtual environment, and what the production host has."""
from typing import Dict, List, Tuple

_LIST = """
alabaster 0.7.16 0 theme for generated documentation
anyio 4.4.0 4 one interface over two event loops
argcomplete 3.4.0 0 shell completion for argparse
asttokens 2.4.1 1 source positions for syntax trees
astroid 3.2.2 1 syntax trees with inference
attrs 23.2.0 0 classes without boilerplate
babel 2.15.0 0 locale data and message catalogues
backcall 0.2.0 0 callbacks that survive signature changes
black 24.4.2 6 code formatter
bleach 6.1.0 2 markup cleaning
build 1.2.1 3 builds packages in isolation
certifi 2024.6.2 0 root certificates
cffi 1.16.0 1 foreign functions in C
cfgv 3.4.0 0 validates configuration
charset-normalizer 3.3.2 0 guesses encodings
click 8.1.7 0 command line interfaces
colorama 0.4.6 0 terminal colours
comm 0.2.2 1 kernel messages
coverage 7.5.3 0 measures which lines ran
cryptography 42.0.8 1 primitives and recipes
debugpy 1.8.1 0 debug adapter
decorator 5.1.1 0 decorators that keep signatures
dill 0.3.8 0 pickles more than pickle
distlib 0.3.8 0 distribution tools
docutils 0.20.1 0 text processing for documentation
exceptiongroup 1.2.1 0 backport of exception groups
executing 2.0.1 0 finds the node being executed
filelock 3.15.4 0 lock files
flake8 7.1.0 3 style checker
freezegun 1.5.1 1 moves the clock in tests
h11 0.14.0 0 HTTP/1.1 as a state machine
httpcore 1.0.5 2 minimal HTTP client
httpx 0.27.0 5 HTTP client
identify 2.5.36 0 tells file types
idna 3.7 0 international domain names
imagesize 1.4.1 0 reads image dimensions
importlib-metadata 8.0.0 1 backport of package metadata
iniconfig 2.0.0 0 ini file reader
ipython 8.18.1 11 interactive shell
isort 5.13.2 0 sorts imports
jedi 0.19.1 1 completion and analysis
jinja2 3.1.4 1 templates
keyring 25.2.1 5 password store access
markdown-it-py 3.0.0 1 Markdown parser
markupsafe 2.1.5 0 escaped strings
matplotlib-inline 0.1.7 1 inline plots
mccabe 0.7.0 0 complexity checker
mdurl 0.1.2 0 URL helpers for Markdown
more-itertools 10.3.0 0 recipes for iterators
mypy 1.5.1 3 static type checker
mypy-extensions 1.0.0 0 extras for the type checker
nodeenv 1.9.1 0 isolated Node environments
orderbridge 3.14.2 0 imports supplier order files
packaging 24.1 0 versions and specifiers
parso 0.8.4 0 tolerant Python parser
pathspec 0.12.1 0 path patterns
pexpect 4.9.0 1 drives interactive programs
pip 24.0 0 package installer
platformdirs 4.2.2 0 folders by platform
pluggy 1.5.0 0 plugin hooks
pre-commit 3.7.1 5 runs checks before commits
prompt-toolkit 3.0.47 1 interactive prompts
ptyprocess 0.7.0 0 processes in a pseudo terminal
pure-eval 0.2.2 0 evaluates safe expressions
pycodestyle 2.12.0 0 style rules
pycparser 2.22 0 parses C
pyflakes 3.2.0 0 finds unused names
pygments 2.18.0 0 highlights source text
pyproject-hooks 1.1.0 1 build backend calls
pytest 7.4.4 6 test runner
pytest-timeout 2.3.1 1 stops tests that hang
python-dateutil 2.9.0 1 date arithmetic
pyyaml 6.0.1 0 YAML reader
readme-renderer 43.0 3 renders package pages
requests 2.32.3 4 HTTP for people
rich 13.7.1 2 formatted terminal output
setuptools 70.1.1 0 builds packages
six 1.16.0 0 two and three together
sniffio 1.3.1 0 tells which event loop runs
snowballstemmer 2.2.0 0 word stems
sphinx 7.3.7 16 documentation generator
stack-data 0.6.3 3 data of stack frames
tomli 2.0.1 0 TOML reader
tomlkit 0.12.5 0 TOML that keeps style
traitlets 5.14.3 0 typed attributes
twine 5.1.0 8 uploads packages
typing-extensions 4.12.2 0 backported types
tzdata 2025.2 0 zone data
urllib3 2.2.2 0 HTTP connection pool
virtualenv 20.26.3 3 isolated environments
wcwidth 0.2.13 0 widths of characters
wheel 0.43.0 0 built distributions
zipp 3.19.2 0 paths inside archives
"""

PACKAGES: List[Tuple[str, str, str, str]] = [tuple(line.split(" ", 3)) for line in _LIST.strip().splitlines()]
PRODUCTION: Dict[str, str] = {
    "orderbridge": "3.14.2", "pip": "23.3.2", "setuptools": "69.0.3", "wheel": "0.43.0", "tzdata": "2024.1",
    "pytest": "8.2.2", "pluggy": "1.5.0", "iniconfig": "2.0.0", "packaging": "24.1", "exceptiongroup": "1.2.1",
    "tomli": "2.0.1",
}


def listing() -> str:
    lines = [f"{'package':<28}{'version':<14}{'requires':>8}  summary"]
    lines += [f"{name:<28}{version:<14}{requires:>8}  {summary}" for name, version, requires, summary in PACKAGES]
    return "\n".join(lines + [f"{len(PACKAGES)} distributions"])


def freeze() -> str:
    return "\n".join(f"    {name}=={version}" for name, version in sorted(PRODUCTION.items()))


def differences() -> List[Tuple[str, str, str]]:
    here = {name: version for name, version, _, _ in PACKAGES}
    return [(name, here[name], version) for name, version in sorted(PRODUCTION.items()) if here[name] != version]


def table() -> str:
    rows = ["| package | here | imp-1 | used at runtime |", "|---|---|---|---|"]
    used = {"tzdata": "only if the system has no zone files"}
    rows += [f"| `{name}` | {here} | {there} | {used.get(name, 'no')} |" for name, here, there in differences()]
    rows.append(f"| {len(PACKAGES) - len(PRODUCTION)} others | present | absent | no, development tooling |")
    return "\n".join(rows)


def note() -> str:
    names = ", ".join(f"{name} {here} here and {there} there" for name, here, there in differences())
    return f"of her {len(PRODUCTION)} packages these differ: {names}. {len(PACKAGES) - len(PRODUCTION)} are only here."
