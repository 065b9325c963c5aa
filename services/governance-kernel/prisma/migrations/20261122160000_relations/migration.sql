-- Who has which relation with what. A tuple's subject is an entity, or everybody who has a relation with one (is_userset).
CREATE TABLE "relation_tuples" (
    "tenant_id" TEXT NOT NULL,
    "object" TEXT NOT NULL,
    "relation" TEXT NOT NULL,
    "is_userset" BOOLEAN NOT NULL,
    "subject" TEXT NOT NULL,

    -- A group of any size is asked for one member, or for the groups inside it, by a prefix of this key.
    CONSTRAINT "relation_tuples_pkey" PRIMARY KEY ("tenant_id", "object", "relation", "is_userset", "subject"),
    CONSTRAINT "relation_tuples_userset_known" CHECK ("is_userset" = (strpos("subject", '#') > 0))
);

-- What is known of entities; whatever a tuple names is here, so that searches can go through a type.
CREATE TABLE "relation_entities" (
    "tenant_id" TEXT NOT NULL,
    "entity_type" TEXT NOT NULL,
    "entity_id" TEXT NOT NULL,
    "properties" JSONB NOT NULL,

    CONSTRAINT "relation_entities_pkey" PRIMARY KEY ("tenant_id", "entity_type", "entity_id")
);

-- What may be done to entities. Models are found by their hash, which a snapshot names.
CREATE TABLE "permission_models" (
    "tenant_id" TEXT NOT NULL,
    "model_hash" TEXT NOT NULL,
    "model" TEXT NOT NULL,

    CONSTRAINT "permission_models_pkey" PRIMARY KEY ("tenant_id")
);

CREATE TABLE "relation_snapshots" (
    "tenant_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "snapshot_id" TEXT NOT NULL,
    "snapshot_hash" TEXT NOT NULL,
    "previous_hash" TEXT,
    "changes" JSONB NOT NULL,
    "tuple_count" INTEGER NOT NULL,
    "model_hash" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "relation_snapshots_pkey" PRIMARY KEY ("tenant_id", "version")
);
CREATE UNIQUE INDEX "relation_snapshots_tenant_id_snapshot_id_key" ON "relation_snapshots"("tenant_id", "snapshot_id");

-- The snapshot that decisions read, one for each tenant. Whatever changes a tenant's relations changes its head in the same transaction.
CREATE TABLE "relation_heads" (
    "tenant_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "snapshot_hash" TEXT NOT NULL,
    "confirmed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "relation_heads_pkey" PRIMARY KEY ("tenant_id")
);
CREATE TRIGGER moves_the_epoch BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON "relation_heads"
  FOR EACH STATEMENT EXECUTE FUNCTION move_epoch();
