# Simulates the FMUs of the solar day in FMPy with the recorded signals of the day: the plan, whose changes of statuses it
# counts, and the aircraft, whose largest distance from the recorded altitude and charge it prints.
# Arguments: signals.csv, the FMU of the plan, that of the aircraft.
import csv
import sys

import numpy as np
from fmpy import read_model_description, simulate_fmu
from fmpy.validation import validate_fmu

rows = list(csv.DictReader(open(sys.argv[1])))
columns = {name.split(" [")[0]: name for name in rows[0]}


def recorded(names):
    values = [tuple(float(row[columns[n]]) for n in ["t"] + names) for row in rows]
    return np.array(values, dtype=[("time", "f8")] + [(n, "f8") for n in names])


plan, aircraft = sys.argv[2:]
for unit in plan, aircraft:
    print("mistakes:", validate_fmu(unit))
statuses = [v.name for v in read_model_description(plan).modelVariables if v.name.startswith("status of ")]
for kind in "ModelExchange", "CoSimulation":
    r = simulate_fmu(plan, fmi_type=kind, solver="Euler", step_size=10, output_interval=10, stop_time=86400,
                     input=recorded(["h", "soc"]), output=statuses)
    print(kind, "changes:", sum(int(a[s] != b[s]) for a, b in zip(r, r[1:]) for s in statuses))
r = simulate_fmu(aircraft, fmi_type="CoSimulation", output_interval=60, stop_time=86400, relative_tolerance=1e-6,
                 input=recorded(["h_cmd", "CL_cmd", "payload"]), output=["h", "soc"])
at = {float(row["t"]): row for row in rows}
for name, most in ("h", 1e-3), ("soc", 1e-5):
    far = max(abs(x[name] - float(at[x["time"]][columns[name]])) for x in r if x["time"] in at)
    print(name, "near" if far < most else far)
