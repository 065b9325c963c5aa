-- CreateTable
CREATE TABLE "entitlements" (
    "org_id" TEXT NOT NULL,
    "limits" JSONB NOT NULL,
    "published_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "entitlements_pkey" PRIMARY KEY ("org_id")
);

-- CreateTable
CREATE TABLE "workspace_places" (
    "org_id" TEXT NOT NULL,
    "request" TEXT NOT NULL,
    "workspace_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "workspace_places_pkey" PRIMARY KEY ("org_id", "request")
);
