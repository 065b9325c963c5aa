-- When the settings of a workspace are delivered to the kernel next. All workspaces are due at once: the kernel denies without settings.
-- A workspace that an older gateway makes is due at once too. Settings that an older gateway changes are due with the hourly confirmation.
ALTER TABLE "workspaces" ADD COLUMN "settings_due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT now();
CREATE INDEX "workspaces_settings_due_at_idx" ON "workspaces"("settings_due_at");
