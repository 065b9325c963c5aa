CREATE INDEX "invites_email_id_idx" ON "invites"("email", "id");
