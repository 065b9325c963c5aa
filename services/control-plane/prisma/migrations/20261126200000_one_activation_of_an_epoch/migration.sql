-- Of several activations that came to one epoch, the first is the one; of the same policy by another report too.
UPDATE "policy_activations" AS later SET "state" = 'deciding', "decision_id" = NULL, "decision_receipt_id" = NULL
    WHERE later."state" IN ('active', 'replaced') AND EXISTS (
        SELECT 1 FROM "policy_activations" AS first
            WHERE first."workspace_id" = later."workspace_id" AND first."epoch" = later."epoch"
                AND first."state" IN ('active', 'replaced')
                AND (first."state", first."id") < (later."state", later."id"));
CREATE UNIQUE INDEX "policy_activations_one_of_an_epoch" ON "policy_activations"("workspace_id", "epoch") WHERE "state" IN ('active', 'replaced');

-- What is looked for: those that were allowed, and of which nobody has noted that they are in force.
CREATE INDEX "policy_activations_decided_idx" ON "policy_activations"("created_at") WHERE "state" = 'decided';
