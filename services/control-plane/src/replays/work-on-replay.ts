import type { ReplayDetails, ReplayFindings } from '@countersign/contracts/control-plane';
import { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { Replay } from '@countersign/what-if';
import type { Context } from '../context.ts';
import { ceilingTexts, compileAgain } from '../policy/compile-draft.ts';
import { getInForce } from '../policy/in-force.ts';
import { readLedger, type NoteProgress } from '../policy/read-ledger.ts';
import type { ClaimedReplay } from '../store/replays.ts';
import { trustedKeys } from '../trust/trusted-keys.ts';

type Deps = Pick<Context, 'kernel' | 'keyRing'>;

/** `null` when another worker has taken over the replay. */
export async function workOnReplay(
  deps: Deps,
  job: ClaimedReplay,
  note: NoteProgress,
): Promise<{ findings: ReplayFindings; details: ReplayDetails } | null> {
  const trust = await trustedKeys(deps);
  const draft = await draftOf(deps, job);
  const { question } = job;
  const read = await readLedger(
    deps,
    { ...job, from: question.from },
    {
      begin: async (pinned) => new Replay({ ...pinned, question, draft, trust, provider: nodeProvider }),
      note,
    },
  );
  return read === null ? null : read.reading.result(read);
}

async function draftOf(deps: Deps, { bundle, workspaceId }: ClaimedReplay) {
  if (bundle === null) return null;
  const policy = await compileAgain(PolicyBundle.parse(JSON.parse(bundle)));
  return { policy, ceilings: ceilingTexts(await getInForce(deps, workspaceId)) };
}
