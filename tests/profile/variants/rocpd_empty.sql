CREATE TABLE rocpd_info_kernel_symbol (id INTEGER PRIMARY KEY, kernel_name TEXT);
CREATE TABLE rocpd_kernel_dispatch (id INTEGER PRIMARY KEY, pid INTEGER, agent_id INTEGER, kernel_id INTEGER, start BIGINT, "end" BIGINT);
