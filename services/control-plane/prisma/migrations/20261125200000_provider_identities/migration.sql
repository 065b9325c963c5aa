-- What a login waits for from an identity provider, or has from it.
ALTER TABLE "logins" ADD COLUMN "oidc" JSONB;

CREATE TABLE "provider_identities" (
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "connection_id" TEXT NOT NULL,
    "linked_at" TIMESTAMPTZ(3) NOT NULL,
    "signed_in_at" TIMESTAMPTZ(3),

    CONSTRAINT "provider_identities_pkey" PRIMARY KEY ("issuer", "subject")
);

ALTER TABLE "logins" DROP CONSTRAINT "logins_of_somebody";
ALTER TABLE "logins" ADD CONSTRAINT "logins_of_somebody" CHECK ("email" IS NOT NULL OR "session_id" IS NOT NULL OR "statement" IS NOT NULL OR "oidc" IS NOT NULL);
