import { Digest, WorkspaceId } from '@countersign/contracts';
import { canonicalize } from '@countersign/crypto';
import { z } from 'zod';
import { catalogueVersion } from './catalogue.ts';
import { TallyState } from './evidence-tally.ts';

const WorkspaceTally = z.strictObject({
  workspaceId: WorkspaceId,
  receipts: z.int(),
  unverifiable: z.int(),
  digest: Digest.nullable(),
  /** The next position in the log to read, and the end. `null` before the first page of the workspace. */
  place: z.strictObject({ next: z.int(), end: z.int() }).nullable(),
});
export type WorkspaceTally = z.infer<typeof WorkspaceTally>;

/** The data that another process needs to continue a report. */
const ReportProgress = z.strictObject({
  catalogueVersion: z.int(),
  receiptsRead: z.int(),
  workspaces: z.array(WorkspaceTally),
  tally: TallyState.nullable(),
});
export type ReportProgress = z.infer<typeof ReportProgress>;

/** Begins or continues a report. Progress of another catalogue version is discarded. */
export function readProgress(text: string | null, workspaces: readonly WorkspaceId[]): ReportProgress {
  const stored = text === null ? null : ReportProgress.parse(JSON.parse(text));
  if (stored?.catalogueVersion === catalogueVersion) return stored;
  const unread = { receipts: 0, unverifiable: 0, digest: null, place: null };
  return {
    ...{ catalogueVersion, receiptsRead: 0, tally: null },
    workspaces: workspaces.map((workspaceId) => ({ workspaceId, ...unread })),
  };
}

export function progressText(progress: ReportProgress): string {
  return canonicalize(progress);
}
