-- Which password a role has, by the number that it was asked for by.
ALTER TABLE datatable_catalog.role ADD COLUMN password_version bigint NOT NULL DEFAULT 1;
