CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.20.2');
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1, 'void gemm<(int)4>(float *)'), (2, 'copy(float *)'), (3, 'window'), (4, 'cudaLaunchKernel_v7000'), (5, 'cudaProfilerStart_v4000'), (6, 'cudaProfilerStop_v4000'), (7, 'lib');
