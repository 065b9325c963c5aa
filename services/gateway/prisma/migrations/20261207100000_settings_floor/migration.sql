-- The latest version of a workspace's settings that the kernel was seen to hold, where it is later than the gateway's: after a restore of
-- the gateway's database alone. The next version is above it.
ALTER TABLE "workspaces" ADD COLUMN "settings_floor" INTEGER NOT NULL DEFAULT 0;
