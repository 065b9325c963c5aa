import type { WhatIfReport } from '@countersign/contracts/control-plane';
import { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { WhatIf } from '@countersign/what-if';
import type { Context } from '../context.ts';
import type { ClaimedJob } from '../store/what-if-jobs.ts';
import { trustedKeys } from '../trust/trusted-keys.ts';
import { ceilingTexts, compileAgain } from './compile-draft.ts';
import { getInForce } from './in-force.ts';
import { readLedger, type NoteProgress } from './read-ledger.ts';
import { tenantOf } from '../siblings/tenant-of.ts';

/** The verdicts of the draft on sealed calls. `null` when another worker has taken over the job. */
export async function workOnReport(
  deps: Pick<Context, 'kernel' | 'keyRing'>,
  job: ClaimedJob,
  note: NoteProgress,
): Promise<WhatIfReport | null> {
  const trust = await trustedKeys(deps);
  const draft = await compileAgain(PolicyBundle.parse(JSON.parse(job.bundle)));
  const read = await readLedger(deps, job, {
    begin: async ({ treeSize, policyOf }) =>
      new WhatIf({
        question: {
          ...{ tenant_id: tenantOf(job.workspaceId), policy_hash: job.policyHash, tree_size: treeSize },
          ...{ from: job.from, to: job.to, limit: job.decisionsMax },
        },
        ...{ draft, ceilings: ceilingTexts(await getInForce(deps, job.workspaceId)), policyOf },
        ...{ trust, provider: nodeProvider },
      }),
    note,
  });
  return read === null ? null : read.reading.report(read);
}
