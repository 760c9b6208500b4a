"""Reader of F-DATA: jobs of the supercomputer Fugaku, a Parquet file per month.

A processor is a node. Times are dates, durations seconds.

Source: Antici et al., "F-DATA: a Fugaku workload dataset for job-centric predictive modelling in HPC systems", 2024;
https://doi.org/10.5281/zenodo.11467483.
"""

from __future__ import annotations

from windlass.io.traces.logs.published import PublishedTable

FDATA = PublishedTable(
    needed=("jid", "adt", "sdt", "edt", "nnumr"),
    fields={
        "job": ("jid",),
        "submit": ("adt",),
        "start": ("sdt",),
        "end": ("edt",),
        "run": ("duration",),
        "procs_requested": ("nnumr",),
        "procs_allocated": ("nnuma",),
        "request": ("elpl",),
        "user": ("usr",),
    },
    others=("jnam", "cnumr", "pri", "ec", "exit state", "pclass", "freq_req"),
    notes=("a processor is a node",),
)
