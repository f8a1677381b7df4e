# coding: latin-1
x = "ÿ"
measure_windows_workloads([1, 2, 3])
