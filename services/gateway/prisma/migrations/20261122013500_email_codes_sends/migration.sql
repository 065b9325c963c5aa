-- Asking again while a code lives sends the same code again: what an address is sent counts, not how many codes it has had.
ALTER TABLE "email_codes" ADD COLUMN "sends" INTEGER NOT NULL DEFAULT 1;
