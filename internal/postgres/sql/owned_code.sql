-- What a role owns in this database that would run with the rights of whoever
-- it is passed to: functions that run as their owner, views and rules, and what
-- is evaluated as the owner of a table when Postgres maintains it or when the
-- owner writes to it, where that calls what an ordinary login has made.
-- $1 the role
WITH me AS (
    SELECT oid FROM pg_catalog.pg_roles WHERE rolname = $1::text
),
trusted AS (
    SELECT oid FROM pg_catalog.pg_roles WHERE rolsuper OR rolname = CURRENT_USER
  UNION
    SELECT datdba FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()
),
mine AS (
    SELECT c.oid, c.relkind FROM pg_catalog.pg_class c WHERE c.relowner = (SELECT oid FROM me)
),
-- the parts of relations that can call functions
part (class, id, relation) AS (
    SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, i.indexrelid, i.indrelid FROM pg_catalog.pg_index i
  UNION ALL
    SELECT 'pg_catalog.pg_attrdef'::pg_catalog.regclass, a.oid, a.adrelid FROM pg_catalog.pg_attrdef a
  UNION ALL
    SELECT 'pg_catalog.pg_constraint'::pg_catalog.regclass, k.oid, k.conrelid FROM pg_catalog.pg_constraint k
  UNION ALL
    SELECT 'pg_catalog.pg_trigger'::pg_catalog.regclass, t.oid, t.tgrelid FROM pg_catalog.pg_trigger t
  UNION ALL
    SELECT 'pg_catalog.pg_policy'::pg_catalog.regclass, p.oid, p.polrelid FROM pg_catalog.pg_policy p
  UNION ALL
    SELECT 'pg_catalog.pg_statistic_ext'::pg_catalog.regclass, s.oid, s.stxrelid FROM pg_catalog.pg_statistic_ext s
)
SELECT pg_catalog.pg_describe_object('pg_catalog.pg_proc'::pg_catalog.regclass, p.oid, 0)
FROM pg_catalog.pg_proc p
WHERE p.proowner = (SELECT oid FROM me) AND p.prosecdef
UNION
SELECT pg_catalog.pg_describe_object('pg_catalog.pg_class'::pg_catalog.regclass, mine.oid, 0)
FROM mine
WHERE mine.relkind IN ('v', 'm') OR EXISTS (SELECT FROM pg_catalog.pg_rewrite w WHERE w.ev_class = mine.oid)
UNION
SELECT pg_catalog.pg_describe_object(part.class, part.id, 0)
FROM part
JOIN mine ON mine.oid = part.relation
JOIN pg_catalog.pg_depend d ON d.classid = part.class AND d.objid = part.id
JOIN LATERAL (
    SELECT proowner AS owner FROM pg_catalog.pg_proc
    WHERE d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND oid = d.refobjid
  UNION ALL
    SELECT oprowner FROM pg_catalog.pg_operator
    WHERE d.refclassid = 'pg_catalog.pg_operator'::pg_catalog.regclass AND oid = d.refobjid
) called ON called.owner NOT IN (SELECT oid FROM trusted)
ORDER BY 1
