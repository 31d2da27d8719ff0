"""The programs of the benchmark, built when they are not there."""

import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("BENCH_BUILD", ROOT / "build-bench"))


class Programs:
    """Name to path, out of one build directory."""

    def __init__(self, build=BUILD):
        self.build = build

    def make(self, *targets):
        """Configure and build, all of it or what is named; says so only when it fails."""
        steps = [["cmake", "-B", self.build, "-S", ROOT, "-DBUILD_TESTING=ON",
                  "-DBENCH=ON", "-DCMAKE_BUILD_TYPE=Release"],
                 ["cmake", "--build", self.build, "-j", str(os.cpu_count() or 1)]]
        if targets:
            steps[1] += ["--target", *targets]
        for step in steps:
            done = subprocess.run(list(map(str, step)), stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
            if done.returncode != 0:
                raise SystemExit(done.stdout[-4000:])
        return self

    def __getitem__(self, name):
        if name.endswith(".py"):
            return HERE / name
        path = self.build / name
        return path if path.exists() else self.build / "tests" / "bench" / name
