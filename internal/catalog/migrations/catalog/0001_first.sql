CREATE TABLE datatable_catalog.workspace (
    id uuid PRIMARY KEY DEFAULT pg_catalog.gen_random_uuid(),
    name text NOT NULL UNIQUE,
    parent text
);

CREATE TABLE datatable_catalog.member (
    workspace_id uuid NOT NULL REFERENCES datatable_catalog.workspace ON DELETE CASCADE,
    username text NOT NULL,
    email text NOT NULL,
    admin boolean NOT NULL,
    PRIMARY KEY (workspace_id, username)
);

CREATE TABLE datatable_catalog.member_group (
    workspace_id uuid NOT NULL REFERENCES datatable_catalog.workspace ON DELETE CASCADE,
    name text NOT NULL,
    usernames text[] NOT NULL,
    PRIMARY KEY (workspace_id, name)
);

CREATE TABLE datatable_catalog.folder (
    workspace_id uuid NOT NULL REFERENCES datatable_catalog.workspace ON DELETE CASCADE,
    name text NOT NULL,
    readers text[] NOT NULL,
    PRIMARY KEY (workspace_id, name)
);

CREATE TABLE datatable_catalog.role (
    id uuid PRIMARY KEY DEFAULT pg_catalog.gen_random_uuid(),
    name text NOT NULL UNIQUE,
    enabled boolean NOT NULL,
    -- sealed under the encryption key, with id as associated data
    password bytea NOT NULL
);

-- A row with a password names a login that can authenticate with it.
CREATE TABLE datatable_catalog.role_set (
    login text PRIMARY KEY,
    role_ids uuid[] NOT NULL,
    -- sealed like a role's, with login as associated data; empty where a sweep
    -- could neither drop the login nor let it back in
    password bytea NOT NULL,
    last_used_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);

CREATE TABLE datatable_catalog.datatable (
    id uuid PRIMARY KEY DEFAULT pg_catalog.gen_random_uuid(),
    -- by name: a data table may be declared before its directory is
    workspace text NOT NULL,
    name text NOT NULL,
    database text NOT NULL,
    access text NOT NULL,
    -- the default role is admin, a role, or with neither none: what is left
    -- when the role goes
    default_admin boolean NOT NULL,
    default_role_id uuid REFERENCES datatable_catalog.role ON DELETE SET NULL,
    tenants_given boolean NOT NULL,
    unnamed_roles_from text NOT NULL,
    revoke_public boolean NOT NULL,
    unmanaged_grants text NOT NULL,
    accept_replication text[] NOT NULL,
    governing_workspace text,
    governing_datatable text,
    UNIQUE (workspace, name),
    CHECK (NOT (default_admin AND default_role_id IS NOT NULL)),
    CHECK ((governing_workspace IS NULL) = (governing_datatable IS NULL))
);

CREATE TABLE datatable_catalog.tenant (
    datatable_id uuid NOT NULL REFERENCES datatable_catalog.datatable ON DELETE CASCADE,
    -- null is admin
    role_id uuid REFERENCES datatable_catalog.role ON DELETE CASCADE,
    patterns text[] NOT NULL,
    UNIQUE (datatable_id, role_id)
);
CREATE UNIQUE INDEX tenant_admin ON datatable_catalog.tenant (datatable_id) WHERE role_id IS NULL;
CREATE INDEX tenant_role ON datatable_catalog.tenant (role_id);
