-- A person is known by an address or by a messenger, and proves either.
ALTER TABLE "users" ALTER COLUMN "email" DROP NOT NULL;
ALTER TABLE "users" ADD COLUMN "messenger_id" TEXT;
ALTER TABLE "users" ADD CONSTRAINT "users_known_by_something" CHECK ("email" IS NOT NULL OR "messenger_id" IS NOT NULL);
CREATE UNIQUE INDEX "users_messenger_id_key" ON "users"("messenger_id");

-- What a messenger has vouched for, by its hash: it signs in once.
CREATE TABLE "messenger_sign_ins" (
    "hash" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "messenger_sign_ins_pkey" PRIMARY KEY ("hash")
);
CREATE INDEX "messenger_sign_ins_expires_at_idx" ON "messenger_sign_ins"("expires_at");
