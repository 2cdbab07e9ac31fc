-- Ways by which rows of this database leave it without asking row policies:
-- logical replication slots in use, and publications that have tables.
SELECT 'logical replication slot', slot_name::text
FROM pg_catalog.pg_replication_slots
WHERE slot_type = 'logical' AND active AND database = pg_catalog.current_database()
UNION ALL
SELECT 'publication', p.pubname::text
FROM pg_catalog.pg_publication p
WHERE p.puballtables
    OR EXISTS (SELECT FROM pg_catalog.pg_publication_tables t WHERE t.pubname = p.pubname)
