import { AuditedService, type ComplianceReport } from '@countersign/contracts/commercial-gateway';
import { parseKeySet, trustOf, type TrustedKeys } from '@countersign/verifier';
import type { Context } from '../context.ts';
import type { ClaimedReport } from '../store/compliance-reports.ts';
import { assembleReport } from './assemble-report.ts';
import { catalogue } from './catalogue.ts';
import { EvidenceTally } from './evidence-tally.ts';
import { countOwnChain, countWorkspaceChain, type CountedChain } from './read-audit-of-period.ts';
import { countPage, findPlaces } from './read-receipts-of-period.ts';
import { readProgress, type ReportProgress } from './report-progress.ts';

type Deps = Pick<Context, 'kernel' | 'keyRing' | 'snapshot' | 'gatewayAudit' | 'directory'>;

/**
 * Stores the progress and extends the lease. Returns false when another worker has the report, or when this worker must
 * stop.
 */
type KeepProgress = (progress: ReportProgress) => Promise<boolean>;

/** Pages that are read between two checkpoints. They take at most a second. */
const pagesPerCheckpoint = 5;

/**
 * Reads the receipts of all workspaces, page by page, and all audit chains. Continues at the last checkpoint. Returns
 * `null` when a checkpoint reports that this worker must stop. Throws when another service does not answer.
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
  const checkpoint = () => keep({ ...progress, tally: tally.state });
  const audited = await countChains(deps, { job, tally }, checkpoint);
  return audited === null ? null : assembleReport(job, { workspaces: progress.workspaces, ...audited });
}

type Counted = { job: ClaimedReport; tally: EvidenceTally };
type Audited = Pick<Parameters<typeof assembleReport>[1], 'audit' | 'chains' | 'tally'>;

/** Counts the entries of all audit chains that verify. Returns `null` when this worker must stop. */
async function countChains(
  deps: Deps,
  { job, tally: receipts }: Counted,
  checkpoint: () => Promise<boolean>,
): Promise<Audited | null> {
  let tally = receipts;
  const count = async (counting: (tally: EvidenceTally) => Promise<CountedChain>) => {
    const next = new EvidenceTally(catalogue[job.framework], tally.state);
    const counted = await counting(next);
    if (counted.verified) tally = next;
    return counted;
  };
  const period = job;
  const audit = await count((next) =>
    deps.snapshot((reader) => countOwnChain(reader, job.orgId, { tally: next, period })),
  );
  const chains: Audited['chains'] = [];
  for (const workspace_id of job.workspaces)
    for (const service of AuditedService.options) {
      if (!(await checkpoint())) return null;
      const chain = { service, workspace_id };
      chains.push({ ...chain, ...(await count((next) => countWorkspaceChain(deps, chain, { tally: next, period }))) });
    }
  return (await checkpoint()) ? { audit, chains, tally } : null;
}

async function trustedKeys({ keyRing, kernel }: Pick<Deps, 'keyRing' | 'kernel'>): Promise<TrustedKeys> {
  const pinned = await keyRing.keys();
  if (keyRing.isRooted) return pinned;
  return trustOf(pinned, parseKeySet((await kernel.listTrustKeys()).body));
}
