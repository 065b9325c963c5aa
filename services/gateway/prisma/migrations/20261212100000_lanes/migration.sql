-- The lane of a workspace: workers lease its queued runs while it is `run`, and none while it is `hold`. Its version is that of its source and
-- only rises.
ALTER TABLE "workspaces" ADD COLUMN "lane" TEXT NOT NULL DEFAULT 'run',
                         ADD COLUMN "lane_version" INTEGER NOT NULL DEFAULT 0,
                         ADD CONSTRAINT "workspaces_lane_known" CHECK ("lane" IN ('run', 'hold'));
