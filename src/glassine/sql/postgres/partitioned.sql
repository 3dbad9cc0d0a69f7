-- Turns the tables of a store into partitioned ones, with what is in them.
--
--     psql -v ON_ERROR_STOP=1 -c 'SET search_path = glassine' -c 'SET glassine.partitions = 32' -f partitioned.sql URL
--
-- Run it as the owner of the tables, after `glassine migrate`, with no other client at work: it holds all tables until
-- it has copied them, in one transaction, and needs their space a second time meanwhile. Without a setting there are
-- 16 partitions. Names of tables and indexes, rights and defaults stay as they are; later migrations fit both forms.
--
-- What belongs to one session is spread by (ns, session), so that a statement about a session meets one partition.
-- Spread by namespace alone are the session rows (an id must be unique in its namespace, which only an index
-- within one partition can keep) and the search index (a search over a namespace meets one partition). `meta` and
-- `namespace` stay whole: they are small, and not keyed by a session.

DO $$
DECLARE
    partitions CONSTANT int := coalesce(nullif(current_setting('glassine.partitions', true), ''), '16')::int;
    home CONSTANT text := current_schema();
    own CONSTANT text := CASE WHEN to_regclass('session_key') IS NOT NULL THEN 'node' END;
    whole record;
    spread record;
    indexes text[];
    rights text[];
    statement text;
BEGIN
    IF partitions NOT BETWEEN 1 AND 1024 THEN
        RAISE 'glassine.partitions must be from 1 to 1024, not %', partitions;
    END IF;
    SELECT relkind, pg_get_userbyid(relowner) AS owner INTO whole FROM pg_class WHERE oid = to_regclass(own);
    IF NOT FOUND THEN
        RAISE 'there are no tables of glassine in schema %: set the search path, and run "glassine migrate" first', home;
    ELSIF whole.relkind = 'p' THEN
        RAISE 'the tables in schema % are partitioned already', home;
    END IF;
    EXECUTE format('SET LOCAL ROLE %I', whole.owner);
    -- In the order in which a writer meets them: whoever is at work finishes first.
    LOCK TABLE session, strand, node, body, external, spill, blob, overlay, tombstone, event, usage, quarantine, words,
        copied, block, prompt, lease, entry, entry_body, entry_words;
    FOR spread IN SELECT * FROM (VALUES
        ('session', 'ns', ' WITH (fillfactor = 60)'), ('words', 'ns', ''), ('blob', 'ns, digest', ''),
        ('strand', 'ns, session', ''), ('node', 'ns, session', ''), ('body', 'ns, session', ''),
        ('external', 'ns, session', ''), ('spill', 'ns, session', ''), ('overlay', 'ns, session', ''),
        ('tombstone', 'ns, session', ''), ('event', 'ns, session', ''), ('usage', 'ns, session', ''),
        ('quarantine', 'ns, session', ''), ('copied', 'ns, session', ''),
        ('block', 'ns, session', ''), ('prompt', 'ns, session', ''), ('lease', 'ns, session', ''),
        ('entry', 'ns, session', ''), ('entry_body', 'ns, session', ''), ('entry_words', 'ns', '')
    ) AS spread (name, key, options)
    LOOP
        -- Read before the table is renamed, these make the same indexes on the one that gets its name.
        SELECT array_agg(CASE WHEN c.oid IS NULL THEN pg_get_indexdef(i.indexrelid) ELSE
            format('ALTER TABLE %I ADD CONSTRAINT %I %s', spread.name, c.conname, pg_get_constraintdef(c.oid))
        END) INTO indexes
        FROM pg_index i LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid
        WHERE i.indrelid = to_regclass(spread.name);
        SELECT array_agg(format('GRANT %s ON %I TO %s%s', r.privilege_type, spread.name,
            CASE WHEN r.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(r.grantee)) END,
            CASE WHEN r.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
        )) INTO rights
        FROM pg_class, aclexplode(relacl) r WHERE oid = to_regclass(spread.name);
        EXECUTE format('ALTER TABLE %I RENAME TO former', spread.name);
        EXECUTE format(
            'CREATE TABLE %I (LIKE former INCLUDING ALL EXCLUDING INDEXES) PARTITION BY HASH (%s)', spread.name, spread.key
        );
        FOR number IN 0 .. partitions - 1 LOOP
            EXECUTE format(
                'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS %s, REMAINDER %s)%s',
                spread.name || '_' || number, spread.name, partitions, number, spread.options
            );
        END LOOP;
        EXECUTE format('INSERT INTO %I SELECT * FROM former', spread.name);
        DROP TABLE former;
        FOREACH statement IN ARRAY indexes || coalesce(rights, '{}') LOOP
            EXECUTE statement;
        END LOOP;
        EXECUTE format('ANALYZE %I', spread.name);
    END LOOP;
END
$$;
