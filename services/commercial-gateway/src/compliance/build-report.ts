import type { ComplianceReport } from '@countersign/contracts/commercial-gateway';
import { parseKeySet, trustOf, type TrustedKeys } from '@countersign/verifier';
import type { Context } from '../context.ts';
import type { ClaimedReport } from '../store/compliance-reports.ts';
import { assembleReport } from './assemble-report.ts';
import { catalogue } from './catalogue.ts';
import { EvidenceTally } from './evidence-tally.ts';
import { countAuditEntries } from './read-audit-of-period.ts';
import { countPage, findPlaces } from './read-receipts-of-period.ts';
import { readProgress, type ReportProgress } from './report-progress.ts';

type Deps = Pick<Context, 'kernel' | 'keyRing' | 'snapshot'>;

/** Stores the progress and extends the lease. Returns false when another worker has the report, or this one is to stop. */
type KeepProgress = (progress: ReportProgress) => Promise<boolean>;

/** Read between two checkpoints: a second of work at most, and few enough writes of the progress. */
const pagesPerCheckpoint = 5;

/**
 * Reads the receipts of all workspaces, a page in memory at a time, and the audit chain. Continues where the last checkpoint was. Returns
 * `null` when the report was given up between two checkpoints. Throws when the kernel does not answer.
 */
export async function buildReport(
  deps: Deps,
  job: ClaimedReport,
  keep: KeepProgress,
): Promise<ComplianceReport | null> {
  const framework = catalogue[job.framework];
  const progress = readProgress(job.progress, job.workspaces);
  const tally = new EvidenceTally(framework, progress.tally);
  const counting = { tally, trust: await trustedKeys(deps), period: job };
  let pages = 0;
  for (const [nth, begun] of progress.workspaces.entries()) {
    const place = begun.place ?? (await findPlaces(deps.kernel, begun.workspaceId, job));
    let workspace = { ...begun, place };
    while (workspace.place.next < workspace.place.end) {
      const page = await countPage(deps.kernel, workspace, counting);
      progress.workspaces[nth] = workspace = page.workspace;
      progress.receiptsRead += page.read;
      pages += 1;
      if (pages % pagesPerCheckpoint === 0 && !(await keep({ ...progress, tally: tally.state }))) return null;
    }
  }
  const withAudit = new EvidenceTally(framework, tally.state);
  const auditing = { tally: withAudit, period: job };
  const audit = await deps.snapshot((reader) => countAuditEntries(reader, job.orgId, auditing));
  if (!(await keep({ ...progress, tally: tally.state }))) return null;
  return assembleReport(job, { workspaces: progress.workspaces, audit, tally: audit.verified ? withAudit : tally });
}

async function trustedKeys({ keyRing, kernel }: Pick<Deps, 'keyRing' | 'kernel'>): Promise<TrustedKeys> {
  const pinned = await keyRing.keys();
  return trustOf(pinned, parseKeySet((await kernel.listTrustKeys()).body));
}
