"""The core alone: its time, its instructions and its allocations an event.

All by the same program, engine_bench, and the last two by differencing two lengths of run,
which leaves out whatever a start costs.
"""

import json
import os
import pathlib
import re
import subprocess
import tempfile

from middles import WORK, configuration

SHORT, LONG = 500, 1500  # messages
EVENTS = 64              # in each


def write_configuration(directory, scripts, streams):
    path = pathlib.Path(directory) / "kvgate.yaml"
    path.write_text(configuration(scripts, 1000, "inproc://in",
                                  [f"inproc://out{i}" for i in range(streams)]),
                    encoding="utf-8")
    return path


def execute(command, **environment):
    """Its standard output and error; ends the program when it fails."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                          env=dict(os.environ, **environment))
    if done.returncode != 0:
        raise SystemExit(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def engine(programs, config, messages, program="engine_bench"):
    return [programs[program], config, messages, EVENTS]


def nanoseconds(programs, scripts, streams, messages=10000, program="engine_bench"):
    with tempfile.TemporaryDirectory() as directory:
        config = write_configuration(directory, scripts, streams)
        return json.loads(execute(engine(programs, config, messages, program))[0])["ns"]


def difference(count):
    """Per event, from `count(messages)` of a short and of a long run."""
    return (count(LONG) - count(SHORT)) / ((LONG - SHORT) * EVENTS)


def instructions(programs, work, streams, program="engine_bench"):
    """Executed in relay_receive for one event, by callgrind."""
    with tempfile.TemporaryDirectory() as directory:
        config = write_configuration(directory, WORK[work], streams)

        def count(messages):
            valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                        "--toggle-collect=relay_receive"]
            told = execute(valgrind + engine(programs, config, messages, program))[1]
            return int(re.search(r"Collected : (\d+)", told).group(1))
        return difference(count)


def allocations(programs, work, streams):
    """Calls for memory for one event, and bytes by which the Lua heap grew."""
    with tempfile.TemporaryDirectory() as directory:
        config = write_configuration(directory, WORK[work], streams)
        library = programs["allocation_count.so"]

        def told(messages):
            return execute(engine(programs, config, messages), LD_PRELOAD=str(library))

        def count(messages):
            return int(re.search(r"allocations: (\d+)", told(messages)[1]).group(1))

        def heap(messages):
            return json.loads(told(messages)[0])["heap_growth"]
        return difference(count), difference(heap)
