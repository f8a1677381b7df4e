CREATE TABLE rocpd_info_kernel_symbol (id INTEGER PRIMARY KEY, kernel_name TEXT);
INSERT INTO rocpd_info_kernel_symbol VALUES (1, '_Z4gemmPf.kd');
CREATE TABLE rocpd_track (id INTEGER PRIMARY KEY, pid INTEGER, agent_id INTEGER, queue_id INTEGER);
INSERT INTO rocpd_track VALUES (1, 1, 4, 1);
CREATE TABLE rocpd_timestamp (id INTEGER PRIMARY KEY, value INTEGER);
INSERT INTO rocpd_timestamp VALUES (1, 1000), (2, 81000), (3, 5000);
CREATE TABLE rocpd_kernel_dispatch (id INTEGER PRIMARY KEY, track_id INTEGER, kernel_id INTEGER, start_id INTEGER, end_id INTEGER);
INSERT INTO rocpd_kernel_dispatch VALUES (1, 1, 1, 1, 2), (2, 1, 1, 3, 9);
