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

/** The draft's verdicts on the calls that the kernel has sealed. `null` when another worker has taken the job over. */
export async function workOnReport(
  parts: Pick<Context, 'kernel' | 'keyRing'>,
  job: ClaimedJob,
  note: NoteProgress,
): Promise<WhatIfReport | null> {
  const trust = await trustedKeys(parts);
  const draft = await compileAgain(PolicyBundle.parse(JSON.parse(job.bundle)));
  const read = await readLedger(parts, job, {
    begin: async ({ treeSize, policyOf }) =>
      new WhatIf({
        question: {
          ...{ tenant_id: tenantOf(job.workspaceId), policy_hash: job.policyHash, tree_size: treeSize },
          ...{ from: job.from, to: job.to, limit: job.decisionsMax },
        },
        ...{ draft, ceilings: ceilingTexts(await getInForce(parts, job.workspaceId)), policyOf },
        ...{ trust, provider: nodeProvider },
      }),
    note,
  });
  return read === null ? null : read.reading.report(read);
}
