-- How many invites a workspace made within an hour: each of them sent a mail.
CREATE INDEX "invites_workspace_id_created_at_idx" ON "invites"("workspace_id", "created_at");
