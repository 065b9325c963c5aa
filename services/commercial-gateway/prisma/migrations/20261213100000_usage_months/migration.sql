-- CreateTable
CREATE TABLE "usage_months" (
    "org_id" TEXT NOT NULL,
    "meter" TEXT NOT NULL,
    "month" DATE NOT NULL,
    "quantity_micros" BIGINT NOT NULL,

    CONSTRAINT "usage_months_pkey" PRIMARY KEY ("org_id","meter","month")
);

-- Constraints that the schema language of Prisma cannot express.

ALTER TABLE "usage_months" ADD CONSTRAINT "usage_months_quantity" CHECK ("quantity_micros" > 0);
COMMENT ON TABLE "usage_months" IS 'never deleted: totals of usage events';

-- A trigger counts, so that a version without this table counts too while it runs beside this one.
CREATE FUNCTION count_usage_months() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  INSERT INTO usage_months (org_id, meter, month, quantity_micros)
    SELECT org_id, meter, date_trunc('month', occurred_at AT TIME ZONE 'UTC')::date, sum(quantity_micros)
      FROM added GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (org_id, meter, month) DO UPDATE SET quantity_micros = usage_months.quantity_micros + EXCLUDED.quantity_micros;
  RETURN NULL;
END $$;
LOCK TABLE "usage_events" IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO "usage_months" ("org_id", "meter", "month", "quantity_micros")
  SELECT "org_id", "meter", date_trunc('month', "occurred_at" AT TIME ZONE 'UTC')::date, sum("quantity_micros")
    FROM "usage_events" GROUP BY 1, 2, 3;
CREATE TRIGGER "usage_events_months" AFTER INSERT ON "usage_events"
  REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION count_usage_months();
