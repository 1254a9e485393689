"""How work is done: progress, maps over processes and clusters, runs that survive a crash, files.

- `contextwise.execution.progress`: how long work says how far it is;
- `contextwise.execution.maps`: the same work here, over processes, or over a cluster;
- `contextwise.execution.runs`: units of work whose results survive in one SQLite file;
- `contextwise.execution.records`: records as JSON and CSV for other programs;
- `contextwise.execution.files`: bytes from files and to files, never half written;
- `contextwise.execution.loading`: modules that are loaded when they are first used.
"""
