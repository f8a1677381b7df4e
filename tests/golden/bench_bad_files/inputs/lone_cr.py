# looks harmlessmeasure_windows_workloads([1, 2, 3])
