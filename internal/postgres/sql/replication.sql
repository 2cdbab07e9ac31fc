-- Ways by which rows of this database leave it without asking row policies:
-- logical replication slots in use, and publications, also those that have no
-- table yet.
SELECT 'logical replication slot', slot_name::text
FROM pg_catalog.pg_replication_slots
WHERE slot_type = 'logical' AND active AND database = pg_catalog.current_database()
UNION ALL
SELECT 'publication', pubname::text
FROM pg_catalog.pg_publication
