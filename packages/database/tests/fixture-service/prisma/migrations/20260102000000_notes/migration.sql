CREATE TABLE "notes" (
    "id" TEXT NOT NULL,
    "text" TEXT NOT NULL,

    CONSTRAINT "notes_pkey" PRIMARY KEY ("id")
);

ALTER TABLE "notes" ADD CONSTRAINT "notes_text_check" CHECK ("text" <> 'forbidden');

CREATE FUNCTION "notes_guard"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  RETURN NEW;
END;
$$;

CREATE TRIGGER "notes_guard" BEFORE INSERT ON "notes" FOR EACH ROW EXECUTE FUNCTION "notes_guard"();
