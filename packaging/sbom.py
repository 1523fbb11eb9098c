"""Prints what the program is made of, as CycloneDX 1.5: every crate that is linked into it, with licence and checksum.

usage: sbom.py --target TRIPLE
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--target", required=True)
    target = arguments.parse_args().target
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    # Crates that only build or test are not in the program.
    linked = {
        node["id"]: sorted(
            dep["pkg"] for dep in node["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])
        )
        for node in metadata["resolve"]["nodes"]
    }
    program = next(id for id, package in packages.items() if package["name"] == "foldline")
    reached, waiting = set(), [program]
    while waiting:
        id = waiting.pop()
        if id not in reached:
            reached.add(id)
            waiting.extend(linked[id])
    # A macro runs in the compiler, and with it what it is made of.
    macros = {id for id in reached if any("proc-macro" in made["kind"] for made in packages[id]["targets"])}
    reached, waiting = set(), [program]
    while waiting:
        id = waiting.pop()
        if id not in reached and id not in macros:
            reached.add(id)
            waiting.extend(linked[id])
    sums = checksums()
    others = sorted(reached - {program}, key=lambda id: (packages[id]["name"], packages[id]["version"]))
    time = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    print(json.dumps({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {**component(packages[program], sums), "type": "application"},
        },
        "components": [component(packages[id], sums) for id in others],
        "dependencies": [
            {"ref": purl(packages[id]), "dependsOn": [purl(packages[dep]) for dep in linked[id] if dep in reached]}
            for id in [program, *others]
        ],
    }, indent=1))


def purl(package: dict) -> str:
    return f"pkg:cargo/{package['name']}@{package['version']}"


def component(package: dict, sums: dict) -> dict:
    told = {
        "type": "library",
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": purl(package),
    }
    if package["license"]:
        # `MIT/Apache-2.0` is how crates wrote it before SPDX expressions.
        told["licenses"] = [{"expression": re.sub(r"\s*/\s*", " OR ", package["license"])}]
    checksum = sums.get((package["name"], package["version"]))
    if checksum:
        told["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return told


def checksums() -> dict:
    sums = {}
    for entry in (ROOT / "Cargo.lock").read_text().split("[[package]]")[1:]:
        fields = dict(re.findall(r'^(\w+) = "(.*)"$', entry, re.MULTILINE))
        if "checksum" in fields:
            sums[fields["name"], fields["version"]] = fields["checksum"]
    return sums


main()
