-- One row for each declared grant.
CREATE TABLE datatable_ledger.claim (
    id uuid PRIMARY KEY,
    datatable_id uuid NOT NULL,
    -- workspace/datatable, for people
    datatable text NOT NULL,
    -- the catalog's id of the role, which a rename leaves alone; null is PUBLIC
    role_id uuid,
    -- its name when the claim was last written, for people
    role text NOT NULL,
    object_type text NOT NULL,
    schema text NOT NULL,
    objects text[] NOT NULL,
    whole boolean NOT NULL,
    columns text[] NOT NULL,
    future boolean NOT NULL,
    -- whose later objects: ids of roles, and admin for the owner
    created_by text[] NOT NULL,
    privileges text[] NOT NULL,
    grant_option boolean NOT NULL
);
CREATE INDEX claim_role ON datatable_ledger.claim (role_id, schema);

-- What of a row policy Postgres does not keep: the text as it was written, and
-- how Postgres printed it then.
CREATE TABLE datatable_ledger.policy (
    schema text NOT NULL,
    table_name text NOT NULL,
    name text NOT NULL,
    datatable_id uuid NOT NULL,
    datatable text NOT NULL,
    using_written text,
    using_printed text,
    check_written text,
    check_printed text,
    when_last_removed text NOT NULL,
    PRIMARY KEY (schema, table_name, name)
);

-- Tables on which row-level security was turned on here. One on which it was
-- on before has no row, and stays as it was.
CREATE TABLE datatable_ledger.row_security (
    schema text NOT NULL,
    table_name text NOT NULL,
    PRIMARY KEY (schema, table_name)
);

-- What was taken from PUBLIC, to be put back when the last data table under
-- permissions leaves the database.
CREATE TABLE datatable_ledger.taken_from_public (
    object_type text NOT NULL,
    schema text NOT NULL,
    privilege text NOT NULL,
    PRIMARY KEY (object_type, schema, privilege)
);
