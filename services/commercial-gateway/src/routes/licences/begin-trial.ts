import { Instant } from '@countersign/contracts';
import * as contract from '@countersign/contracts/commercial-gateway';
import { beginTrial } from '../../activation/begin-trial.ts';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { handlePerson } from '../../handle.ts';

export const beginTrialRoute = (context: Context) =>
  handlePerson(contract.beginTrial)(async ({ body, caller, requestId }) => {
    const { id: orgId } = await orgOfAdmin(context, caller, body.org_id);
    const trial = await beginTrial(context, { orgId, actor: caller.userId, requestId });
    return {
      org_id: orgId,
      plan_id: trial.planId,
      starts_at: Instant.parse(trial.startsAt.toISOString()),
      ends_at: Instant.parse(trial.endsAt.toISOString()),
      domains: [...trial.domains],
      entitlements: trial.entitlements,
    };
  });
