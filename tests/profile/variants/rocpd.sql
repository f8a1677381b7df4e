CREATE TABLE "rocpd_info_agent_00006409_00d1" (id INTEGER PRIMARY KEY, name TEXT, product_name TEXT);
INSERT INTO "rocpd_info_agent_00006409_00d1" VALUES (4, 'gfx942', 'AMD Instinct MI300X');
CREATE TABLE "rocpd_info_kernel_symbol_00006409_00d1" (id INTEGER PRIMARY KEY, kernel_name TEXT, display_name TEXT);
INSERT INTO "rocpd_info_kernel_symbol_00006409_00d1" VALUES (1, '_Z4gemmPf.kd', 'gemm(float*)'), (2, '_Z4copyPfi.kd', 'copy(float*, int)');
CREATE TABLE "rocpd_kernel_dispatch_00006409_00d1" (id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, agent_id INTEGER, kernel_id INTEGER, dispatch_id INTEGER, queue_id INTEGER, stream_id INTEGER, start BIGINT, "end" BIGINT);
INSERT INTO "rocpd_kernel_dispatch_00006409_00d1" VALUES (1,1,1,4,1,1,1,0,1000,81000),(2,1,1,4,2,2,1,0,100000,120000),(3,1,1,4,1,3,1,0,201000,281000),(4,1,1,4,2,4,1,0,300000,320000);
CREATE TABLE "rocpd_memory_copy_00006409_00d1" (id INTEGER PRIMARY KEY, pid INTEGER, start BIGINT, "end" BIGINT, dst_agent_id INTEGER);
INSERT INTO "rocpd_memory_copy_00006409_00d1" VALUES (1,1,5,3005,4);
