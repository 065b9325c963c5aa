-- The code that an acceptance of an invite sent, beside the one that only signs in: the row of the address carries both.
ALTER TABLE "email_codes" ADD COLUMN "invite_id" TEXT, ADD COLUMN "invite_code_hmac" TEXT;
ALTER TABLE "email_codes" ADD CONSTRAINT "email_codes_invite_check" CHECK (("invite_id" IS NULL) = ("invite_code_hmac" IS NULL));
