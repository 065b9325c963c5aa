CREATE TABLE "receipts" (
    "id" TEXT NOT NULL,
    "position" BIGSERIAL NOT NULL,
    "body" JSONB NOT NULL,
    "sealed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "receipts_pkey" PRIMARY KEY ("id")
);

CREATE UNIQUE INDEX "receipts_position_key" ON "receipts"("position");

COMMENT ON TABLE "receipts" IS 'append-only: what was sealed stays';

CREATE FUNCTION "receipt_count"() RETURNS BIGINT LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1; -- a semicolon inside a body; the script must not be cut here
  RETURN (SELECT count(*) FROM "receipts");
END;
$$;
