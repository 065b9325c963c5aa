-- Whether workers lease the queued runs of a workspace, and the version of the last change.
ALTER TABLE "workspaces" ADD COLUMN "lane" TEXT NOT NULL DEFAULT 'run';
ALTER TABLE "workspaces" ADD COLUMN "lane_version" INTEGER NOT NULL DEFAULT 0;
