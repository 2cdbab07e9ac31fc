-- What a role owns in this database that would run with the rights of whoever
-- it is passed to, or be trusted as theirs: functions and operators, views and
-- rules, and what is evaluated as the owner of a table when Postgres maintains
-- it or when the owner writes to it, where that calls, itself or by the types
-- in it, what an ordinary login has made.
-- $1 the role
WITH RECURSIVE me AS (
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
),
start (class, id) AS (
    SELECT 'pg_catalog.pg_class'::pg_catalog.regclass::oid, mine.oid FROM mine
  UNION
    SELECT part.class::oid, part.id FROM part JOIN mine ON mine.oid = part.relation
),
-- what the start depends on: types, what they consist of and check, and what is called
reach (class, id, to_class, to_id) AS (
    SELECT class, id, class, id FROM start
  UNION
    SELECT r.class, r.id, e.class, e.id
    FROM reach r
    JOIN LATERAL (
        SELECT d.refclassid, d.refobjid FROM pg_catalog.pg_depend d
        WHERE d.classid = r.to_class AND d.objid = r.to_id AND d.refclassid IN ('pg_catalog.pg_type'::pg_catalog.regclass,
            'pg_catalog.pg_proc'::pg_catalog.regclass, 'pg_catalog.pg_operator'::pg_catalog.regclass)
      UNION ALL
        SELECT 'pg_catalog.pg_constraint'::pg_catalog.regclass, k.oid FROM pg_catalog.pg_constraint k
        WHERE r.to_class = 'pg_catalog.pg_type'::pg_catalog.regclass AND k.contypid = r.to_id
      UNION ALL
        SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, t.typrelid FROM pg_catalog.pg_type t
        WHERE r.to_class = 'pg_catalog.pg_type'::pg_catalog.regclass AND t.oid = r.to_id AND t.typrelid <> 0
    ) e (class, id) ON r.to_class NOT IN ('pg_catalog.pg_proc'::pg_catalog.regclass, 'pg_catalog.pg_operator'::pg_catalog.regclass)
)
SELECT pg_catalog.pg_describe_object('pg_catalog.pg_proc'::pg_catalog.regclass, p.oid, 0)
FROM pg_catalog.pg_proc p
WHERE p.proowner = (SELECT oid FROM me)
UNION
SELECT pg_catalog.pg_describe_object('pg_catalog.pg_operator'::pg_catalog.regclass, o.oid, 0)
FROM pg_catalog.pg_operator o
WHERE o.oprowner = (SELECT oid FROM me)
UNION
SELECT pg_catalog.pg_describe_object('pg_catalog.pg_class'::pg_catalog.regclass, mine.oid, 0)
FROM mine
WHERE mine.relkind IN ('v', 'm') OR EXISTS (SELECT FROM pg_catalog.pg_rewrite w WHERE w.ev_class = mine.oid)
UNION
SELECT pg_catalog.pg_describe_object(r.class, r.id, 0) || CASE WHEN mine.relkind IN ('r', 'p', 'f')
    THEN ' by ' || pg_catalog.pg_describe_object(r.to_class, r.to_id, 0) ELSE '' END
FROM reach r
LEFT JOIN mine ON r.class = 'pg_catalog.pg_class'::pg_catalog.regclass AND mine.oid = r.id
JOIN LATERAL (
    SELECT proowner AS owner FROM pg_catalog.pg_proc
    WHERE r.to_class = 'pg_catalog.pg_proc'::pg_catalog.regclass AND oid = r.to_id
  UNION ALL
    SELECT oprowner FROM pg_catalog.pg_operator
    WHERE r.to_class = 'pg_catalog.pg_operator'::pg_catalog.regclass AND oid = r.to_id
) called ON called.owner NOT IN (SELECT oid FROM trusted)
ORDER BY 1
